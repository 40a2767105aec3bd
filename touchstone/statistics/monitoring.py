"""When to alert about a ranker that is measured again and again: once per incident.

Each look compares a ranker's values with those of a pinned baseline on the same queries. One look
beyond its limit is no incident: `in_a_row` of them are. An incident ends after as many looks in a
row that are well within the limit (hysteresis), so that values near a limit do not alert again and
again. Quality, coverage, latency and availability are watched apart, because they have different
causes and are repaired by different people.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, sqrt
from typing import Final

from scipy.special import ndtr, stdtrit

from touchstone.statistics.non_inferiority import LEVEL, check, student_interval
from touchstone.statistics.resampling import FloatArray

CLEAR: Final = 0.5  # the share of a margin below which a fall is over


class Finding(StrEnum):
    """What a look says. UNCLEAR: neither that something is wrong nor that it is over."""

    BAD = "bad"
    UNCLEAR = "unclear"
    GOOD = "good"


class Event(StrEnum):
    """What to tell people after a look."""

    OPENED = "opened"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Watch:
    """What is remembered between looks. streak: looks in a row that are bad, or, while an incident
    is open, good.
    """

    is_open: bool = False
    streak: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """The mean difference to the baseline, and its interval. n: queries."""

    n: int
    difference: float
    low: float
    high: float


def advance(watch: Watch, finding: Finding | None, *, in_a_row: int) -> tuple[Watch, Event | None]:
    """What is remembered after a look, and what is to be told.

    finding: None for a look that says nothing, such as a snapshot that failed: it neither opens
    nor ends an incident, and breaks no streak. in_a_row: looks, 1 or more.
    Raises ValueError for a smaller number.
    """
    if in_a_row < 1:
        raise ValueError(f"in_a_row must be 1 or more, not {in_a_row}")
    if finding is None:
        return watch, None
    wanted = Finding.GOOD if watch.is_open else Finding.BAD
    if finding is not wanted:
        return replace(watch, streak=0), None
    if watch.streak + 1 < in_a_row:
        return replace(watch, streak=watch.streak + 1), None
    return Watch(is_open=not watch.is_open), Event.RECOVERED if watch.is_open else Event.OPENED


def fall_of(differences: FloatArray, *, level: float = LEVEL) -> Fall:
    """The mean of paired differences with Student's two-sided interval.

    differences: float64 (n,), values now minus values of the baseline, of the queries that both
    have judged. With fewer than two the interval is unbounded.
    """
    check(margin=0.0, level=level)
    n = len(differences)
    if n < 2:
        difference = float(differences[0]) if n else 0.0
        return Fall(n=n, difference=difference, low=-inf, high=inf)
    low, high = map(float, student_interval(differences, level=level))
    return Fall(n=n, difference=float(differences.mean()), low=low, high=high)


def judge_quality(fall: Fall, *, margin: float, judged_only: Fall | None = None) -> Finding:
    """Whether values fell by more than the margin.

    Bad if the whole interval lies below −margin. judged_only: the same with unjudged documents left
    out of both rankings; where that did not fall as well, what fell is coverage and not quality.
    Raises ValueError for a margin below 0.
    """
    check(margin=margin, level=LEVEL)
    if fall.high < -margin and (judged_only is None or judged_only.high < -margin):
        return Finding.BAD
    return Finding.GOOD if fall.difference >= -CLEAR * margin else Finding.UNCLEAR


def judge_coverage(judged: float, *, baseline: float, margin: float) -> Finding:
    """Whether the share of judged documents (Judged@k) fell by more than the margin. Fractions."""
    return judge_limit(baseline - judged, limit=margin, clear=CLEAR * margin)


def judge_limit(value: float, *, limit: float, clear: float) -> Finding:
    """Whether a value, such as a latency, is above its limit; good at or below `clear`.

    Raises ValueError where `clear` is above the limit.
    """
    if clear > limit:
        raise ValueError(f"clear ({clear}) is above the limit ({limit})")
    if value > limit:
        return Finding.BAD
    return Finding.GOOD if value <= clear else Finding.UNCLEAR


def judge_floor(
    mean: float,
    *,
    floor: float,
    clear: float,
    judged_only: float | None = None,
    coverage: Finding | None = None,
) -> Finding:
    """Whether a mean is below its floor; good where it is at least so much (`clear`) above it.

    judged_only: the mean with unjudged documents left out; where coverage is bad and this mean is
    not below the floor, what fell is coverage. Raises ValueError for a `clear` below 0.
    """
    finding = judge_limit(-mean, limit=-floor, clear=-floor - clear)
    if finding is Finding.BAD and coverage is Finding.BAD and judged_only is not None:
        return finding if judged_only < floor else Finding.UNCLEAR
    return finding


def worst_of(findings: Sequence[Finding]) -> Finding:
    """What several findings say together: bad if one is, good if all are."""
    if Finding.BAD in findings:
        return Finding.BAD
    return Finding.UNCLEAR if Finding.UNCLEAR in findings else Finding.GOOD


def detection_chance(
    *, drop: float, margin: float, spread: float, n: int, level: float = LEVEL
) -> float:
    """The chance that one look finds a true fall of `drop` bad (normal approximation).

    spread: the standard deviation of the differences between queries. n: queries, 2 or more.
    With drop = 0 it is the chance that a quiet look is bad.
    """
    error = spread / sqrt(n)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    return float(ndtr((drop - margin - half) / error)) if error else float(drop > margin)
