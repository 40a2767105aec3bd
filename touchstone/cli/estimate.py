"""`estimate`: a machine judge's mean, corrected by queries that people judged. Files only."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from touchstone.cli.running import BadOptionError, Write
from touchstone.statistics.corrected import FEWEST_JUDGED, too_few
from touchstone.statistics.judged_values import JudgedValues, read_judged_values
from touchstone.statistics.three_means import OneMean, PeoplesQueries, three_means
from touchstone.tables import aligned

DESIGNS: Final = ("superpopulation", "fixed")
INTERVALS: Final = ("t", "z")
SAMPLINGS: Final = ("sequential-poisson", "poisson")
SHORT: Final = (
    "The corrected interval is probably too short: too few values differ from the most common "
    "one, or from the machine's, or probabilities differ too much."
)
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
        "--strata",
        metavar="COLUMN",
        help="of the machine's file: people's queries were drawn in each stratum by itself",
    )
    parser.add_argument(
        "--pi",
        metavar="COLUMN",
        help="of the people's file: the probability with which each query was drawn, where these "
        "differ (with --design fixed)",
    )
    parser.add_argument(
        "--sampling",
        choices=SAMPLINGS,
        default=SAMPLINGS[0],
        help="how queries with --pi were drawn: a fixed number in each stratum, as `sample plan "
        f"--size` does, or each by itself (default: {SAMPLINGS[0]})",
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
    is_fixed, is_unequal = options["design"] == "fixed", options["pi"] is not None
    if is_unequal and not is_fixed:
        raise BadOptionError("--pi needs --design fixed: the machine’s file has every query")
    if options["sampling"] != SAMPLINGS[0] and not is_unequal:
        raise BadOptionError("--sampling needs --pi, the probabilities")
    values = read_judged_values(
        options["human"], options["judge"], strata=options["strata"], pi=options["pi"]
    )
    _check_enough(values, options["human"], is_fixed=is_fixed, is_unequal=is_unequal)
    result = _means(values, options)
    if options["json"]:
        say(json.dumps(result, ensure_ascii=False))
    else:
        say(_table(result, options["level"]))


def _check_enough(values: JudgedValues, name: str, *, is_fixed: bool, is_unequal: bool) -> None:
    """Of each stratum, unless people judged all of it; with unequal probabilities of all."""
    own = values.strata[values.rows]
    for code, stratum in enumerate(("",) if is_unequal else values.names):
        n, size = len(own), len(values.judge)
        if not is_unequal:
            n, size = int((own == code).sum()), int((values.strata == code).sum())
        if n < FEWEST_JUDGED and not (is_fixed and n == size):
            of = f": stratum {stratum}" if stratum else ""
            raise BadOptionError(f"{name}{of}: {too_few(n)}")


def _means(values: JudgedValues, options: Mapping[str, Any]) -> dict[str, Any]:
    interval, is_fixed = options["interval"], options["design"] == "fixed"
    drawn = PeoplesQueries(
        target="list" if is_fixed else "population",
        rows=values.rows,
        strata=values.strata,
        shares=np.bincount(values.strata) / len(values.strata),
        pi=values.pi,
        is_independent=options["sampling"] == "poisson",
    )
    found = three_means(
        values.human, values.judge, drawn, interval=interval, level=options["level"]
    )
    n, size = len(values.human), len(values.judge)
    if values.pi is not None:
        method = f"difference, fixed list, {options['sampling']} sampling"
    else:
        method = "regression, fixed list" if is_fixed else "PPI++"
        method += ", by stratum" if len(values.names) > 1 else ""
    return {
        **_row(found.corrected, found.weight, n, size, f"{method}, {interval}"),
        "human": _row(found.people, 0.0, n, 0, f"people only, {interval}"),
        "judge": _row(found.machine, None, 0, size, f"machine only, {interval}"),
        "reliable": found.is_reliable,
    }


def _row(
    mean: OneMean, weight: float | None, n_human: int, n_judge: int, method: str
) -> dict[str, Any]:
    return {
        "estimate": mean.value,
        "se": mean.standard_error,
        "ci": [mean.low, mean.high],
        "lambda": weight,
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
    short = "" if result["reliable"] else f"{SHORT}\n"
    return (
        f"{result['n_human']:,} of {result['n_judge']:,} queries judged by people; "
        f"λ = {result['lambda']:.3f}\n{aligned(rows)}\n{short}"
        "The machine-only interval does not account for the machine's bias."
    )
