"""`sample`: draw the queries to judge, and estimate from those that were. Files only."""

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from touchstone.cli.running import BadOptionError, Write
from touchstone.sampling.designs import SamplePlan, sequential_poisson, simple_random, stratified
from touchstone.sampling.estimation import (
    Variance,
    hajek_mean,
    horvitz_thompson_variance,
    mean_influence,
    standard_error,
    stratified_variance,
    total,
    with_replacement_variance,
    yates_grundy_variance,
)
from touchstone.sampling.frame_files import read_frame
from touchstone.sampling.sample_files import JudgedSample, read_joint, read_sample
from touchstone.sampling.weighting import mean_per_query
from touchstone.tables import aligned

SHOWN: Final = 20  # queries that a table shows
HELP: Final = "Draw a sample of queries from a frame, and estimate totals and means from one."


def add_arguments(parser: ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="part", metavar="PART", required=True)
    words = "draw queries, with their inclusion probabilities"
    plan = parts.add_parser("plan", help=words, description=f"{words.capitalize()}.")
    plan.add_argument(
        "frame", metavar="FRAME.csv", help="CSV of all queries, in a column named query"
    )
    plan.add_argument("--n", required=True, type=int, metavar="N", help="number of queries to draw")
    plan.add_argument("--strata", metavar="COLUMN", help="stratify by this column")
    plan.add_argument(
        "--size", metavar="COLUMN", help="draw with probability proportional to this column"
    )
    plan.add_argument("--seed", required=True, type=int, metavar="S", help="random seed")
    words = "total, mean and standard errors of a sample"
    estimate = parts.add_parser("estimate", help=words, description=f"{words.capitalize()}.")
    estimate.add_argument(
        "sample",
        metavar="SAMPLE.csv",
        help="CSV with the columns value and pi, optionally stratum and N_h",
    )
    estimate.add_argument(
        "--joint",
        metavar="FILE",
        help="joint inclusion probabilities: a CSV matrix without a header",
    )
    for part in (plan, estimate):
        part.add_argument("--json", action="store_true", help="print one JSON object")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print a plan or an estimate. Raises FileRefused, BadOptionError and SamplingError."""
    (_plan if options["part"] == "plan" else _estimate)(options, say, warn)


def _plan(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    n, seed = options["n"], options["seed"]
    if n < 1:
        raise BadOptionError("--n must be 1 or more")
    path, strata, size = options["frame"], options["strata"], options["size"]
    frame = read_frame(path, name=path, strata=strata, size=size)
    if strata is not None:
        result = stratified(frame, n, seed=seed, by_size=size is not None)
    elif size is not None:
        result = sequential_poisson(frame, n, seed=seed)
    else:
        result = simple_random(frame, n, seed=seed)
    rows = [
        {"query": query, "stratum": stratum if strata is not None else None, "pi": pi}
        for query, stratum, pi in zip(
            result.queries, result.strata, result.pi.tolist(), strict=True
        )
    ]
    if options["json"]:
        whole = {"seed": seed, "frame_digest": frame.digest, "queries": rows}
        say(json.dumps(whole, ensure_ascii=False))
    else:
        say(_plan_table(result, rows))


def _plan_table(plan: SamplePlan, rows: list[dict[str, Any]]) -> str:
    frame = plan.frame
    certain = int((plan.pi == 1).sum())
    lines = [
        f"{len(rows):,} of {len(frame):,} queries, seed {plan.seed}"
        + (f"; {certain:,} of them are in every sample" if certain else ""),
        f"frame {frame.digest}",
    ]
    drawn = Counter(plan.strata)
    if frame.strata != ("",):
        counts = {
            name: int((frame.stratum == code).sum()) for code, name in enumerate(frame.strata)
        }
        cells = [["stratum", "queries", "drawn"]]
        cells += [[name, f"{counts[name]:,}", f"{drawn[name]:,}"] for name in frame.strata]
        lines += ["", aligned(cells)]
    cells = [["query", "stratum", "pi"]]
    cells += [[row["query"], row["stratum"] or "–", f"{row['pi']:.6f}"] for row in rows[:SHOWN]]
    more = f"… {len(rows) - SHOWN:,} more; --json prints all" if len(rows) > SHOWN else ""
    return "\n".join([*lines, "", aligned(cells), more]).rstrip()


def _estimate(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    path, joint_path = options["sample"], options["joint"]
    sample = read_sample(path, name=path)
    variances = _variances(sample, joint_path)
    of_total = _errors(variances, sample.values)
    of_mean = _errors(variances, mean_influence(sample.values, sample.pi))
    for name in (name for name, error in of_total.items() if error is None):
        warn(f"Note: no standard error by {WORDS[name]}: the variance estimate is negative.")
    if options["json"]:
        whole = {
            "total": total(sample.values, sample.pi),
            "mean": hajek_mean(sample.values, sample.pi),
            "standard_errors": of_total,
            "mean_standard_errors": of_mean,
        }
        say(json.dumps(whole, ensure_ascii=False))
    else:
        say(_estimate_table(sample, of_total, of_mean))


WORDS: Final = {
    "with_replacement": "with replacement",
    "horvitz_thompson": "Horvitz-Thompson",
    "yates_grundy": "Yates-Grundy",
}


def _variances(sample: JudgedSample, joint_path: str | None) -> dict[str, Variance]:
    """The variances of a total that this sample allows, as functions of its values."""
    pi, strata = sample.pi, sample.stratum
    result: dict[str, Variance] = {
        "with_replacement": lambda values: with_replacement_variance(values, pi, strata)
    }
    counts = sample.counts
    if joint_path is not None:
        joint = read_joint(joint_path, name=joint_path, pi=pi)
        result["horvitz_thompson"] = lambda values: horvitz_thompson_variance(values, pi, joint)
        result["yates_grundy"] = lambda values: yates_grundy_variance(values, pi, joint)
    elif counts is not None:
        # of simple random samples of each stratum the joint chances are known, and both are this
        for name in ("horvitz_thompson", "yates_grundy"):
            result[name] = lambda values: stratified_variance(values, strata, counts)
    return result


def _errors(variances: Mapping[str, Variance], values: Any) -> dict[str, float | None]:
    return {name: standard_error(variance(values)) for name, variance in variances.items()}


def _estimate_table(
    sample: JudgedSample, of_total: Mapping[str, float | None], of_mean: Mapping[str, float | None]
) -> str:
    mean = mean_per_query(sample.values, sample.pi)
    cells = [
        ["", "total", "mean"],
        ["estimate", f"{total(sample.values, sample.pi):,.6g}", f"{mean.value:.6g}"],
    ]
    cells += [
        [f"standard error, {WORDS[name]}", _number(of_total[name]), _number(of_mean[name])]
        for name in of_total
    ]
    return (
        f"{len(sample.values):,} queries; by their weights as good as {mean.effective_n:,.1f} of "
        f"equal weight (design effect {mean.design_effect:.3f})\n{aligned(cells)}"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.6g}"
