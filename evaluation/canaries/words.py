"""What canaries say in words; functions of plain values."""

from collections.abc import Mapping
from typing import Any, Final

# in this order on the pages
WORDS: Final = {
    "availability": "outage",
    "quality": "quality fell",
    "coverage": "coverage fell",
    "latency": "slow",
}


def describe(kind: str, measure: str, figures: Mapping[str, Any]) -> str:
    """The figures of a look that concern a kind, as one sentence."""
    if kind == "latency":
        return f"The 95th percentile of response times is {figures['p95']:.3f} s."
    if kind == "coverage":
        return (
            f"{figures['judged']:.0%} of the shown documents are judged; in the baseline "
            f"{figures['baseline_judged']:.0%}."
        )
    if kind == "quality":
        return (
            f"{measure} differs from the baseline by {figures['difference']:+.4f} "
            f"(95 % interval {figures['low']:+.4f} to {figures['high']:+.4f}, "
            f"{figures['n']:,} queries)."
        )
    return f"{figures['answered']:,} of {figures['queries']:,} queries were answered."
