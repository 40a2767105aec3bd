"""What canaries say in words; functions of plain values."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

# in this order on the pages
WORDS: Final = {
    "availability": "outage",
    "quality": "quality fell",
    "threshold": "below the threshold",
    "board": "board rule broken",
    "rules": "rule broken",
    "coverage": "coverage fell",
    "latency": "slow",
}

MOST_TOLD: Final = 3  # broken rules of a message


def describe(kind: str, measure: str, figures: Mapping[str, Any]) -> str:
    """The figures of a look that concern a kind, as one sentence."""
    if kind == "latency":
        return f"The 95th percentile of response times is {figures['p95']:.3f} s."
    if kind == "coverage":
        return (
            f"{100 * figures['judged']:.0f} % of the shown documents are judged; in the baseline "
            f"{100 * figures['baseline_judged']:.0f} %."
        )
    if kind == "quality":
        return (
            f"{measure} differs from the baseline by {figures['difference']:+.4f} "
            f"(95 % interval {figures['low']:+.4f} to {figures['high']:+.4f}, "
            f"{figures['n']:,} queries)."
        )
    if kind == "threshold":
        return f"{measure} is {figures['mean']:.4f}; the threshold is {figures['floor']:g}."
    if kind in ("rules", "board"):
        return _describe_rules(figures[kind])
    return (
        f"The evaluation failed: {figures['problem']}"
        if "problem" in figures
        else f"{figures['answered']:,} of {figures['queries']:,} queries were answered."
    )


def _describe_rules(checked: Sequence[Mapping[str, Any]]) -> str:
    """How many rules are broken, and the first of them."""
    broken = [one for one in checked if one.get("is_kept") is False or one.get("finding") == "bad"]
    if not broken:
        return f"No rule of {len(checked):,} is broken."
    told = "; ".join(f"{one['rule']} ({one['found']})" for one in broken[:MOST_TOLD])
    more = len(broken) - MOST_TOLD
    end = f"; and {more:,} more" if more > 0 else ""
    return f"{len(broken):,} of {len(checked):,} rules are broken: {told}{end}."
