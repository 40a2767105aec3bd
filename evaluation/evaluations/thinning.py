"""Deleting stored evaluations that have aged out; the one thing that is ever deleted."""

from datetime import datetime

from django.db.models import Exists, OuterRef

from evaluation.evaluations.thinning_rule import dropped_versions
from evaluation.models import Evaluation
from judgments.models import JudgmentList, JudgmentVersion, Release


def thin_evaluations(*, list_id: int, at: datetime) -> int:
    """Delete what thinning_rule.py lets go on a list; how many rows that were.

    A run's latest evaluation of each measure set is kept at any age: the next one is
    reached from it.
    """
    evaluated = Evaluation.objects.filter(version=OuterRef("pk"))
    versions = JudgmentVersion.objects.filter(Exists(evaluated), list_id=list_id)
    head = JudgmentList.objects.values_list("head", flat=True).get(pk=list_id)
    released = Release.objects.filter(list_id=list_id).values_list("version__number", flat=True)
    dropped = dropped_versions(
        versions.values_list("number", "created_at"), kept={head, *released}, now=at
    )
    later = Evaluation.objects.filter(
        run=OuterRef("run"),
        measure_set=OuterRef("measure_set"),
        version__list=list_id,
        version__number__gt=OuterRef("version__number"),
    )
    deleted = 0
    for number in dropped:
        rows = Evaluation.objects.filter(
            Exists(later), version__list=list_id, version__number=number
        )
        deleted += rows.delete()[0]
    return deleted
