"""A comparison's result as a sentence."""

from touchstone.statistics.paired import FEWEST, Comparison

LEVEL = 0.05


def verdict(comparison: Comparison, *, p_value: float | None, baseline: str, other: str) -> str:
    """One or two sentences about `other` against `baseline`.

    p_value: the comparison's, corrected for whatever else was asked at the same time.
    """
    if comparison.n < FEWEST:
        n = f"{comparison.n} {'query' if comparison.n == 1 else 'queries'}"
        return f"Too few queries: {n}. A comparison needs at least {FEWEST}, and usually far more."
    if comparison.effect is None and comparison.mean == 0:
        return f"{other} and {baseline} have the same value on every query."
    assert comparison.mean is not None
    size = f"{abs(comparison.mean):.4f}"
    if p_value is not None and p_value <= LEVEL:
        word = "better" if comparison.mean > 0 else "worse"
        return (
            f"{other} is {word} than {baseline} by {size} (95 % interval {_between(comparison)})."
        )
    if comparison.detectable is None:
        return f"No significant difference between {other} and {baseline}."
    return (
        f"No significant difference between {other} and {baseline} ({comparison.mean:+.4f}). "
        f"Minimum detectable difference of {comparison.n:,} such queries: "
        f"{comparison.detectable:.4f} (80 % power)."
    )


def _between(comparison: Comparison) -> str:
    assert comparison.low is not None
    assert comparison.high is not None
    edges = sorted((abs(comparison.low), abs(comparison.high)))
    if comparison.low * comparison.high < 0:
        return f"{comparison.low:+.4f} to {comparison.high:+.4f}"
    return f"{edges[0]:.4f} to {edges[1]:.4f}"
