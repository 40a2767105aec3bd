"""`compare`: differences between runs and a baseline on one measure, with their uncertainty."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import Any, Final

import numpy as np

from touchstone.cli.own_files import own_runs, read_own_qrels
from touchstone.cli.running import BadOptionError, Write
from touchstone.measures.asking import Asked, ask
from touchstone.measures.errors import MeasureError
from touchstone.measures.files import FileValues, evaluate_file
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.reports import run_names
from touchstone.statistics.intervals import half_interval
from touchstone.statistics.named_tests import TESTS, USUAL_TEST, Test
from touchstone.statistics.paired import Comparison, compare, holm
from touchstone.statistics.resampling import FloatArray
from touchstone.tables import aligned

CONFIDENCE: Final = 0.95
HELP: Final = (
    "Compare TREC run files with a baseline on the queries that count for both: mean difference "
    "(run minus baseline), 95 % interval, two-sided p-value, Holm-corrected p-value, and the "
    "minimum detectable difference (80 % power)."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--qrels", required=True, metavar="FILE")
    parser.add_argument("--run", required=True, nargs="+", action="extend", metavar="FILE")
    parser.add_argument("--measure", required=True, help="for example nDCG@10 or lightgbm:nDCG@10")
    parser.add_argument(
        "--baseline", metavar="NAME", help="file name of the baseline run (default: the first)"
    )
    parser.add_argument(
        "--test",
        choices=sorted(TESTS),
        default=USUAL_TEST,
        help=f"significance test; with t, the interval is Student's, else BCa "
        f"(default: {USUAL_TEST})",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of the resamples (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print each run's comparison. Raises FileRefused, MeasureError and BadOptionError."""
    if options["seed"] < 0:
        raise BadOptionError("--seed must be 0 or more")
    asked = ask(options["measure"])
    names = run_names(options["run"])
    baseline = names[0] if options["baseline"] is None else options["baseline"]
    if baseline not in names:
        raise BadOptionError(f"--baseline {baseline}: not one of the runs {', '.join(names)}")
    if len(names) < 2:
        raise BadOptionError("--run needs two files or more")
    values = dict(zip(names, _evaluate(asked, options, names), strict=True))
    others = [name for name in names if name != baseline]
    result = [
        _compare(values[name], values[baseline], options["test"], options["seed"])
        for name in others
    ]
    rows = list(_rows(others, result))
    if options["json"]:
        whole = {"measure": asked.name, "baseline": baseline, "comparisons": rows}
        say(json.dumps(whole, ensure_ascii=False))
    else:
        say(_table(asked.name, baseline, rows))


def _evaluate(
    asked: Asked, options: Mapping[str, Any], names: Sequence[str]
) -> Iterator[FileValues]:
    judged = JudgedQueries(read_own_qrels(options["qrels"]))
    for name, run in zip(names, own_runs(options["run"]), strict=True):
        result = evaluate_file(judged, run, [asked.measure])
        if not result.counted[:, 0].any():
            raise MeasureError(f"{asked.name}: no query of {name} is in the mean")
        yield result


def _differences(run: FileValues, baseline: FileValues) -> FloatArray:
    """Run minus baseline, of the queries that are in both means, in the qrels' order."""
    own, other = _by_query(run), _by_query(baseline)
    return np.array([own[query] - other[query] for query in other if query in own])


def _by_query(result: FileValues) -> dict[str, float]:
    return {
        query: float(result.values[row, 0])
        for row, query in enumerate(result.query_ids)
        if result.counted[row, 0]
    }


def _compare(
    run: FileValues, baseline: FileValues, test: Test, seed: int
) -> tuple[Comparison, list[float | None]]:
    """The comparison, and its interval: Student's for the t test, else BCa."""
    differences = _differences(run, baseline)
    result = compare(differences, test=test, seed=seed, confidence=CONFIDENCE)
    if test != "t" or result.n < 2 or result.mean is None:
        return result, [result.low, result.high]
    error = float(differences.std(ddof=1)) / sqrt(result.n)
    half = half_interval(error, result.n, confidence=CONFIDENCE) or 0.0
    return result, [result.mean - half, result.mean + half]


def _rows(
    names: Sequence[str], result: Sequence[tuple[Comparison, list[float | None]]]
) -> Iterator[dict[str, Any]]:
    known = [one.p_value for one, _ in result if one.p_value is not None]
    corrected = iter(holm(known).tolist())
    for name, (one, interval) in zip(names, result, strict=True):
        yield {
            "run": name,
            "n": one.n,
            "difference": one.mean,
            "ci": interval,
            "p": one.p_value,
            "p_holm": None if one.p_value is None else next(corrected),
            "mdd": one.detectable,
        }


def _table(measure: str, baseline: str, rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["run", "n", "difference", "95 % interval", "p", "p (Holm)", "detectable"]
    cells = [head] + [
        [
            row["run"],
            f"{row['n']:,}",
            _number(row["difference"], "+.4f"),
            f"[{_number(row['ci'][0], '+.4f')}, {_number(row['ci'][1], '+.4f')}]",
            _number(row["p"], ".4f"),
            _number(row["p_holm"], ".4f"),
            _number(row["mdd"], ".4f"),
        ]
        for row in rows
    ]
    return f"{measure}, compared with {baseline}\n{aligned(cells)}"


def _number(value: float | None, shape: str) -> str:
    return "–" if value is None else format(value, shape)
