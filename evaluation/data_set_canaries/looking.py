"""Holding the days of evaluations against canaries' rules, and telling people of incidents.

Everything that is due follows from the rows: the evaluations that ended and have no look yet.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import reduce
from typing import Any, Final

from django.db import transaction

from evaluation.canaries.rules import BoardChecked, BoardRule, of_boards, read_rules
from evaluation.canaries.telling import find_events, record_event, tell
from evaluation.canaries.words import WORDS
from evaluation.data_set_canaries.queries import (
    ENDED,
    State,
    list_due_canaries_of_data_sets,
)
from evaluation.data_sets.queries import describe_look, list_rule_measures
from evaluation.models import DataSetCanary, DataSetEvaluation, DataSetFigures, DataSetLook
from touchstone.measures.exact import add, as_integers, from_bytes, means, standard_errors
from touchstone.statistics.intervals import half_interval
from touchstone.statistics.monitoring import (
    CLEAR,
    Event,
    Fall,
    Finding,
    judge_floor,
    judge_quality,
    worst_of,
)
from touchstone.statistics.non_inferiority import LEVEL

ABOVE: Final = 0.02  # half of it above the lowest mean, an incident is over
MOST_DAYS: Final = 31  # of one evaluation that are looked at


@dataclass(frozen=True)
class Sample:
    """A measure's mean over some queries, and its standard error."""

    mean: float
    error: float
    n: int


@dataclass(frozen=True)
class RuleResult:
    """A rule in one segment. value: the mean, or the difference to the baseline."""

    segment: str
    value: float
    found: str
    finding: Finding


def check_data_sets(*, at: datetime) -> int:
    """Look at all that is due, oldest evaluations first; how many looks there were."""
    looks = 0
    due = list_due_canaries_of_data_sets().order_by("pk")
    for canary in due.select_related("data_set__collection", "created_by"):
        seen = DataSetLook.objects.filter(canary=canary).values("evaluation")
        unseen = canary.data_set.own_evaluations.filter(
            pk__gt=canary.after_evaluation, state__in=ENDED
        ).exclude(pk__in=seen)
        for evaluation in unseen.order_by("pk"):
            looks += _look(canary, evaluation, at)
    return looks


def _look(canary: DataSetCanary, evaluation: DataSetEvaluation, at: datetime) -> int:
    """All days of an evaluation; 0 where another worker was first."""
    with transaction.atomic():
        # looks of a canary come one after the other: an incident is what they say in this order
        DataSetCanary.objects.select_for_update(no_key=True, of=("self",)).get(pk=canary.pk)
        before = DataSetLook.objects.filter(canary=canary)
        if before.filter(evaluation=evaluation).exists():
            return 0
        of_days = before.filter(evaluation__state=State.DONE).order_by("-day")
        newest = of_days.values_list("day", flat=True).first()
        for day, figures in _figures(canary, evaluation, newest):
            look = DataSetLook.objects.create(
                canary=canary,
                evaluation=evaluation,
                day=day,
                figures=figures,
                findings=_findings(figures),
                looked_at=at,
            )
            looks = before.order_by("pk").values_list("findings", flat=True)
            for kind, event in find_events(looks, in_a_row=canary.in_a_row).items():
                _tell(canary, look, kind, event, at)
    return 1


def _findings(figures: Mapping[str, Any]) -> dict[str, Finding | None]:
    """What the figures say of each kind; None where they say nothing."""
    findings: dict[str, Finding | None] = dict.fromkeys(WORDS)
    findings["availability"] = Finding.BAD if "problem" in figures else Finding.GOOD
    found = [Finding(one["finding"]) for one in figures.get("board", ()) if one["finding"]]
    if found:
        findings["board"] = worst_of(found)
    return findings


def _figures(
    canary: DataSetCanary, evaluation: DataSetEvaluation, newest: str | None
) -> Sequence[tuple[str, dict[str, Any]]]:
    """What is looked at, oldest first: every day after the newest that was, or the last one.

    newest: None before the first look, which is at the last day alone.
    """
    if evaluation.state == State.FAILED:
        return [("", {"problem": evaluation.problem})]
    groups: dict[str, list[DataSetFigures]] = {}
    if canary.data_set.day:
        for one in evaluation.figures.order_by("day", "segment"):
            groups.setdefault(one.day, []).append(one)
        later = [day for day in groups if newest is not None and day > newest]
        looked = later[-MOST_DAYS:] or list(groups)[-1:]
    else:
        done = canary.data_set.own_evaluations.filter(state=State.DONE, pk__lte=evaluation.pk)
        for past in reversed(done.order_by("-pk")[: canary.days + 1]):
            groups[str(past.pk)] = list(past.figures.order_by("segment"))
        looked = [str(evaluation.pk)]
    order = list(groups)
    result = []
    for name in looked:
        position = order.index(name)
        earlier = order[max(0, position - canary.days) : position]
        base = [one for each in earlier for one in groups[each]]
        checked = [asdict(one) for one in _check(canary, groups[name], base)]
        result.append((name if canary.data_set.day else "", {"board": checked}))
    return result


def _check(
    canary: DataSetCanary, now: Sequence[DataSetFigures], base: Sequence[DataSetFigures]
) -> Sequence[BoardChecked]:
    """Each rule for its measure, in each segment that it is for.

    Where several are compared with the baseline, each interval is so much wider that all of them
    together keep the level of one (Bonferroni).
    """
    names = list_rule_measures(canary.data_set)
    segments = sorted({one.segment for one in now}) if canary.is_by_segment else [canary.segment]
    is_whole = not canary.is_by_segment and not canary.segment
    samples = {
        segment: [
            _samples(
                names, canary.fewest, [one for one in own if is_whole or one.segment == segment]
            )
            for own in (now, base)
        ]
        for segment in segments
    }
    rules = of_boards(read_rules(canary.rules), tuple(dict.fromkeys(names)))
    compared = sum(rule.below is not None for rule in rules) * len(segments)
    level = 1 - (1 - LEVEL) / max(compared, 1)
    result = []
    for rule in rules:
        found = [
            one
            for segment, (own, before) in samples.items()
            if (one := _result(rule, segment, own, before, level)) is not None
        ]
        result.append(_in_one(canary, rule, found, len(segments)))
    return result


def _samples(
    names: Sequence[str], fewest: int, figures: Iterable[DataSetFigures]
) -> dict[str, Sample]:
    """The measures of some figures together that have enough queries."""
    packed = [from_bytes(bytes(one.sums)) for one in figures]
    if not packed:
        return {}
    sums = reduce(add, packed)
    rows = zip(names, means(sums), standard_errors(sums), sums.tolist(), strict=True)
    return {
        name: Sample(mean, error or 0.0, n)
        for name, mean, error, row in rows
        if mean is not None and (n := as_integers(row)[0]) >= max(fewest, 1)
    }


def _result(
    rule: BoardRule,
    segment: str,
    now: Mapping[str, Sample],
    base: Mapping[str, Sample],
    level: float,
) -> RuleResult | None:
    """None where there are too few queries, or there is no baseline."""
    own, before = now.get(rule.measure), base.get(rule.measure)
    if own is None:
        return None
    if rule.below is None:
        floor = rule.at_least or 0.0
        finding = judge_floor(own.mean, floor=floor, clear=CLEAR * ABOVE)
        return RuleResult(segment, own.mean, f"{own.mean:.4f}", finding)
    if before is None:
        return None
    difference = own.mean - before.mean
    n = min(own.n, before.n)
    half = half_interval((own.error**2 + before.error**2) ** 0.5, n, confidence=level)
    if half is None:  # of a single query there is no interval
        return None
    fall = Fall(n=n, difference=difference, low=difference - half, high=difference + half)
    found = f"{difference:+.4f}, {fall.low:+.4f} to {fall.high:+.4f}"
    return RuleResult(segment, difference, found, judge_quality(fall, margin=rule.below))


def _in_one(
    canary: DataSetCanary, rule: BoardRule, found: Sequence[RuleResult], segments: int
) -> BoardChecked:
    """A rule in all of its segments: what they say together, and the figures of the lowest."""
    text = f"{rule} in {canary.segment}" if canary.segment else str(rule)
    if canary.is_by_segment:
        text = f"{rule} in every segment"
    if not found:
        return BoardChecked(text, "too few queries, or no baseline", None)
    finding = worst_of([one.finding for one in found])
    worst = min((one for one in found if one.finding is finding), key=lambda one: one.value)
    words = worst.found
    if canary.is_by_segment:
        bad = sum(one.finding is Finding.BAD for one in found)
        words = f"{worst.segment or '(none)'}: {words}; broken in {bad:,} of {segments:,}"
    return BoardChecked(text, words, finding)


def _tell(canary: DataSetCanary, look: DataSetLook, kind: str, event: Event, at: datetime) -> None:
    """Open or end an incident, and tell the collection's leads and the canary's creator."""
    incident = record_event(event, kind=kind, canary=canary, look=look, at=at)
    data_set = canary.data_set
    tell(
        event,
        incident,
        collection=data_set.collection,
        creator=canary.created_by,
        payload={"variant": "data_set", "data_set": data_set.name},
        page=("data-set-canaries", data_set.collection.slug, data_set.slug),
        data={
            "canary": canary.pk,
            "data_set": data_set.slug,
            "evaluation": str(look.evaluation.public_id),
            "day": look.day,
        },
        text=describe_look(kind, look),
        at=at,
    )
