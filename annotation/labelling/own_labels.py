"""An annotator's own labels and skips; never what anyone else said of a pair."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.labelling.shown_pairs import (
    CLEAN_HTML,
    IMAGES,
    SHOWN,
    TRAINING,
    Pictures,
    ShownPair,
    get_own_seats,
    show_pair,
)
from annotation.models import (
    Assignment,
    Label,
    QuerySkip,
)
from annotation.models.labels import MADE_AT
from annotation.permissions import AnnotatorContext
from annotation.seats.streams import order_of
from judgments.permissions import NotFound

OF_PAIR: Final = "pair__"
MOST_SEARCHED: Final = 200  # characters of a search


@dataclass(frozen=True)
class OwnLabel:
    """One of the viewer's labels, with what it is about."""

    id: UUID
    outcome: str
    grade: int | None
    reason: str
    note: str
    spans: Sequence[Mapping[str, Any]]
    guideline_revision: int
    made_at: datetime
    pair: ShownPair


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which of the own labels to show: those that meet all that is asked for.

    query_of: only those of the query of this seat. cannot_tell: only those without a grade.
    search: only those with these words, in any case, in the query, the title or the note.
    only: the label with this id.
    """

    grade: int | None = None
    cannot_tell: bool = False
    noted: bool = False
    query_of: UUID | None = None
    search: str = ""
    only: UUID | None = None


ALL: Final = Wanted()


@dataclass(frozen=True)
class Pace:
    """What the viewer has labelled of late, and the active seconds it took."""

    labels: int
    seconds: float


@dataclass(frozen=True)
class OwnSkip:
    """A query that the viewer is not asked about, because they said so.

    query_name: as that of its pairs.
    """

    id: UUID
    query_name: str
    query_text: str
    query_description: str
    reason: str
    reason_words: str
    note: str
    skipped_at: datetime


def list_own_labels(
    context: AnnotatorContext,
    *,
    limit: int = 50,
    before: UUID | None = None,
    wanted: Wanted = ALL,
) -> list[OwnLabel]:
    """The viewer's labels that hold, newest first; `before`: only those older than this one.

    `before` may be a label that has been corrected since. Labels that arrived together are in the
    order in which they were made.
    """
    timed_qs = own_labels(context, wanted).annotate(made=MADE_AT)
    if before is not None:
        last_qs = Label.objects.filter(
            pk=before, annotator=context.viewer, pair__campaign=context.campaign
        )
        last = last_qs.annotate(made=MADE_AT).values("received_at", "made").first()
        if last is None:
            raise NotFound("label")
        together = Q(received_at=last["received_at"])
        older = (
            Q(received_at__lt=last["received_at"])
            | (together & Q(made__lt=last["made"]))
            | (together & Q(made=last["made"], pk__lt=before))
        )
        timed_qs = timed_qs.filter(older)
    return _read_labels(context, timed_qs.order_by("-received_at", "-made", "-pk")[:limit])


def measure_pace(context: AnnotatorContext, *, since: datetime) -> Pace:
    """How many labels the viewer made since then in this campaign, and in how much active time.

    Only what holds counts, and of that only what has a time.
    """
    labels_qs = own_labels(context).filter(received_at__gte=since, timing__seconds__isnull=False)
    counted = labels_qs.order_by().aggregate(labels=Count("pk"), seconds=Sum("timing__seconds"))
    return Pace(counted["labels"], counted["seconds"] or 0.0)


def list_own_skips(context: AnnotatorContext) -> list[OwnSkip]:
    """The queries that the viewer skips, the last first."""
    skips_qs = QuerySkip.objects.filter(
        campaign=context.campaign, annotator=context.viewer, returned_at=None
    )
    order = order_of(context)
    return [
        OwnSkip(
            id=skip.public_id,
            query_name=order.query_name(skip.query_id),
            query_text=skip.query.text,
            query_description=skip.query.description,
            reason=skip.reason,
            reason_words=skip.get_reason_display(),
            note=skip.note,
            skipped_at=skip.skipped_at,
        )
        for skip in skips_qs.select_related("query").order_by("-skipped_at", "-pk")
    ]


def own_labels(context: AnnotatorContext, wanted: Wanted = ALL) -> QuerySet[Label]:
    """The viewer's labels that hold and that are wanted."""
    labels_qs = Label.objects.filter(
        annotator=context.viewer, pair__campaign=context.campaign, superseded_by__isnull=True
    ).exclude(outcome=Label.Outcome.RETRACTED)
    if wanted.grade is not None:
        labels_qs = labels_qs.filter(grade=wanted.grade)
    if wanted.cannot_tell:
        labels_qs = labels_qs.exclude(outcome=Label.Outcome.GRADED)
    if wanted.noted:
        labels_qs = labels_qs.filter(note_text__text__isnull=False)
    if wanted.query_of is not None:
        seat_qs = get_own_seats(context).filter(public_id=wanted.query_of)
        query = Coalesce("stand_in__shown__query", "pair__query")
        labels_qs = labels_qs.filter(pair__query__in=seat_qs.values_list(query))
    if wanted.only is not None:
        labels_qs = labels_qs.filter(pk=wanted.only)
    if wanted.search:
        labels_qs = labels_qs.filter(
            Q(pair__query__text__icontains=wanted.search)
            | Q(pair__document__title__icontains=wanted.search)
            | Q(note_text__text__icontains=wanted.search)
        )
    return labels_qs


def _read_labels(context: AnnotatorContext, labels_qs: QuerySet[Label]) -> list[OwnLabel]:
    order = order_of(context)
    # a label outside the overlap has no seat: the one that it named is still there, voided
    shown = Q(pair=OuterRef("pair"), stand_in=None) | Q(stand_in__shown=OuterRef("pair"))
    named = Assignment.objects.filter(shown, annotator=OuterRef("annotator"))
    seat = Coalesce(
        "assignment__public_id", Subquery(named.order_by("-pk").values("public_id")[:1])
    )
    told = labels_qs.annotate(seat=seat, purpose=F("assignment__purpose"))
    row_qs: Iterable[dict[str, Any]] = told.values(
        "pk", "seat", "purpose", "outcome", "grade", "spans", "made",
        "reason_text__text", "note_text__text",
        "guideline_revision__number", "pair__query", "pair__document", "assignment__occasion",
        *(OF_PAIR + column for column in (IMAGES, CLEAN_HTML, *SHOWN.values())),
    )  # fmt: skip
    rows = list(row_qs)
    pictures = Pictures(context.campaign, {row["pair__document"] for row in rows})
    return [
        OwnLabel(
            id=row["pk"],
            outcome=row["outcome"],
            grade=row["grade"],
            reason=row["reason_text__text"] or "",
            note=row["note_text__text"] or "",
            spans=row["spans"],
            guideline_revision=row["guideline_revision__number"],
            made_at=row["made"],
            pair=show_pair(
                row,
                pictures=pictures,
                of=OF_PAIR,
                assignment=row["seat"],
                name=order.name(
                    row["pair__query"], row["pair__document"], row["assignment__occasion"] or 0
                ),
                query_name=order.query_name(row["pair__query"]),
                is_training=row["purpose"] == TRAINING,
            ),
        )
        for row in rows
    ]
