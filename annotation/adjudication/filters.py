"""Which pairs are meant, by what was said of them: the way from a figure to its labels."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet

from annotation.consolidation.overlap import overlap_grades
from annotation.models import Pair
from annotation.models.labels import MADE_AT


@dataclass(frozen=True)
class Narrowing:
    """Pairs of a segment, with a label of this kind by each of some people, or by anyone.

    people: user names. grade, revision, since, until: of the label, and when it was made, both
    ends included. None: whatever it is; a segment may be empty. Labels are those that count.
    """

    people: tuple[str, ...] = ()
    grade: int | None = None
    revision: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    segment: str | None = None

    def __bool__(self) -> bool:
        return self != Narrowing()

    def of(self, pairs_qs: QuerySet[Pair]) -> QuerySet[Pair]:
        """Those of the pairs that are meant."""
        if self.segment is not None:
            pairs_qs = pairs_qs.filter(query__segment=self.segment)
        given = {
            "grade": self.grade,
            "guideline_revision__number": self.revision,
            "made__gte": self.since,
            "made__lte": self.until,
        }
        kind = {name: value for name, value in given.items() if value is not None}
        labels_qs = overlap_grades().annotate(made=MADE_AT).filter(pair=OuterRef("pk"), **kind)
        for username in self.people:
            pairs_qs = pairs_qs.filter(Exists(labels_qs.filter(annotator__username=username)))
        if kind and not self.people:
            pairs_qs = pairs_qs.filter(Exists(labels_qs))
        return pairs_qs
