"""`clicks ips`: what a policy would have got, from another one's log."""

import json
import math
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any, Final

from touchstone.cli.running import BadOptionError, Write
from touchstone.clicks.counterfactual import Counterfactual, counterfactual
from touchstone.clicks.policy_log import PolicyLog, read_policy_log
from touchstone.statistics.clustered import Estimate
from touchstone.tables import aligned


def add_ips_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        help="CSV: reward, logging_probability, target_probability, optionally cluster",
    )
    parser.add_argument(
        "--clip",
        type=float,
        nargs="+",
        metavar="W",
        help="clip weights at these values (default: their 99.9, 99, 95 and 90 %% quantiles)",
    )


def show_ips(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print the estimates. Raises FileRefused and BadOptionError."""
    clips = options["clip"]
    if clips is not None and not all(clip > 0 and math.isfinite(clip) for clip in clips):
        raise BadOptionError("--clip must be above 0")
    log = read_policy_log(options["file"], name=options["file"])
    result = counterfactual(log.rewards, log.logging, log.target, log.clusters, clips=clips)
    if options["json"]:
        say(json.dumps(_values(log, result), ensure_ascii=False))
    else:
        say(_table(log, result))


def _values(log: PolicyLog, result: Counterfactual) -> dict[str, Any]:
    return {
        "ips": result.ips.value,
        "snips": _number(result.snips.value),
        "ess": result.ess,
        "ci": _interval(result.ips),
        "max_weight": result.largest[0][1],
        "snips_ci": _interval(result.snips),
        "standard_error": result.ips.standard_error,
        "n": result.n,
        "clusters": result.clusters,
        "logged": result.logged.value,
        "logged_ci": _interval(result.logged),
        "largest_weights": [
            {"line": log.lines[row], "weight": weight} for row, weight in result.largest
        ],
        "clipped": [
            {
                "clip": one.clip,
                "share_clipped": one.share,
                "ips": one.ips.value,
                "ci": _interval(one.ips),
            }
            for one in result.sensitivity
        ],
    }


def _interval(estimate: Estimate) -> list[float] | None:
    """None with fewer than two clusters."""
    if estimate.low is None or estimate.high is None:
        return None
    return [estimate.low, estimate.high]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _table(log: PolicyLog, result: Counterfactual) -> str:
    rows = [["estimate", "value", "95 % interval"]]
    named = [("logged policy", result.logged), ("IPS", result.ips), ("SNIPS", result.snips)]
    named += [
        (f"IPS, weights up to {one.clip:.4g} ({one.share:.1%} clipped)", one.ips)
        for one in result.sensitivity
    ]
    for name, estimate in named:
        interval = _interval(estimate)
        shown = "–" if interval is None else f"[{interval[0]:.6f}, {interval[1]:.6f}]"
        rows.append([name, f"{estimate.value:.6f}", shown])
    largest = ", ".join(f"{weight:.4g} (line {log.lines[row]})" for row, weight in result.largest)
    return (
        f"{result.n:,} observations in {result.clusters:,} clusters, "
        f"effective sample size {result.ess:,.1f}\n"
        f"largest weights: {largest}\n{aligned(rows)}"
    )


ADD_ARGUMENTS: Final[Mapping[str, Callable[[ArgumentParser], None]]] = {"ips": add_ips_arguments}
WORK: Final[Mapping[str, Callable[[Mapping[str, Any], Write, Write], None]]] = {"ips": show_ips}
