"""`clicks ctr`, `clicks sdbn` and `clicks pbm`: click models, on a log's result pages."""

import json
import math
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from touchstone.cli.click_logs import add_log_arguments, read_log
from touchstone.cli.running import BadOptionError, Write
from touchstone.clicks.ctr import fit_document_ctr, fit_rank_ctr
from touchstone.clicks.events import MemoryEvents
from touchstone.clicks.fit import ClickModel, Fit, evaluate, halves
from touchstone.clicks.log import ClickLog
from touchstone.clicks.pbm import ROUNDS, fit_pbm
from touchstone.clicks.position_bias import position_bias
from touchstone.clicks.sdbn import fit_sdbn
from touchstone.clicks.sessions import MOST_RESULTS, FoundSessions, Sessions, find_sessions
from touchstone.tables import aligned

RESAMPLES: Final = 200
MOST_RESAMPLES: Final = 10_000
FEWEST_HELD_OUT: Final = 2  # pages, one of which is learned from

Learn = Callable[[Sessions], ClickModel]


def add_model_arguments(parser: ArgumentParser) -> None:
    add_log_arguments(parser)
    parser.add_argument(
        "--rank-base",
        type=int,
        choices=(0, 1),
        help="rank of the first result (default: the application's smallest rank, if 0 or 1)",
    )
    parser.add_argument(
        "--depth",
        type=int,
        default=MOST_RESULTS,
        metavar="N",
        help=f"ignore pages with more results (default: {MOST_RESULTS})",
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")


def add_pbm_arguments(parser: ArgumentParser) -> None:
    add_model_arguments(parser)
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, metavar="N", help=f"EM iterations (default: {ROUNDS})"
    )
    parser.add_argument(
        "--bootstrap",
        type=int,
        default=RESAMPLES,
        metavar="N",
        help=f"number of bootstrap resamples of queries; 0 for no bands (default: {RESAMPLES})",
    )


def show_ctr(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print click-through rates, and how well they predict clicks. Raises SessionsError too."""
    log, result = _found(options, warn)
    sessions, seed = result.sessions, options["seed"]
    position = sessions.position - 1
    impressions = np.bincount(position)
    clicks = np.bincount(position[sessions.click], minlength=len(impressions))
    fits = {
        "rank": _fits(fit_rank_ctr, sessions, seed),
        "document": _fits(fit_document_ctr, sessions, seed),
    }
    if options["json"]:
        ranks = [
            {"rank": rank + 1, "impressions": shown, "clicks": clicked, "ctr": clicked / shown}
            for rank, (shown, clicked) in enumerate(
                zip(impressions.tolist(), clicks.tolist(), strict=True)
            )
        ]
        columns = _pair_counts(sessions)
        pairs = list(_pairs(log, sessions, {**columns, "ctr": columns["clicks"] / columns["n"]}))
        _say_json(say, {**_source(result), **fits, "ranks": ranks, "pairs": pairs})
        return
    rows = [["rank", "impressions", "clicks", "CTR"]] + [
        [str(rank), f"{shown:,}", f"{clicked:,}", f"{clicked / shown:.4f}"]
        for rank, (shown, clicked) in enumerate(zip(impressions, clicks, strict=True), start=1)
    ]
    say(f"{_heading(result)}\n{aligned(rows)}\n\n{_fit_table(fits)}")


def show_sdbn(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print each pair's attractiveness and satisfaction. Raises SessionsError too."""
    log, result = _found(options, warn)
    sessions = result.sessions
    model, fit = fit_sdbn(sessions), _fits(fit_sdbn, result.sessions, options["seed"])
    names = np.unique(sessions.pair)
    attractive, satisfying = model.attractiveness.of(names), model.satisfaction.of(names)
    columns = {
        **_pair_counts(sessions),
        "attractiveness": attractive,
        "satisfaction": satisfying,
        "relevance": attractive * satisfying,
    }
    if options["json"]:
        _say_json(say, {**_source(result), **fit, "pairs": list(_pairs(log, sessions, columns))})
    else:
        say(f"{_heading(result)}\n{_fit_table({'SDBN': fit})}\n\n{_most(log, sessions, columns)}")


def show_pbm(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print the examination of each position, by several estimators. Raises SessionsError too."""
    log, result = _found(options, warn)
    sessions, seed, rounds = result.sessions, options["seed"], options["rounds"]
    resamples = options["bootstrap"]
    if rounds < 1 or not 0 <= resamples <= MOST_RESAMPLES:
        message = f"--rounds must be 1 or more, --bootstrap 0 to {MOST_RESAMPLES:,}"
        raise BadOptionError(message)

    def learn(some: Sessions) -> ClickModel:
        return fit_pbm(some.evidence, rounds=rounds)

    fit = _fits(learn, sessions, seed)
    found = position_bias(sessions.evidence, resamples=resamples, seed=seed, rounds=rounds)
    curves = {
        name: _curve(curve.examination, curve.low, curve.high)
        for name, curve in found.curves.items()
    }
    if not options["json"]:
        say(f"{_heading(result)}\n{_curve_table(curves)}\n\n{_fit_table({'PBM': fit})}")
        return
    columns = {
        **_pair_counts(sessions),
        "attractiveness": found.model.attractiveness.of(np.unique(sessions.pair)),
    }
    _say_json(
        say,
        {
            **_source(result),
            "examination": found.model.examination.tolist(),
            **fit,
            "curves": curves,
            "interventions": found.interventions.documents.tolist(),
            "pairs": list(_pairs(log, sessions, columns)),
        },
    )


def _found(options: Mapping[str, Any], warn: Write) -> tuple[ClickLog, FoundSessions]:
    if options["seed"] < 0 or options["depth"] < 2:
        raise BadOptionError("--seed must be 0 or more, --depth 2 or more")
    log = read_log(options, MemoryEvents())
    result = find_sessions(log, rank_base=options["rank_base"], most=options["depth"])
    if sum(one.smallest_rank is not None for one in log.ledger.applications) > 1:
        name = result.application or "events without an application"
        warn(f"Note: of the applications, {name} has the most result pages; --application chooses.")
    return log, result


def _source(result: FoundSessions) -> dict[str, Any]:
    return {
        "application": result.application,
        "rank_base": result.rank_base,
        "sessions": len(result.sessions),
        "results": len(result.sessions.click),
        "clicks": int(result.sessions.click.sum()),
        "dropped": dict(result.dropped),
    }


def _fits(learn: Learn, sessions: Sessions, seed: int) -> dict[str, Any]:
    """On the pages it was learned from; and learned from half of them, on the other half."""
    held_out = None
    if len(sessions) >= FEWEST_HELD_OUT:
        first, second = halves(sessions, seed=seed)
        held_out = _fit(evaluate(learn(first), second))
    return {**_fit(evaluate(learn(sessions), sessions)), "held_out": held_out}


def _fit(fit: Fit) -> dict[str, Any]:
    return {
        "log_likelihood": fit.log_likelihood,
        "perplexity": fit.perplexity,
        "perplexity_shown": fit.perplexity_shown,
        "perplexity_by_rank": fit.perplexity_by_rank.tolist(),
    }


def _pair_counts(sessions: Sessions) -> dict[str, Any]:
    """Of each pair, in their order, how often it was shown and clicked."""
    names, position = np.unique(sessions.pair, return_inverse=True)
    clicks = np.bincount(position[sessions.click], minlength=len(names))
    return {"n": np.bincount(position), "clicks": clicks}


def _pairs(
    log: ClickLog, sessions: Sessions, columns: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """By query, then document. columns: of each pair of the sessions, in their order."""
    names = np.unique(sessions.pair)
    texts = [
        (log.queries[query], log.documents[document])
        for query, document in zip(
            (names >> 32).tolist(), (names & 0xFFFFFFFF).tolist(), strict=True
        )
    ]
    values = {
        "impressions" if name == "n" else name: column.tolist() for name, column in columns.items()
    }
    for row in sorted(range(len(texts)), key=texts.__getitem__):
        query, document = texts[row]
        yield {
            "query": query,
            "document": document,
            **{name: value[row] for name, value in values.items()},
        }


def _curve(values: Any, low: Any, high: Any) -> list[dict[str, Any]]:
    """One entry a rank; null where the estimator refuses."""
    return [
        {"rank": rank, "examination": _number(value), "low": _number(least), "high": _number(most)}
        for rank, (value, least, most) in enumerate(zip(values, low, high, strict=True), start=1)
    ]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _say_json(say: Write, values: Mapping[str, Any]) -> None:
    say(json.dumps(values, ensure_ascii=False))


def _heading(result: FoundSessions) -> str:
    dropped = sum(result.dropped.values())
    return (
        f"{len(result.sessions):,} result pages of {result.application or '(no name)'}, "
        f"ranks from {result.rank_base}, {int(result.sessions.click.sum()):,} clicks; "
        f"{dropped:,} pages left out"
    )


def _fit_table(fits: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [["model", "log-likelihood", "perplexity", "held out", "held out"]]
    for name, fit in fits.items():
        held_out = fit["held_out"] or {}
        rows.append(
            [
                name,
                *(f"{fit[key]:.6f}" for key in ("log_likelihood", "perplexity")),
                *(_cell(held_out.get(key), ".6f") for key in ("log_likelihood", "perplexity")),
            ]
        )
    return aligned(rows)


def _curve_table(curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    rows = [["rank", *(f"{name} [95 %]" for name in curves)]]
    for position in zip(*curves.values(), strict=True):
        cells = [
            f"{_cell(one['examination'], '.4f')} [{_cell(one['low'], '.4f')}, "
            f"{_cell(one['high'], '.4f')}]"
            for one in position
        ]
        rows.append([str(position[0]["rank"]), *cells])
    return aligned(rows)


def _most(log: ClickLog, sessions: Sessions, columns: Mapping[str, Any]) -> str:
    shown = sorted(_pairs(log, sessions, columns), key=lambda pair: -pair["impressions"])[:20]
    names = [name for name in shown[0] if name not in ("query", "document")]
    rows = [["query", "document", *names]]
    for pair in shown:
        cells = (
            f"{pair[name]:.4f}" if isinstance(pair[name], float) else f"{pair[name]:,}"
            for name in names
        )
        rows.append([pair["query"], pair["document"], *cells])
    return aligned(rows)


def _cell(value: float | None, shape: str) -> str:
    return "–" if value is None else format(value, shape)


ADD_ARGUMENTS: Final[Mapping[str, Callable[[ArgumentParser], None]]] = {
    "ctr": add_model_arguments,
    "sdbn": add_model_arguments,
    "pbm": add_pbm_arguments,
}
WORK: Final[Mapping[str, Callable[[Mapping[str, Any], Write, Write], None]]] = {
    "ctr": show_ctr,
    "sdbn": show_sdbn,
    "pbm": show_pbm,
}
