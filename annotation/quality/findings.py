"""Whom a quality report names, and what for.

Two things must hold before anyone is named. Something about their labels stands out: they are
always the same, have nothing to do with the others', lean to one side, have changed, are given too
fast, or are wrong too often. And the person is right less often than the median person, beyond
the interval of their estimated accuracy, corrected for the number of people. What stands out about
someone who may well be as good as the others is a note, which accuses no one.

Whether someone leans is a matter of gold: labels alone show only who differs from most, and most
may lean. So without enough gold in the campaign, leaning is a note, and explains what else the
others' labels seem to say of the person.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from annotation.quality.profiles import DRIFT_RIGHT, DRIFT_STEPS, Profile, is_drift
from touchstone.agreement.accuracy import Accuracies, accuracies

Floats = NDArray[np.float64]
Kind = Literal[
    "one_grade", "chance", "careless", "generous", "severe", "hasty", "drifting", "gold_drift"
]
Basis = Literal["gold", "both", "agreement", "none"]

FEWEST_COMPARED: Final = 30  # labels of pairs that others labelled too, before anything is said
FEWEST_CHECKED: Final = 10  # gold checks that are enough instead
STANDARD_ERRORS: Final = 4.0  # beyond which a mean is not chance, for any person
ONE_GRADE: Final = 0.85  # of all labels are the same grade,
ONE_GRADE_BEYOND: Final = 0.25  # and by this much more than the others would give it
CHANCE: Final = 0.15  # correlation with the others at most
CARELESS: Final = 0.1  # less often right than the median person
LEANING: Final = 0.3  # of a step too high or too low
FAST: Final = 0.4  # of the median person's time
FAST_SHARE: Final = 0.1  # of the labels in runs that no one can have read
CHECKS_FOR_LEAN: Final = 20  # in the campaign, before gold says where the middle is
LEAN_SPREAD: Final = 0.2  # steps between what gold and what the others say of a person's lean
CHECK_SPREAD: Final = 0.7  # steps; the standard deviation of a check's error, before any
CHECKS_BEFORE: Final = 5  # what that counts for
SMALLEST_PRECISION: Final = 1e-9


@dataclass(frozen=True)
class Finding:
    """Something about a person that stands out.

    value: what is far off (a share, steps, a ratio, a correlation, or the shift of a drift).
    usual: what it is elsewhere. grade: the step that is always given. at: when a drift began.
    by_gold: whether gold says so, and not the others' labels.
    """

    kind: Kind
    value: float
    usual: float
    grade: int | None = None
    at: float | None = None
    by_gold: bool = False


@dataclass(frozen=True)
class Assessment:
    """What is known of a person. findings: what names them; notes: what only stands out.

    accuracy, low, high: estimated, with its 95 % interval. checked, compared: the gold checks and
    labels beside others' that it rests on. is_known: whether that is enough to say anything.
    below_median: how probable it is that the person is right less often than the median person.
    """

    accuracy: float
    low: float
    high: float
    basis: Basis
    checked: int
    compared: int
    is_known: bool
    below_median: float
    findings: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Leans:
    """How many steps each person's labels are too high (+) or too low, with standard errors.

    is_absolute: from the right answers, by gold; otherwise from the median person. NaN: unknown.
    """

    steps: Floats
    errors: Floats
    is_absolute: bool


def assess(profiles: Sequence[Profile]) -> tuple[tuple[Assessment, ...], float | None]:
    """Everyone's assessment, in the order of their profiles, and the median accuracy."""
    if not profiles:
        return (), None
    estimated, leans = estimate_accuracies(profiles), estimate_leans(profiles)
    return tuple(
        _assess(profiles, place, estimated, leans) for place in range(len(profiles))
    ), estimated.median


def estimate_accuracies(profiles: Sequence[Profile]) -> Accuracies:
    """How often everyone is right, from their gold checks and by the others' labels."""
    return accuracies(
        np.array([one.on_gold.right for one in profiles]),
        np.array([one.on_gold.checked for one in profiles]),
        _column([one.right for one in profiles]),
        _column([one.right_error for one in profiles]),
    )


def estimate_leans(profiles: Sequence[Profile]) -> Leans:
    """How far everyone leans to one side.

    With CHECKS_FOR_LEAN in the campaign, gold says how far the crowd as a whole leans, which moves
    what the others' labels say of each person, and is combined with the person's own checks by
    the inverse of the variances.
    """
    by_others = _column([one.bias for one in profiles])
    noise = _column([one.bias_error for one in profiles]) ** 2
    checked = np.array([one.on_gold.checked for one in profiles])
    if checked.sum() < CHECKS_FOR_LEAN:
        middle = float(np.nanmedian(by_others)) if (~np.isnan(by_others)).any() else 0.0
        return Leans(by_others - middle, np.sqrt(noise), is_absolute=False)
    has_others, has_gold = ~np.isnan(by_others), checked > 0
    on_gold = _column([one.on_gold.bias for one in profiles])
    of_gold = _check_variance(profiles)
    both = has_others & has_gold
    offset, doubt = 0.0, LEAN_SPREAD**2
    if both.any():
        weights = 1 / (of_gold[both] + LEAN_SPREAD**2)
        offset = float((weights * (on_gold - by_others)[both]).sum() / weights.sum())
        doubt = 1 / float(weights.sum())
    precision = np.stack([
        np.where(has_gold, 1 / of_gold, 0.0),
        np.where(has_others, 1 / (np.nan_to_num(noise) + LEAN_SPREAD**2 + doubt), 0.0),
    ])  # fmt: skip
    estimates = np.nan_to_num(np.stack([on_gold, by_others + offset]))
    total = precision.sum(axis=0)
    known = np.maximum(total, SMALLEST_PRECISION)
    steps = np.where(total > 0, (precision * estimates).sum(axis=0) / known, np.nan)
    return Leans(steps, 1 / np.sqrt(known), is_absolute=True)


def _check_variance(profiles: Sequence[Profile]) -> Floats:
    """The variance of the mean error of everyone's gold checks, smoothed for few of them."""
    checked = np.maximum([one.on_gold.checked for one in profiles], 1)
    errors = _column([one.on_gold.bias_error for one in profiles])
    single = np.where(np.isnan(errors), CHECK_SPREAD**2, errors**2 * checked)
    smoothed = (single * checked + CHECK_SPREAD**2 * CHECKS_BEFORE) / (checked + CHECKS_BEFORE)
    variance: Floats = smoothed / checked
    return variance


def _assess(
    profiles: Sequence[Profile], place: int, estimated: Accuracies, leans: Leans
) -> Assessment:
    own = profiles[place]
    noticed = tuple(_noticed(profiles, place, estimated, leans))
    is_named = bool(estimated.is_below[place]) and not _is_unclear(noticed, leans)
    checked, low, high = own.on_gold.checked, estimated.low[place], estimated.high[place]
    return Assessment(
        accuracy=float(estimated.mean[place]),
        low=float(low),
        high=float(high),
        basis=_basis(checked, own.compared),
        checked=checked,
        compared=own.compared,
        is_known=_has_evidence(own),
        below_median=float(1 - estimated.chance[place]),
        findings=noticed if is_named else (),
        notes=() if is_named else tuple(one for one in noticed if one.kind != "careless"),
    )


def _basis(checked: int, compared: int) -> Basis:
    if checked:
        return "both" if compared else "gold"
    return "agreement" if compared else "none"


def _has_evidence(own: Profile) -> bool:
    return own.compared >= FEWEST_COMPARED or own.on_gold.checked >= FEWEST_CHECKED


def _is_unclear(noticed: Sequence[Finding], leans: Leans) -> bool:
    """Whether gold would be wanted to tell who is right: this person, or those who differ."""
    return not leans.is_absolute and any(one.kind in ("generous", "severe") for one in noticed)


def _noticed(
    profiles: Sequence[Profile], place: int, estimated: Accuracies, leans: Leans
) -> Iterator[Finding]:
    """What stands out; what explains the most comes first, and what it explains is not repeated."""
    own = profiles[place]
    if _has_evidence(own):
        yield from (
            list(_uninformed(own))
            or list(_drifting(own))
            or list(_leaning(place, leans))
            or list(_careless(place, estimated))
        )
    yield from _hasty(profiles, place)


def _uninformed(own: Profile) -> Iterator[Finding]:
    """Labels that tell nothing of the pair."""
    if own.compared < FEWEST_COMPARED or own.usual is None:
        return
    top = int(own.grades.argmax())
    share, usual = float(own.grades[top] / own.labels), float(own.usual[top])
    if share >= ONE_GRADE and share - usual >= ONE_GRADE_BEYOND:
        yield Finding("one_grade", share, usual, grade=top)
    elif own.correlation is not None:
        reach = STANDARD_ERRORS / sqrt(own.compared)
        if own.correlation <= CHANCE and reach <= 4 * CHANCE:
            yield Finding("chance", own.correlation, 1.0)


def _drifting(own: Profile) -> Iterator[Finding]:
    change, least = own.drift, DRIFT_STEPS if own.drift_of == "bias" else DRIFT_RIGHT
    if change is not None and is_drift(change, least):
        yield Finding("drifting", change.after, change.before, at=change.at)
        return
    change = own.on_gold.course.change
    if change is not None and change.shift < 0 and is_drift(change, DRIFT_RIGHT):
        yield Finding("gold_drift", change.after, change.before, at=change.at, by_gold=True)


def _leaning(place: int, leans: Leans) -> Iterator[Finding]:
    steps, error = float(leans.steps[place]), float(leans.errors[place])
    if abs(steps) >= max(LEANING, STANDARD_ERRORS * error):
        kind: Kind = "generous" if steps > 0 else "severe"
        yield Finding(kind, steps, 0.0, by_gold=leans.is_absolute)


def _careless(place: int, estimated: Accuracies) -> Iterator[Finding]:
    value = float(estimated.mean[place])
    if estimated.median - value >= CARELESS:
        yield Finding("careless", value, estimated.median)


def _hasty(profiles: Sequence[Profile], place: int) -> Iterator[Finding]:
    own = profiles[place]
    others = [one.median_seconds for at, one in enumerate(profiles) if at != place]
    known = [seconds for seconds in others if seconds is not None]
    usual = float(np.median(known)) if known else 0.0
    if own.median_seconds is None or own.labels < FEWEST_COMPARED or not usual:
        return
    if own.median_seconds < FAST * usual or (own.fast or 0) > FAST_SHARE:
        yield Finding("hasty", own.median_seconds, usual)


def _column(values: Sequence[float | None]) -> Floats:
    """Numbers, NaN where there is none."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
