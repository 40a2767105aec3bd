"""Accuracy of an annotator on pairs with known answers.

An error is a number of steps of the scale: 0 is right, above 0 too good, below 0 too bad.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.statistics.wilson import wilson_interval


def error_of(grade: int, *, low: int, high: int, codes: Sequence[int]) -> int:
    """How many steps a grade is above or below the accepted ones.

    codes: the scale's, worst first; the others are among them.
    """
    step = codes.index(grade)
    return max(0, step - codes.index(high)) - max(0, codes.index(low) - step)


@dataclass(frozen=True)
class Accuracy:
    """How often labels were right. exact: inside the accepted range. within_one: at most a step
    outside. mean_error: with its sign; above 0 means too good grades. exact_interval: the share
    that is right lies in there, by Wilson, 95 %."""

    checks: int
    exact: int
    within_one: int
    mean_error: float
    exact_interval: tuple[float, float]

    @property
    def exact_share(self) -> float:
        return self.exact / self.checks

    @property
    def within_one_share(self) -> float:
        return self.within_one / self.checks


def accuracy(errors: Sequence[int]) -> Accuracy | None:
    """What the errors come to; None where nothing was checked."""
    exact = errors.count(0)
    interval = wilson_interval(exact, len(errors))
    if interval is None:
        return None
    return Accuracy(
        checks=len(errors),
        exact=exact,
        within_one=sum(abs(error) <= 1 for error in errors),
        mean_error=sum(errors) / len(errors),
        exact_interval=interval,
    )
