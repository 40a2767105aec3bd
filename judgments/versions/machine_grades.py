"""Which grades of a list come from machine judges: evidence has the key `machine`.

{"machine": {"judge": "Model", "revision": 2, "label": 31}}
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np
from django.db.models import Q, QuerySet

from judgments.models import Judgment, JudgmentVersion
from judgments.versions.click_grades import click_grades_qs
from judgments.versions.queries import Judged, get_judged
from judgments.versions.takes import KEY

AT_ONCE: Final = 500  # queries of one statement


def machine_grades_qs(*, list_id: int, version: int) -> QuerySet[Judgment]:
    """The judgments that hold at a version and come from machine judges."""
    made = JudgmentVersion.objects.filter(
        list=list_id, source=JudgmentVersion.Source.MACHINE, number__lte=version
    )
    if not made.exists():
        return Judgment.objects.none()
    return Judgment.objects.filter(
        Q(until=None) | Q(until__gt=version),
        list=list_id,
        since__lte=version,
        evidence__has_key=KEY,
    )


def by_people() -> Q:
    """The judgments that do not come from machine judges."""
    return ~Q(evidence__has_key=KEY)


def count_machine_grades(*, list_id: int, version: int) -> int:
    """How many grades of a version come from machine judges."""
    return machine_grades_qs(list_id=list_id, version=version).count()


def has_other_sources(*, list_id: int, version: int) -> bool:
    """Whether a version up to this one took grades from clicks or machine judges."""
    others = (JudgmentVersion.Source.CLICKS, JudgmentVersion.Source.MACHINE)
    made = JudgmentVersion.objects.filter(list=list_id, number__lte=version, source__in=others)
    return made.exists()


def list_not_from_people(
    *, list_id: int, version: int, query_ids: Collection[int] | None = None
) -> set[tuple[int, int]]:
    """The pairs, as ids of queries and documents, whose grades at a version come from clicks or
    machine judges: of all queries, or of some."""
    if not has_other_sources(list_id=list_id, version=version):
        return set()
    own = (
        click_grades_qs(list_id=list_id, version=version),
        machine_grades_qs(list_id=list_id, version=version),
    )
    every = None if query_ids is None else sorted(query_ids)
    parts = [
        rows if every is None else rows.filter(query__in=every[start : start + AT_ONCE])
        for rows in own
        for start in range(0, 1 if every is None else len(every), AT_ONCE)
    ]
    return {
        (query, document)
        for rows in parts
        for query, document in rows.order_by().values_list("query_id", "document_id")
    }


def get_judged_by_people(*, list_id: int, version: int, query_ids: Collection[int]) -> Judged:
    """The grades of some queries that hold at a version and come from people, or were imported."""
    judged = get_judged(list_id=list_id, version=version, query_ids=query_ids)
    others = list_not_from_people(list_id=list_id, version=version, query_ids=query_ids)
    if not others:
        return judged
    pairs = zip(judged.query_ids.tolist(), judged.document_ids.tolist(), strict=True)
    kept = np.array([pair not in others for pair in pairs], bool)
    return Judged(judged.query_ids[kept], judged.document_ids[kept], judged.grades[kept])


def machine_words(evidence: Mapping[str, Any]) -> str:
    """Which machine judge graded a pair, in words; "" where its grade does not come from one."""
    own = evidence.get(KEY)
    if not isinstance(own, Mapping):
        return ""
    return f"machine judge {own['judge']}, revision {own['revision']}"
