"""All figures of a campaign's labels at once, as plain values that can be stored and sent.

The parts are in agreement, dawid_skene, calibration, drift, profiles and findings; here they are
put together: overall and per query, segment, grade, annotator, pair of annotators, guideline
revision and time window.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from annotation.quality.findings import Assessment, assess
from annotation.quality.profiles import Checks, Labels, OnGold, Profile, profiles, usual_seconds
from touchstone.agreement.alpha import LEVELS, alpha, alpha_with_others, label_alphas
from touchstone.agreement.bootstrap import Agreement
from touchstone.agreement.calibration import (
    CheckedPairs,
    GoldLabels,
    calibrate,
    checked_decisions,
    checked_gold,
    measure,
)
from touchstone.agreement.counts import Counts, coincidences, count_labels, count_own, two_way_table
from touchstone.agreement.dawid_skene import DawidSkene, dawid_skene
from touchstone.agreement.drift import (
    ChangePoint,
    Course,
    bounds,
    change_point,
    control_windows,
    course,
    estimate_limits,
)
from touchstone.agreement.kappas import cohen_kappa, fleiss_kappa, gwet_ac2, percent, specific
from touchstone.agreement.reliability import weighted_vote
from touchstone.statistics.wilson import wilson_interval

Ints = NDArray[np.int64]
Figures = dict[str, Any]

# Raised when the same labels give other figures than before: stored ones are then due again.
REVISION: Final = 11
STEPS: Final = 7  # how often `report` is called
LEVEL: Final = "ordinal"
OF_GROUPS: Final = 200  # resamples for the interval of a query, a segment, two people
MOST_PAIRS_OF_PEOPLE: Final = 1_000
FEWEST_IN_WINDOW: Final = 30
MOST_WINDOWS: Final = 12
NEAR_CHANGE: Final = 0.05  # of the campaign's length, or a day: what happened then
CHANGED: Final = 0.01  # the chance of a change, at most, before it is shown
DAY: Final = 86_400.0
WIDTH: Final = 2 * 1.959964  # of a 95 % interval, in standard errors


@dataclass(frozen=True)
class Event:
    """Something that may explain a change. at: in seconds of the epoch."""

    at: float
    kind: str
    text: str


@dataclass(frozen=True)
class Repeats:
    """Pairs that someone labelled twice: the steps of both times."""

    annotators: Ints
    first: Ints
    second: Ints


@dataclass(frozen=True)
class Material:
    """What the figures of a campaign are computed from.

    labels: those that hold, in the overlap. values: of the scale's grades.
    query_of, segment_of: (units,), places in query_names and segment_names.
    revisions: (labels,), the guideline revision of each label. events: any order.
    decided: (units,), the step that a lead has decided on, -1 where no one has.
    """

    labels: Labels
    values: tuple[float, ...]
    query_of: Ints
    query_names: tuple[str, ...]
    segment_of: Ints
    segment_names: tuple[str, ...]
    revisions: Ints
    checks: Checks
    repeats: Repeats
    decided: Ints
    events: tuple[Event, ...] = ()


def fit(material: Material) -> DawidSkene | None:
    """The model of who errs how; None without labels."""
    labels = material.labels
    if not len(labels.units):
        return None
    return dawid_skene(labels.units, labels.annotators, labels.steps, shape=labels.shape)


def quality(
    material: Material,
    report: Callable[[int], None] = lambda _: None,
    model: DawidSkene | None = None,
) -> Figures:
    """The figures, as values that JSON can hold; the same material gives the same figures.

    report: called with how many of STEPS are done. model: what `fit` gave, where it was asked.
    """
    labels = material.labels
    model = model or fit(material)
    if model is None:
        return {"labels": 0}
    report(1)
    people = profiles(labels, model, material.checks)
    assessments, median = assess(people)
    report(2)
    counts = count_labels(labels.units, labels.steps, material.values)
    figures: Figures = {
        "labels": len(labels.units),
        "pairs": len(np.unique(labels.units)),
        "overall": overall_agreement(counts),
        "grades": grade_agreement(counts),
        "sets": list_sets(counts),
        "model": _model(model, labels),
        "accuracy": accuracy_figures(material, model),
        "median_accuracy": median,
        "decided": _decided(material, model),
    }
    report(3)
    figures["queries"] = _without_sets(
        _groups(material, material.query_of[labels.units], material.query_names)
    )
    report(4)
    of_segments = material.segment_of[labels.units]
    figures["segments"] = _groups(material, of_segments, material.segment_names)
    figures["revisions"] = _revisions(material)
    report(5)
    figures["windows"], figures["drift"] = _over_time(material)
    figures["gold_windows"] = _gold_windows(material.checks)
    figures["pairs_of_people"] = list(_pairs_of_people(material))
    report(6)
    figures["annotators"] = [
        _person(profile, assessment, position, material)
        for position, (profile, assessment) in enumerate(zip(people, assessments, strict=True))
    ]
    figures["time"] = _time(labels)
    report(7)
    return figures


def _plain(found: Agreement) -> Figures:
    return asdict(found)


def overall_agreement(counts: Counts) -> Figures:
    """Every measure of all labels together."""
    return {
        "alpha": {level: _plain(alpha(counts, level)) for level in LEVELS},
        "fleiss_kappa": _plain(fleiss_kappa(counts)),
        "gwet_ac2": _plain(gwet_ac2(counts)),
        "percent_exact": _plain(percent(counts)),
        "percent_within_1": _plain(percent(counts, within=1)),
    }


def grade_agreement(counts: Counts) -> list[Figures]:
    """For each grade: when one person gives it, how often another of the pair does too.

    given: all labels of it; compared: those with another label beside. instead: the step that is
    given most often in its place.
    """
    matrix = np.einsum("p,pij->ij", counts.units.astype(np.float64), coincidences(counts))
    given = counts.units @ counts.patterns
    rows = []
    for step, row in enumerate(matrix):
        others = row.copy()
        others[step] = 0.0
        rows.append(
            _plain(specific(counts, step, resamples=OF_GROUPS))
            | {
                "given": int(given[step]),
                "compared": round(float(row.sum())),
                "instead": int(others.argmax()) if others.any() else None,
            }
        )
    return rows


def _model(model: DawidSkene, labels: Labels) -> Figures:
    """What a pair's grade can be weighed by, and how confident that makes the model.

    matrices, weights: of each annotator. confidence: the mean probability of each labelled
    pair's most probable grade, as the model claims it.
    """
    labelled = np.unique(labels.units)
    vote = weighted_vote(labels.units, labels.annotators, labels.steps, shape=labels.shape)
    return {
        "prevalence": model.prevalence.tolist(),
        "matrices": model.matrices.tolist(),
        "weights": vote.weights.tolist(),
        "confidence": float(model.posterior[labelled].max(axis=1).mean()),
        "rounds": model.rounds,
        "converged": model.converged,
    }


def list_checked(material: Material, model: DawidSkene) -> tuple[CheckedPairs, CheckedPairs]:
    """What the model says of gold pairs, and of adjudicated pairs that have labels."""
    labels, checks = material.labels, material.checks
    sizes = np.bincount(labels.units, minlength=labels.shape[0])
    told = len(checks.pairs)  # with the accepted range of each check, or none at all
    gold = GoldLabels(
        checks.pairs, checks.annotators[:told], checks.steps[:told], checks.low, checks.high
    )
    shares = np.bincount(labels.annotators, minlength=labels.shape[1])
    units = np.flatnonzero((material.decided >= 0) & (sizes > 0))
    return (
        checked_gold(model, gold, sizes=sizes[sizes > 0], shares=shares),
        checked_decisions(model.posterior[units], material.decided[units]),
    )


def accuracy_figures(material: Material, model: DawidSkene) -> Figures:
    """How often the most probable grades are right where someone has checked them.

    calibrated: what that says of all labelled pairs; None where too few were checked. Gold comes
    first: adjudicated pairs are those that people disputed.
    """
    gold, adjudicated = list_checked(material, model)
    result = calibrate(gold, "gold") or calibrate(adjudicated, "adjudicated")
    figures: Figures = {
        "gold": asdict(measure(gold)),
        "adjudicated": asdict(measure(adjudicated)),
        "calibrated": None,
    }
    if result is not None:
        labelled = np.unique(material.labels.units)
        value, low, high = result.accuracy(model.posterior[labelled].max(axis=1))
        figures["calibrated"] = {
            "source": result.source,
            "pairs": result.pairs,
            "value": value,
            "low": low,
            "high": high,
            "intercept": result.intercept,
            "slope": result.slope,
            "log_loss": result.log_loss,
            "log_loss_before": result.log_loss_before,
        }
    return figures


def _decided(material: Material, model: DawidSkene) -> Figures:
    """How leads' decisions go with the labels.

    unlike: other than the most probable grade. outside: above or below all labels of the pair.
    """
    labels = material.labels
    best = np.full(labels.shape[0], -1)
    worst = np.full(labels.shape[0], labels.shape[2])
    np.maximum.at(best, labels.units, labels.steps)
    np.minimum.at(worst, labels.units, labels.steps)
    units = np.flatnonzero((material.decided >= 0) & (best >= 0))
    decided = material.decided[units]
    outside = (decided > best[units]) | (decided < worst[units])
    return {
        "pairs": len(units),
        "unlike": int((decided != model.posterior[units].argmax(axis=1)).sum()),
        "outside": int(outside.sum()),
    }


def _groups(material: Material, groups: Ints, names: Sequence[str]) -> list[Figures]:
    """Alpha in each group of labels, the lowest first, those without a number last."""
    labels = material.labels
    order = np.argsort(groups, kind="stable")
    present, starts = np.unique(groups[order], return_index=True)
    rows = []
    for group, (begin, end) in zip(present, pairwise([*starts, len(order)]), strict=True):
        own = order[begin:end]
        counts = count_labels(labels.units[own], labels.steps[own], material.values)
        rows.append(group_agreement(names[group], counts))
    return lowest_first(rows)


def group_agreement(name: str, counts: Counts) -> Figures:
    """Alpha of a part of the labels; with the sets of labels, so that parts can be put together."""
    exact = percent(counts, resamples=0).value
    labels = int(counts.units @ counts.sizes)
    row = {"name": name, "all": labels, "exact": exact, "sets": list_sets(counts)}
    return _plain(alpha(counts, LEVEL, resamples=OF_GROUPS)) | row


def lowest_first(rows: list[Figures]) -> list[Figures]:
    """By alpha; those without a number last."""
    return sorted(rows, key=lambda row: (row["value"] is None, row["value"] or 0.0, row["name"]))


def list_sets(counts: Counts) -> list[list[int]]:
    """How many units have which labels: per set its units, then its labels per grade."""
    sets = np.column_stack([counts.units, counts.patterns.astype(np.int64)])
    return [[int(number) for number in row] for row in sets]


def _without_sets(rows: list[Figures]) -> list[Figures]:
    return [{name: value for name, value in row.items() if name != "sets"} for row in rows]


def _revisions(material: Material) -> list[Figures]:
    """Alpha among the labels that were given under the same revision of the guideline."""
    names = [str(number) for number in range(int(material.revisions.max()) + 1)]
    rows = _without_sets(_groups(material, material.revisions, names))
    return sorted(rows, key=lambda row: int(row["name"]))


def _over_time(material: Material) -> tuple[list[Figures], Figures | None]:
    """Alpha in windows of time, and where people began to differ more or less."""
    labels = material.labels
    if np.ptp(labels.times) == 0:
        return [], None
    sizes = np.bincount(labels.units, minlength=labels.shape[0])
    last = np.zeros(labels.shape[0])
    np.maximum.at(last, labels.units, labels.times)
    units = np.flatnonzero(sizes >= 2)
    units = units[np.lexsort((units, last[units]))]
    window_of = np.full(labels.shape[0], -1)
    cuts = bounds(len(units), most=MOST_WINDOWS, fewest=FEWEST_IN_WINDOW)
    rows = []
    for position, (begin, end) in enumerate(pairwise(cuts)):
        window_of[units[begin:end]] = position
        own = window_of[labels.units] == position
        if not own.any():
            continue
        counts = count_labels(labels.units[own], labels.steps[own], material.values)
        times = {"begins": float(last[units[begin]]), "ends": float(last[units[end - 1]])}
        rows.append(_plain(alpha(counts, LEVEL, resamples=OF_GROUPS)) | times)
    _add_limits(rows)
    change = change_point(last[units], _distances(labels)[units])
    return rows, None if change is None else _change(change, material)


def _add_limits(windows: Sequence[Figures]) -> None:
    """Control limits for the alpha of each window that has an interval, never above 1."""
    for row in windows:
        row.update(limit_low=None, limit_high=None, is_outside=False)
    known = [row for row in windows if row["low"] is not None]
    values = np.array([row["value"] for row in known], dtype=np.float64)
    errors = np.array([(row["high"] - row["low"]) / WIDTH for row in known], dtype=np.float64)
    lows, highs = estimate_limits(values, errors) if known else (values, values)
    for row, low, high in zip(known, lows.tolist(), highs.tolist(), strict=True):
        is_outside = not low <= row["value"] <= high
        row.update(limit_low=low, limit_high=min(1.0, high), is_outside=is_outside)


def _gold_windows(checks: Checks) -> list[Figures]:
    """How often everyone together is right on gold, in windows with control limits."""
    order = np.argsort(checks.times, kind="stable")
    rights = (checks.errors[order] == 0).astype(np.float64)
    windows = control_windows(checks.times[order], rights, most=MOST_WINDOWS)
    return [
        asdict(one)
        | {"low": max(0.0, one.low), "high": min(1.0, one.high), "is_outside": one.is_outside}
        for one in windows
    ]


def _distances(labels: Labels) -> NDArray[np.float64]:
    """Per unit the mean distance of two of its labels, in steps; 0 where there are not two."""
    flat = np.bincount(
        labels.units * labels.shape[2] + labels.steps,
        minlength=labels.shape[0] * labels.shape[2],
    )
    counts = flat.reshape(labels.shape[0], labels.shape[2]).astype(np.float64)
    steps = np.arange(labels.shape[2])
    apart = np.abs(steps[:, None] - steps[None, :])
    sizes = counts.sum(axis=1)
    distances: NDArray[np.float64] = np.einsum("ui,ij,uj->u", counts, apart, counts)
    means: NDArray[np.float64] = distances / np.maximum(sizes * (sizes - 1), 1)
    return means


def _change(change: ChangePoint, material: Material) -> Figures:
    """A change with what happened close to it, the closest first; what is alike once."""
    times = material.labels.times
    reach = max(DAY, NEAR_CHANGE * float(np.ptp(times)))
    near = [event for event in material.events if abs(event.at - change.at) <= reach]
    near.sort(key=lambda event: (abs(event.at - change.at), event.text))
    alike = {event.text: event for event in reversed(near)}  # the closest stays
    near = [event for event in near if alike[event.text] is event]
    return asdict(change) | {"near": [asdict(event) for event in near[:3]]}


def _pairs_of_people(material: Material) -> Iterator[Figures]:
    """Weighted kappa of everyone with everyone, as far as they share pairs."""
    labels = material.labels
    own = []
    for person in range(labels.shape[1]):
        mine = np.flatnonzero(labels.annotators == person)
        units, first = np.unique(labels.units[mine], return_index=True)
        own.append((units, labels.steps[mine][first]))
    for at, (one, other) in enumerate(combinations(range(labels.shape[1]), 2)):
        if at == MOST_PAIRS_OF_PEOPLE:
            return
        table = two_way_table(own[one], own[other], labels.shape[2])
        result = cohen_kappa(table, material.values, resamples=OF_GROUPS)
        total = int(table.sum())
        same = float(np.trace(table) / total) if total else None
        yield _plain(result) | {"one": one, "other": other, "exact": same}


def _person(profile: Profile, assessment: Assessment, place: int, material: Material) -> Figures:
    labels, on_gold = material.labels, profile.on_gold
    own = labels.annotators == place
    beside = count_own(labels.units, labels.steps, own, material.values)
    agreement = _plain(alpha_with_others(beside, LEVEL, resamples=OF_GROUPS))
    courses = [_alpha_course(labels, own, material.values), *profile.courses, on_gold.course]
    days = Counter((labels.times[own] // DAY).astype(int))
    kept = ("labels", "compared", "right", "right_error", "bias", "bias_error", "correlation",
            "median_seconds", "fast", "drift_of")  # fmt: skip
    return {
        **{name: getattr(profile, name) for name in kept},
        "accuracy": _accuracy(assessment),
        "confusion": profile.confusion.tolist(),
        "grades": profile.grades.tolist(),
        "over_time": [_course(one, material) for one in courses if len(one.windows) > 1],
        "drift": None if profile.drift is None else _change(profile.drift, material),
        "findings": [asdict(finding) for finding in assessment.findings],
        "notes": [asdict(finding) for finding in assessment.notes],
        "days": [[int(day) * int(DAY), count] for day, count in sorted(days.items())],
        "gold": _gold(on_gold),
        "repeats": _repeated(material.repeats, place),
        "measured": int((~np.isnan(labels.seconds[own])).sum()),
        "agreement": agreement | {"sets": list_sets(beside)},
    }


def _accuracy(assessment: Assessment) -> Figures:
    """The estimate; without a number where too little is known to say one."""
    known = assessment.is_known
    return {
        "value": assessment.accuracy if known else None,
        "low": assessment.low if known else None,
        "high": assessment.high if known else None,
        "basis": assessment.basis,
        "checked": assessment.checked,
        "compared": assessment.compared,
        "below_median": assessment.below_median,
    }


def _course(found: Course, material: Material) -> Figures:
    change = found.change
    is_named = change is not None and change.chance <= CHANGED
    return {
        "what": found.what,
        "windows": [asdict(one) | {"is_outside": one.is_outside} for one in found.windows],
        "change": _change(change, material) if change is not None and is_named else None,
    }


def _alpha_course(labels: Labels, own: NDArray[np.bool_], values: Sequence[float]) -> Course:
    added = label_alphas(labels.units, labels.steps, own, values, LEVEL)
    known = ~np.isnan(added)
    return course("alpha", labels.times[own][known], added[known])


def _gold(on_gold: OnGold) -> Figures:
    result = {name: value for name, value in vars(on_gold).items() if name != "course"}
    return result | {
        "interval": wilson_interval(on_gold.right, on_gold.checked),
        "confusion": on_gold.confusion.tolist(),
    }


def _repeated(repeats: Repeats, place: int) -> Figures:
    own = repeats.annotators == place
    same = int((repeats.first[own] == repeats.second[own]).sum())
    total = int(own.sum())
    return {"pairs": total, "same": same, "interval": wilson_interval(same, total)}


def _time(labels: Labels) -> Figures:
    measured = labels.seconds[~np.isnan(labels.seconds)]
    return {
        "measured": len(measured),
        "seconds": float(measured.sum()),
        "mean_seconds": float(measured.mean()) if len(measured) else None,
        "usual_seconds": usual_seconds(labels),
        "begins": float(labels.times.min()),
        "ends": float(labels.times.max()),
    }
