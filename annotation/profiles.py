"""What the labels of a campaign say about the people who gave them.

Every label is compared with what the other labels of its pair say, by the Dawid-Skene model with
that one label taken out: so nobody is compared with themselves, and somebody who always says the
same, or is always too generous, hardly moves what the others are compared with.

A finding names somebody only where the effect is large enough to matter and far beyond chance;
over many simulated campaigns careful people must almost never be named.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from annotation.dawid_skene import DawidSkene, without_own
from annotation.drift import ChangePoint, Course, change_point, course

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Kind = Literal[
    "one_grade", "chance", "careless", "generous", "severe", "hasty", "drifting", "gold_drift"
]

FEWEST_COMPARED: Final = 30  # labels with somebody else's beside them, before anything is found
STANDARD_ERRORS: Final = 4.0  # beyond which a mean is not chance, whoever is looked at
ONE_GRADE: Final = 0.85  # of all labels are the same grade,
ONE_GRADE_BEYOND: Final = 0.25  # and by this much more than the others would give it
CHANCE: Final = 0.15  # correlation with the others at most
CARELESS: Final = 0.12  # less often right than the middle annotator
LEANING: Final = 0.3  # of a step above or below the others
FAST: Final = 0.4  # of the middle annotator's time
FASTEST: Final = 0.25  # of the campaign's usual time: nobody has read anything
RUN: Final = 8  # such labels in a row
FAST_SHARE: Final = 0.1  # of the labels in such runs
DRIFT_CHANCE: Final = 0.003
DRIFT_STEPS: Final = 0.25
DRIFT_RIGHT: Final = 0.15


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
    times: of these labels, in seconds of the epoch.
    """

    annotators: Ints
    errors: Ints
    steps: Ints
    times: Floats


@dataclass(frozen=True)
class Finding:
    """Something about a person that somebody should look at.

    value: what is far off (a share, steps, a ratio, a correlation, or the shift of a drift).
    usual: what it is elsewhere. grade: the step that is always given. at: when a drift began.
    """

    kind: Kind
    value: float
    usual: float
    grade: int | None = None
    at: float | None = None


@dataclass(frozen=True)
class Profile:
    """One person's labels in a campaign.

    compared: labels with at least one other person's label on the pair.
    right: the mean probability that the label is the true grade, by the others; bias: mean
    steps above (+) or below the others, its standard error beside it; None without overlap.
    confusion: (grades, grades), rows the grade that the others make most probable, columns the
    one given. fast: the share of measured labels in implausibly fast runs.
    courses: bias, right, grade and seconds over time, with control limits and change points.
    drift: where the bias (on gold too), or else being right, changed most; None where nothing
    can be said.
    """

    labels: int
    compared: int
    right: float | None
    bias: float | None
    bias_error: float | None
    correlation: float | None
    confusion: Ints
    grades: Ints
    median_seconds: float | None
    fast: float | None
    courses: tuple[Course, ...]
    drift: ChangePoint | None
    drift_of: Literal["", "bias", "right"]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class _Own:
    """One person's labels in order of time, beside what the others say.

    gold_errors, gold_times: of their labels of gold, in steps.
    """

    steps: Ints
    seconds: Floats
    times: Floats
    others: Floats
    is_compared: NDArray[np.bool_]
    gold_errors: Floats
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
    """Everybody's profile, in the order of the annotators' numbers.

    model: fitted to these labels.
    """
    usual = usual_seconds(labels)
    people = list(_people(labels, model, checks))
    drawn = [_profile(own, usual, seed) for own in people]
    return tuple(
        _with_findings(profile, own, drawn, place)
        for place, (profile, own) in enumerate(zip(drawn, people, strict=True))
    )


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
    """The share of measured labels in runs of several that nobody can have read.

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
            checks.errors[on_gold].astype(np.float64),
            checks.times[on_gold],
            labels.shape[2],
        )


def _has_other(labels: Labels) -> NDArray[np.bool_]:
    """Whether somebody else has labelled the unit of each label too."""
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
        bias=float(errors.mean()) if enough else None,
        bias_error=float(errors.std(ddof=1) / sqrt(len(errors))) if enough else None,
        correlation=_correlation(own),
        confusion=confusion.astype(np.int64),
        grades=np.bincount(own.steps, minlength=own.grades).astype(np.int64),
        median_seconds=float(np.median(own.seconds[measured])) if measured.any() else None,
        fast=fast_share(own.seconds, usual),
        courses=courses,
        drift=drift,
        drift_of=drift_of,
    )


def _bias_change(own: _Own, by_others: Course, seed: int) -> ChangePoint | None:
    """Where the bias changed most, by the others and by gold together.

    Planted gold takes labels from what is compared with others, and each of them says more: its
    right answer is known. The others and gold may put somebody in different places, and gold does
    not come evenly; so what gold says is moved to the mean of the compared labels, and tells only
    of changes.
    """
    errors, on_gold = own.errors, own.gold_errors
    if not len(errors) or not len(on_gold):
        return by_others.change
    times = np.concatenate([own.times[own.is_compared], own.gold_times])
    values = np.concatenate([errors, on_gold - on_gold.mean() + errors.mean()])
    order = np.argsort(times, kind="stable")
    return change_point(times[order], values[order], seed=seed)


def _correlation(own: _Own) -> float | None:
    """Of the given step with what the others expect; 0 for somebody who never varies."""
    expected = own.others[own.is_compared] @ np.arange(own.grades)
    given = own.steps[own.is_compared].astype(np.float64)
    if len(given) < 2 or np.ptp(expected) == 0:
        return None
    return 0.0 if np.ptp(given) == 0 else float(np.corrcoef(given, expected)[0, 1])


def _strongest_drift(
    of_bias: ChangePoint | None, of_right: ChangePoint | None
) -> tuple[ChangePoint | None, Literal["", "bias", "right"]]:
    """The change of the bias, unless only being right has changed beyond chance."""
    if of_bias is not None and _is_drift(of_bias, DRIFT_STEPS):
        return of_bias, "bias"
    if of_right is not None and _is_drift(of_right, DRIFT_RIGHT):
        return of_right, "right"
    return of_bias, "bias" if of_bias else ""


def _is_drift(change: ChangePoint, least: float) -> bool:
    return change.chance <= DRIFT_CHANCE and abs(change.shift) >= least


def _with_findings(profile: Profile, own: _Own, drawn: list[Profile], place: int) -> Profile:
    found: list[Finding] = []
    if profile.compared >= FEWEST_COMPARED:
        # what explains the most comes first, and what it explains is not said again
        found += (
            list(_uninformed(profile, own))
            or list(_drifting(profile))
            or list(_leaning(profile, drawn))
            or list(_careless(profile, own, drawn))
        )
    found += _hasty(profile, drawn, place)
    values = {**vars(profile), "findings": tuple(found)}
    return Profile(**values)


def _uninformed(profile: Profile, own: _Own) -> Iterator[Finding]:
    """Labels that tell nothing of the pair."""
    top = int(profile.grades.argmax())
    share = float(profile.grades[top] / profile.labels)
    usual = float(own.others[own.is_compared][:, top].mean())
    if share >= ONE_GRADE and share - usual >= ONE_GRADE_BEYOND:
        yield Finding("one_grade", share, usual, grade=top)
    elif profile.correlation is not None:
        reach = STANDARD_ERRORS / sqrt(profile.compared)
        if profile.correlation <= CHANCE and reach <= 4 * CHANCE:
            yield Finding("chance", profile.correlation, 1.0)


def _leaning(profile: Profile, drawn: list[Profile]) -> Iterator[Finding]:
    assert profile.bias is not None
    assert profile.bias_error is not None
    usual = _middle([one.bias for one in drawn])
    beyond = profile.bias - usual
    if abs(beyond) >= max(LEANING, STANDARD_ERRORS * profile.bias_error):
        yield Finding("generous" if beyond > 0 else "severe", profile.bias, usual)


def _careless(profile: Profile, own: _Own, drawn: list[Profile]) -> Iterator[Finding]:
    assert profile.right is not None
    usual = _middle([one.right for one in drawn])
    error = float(own.rights.std(ddof=1)) / sqrt(profile.compared)
    if usual - profile.right >= max(CARELESS, STANDARD_ERRORS * error):
        yield Finding("careless", profile.right, usual)


def _drifting(profile: Profile) -> Iterator[Finding]:
    change = profile.drift
    least = DRIFT_STEPS if profile.drift_of == "bias" else DRIFT_RIGHT
    if change is not None and _is_drift(change, least):
        yield Finding("drifting", change.after, change.before, at=change.at)


def _hasty(profile: Profile, drawn: list[Profile], place: int) -> Iterator[Finding]:
    others = [one.median_seconds for at, one in enumerate(drawn) if at != place]
    usual = _middle(others)
    if profile.median_seconds is None or profile.labels < FEWEST_COMPARED or not usual:
        return
    is_fast = profile.median_seconds < FAST * usual
    if is_fast or (profile.fast or 0) > FAST_SHARE:
        yield Finding("hasty", profile.median_seconds, usual)


def _middle(values: list[float | None]) -> float:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else 0.0
