"""What labelling has cost in hours and money, what is still to come, and what more would cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

HOUR: Final = 3600.0


@dataclass(frozen=True)
class Rates:
    """What an hour or a label costs; None where no one said."""

    hourly: float | None = None
    per_label: float | None = None

    def or_price(self, price: int | None) -> "Rates":
        """These rates, or where there are none the price of a label, in hundredths."""
        is_given = self.hourly is not None or self.per_label is not None
        return self if is_given or price is None else Rates(per_label=price / 100)


@dataclass(frozen=True)
class Cost:
    """Time and money: so far, still to come, and for one more label of each pair.

    labels: all that were given, of gold, repeats and training too. measured: those whose active
    seconds are known; mean_seconds: of these. Hours are None where nothing was measured, money
    (spent, left, extra) without a rate.
    """

    labels: int
    measured: int
    mean_seconds: float | None
    hours: float | None
    spent: float | None
    labels_left: int
    left_hours: float | None
    left: float | None
    labels_extra: int
    extra_hours: float | None
    extra: float | None


def cost(figures: Mapping[str, Any], labels_left: int, rates: Rates) -> Cost:
    """The cost of a campaign by its figures; labels without a time count as the mean."""
    given = figures["given"]
    mean = given["seconds"] / given["measured"] if given["measured"] else None

    def hours(labels: int) -> float | None:
        return None if mean is None else labels * mean / HOUR

    def money(labels: int) -> float | None:
        if rates.per_label is not None:
            return labels * rates.per_label
        time = hours(labels)
        return None if rates.hourly is None or time is None else time * rates.hourly

    return Cost(
        labels=given["labels"],
        measured=given["measured"],
        mean_seconds=mean,
        hours=hours(given["labels"]),
        spent=money(given["labels"]),
        labels_left=labels_left,
        left_hours=hours(labels_left),
        left=money(labels_left),
        labels_extra=figures["pairs"],
        extra_hours=hours(figures["pairs"]),
        extra=money(figures["pairs"]),
    )


def total(costs: Sequence[Cost]) -> Cost:
    """Several costs together; what is not known of some is left out of the sum."""
    measured = sum(one.measured for one in costs)
    seconds = _known(costs, lambda one: one.mean_seconds and one.mean_seconds * one.measured)
    return Cost(
        labels=sum(one.labels for one in costs),
        measured=measured,
        mean_seconds=seconds / measured if seconds is not None and measured else None,
        hours=_known(costs, lambda one: one.hours),
        spent=_known(costs, lambda one: one.spent),
        labels_left=sum(one.labels_left for one in costs),
        left_hours=_known(costs, lambda one: one.left_hours),
        left=_known(costs, lambda one: one.left),
        labels_extra=sum(one.labels_extra for one in costs),
        extra_hours=_known(costs, lambda one: one.extra_hours),
        extra=_known(costs, lambda one: one.extra),
    )


def _known(costs: Sequence[Cost], of: Callable[[Cost], float | None]) -> float | None:
    result = [value for value in map(of, costs) if value is not None]
    return sum(result) if result else None
