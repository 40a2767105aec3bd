"""`estimate`: a machine judge's mean, corrected by queries that people judged. Files only."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, Final

from touchstone.cli.running import BadOptionError, Write
from touchstone.statistics.corrected import (
    FEWEST_JUDGED,
    CorrectedMean,
    corrected_list_mean,
    corrected_sample_mean,
    people_mean,
    too_few,
)
from touchstone.statistics.judged_values import JudgedValues, read_judged_values
from touchstone.tables import aligned

DESIGNS: Final = ("superpopulation", "fixed")
INTERVALS: Final = ("t", "z")
HELP: Final = (
    "Estimate a measure's mean from a machine judge's values for all queries, corrected with human "
    "values for a random sample of them, with an interval; next to human only and machine only."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--human",
        required=True,
        metavar="FILE",
        help="CSV query_id,value, from human labels of a sample",
    )
    parser.add_argument(
        "--judge",
        required=True,
        metavar="FILE",
        help="CSV query_id,value, from the machine's labels of all queries",
    )
    parser.add_argument(
        "--design",
        choices=DESIGNS,
        default=DESIGNS[0],
        help="superpopulation: the queries are a sample of more; fixed: exactly these queries "
        f"(default: {DESIGNS[0]})",
    )
    parser.add_argument(
        "--interval",
        choices=INTERVALS,
        default=INTERVALS[0],
        help="quantiles: Student's t or normal",
    )
    parser.add_argument(
        "--level", type=float, default=0.95, help="confidence level of the interval (default: 0.95)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print the three means. Raises FileRefused, BadOptionError and CorrectionRefusedError."""
    if not 0 < options["level"] < 1:
        raise BadOptionError("--level must be between 0 and 1")
    values = read_judged_values(options["human"], options["judge"])
    result = _means(values, options)
    if options["json"]:
        say(json.dumps(result, ensure_ascii=False))
    else:
        say(_table(result, options["level"]))


def _means(values: JudgedValues, options: Mapping[str, Any]) -> dict[str, Any]:
    n, size = len(values.human), len(values.judge_all)
    how = {"interval": options["interval"], "level": options["level"]}
    is_fixed = options["design"] == "fixed"
    if n < FEWEST_JUDGED and not (is_fixed and n == size):
        raise BadOptionError(f"{options['human']}: {too_few(n)}")
    if is_fixed:
        corrected = corrected_list_mean(values.human, values.judge, values.judge_all, **how)
    else:
        corrected = corrected_sample_mean(values.human, values.judge, values.others, **how)
    people = people_mean(values.human, size=size if is_fixed else None, **how)
    machine = people_mean(values.judge_all, size=size if is_fixed else None, **how)
    method = "regression, fixed list" if is_fixed else "PPI++"
    return {
        **_row(corrected, n, size, f"{method}, {options['interval']}"),
        "human": _row(people, n, 0, f"people only, {options['interval']}"),
        "judge": {
            **_row(machine, 0, size, f"machine only, {options['interval']}"),
            "lambda": None,
        },
    }


def _row(result: CorrectedMean, n_human: int, n_judge: int, method: str) -> dict[str, Any]:
    return {
        "estimate": float(result.estimate),
        "se": float(result.standard_error),
        "ci": [float(result.low), float(result.high)],
        "lambda": float(result.weight),
        "n_human": n_human,
        "n_judge": n_judge,
        "method": method,
    }


def _table(result: Mapping[str, Any], level: float) -> str:
    rows = [["", "mean", "standard error", f"{level * 100:g} % interval", "±"]]
    for name, row in (
        ("corrected", result),
        ("people only", result["human"]),
        ("machine only", result["judge"]),
    ):
        low, high = row["ci"]
        half = (high - low) / 2
        interval = f"[{low:.4f}, {high:.4f}]"
        rows.append([name, f"{row['estimate']:.4f}", f"{row['se']:.4f}", interval, f"{half:.4f}"])
    return (
        f"{result['n_human']:,} of {result['n_judge']:,} queries judged by people; "
        f"λ = {result['lambda']:.3f}\n{aligned(rows)}\n"
        "The machine-only interval does not account for the machine's bias."
    )
