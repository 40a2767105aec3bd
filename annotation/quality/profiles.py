"""What the labels of a campaign say about the people who gave them.

Every label is compared with what the other labels of its pair say, by the Dawid-Skene model with
that one label taken out: so no one is compared with themselves, and someone who always says the
same, or is always too generous, hardly moves what the others are compared with. Labels of gold are
compared with the right answers. Whom a report names is decided in findings.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from touchstone.agreement.dawid_skene import DawidSkene, without_own
from touchstone.agreement.drift import ChangePoint, Course, change_point, course

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FASTEST: Final = 0.25  # of the campaign's usual time: no one has read anything
RUN: Final = 8  # such labels in a row
DRIFT_CHANCE: Final = 0.003
DRIFT_STEPS: Final = 0.25
DRIFT_RIGHT: Final = 0.15
FEWEST_CHECKS: Final = 10  # in a window of gold checks
LEAST_SPREAD: Final = 0.25  # standard deviation of a label's being right, at least


@dataclass(frozen=True)
class Labels:
    """The labels of a campaign that hold, one entry each.

    units, annotators, steps: dense integers from 0. seconds: NaN where not measured.
    times: when it was made, in seconds of the epoch. shape: units, annotators, grades.
    """

    units: Ints
    annotators: Ints
    steps: Ints
    seconds: Floats
    times: Floats
    shape: tuple[int, int, int]


@dataclass(frozen=True)
class Checks:
    """Gold checks, one entry each, in order of time.

    errors: steps above (+) or below the accepted range, or 0. steps: of the labels checked.
    times: of these labels, in seconds of the epoch. pairs: the gold pair of each, any integers;
    low, high: the first and last accepted step of it. These three may be empty: then nothing is
    said of how often consolidated grades of gold are right.
    """

    annotators: Ints
    errors: Ints
    steps: Ints
    times: Floats
    pairs: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    low: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    high: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class OnGold:
    """One person's gold checks.

    right, within_one: labels in the accepted range, or at most one step from it. bias: mean steps
    above (+) or below the range, its standard error beside it; None for too few. confusion:
    (grades, grades), rows the accepted grade nearest to the given one, columns the given.
    course: being right over time.
    """

    checked: int
    right: int
    within_one: int
    bias: float | None
    bias_error: float | None
    confusion: Ints
    course: Course


@dataclass(frozen=True)
class Profile:
    """One person's labels in a campaign.

    compared: labels with at least one other person's label on the pair.
    right: the mean probability that the label is the true grade, by the others; bias: mean
    steps above (+) or below the others; their standard errors beside them; None without overlap.
    usual: (grades,), how often the others would have given each grade to the same pairs.
    confusion: (grades, grades), rows the grade that the others make most probable, columns the
    one given. fast: the share of measured labels in implausibly fast runs.
    courses: bias, right, grade and seconds over time, with control limits and change points.
    drift: where the bias (on gold too), or else being right, changed most; None where nothing
    can be said.
    """

    labels: int
    compared: int
    right: float | None
    right_error: float | None
    bias: float | None
    bias_error: float | None
    correlation: float | None
    usual: Floats | None
    confusion: Ints
    grades: Ints
    median_seconds: float | None
    fast: float | None
    courses: tuple[Course, ...]
    drift: ChangePoint | None
    drift_of: Literal["", "bias", "right"]
    on_gold: OnGold


@dataclass(frozen=True)
class _Own:
    """One person's labels in order of time, beside what the others say.

    gold_errors, gold_steps, gold_times: of their labels of gold, in steps.
    """

    steps: Ints
    seconds: Floats
    times: Floats
    others: Floats
    is_compared: NDArray[np.bool_]
    gold_errors: Ints
    gold_steps: Ints
    gold_times: Floats
    grades: int

    @property
    def errors(self) -> Floats:
        """Steps above (+) or below what the others expect, of the compared labels."""
        places = np.arange(self.grades)
        expected = self.others[self.is_compared] @ places
        errors: Floats = self.steps[self.is_compared] - expected
        return errors

    @property
    def rights(self) -> Floats:
        """The probability that each compared label is right."""
        compared = self.others[self.is_compared]
        rights: Floats = compared[np.arange(len(compared)), self.steps[self.is_compared]]
        return rights


def profiles(
    labels: Labels, model: DawidSkene, checks: Checks, *, seed: int = 0
) -> tuple[Profile, ...]:
    """Everyone's profile, in the order of the annotators' numbers.

    model: fitted to these labels.
    """
    usual = usual_seconds(labels)
    people = _people(labels, model, checks)
    return tuple(_profile(own, usual, seed) for own in people)


def usual_seconds(labels: Labels) -> float | None:
    """The middle of the annotators' median times per label; None where none was measured."""
    measured = ~np.isnan(labels.seconds)
    people = np.unique(labels.annotators[measured])
    medians = [
        float(np.median(labels.seconds[measured & (labels.annotators == person)]))
        for person in people
    ]
    return float(np.median(medians)) if medians else None


def fast_share(seconds: Floats, usual: float | None) -> float | None:
    """The share of measured labels in runs of several that no one can have read.

    seconds: in order of time. None where nothing was measured.
    """
    measured = ~np.isnan(seconds)
    if usual is None or not measured.any():
        return None
    fast = (seconds[measured] < FASTEST * usual).astype(np.int64)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], fast, [0]])))
    lengths = edges[1::2] - edges[::2]
    return float(lengths[lengths >= RUN].sum() / measured.sum())


def _people(labels: Labels, model: DawidSkene, checks: Checks) -> Iterator[_Own]:
    others = without_own(model, labels.units, labels.annotators, labels.steps)
    compared = _has_other(labels)
    order = np.lexsort((labels.units, labels.times, labels.annotators))
    ends = np.searchsorted(labels.annotators[order], np.arange(labels.shape[1] + 1))
    for person, (begin, end) in enumerate(pairwise(ends)):
        own, on_gold = order[begin:end], checks.annotators == person
        yield _Own(
            labels.steps[own],
            labels.seconds[own],
            labels.times[own],
            others[own],
            compared[own],
            checks.errors[on_gold],
            checks.steps[on_gold],
            checks.times[on_gold],
            labels.shape[2],
        )


def _has_other(labels: Labels) -> NDArray[np.bool_]:
    """Whether someone else has labelled the unit of each label too."""
    seats = np.unique(labels.units * labels.shape[1] + labels.annotators)
    people = np.bincount(seats // labels.shape[1], minlength=labels.shape[0])
    has_other: NDArray[np.bool_] = people[labels.units] >= 2
    return has_other


def _profile(own: _Own, usual: float | None, seed: int) -> Profile:
    errors, rights = own.errors, own.rights
    times = own.times[own.is_compared]
    measured = ~np.isnan(own.seconds)
    likely = own.others[own.is_compared].argmax(axis=1)
    cells = likely * own.grades + own.steps[own.is_compared]
    confusion = np.bincount(cells, minlength=own.grades**2).reshape(own.grades, own.grades)
    courses = (
        course("bias", times, errors, seed=seed),
        course("right", times, rights, seed=seed),
        course("grade", own.times, own.steps.astype(np.float64), seed=seed),
        course("seconds", own.times[measured], own.seconds[measured], by_factor=True, seed=seed),
    )
    drift, drift_of = _strongest_drift(_bias_change(own, courses[0], seed), courses[1].change)
    enough = len(errors) > 1
    return Profile(
        labels=len(own.steps),
        compared=len(errors),
        right=float(rights.mean()) if enough else None,
        right_error=_error(rights, LEAST_SPREAD) if enough else None,
        bias=float(errors.mean()) if enough else None,
        bias_error=_error(errors) if enough else None,
        correlation=_correlation(own),
        usual=own.others[own.is_compared].mean(axis=0) if enough else None,
        confusion=confusion.astype(np.int64),
        grades=np.bincount(own.steps, minlength=own.grades).astype(np.int64),
        median_seconds=float(np.median(own.seconds[measured])) if measured.any() else None,
        fast=fast_share(own.seconds, usual),
        courses=courses,
        drift=drift,
        drift_of=drift_of,
        on_gold=_on_gold(own, seed),
    )


def _error(values: Floats, least: float = 0.0) -> float:
    """The standard error of a mean, of two values at least."""
    return max(float(values.std(ddof=1)), least) / sqrt(len(values))


def _on_gold(own: _Own, seed: int) -> OnGold:
    errors, steps, count = own.gold_errors, own.gold_steps, len(own.gold_errors)
    is_right = errors == 0
    nearest = np.clip(steps - errors, 0, own.grades - 1)
    cells = np.bincount(nearest * own.grades + steps, minlength=own.grades**2)
    rights = is_right.astype(np.float64)
    return OnGold(
        checked=count,
        right=int(is_right.sum()),
        within_one=int((np.abs(errors) <= 1).sum()),
        bias=float(errors.mean()) if count else None,
        bias_error=_error(errors.astype(np.float64)) if count > 1 else None,
        confusion=cells.reshape(own.grades, own.grades).astype(np.int64),
        course=course("gold", own.gold_times, rights, fewest=FEWEST_CHECKS, seed=seed),
    )


def _bias_change(own: _Own, by_others: Course, seed: int) -> ChangePoint | None:
    """Where the bias changed most, by the others and by gold together.

    Planted gold takes labels from what is compared with others, and each of them says more: its
    right answer is known. The others and gold may put someone in different places, and gold does
    not come evenly; so what gold says is moved to the mean of the compared labels, and tells only
    of changes.
    """
    errors, on_gold = own.errors, own.gold_errors.astype(np.float64)
    if not len(errors) or not len(on_gold):
        return by_others.change
    times = np.concatenate([own.times[own.is_compared], own.gold_times])
    values = np.concatenate([errors, on_gold - on_gold.mean() + errors.mean()])
    order = np.argsort(times, kind="stable")
    return change_point(times[order], values[order], seed=seed)


def _correlation(own: _Own) -> float | None:
    """Of the given step with what the others expect; 0 for someone who never varies."""
    expected = own.others[own.is_compared] @ np.arange(own.grades)
    given = own.steps[own.is_compared].astype(np.float64)
    if len(given) < 2 or np.ptp(expected) == 0:
        return None
    return 0.0 if np.ptp(given) == 0 else float(np.corrcoef(given, expected)[0, 1])


def _strongest_drift(
    of_bias: ChangePoint | None, of_right: ChangePoint | None
) -> tuple[ChangePoint | None, Literal["", "bias", "right"]]:
    """The change of the bias, unless only being right has changed beyond chance."""
    if of_bias is not None and is_drift(of_bias, DRIFT_STEPS):
        return of_bias, "bias"
    if of_right is not None and is_drift(of_right, DRIFT_RIGHT):
        return of_right, "right"
    return of_bias, "bias" if of_bias else ""


def is_drift(change: ChangePoint, least: float) -> bool:
    """Whether a change is large enough, and far beyond chance."""
    return change.chance <= DRIFT_CHANCE and abs(change.shift) >= least
