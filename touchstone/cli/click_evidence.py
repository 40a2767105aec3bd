"""`clicks summary` and `clicks coec`: what a log holds, and what its pairs got."""

import json
import math
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from touchstone.cli.click_logs import add_log_arguments, read_log
from touchstone.cli.running import Write
from touchstone.clicks.coec import Coec, coec
from touchstone.clicks.events import EventBuckets
from touchstone.clicks.ledger import DESCRIPTIONS, ApplicationLedger, Ledger, Outcome
from touchstone.clicks.log import ClickLog
from touchstone.tables import aligned

SHOWN: Final = 20  # pairs that a table shows


def add_coec_arguments(parser: ArgumentParser) -> None:
    add_log_arguments(parser)
    parser.add_argument(
        "--top",
        type=int,
        default=SHOWN,
        metavar="N",
        help=f"number of pairs in the table (default: {SHOWN})",
    )


def show_summary(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print what became of every record."""
    with EventBuckets() as events:
        log = read_log(options, events)
    say(json.dumps(_summary(log), ensure_ascii=False) if options["json"] else _ledger_table(log))


def show_coec(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print COEC of every pair; the table has the pairs with the most clicks."""
    with EventBuckets() as events:
        log = read_log(options, events)
    _warn_of_bases(log.ledger, warn)
    result = coec(log.evidence)
    if options["json"]:
        pairs = list(_pairs(log, result))
        totals = {"clicks": result.total_clicks, "expected": float(result.total_expected)}
        say(json.dumps({**totals, "pairs": pairs}, ensure_ascii=False))
    else:
        say(_coec_table(log, result, options["top"]))


def _summary(log: ClickLog) -> dict[str, Any]:
    ledger, evidence = log.ledger, log.evidence
    return {
        "records": ledger.records,
        "events": ledger.events,
        "queries": ledger.records - ledger.events,
        "classes": {outcome.key: ledger[outcome] for outcome in Outcome},
        "applications": {one.name: _application(one) for one in ledger.applications},
        "evidence": {
            "rows": len(evidence),
            "impressions": int(evidence.impressions.sum()),
            "clicks": int(evidence.clicks.sum()),
            **_pair_counts(log),
        },
    }


def _application(one: ApplicationLedger) -> dict[str, Any]:
    return {
        "records": sum(one.outcomes.values()),
        "classes": {outcome.key: count for outcome, count in sorted(one.outcomes.items())},
        "actions": dict(sorted(one.actions.items())),
        "smallest_rank": one.smallest_rank,
        "rank_base": one.rank_base,
    }


def _pair_counts(log: ClickLog) -> dict[str, int]:
    result = coec(log.evidence)
    return {
        "pairs_shown": int((result.impressions > 0).sum()),
        "pairs_shown_at_several_ranks": int((result.shown_ranks > 1).sum()),
        "pairs_clicked_only": int((result.impressions == 0).sum()),
    }


def _ledger_table(log: ClickLog) -> str:
    ledger = log.ledger
    applications = sorted(ledger.applications, key=lambda one: one.name)
    rows = [["", "all", *(one.name or "(no name)" for one in applications)]]
    rows += [
        [
            DESCRIPTIONS[outcome],
            f"{ledger[outcome]:,}",
            *(f"{one.outcomes.get(outcome, 0):,}" for one in applications),
        ]
        for outcome in Outcome
        if ledger[outcome]
    ]
    own = (sum(one.outcomes.values()) for one in applications)
    rows.append(["records", f"{ledger.records:,}", *(f"{records:,}" for records in own)])
    rows.append(["rank of the first result", "", *map(_base, applications)])
    return aligned(rows)


def _base(one: ApplicationLedger) -> str:
    if one.smallest_rank is None:
        return "–"
    return f"{one.rank_base}" if one.rank_base is not None else f"unknown ({one.smallest_rank})"


def _warn_of_bases(ledger: Ledger, warn: Write) -> None:
    """Ranks of applications that count from different numbers are different places."""
    bases = {one.name: one.smallest_rank for one in ledger.applications}
    counted = {name: rank for name, rank in bases.items() if rank is not None}
    if len(set(counted.values())) > 1:
        said = ", ".join(
            f"{rank} in {name or 'one without a name'}" for name, rank in counted.items()
        )
        warn(f"Note: the smallest rank is {said}. Choose one with --application.")


def _pairs(log: ClickLog, result: Coec) -> Iterator[dict[str, Any]]:
    """By query, then document, in the order of their texts."""
    queries, documents = log.queries, log.documents
    columns = (result.query, result.document, result.impressions, result.clicks, result.coec)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    named = ((queries[query], documents[document], *rest) for query, document, *rest in rows)
    for query, document, impressions, clicks, value in sorted(named, key=lambda row: row[:2]):
        yield {
            "query": query,
            "document": document,
            "impressions": impressions,
            "clicks": clicks,
            "coec": None if math.isnan(value) else value,
        }


def _coec_table(log: ClickLog, result: Coec, top: int) -> str:
    pairs = sorted(_pairs(log, result), key=lambda pair: -pair["clicks"])[: max(top, 0)]
    rows = [["query", "document", "impressions", "clicks", "COEC"]]
    rows += [
        [
            pair["query"],
            pair["document"],
            f"{pair['impressions']:,}",
            f"{pair['clicks']:,}",
            "–" if pair["coec"] is None else f"{pair['coec']:.4f}",
        ]
        for pair in pairs
    ]
    count = len(result.query)
    return (
        f"{result.total_clicks:,} clicks, {result.total_expected:,} expected, {count:,} pairs"
        f"{f', {len(pairs):,} with the most clicks:' if len(pairs) < count else ':'}\n"
        f"{aligned(rows)}"
    )


ADD_ARGUMENTS: Final[Mapping[str, Callable[[ArgumentParser], None]]] = {
    "summary": add_log_arguments,
    "coec": add_coec_arguments,
}
WORK: Final[Mapping[str, Callable[[Mapping[str, Any], Write, Write], None]]] = {
    "summary": show_summary,
    "coec": show_coec,
}
