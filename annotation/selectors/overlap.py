"""The labels that count: those of the overlap that hold."""

from django.db.models import QuerySet

from annotation.models import OVERLAP_PURPOSES, Assignment, Label


def overlap_labels() -> QuerySet[Label]:
    """What people say now, whatever it is, in the seats that count and were not set aside."""
    return Label.objects.filter(
        superseded_by__isnull=True,
        assignment__purpose__in=OVERLAP_PURPOSES,
        assignment__state=Assignment.State.DONE,
    )


def overlap_grades() -> QuerySet[Label]:
    """Those of them that give a grade."""
    return overlap_labels().filter(outcome=Label.Outcome.GRADED)
