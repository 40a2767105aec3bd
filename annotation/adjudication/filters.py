"""Which pairs are meant, by what was said of them: the way from a figure to its labels."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Coalesce

from annotation.consolidation.overlap import overlap_grades
from annotation.models import GoldCheck, Pair
from annotation.models.labels import MADE_AT


@dataclass(frozen=True)
class Narrowing:
    """Pairs of a segment, with a label of this kind by each of some people, or by anyone.

    people: user names. grade, revision, since, until: of the label, and when it was made, both
    ends included. None: whatever it is; a segment may be empty. Labels are those that count, or
    with `gold` those that were checked. error: of a check, in steps. likely: the grade that the
    others' labels make most probable; of one person's labels of one grade.
    """

    people: tuple[str, ...] = ()
    grade: int | None = None
    revision: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    segment: str | None = None
    gold: bool = False
    error: int | None = None
    likely: int | None = None

    def __bool__(self) -> bool:
        return self != Narrowing()

    def of(self, pairs_qs: QuerySet[Pair]) -> QuerySet[Pair]:
        """Those of the pairs that are meant."""
        if self.segment is not None:
            pairs_qs = pairs_qs.filter(query__segment=self.segment)
        of_label = "label__" if self.gold else ""
        given = {
            f"{of_label}grade": self.grade,
            f"{of_label}guideline_revision__number": self.revision,
            "made__gte": self.since,
            "made__lte": self.until,
        } | ({"error": self.error} if self.gold else {})
        kind = {name: value for name, value in given.items() if value is not None}
        said_qs: QuerySet[Any] = _checks() if self.gold else _labels()
        said_qs = said_qs.filter(**kind)
        for username in self.people:
            by = {f"{of_label}annotator__username": username}
            pairs_qs = pairs_qs.filter(Exists(said_qs.filter(**by)))
        if (kind or self.gold) and not self.people:
            pairs_qs = pairs_qs.filter(Exists(said_qs))
        return pairs_qs


def checks_that_hold() -> QuerySet[GoldCheck]:
    """The gold checks of labels that give a grade and hold."""
    return GoldCheck.objects.filter(error__isnull=False, label__superseded_by__isnull=True)


def _labels() -> QuerySet[Any]:
    return overlap_grades().annotate(made=MADE_AT).filter(pair=OuterRef("pk"))


def _checks() -> QuerySet[Any]:
    made = Coalesce("label__timing__made_at", "label__received_at")
    return checks_that_hold().annotate(made=made).filter(item__pair=OuterRef("pk"))
