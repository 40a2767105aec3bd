"""Which grades of a list come from machine judges: evidence has the key `machine`.

{"machine": {"judge": "Model", "revision": 2, "label": 31}}
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Q, QuerySet

from judgments.models import Judgment, JudgmentVersion
from judgments.versions.click_grades import click_grades_qs

KEY: Final = "machine"


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


def count_machine_grades(*, list_id: int, version: int) -> int:
    """How many grades of a version come from machine judges."""
    return machine_grades_qs(list_id=list_id, version=version).count()


def list_not_from_people(*, list_id: int, version: int) -> set[tuple[int, int]]:
    """The pairs, as ids of queries and documents, whose grades at a version come from clicks or
    machine judges."""
    own = (
        click_grades_qs(list_id=list_id, version=version),
        machine_grades_qs(list_id=list_id, version=version),
    )
    return {
        (query, document)
        for rows in own
        for query, document in rows.order_by().values_list("query_id", "document_id")
    }


def machine_words(evidence: Mapping[str, Any]) -> str:
    """Which machine judge graded a pair, in words; "" where its grade does not come from one."""
    own = evidence.get(KEY)
    if not isinstance(own, Mapping):
        return ""
    return f"machine judge {own['judge']}, revision {own['revision']}"
