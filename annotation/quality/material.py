"""Everything that a campaign's quality figures are computed from, read as arrays.

For the worker, not for viewers: names of people are not read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Count, Min, Sum
from django.db.models.functions import Coalesce

from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    Campaign,
    GoldCheck,
    Label,
    LabelTimingDay,
    Pair,
)
from annotation.models.labels import MADE_AT
from annotation.quality.events import list_marked
from annotation.quality.figures import Event, Ints, Material, Repeats
from annotation.quality.profiles import Checks, Labels
from touchstone.agreement.dawid_skene import Floats
from touchstone.scales import Scale

Row = tuple[Any, ...]  # of COLUMNS
COLUMNS = (
    "pair_id",
    "annotator_id",
    "grade",
    "timing__seconds",
    MADE_AT,
    "guideline_revision__number",
    "assignment__purpose",
)


def key_of(campaign: Campaign) -> str:
    """A name of all that the figures follow from: it changes with every label and gold check."""
    said = campaign.pairs.order_by().aggregate(said=Sum("label_seq"))["said"] or 0
    checked = GoldCheck.objects.filter(item__campaign=campaign).count()
    return f"{said}:{checked}"


@dataclass(frozen=True)
class Read:
    """The material, and what its numbers stand for: ids of annotators and of pairs."""

    material: Material
    people: list[int]
    pairs: list[int]


def read_material(campaign: Campaign) -> Read:
    """Everything that the figures of a campaign are computed from."""
    rows = _rows(campaign)
    overlap = [row for row in rows if row[6] in OVERLAP_PURPOSES]
    people = sorted({row[1] for row in rows})
    person = {pk: position for position, pk in enumerate(people)}
    pair_ids = sorted({row[0] for row in overlap})
    unit = {pk: position for position, pk in enumerate(pair_ids)}
    scale = Scale.from_json(campaign.list.scale)
    step = {code: position for position, code in enumerate(scale.codes)}
    labels = Labels(
        units=_ints([unit[row[0]] for row in overlap]),
        annotators=_ints([person[row[1]] for row in overlap]),
        steps=_ints([step[row[2]] for row in overlap]),
        seconds=np.array([row[3] for row in overlap], dtype=np.float64),
        times=np.array([row[4].timestamp() for row in overlap], dtype=np.float64),
        shape=(len(pair_ids), len(people), len(step)),
    )
    queries, segments = _queries(campaign, unit)
    material = Material(
        labels=labels,
        values=tuple(grade.value for grade in scale.grades),
        query_of=queries[0],
        query_names=queries[1],
        segment_of=segments[0],
        segment_names=segments[1],
        revisions=_ints([row[5] for row in overlap]),
        checks=_checks(campaign, person, step),
        repeats=_repeats(rows, person, step),
        decided=_decided(campaign, unit, step),
        events=tuple(_events(campaign)),
    )
    return Read(material, people, pair_ids)


def count_given(campaign: Campaign) -> dict[str, Any]:
    """What was labelled in all, for the cost: labels of gold, repeats and training, too, and
    those that were corrected. measured: labels with active seconds; seconds: their sum."""
    given = Label.objects.filter(pair__campaign=campaign).aggregate(
        labels=Count("pk"), measured=Count("timing__seconds"), seconds=Sum("timing__seconds")
    )
    # of times that are no longer kept for each label
    gone = LabelTimingDay.objects.filter(campaign=campaign).aggregate(
        measured=Sum("labels"), seconds=Sum("seconds")
    )
    return given | {
        name: (given[name] or 0) + (gone[name] or 0) for name in ("measured", "seconds")
    }


def _rows(campaign: Campaign) -> list[Row]:
    labels_qs = Label.objects.filter(
        pair__campaign=campaign,
        outcome=Label.Outcome.GRADED,
        superseded_by__isnull=True,
        assignment__state=Assignment.State.DONE,
    ).exclude(assignment__purpose=Assignment.Purpose.TRAINING)
    return list(labels_qs.order_by("pair_id", "pair_seq").values_list(*COLUMNS))


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _queries(
    campaign: Campaign, unit: dict[int, int]
) -> tuple[tuple[Ints, tuple[str, ...]], tuple[Ints, tuple[str, ...]]]:
    """Each unit's query and segment, as places in their names."""
    rows = campaign.pairs.order_by().values_list("pk", "query__qid", "query__segment")
    result: dict[int, tuple[str, str]] = {pk: (qid, segment) for pk, qid, segment in rows}
    placed = []
    for part in (0, 1):
        names = sorted({pair[part] for pair in result.values()})
        place = {name: number for number, name in enumerate(names)}
        placed.append((_ints([place[result[pk][part]] for pk in unit]), tuple(names)))
    return placed[0], placed[1]


def _checks(campaign: Campaign, person: dict[int, int], step: dict[int, int]) -> Checks:
    """What comparing labels that hold with the right answers gave."""
    checks_qs = GoldCheck.objects.filter(
        item__campaign=campaign, error__isnull=False, label__superseded_by__isnull=True
    )
    checks_qs = checks_qs.annotate(at=Coalesce("label__timing__made_at", "label__received_at"))
    rows = checks_qs.order_by("at", "pk").values_list(
        "label__annotator", "error", "label__grade", "at", "item", "item__low",
        "item__high",
    )  # fmt: skip
    result = [
        (person[pk], error, step[grade], at.timestamp(), item, step[low], step[high])
        for pk, error, grade, at, item, low, high in rows
        if pk in person and error is not None and grade in step and low in step and high in step
    ]
    columns = list(zip(*result, strict=True)) or [()] * 7
    people, errors, steps, times, items, lows, highs = columns
    return Checks(
        _ints(people), _ints(errors), _ints(steps), np.array(times, dtype=np.float64),
        _ints(items), _ints(lows), _ints(highs),
    )  # fmt: skip


def _decided(campaign: Campaign, unit: dict[int, int], step: dict[int, int]) -> Ints:
    decided = np.full(len(unit), -1, dtype=np.int64)
    adjudicated_qs = campaign.pairs.filter(state=Pair.State.ADJUDICATED).order_by()
    for pk, grade in adjudicated_qs.values_list("pk", "grade"):
        if pk in unit and grade in step:
            decided[unit[pk]] = step[grade]
    return decided


def _repeats(rows: list[Row], person: dict[int, int], step: dict[int, int]) -> Repeats:
    first = {(row[0], row[1]): row[2] for row in rows if row[6] in OVERLAP_PURPOSES}
    result = [
        (person[row[1]], step[first[row[0], row[1]]], step[row[2]])
        for row in rows
        if row[6] == Assignment.Purpose.REPEAT and (row[0], row[1]) in first
    ]
    columns = list(zip(*result, strict=True)) or [(), (), ()]
    return Repeats(*(_ints(column) for column in columns))


def _events(campaign: Campaign) -> list[Event]:
    """What may explain a change: what charts mark, new people, new pairs."""
    events = list_marked(campaign)
    began_qs = Label.objects.filter(pair__campaign=campaign).order_by().values("annotator")
    events += [
        _event(row["at"], "annotator", "a new annotator began")
        for row in began_qs.annotate(at=Min(MADE_AT))
    ]
    events += [
        _event(pool.created_at, "pool", f"a new pool of {_pairs(pool.pair_count)}")
        for pool in campaign.pools.order_by("pk")[1:]
    ]
    return events


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"


def _event(at: datetime, kind: str, text: str) -> Event:
    return Event(at.timestamp(), kind, text)


def list_chances(read: Read, posterior: Floats) -> dict[tuple[int, int], tuple[float, ...]]:
    """How probable each grade of a pair is, by the pks of its query and document.

    Those that a lead has decided are left out: nothing about them is a matter of chance.
    posterior: (pairs, grades), in the order of the material.
    """
    place = {pk: number for number, pk in enumerate(read.pairs)}
    rows = Pair.objects.filter(pk__in=read.pairs[:1]).values_list("campaign", flat=True)
    undecided = Pair.objects.filter(campaign__in=rows).exclude(state=Pair.State.ADJUDICATED)
    return {
        (query, document): tuple(posterior[place[pk]].tolist())
        for pk, query, document in undecided.values_list("pk", "query", "document")
        if pk in place
    }
