"""The labels that count: those of the overlap that hold."""

from typing import Final

from django.db.models import QuerySet

from annotation.models import OVERLAP_PURPOSES, Assignment, Label

NOT_DONE: Final = tuple(state for state in Assignment.State if state != Assignment.State.DONE)


def overlap_labels() -> QuerySet[Label]:
    """What people say now, whatever it is, in the seats that count and were not set aside."""
    # not `state=DONE`: without statistics PostgreSQL takes that for rare, and begins with all seats
    # that are done, however few pairs are asked for
    return Label.objects.filter(
        superseded_by__isnull=True, assignment__purpose__in=OVERLAP_PURPOSES
    ).exclude(assignment__state__in=NOT_DONE)


def overlap_grades() -> QuerySet[Label]:
    """Those of them that give a grade."""
    return overlap_labels().filter(outcome=Label.Outcome.GRADED)
