"""The pairs that an annotator holds, as they are shown.

Blindness is enforced here by not fetching. Nothing of these values says where a pair came from,
at which rank, whether it is a check, or what anyone else thinks; ids are random, the order is
the annotator's own.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import models
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Cast, Coalesce, Length

from annotation.models import Assignment, Campaign, Label, Pair
from annotation.permissions import AnnotatorContext
from annotation.seats.streams import order_of
from judgments.models import Document
from judgments.pages.markup import HTML_FIELD, framed_html
from judgments.pages.words import plain
from judgments.pictures.queries import ShownPicture, field_names, get_stored, list_pictures
from judgments.storage.bulk import Among

HELD = Assignment.State.LEASED
# labelled, as the annotator sees it: whether a label still counts is not told
FILLED = (Assignment.State.DONE, Assignment.State.ASIDE)
IMAGES = "campaign__shows_images"
CLEAN_HTML = "document__clean_html"
TRAINING = Assignment.Purpose.TRAINING
EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
SHOWN = {
    "query_text": "query__text",
    "query_description": "query__description",
    "title": "document__title",
    "body": "document__body",
    "url": "document__url",
    "fields": "document__fields",
    "content_hash": "document__content_hash",
}


@dataclass(frozen=True, kw_only=True)
class ShownPair:
    """A query and a document as someone labels them.

    assignment: what a label names. name: what is the same when the pair comes under another
    assignment, because the first had ended; two documents with the same text have two.
    query_name: the same for all pairs of a query; two queries with the same text have two.
    fields: what the document's fields say, in words. pictures: that others of its fields name, in
    order. content_hash: of exactly this document text. html: the document as a page for a frame,
    where it has HTML. query_done: how many pairs of this query the viewer has labelled.
    is_training: its answer is told at once, and it does not count.
    """

    assignment: UUID
    name: str
    query_name: str
    query_text: str
    query_description: str
    title: str
    body: str
    url: str
    fields: Mapping[str, str]
    content_hash: str
    pictures: Sequence[ShownPicture] = ()
    html: str = ""
    query_done: int = 0
    is_training: bool = False


class HeldSeat(NamedTuple):
    """A seat that the viewer holds. pair, occasion: what is shown there."""

    public_id: UUID
    purpose: str
    pair: int
    occasion: int


def list_leased_seats(
    context: AnnotatorContext, *, characters: int, without: Sequence[UUID] = ()
) -> tuple[list[HeldSeat], int]:
    """The next seats that the viewer has leases for, in order, and how many come after them.

    characters: at most as many of text as this, but at least one document. without: as for
    list_leased_pairs.
    """
    held = _list_held(context, without=without)
    fields_size = Length(Cast("document__fields", models.TextField()))
    sizes = dict(
        Pair.objects.filter(pk__in=[seat.pair for seat in held])
        .order_by()
        .values_list("pk", Length("document__body") + fields_size)
    )
    upto = list(itertools.accumulate(sizes[seat.pair] for seat in held))
    fitting = max(1, sum(total <= characters for total in upto))
    return held[:fitting], max(0, len(held) - fitting)


def list_leased_pairs(
    context: AnnotatorContext,
    *,
    without: Sequence[UUID] = (),
    seats: Sequence[HeldSeat] | None = None,
) -> list[ShownPair]:
    """The pairs that the viewer has leases for, in the order to label them in.

    without: seats whose pairs the page has already, and which need not be read again. seats: those
    of `list_leased_seats`, where they are known.
    """
    held = _list_held(context, without=without) if seats is None else seats
    rows = {
        row["pk"]: row
        for row in Pair.objects.filter(pk__in=[seat.pair for seat in held])
        .order_by()
        .values("pk", "query", "document", IMAGES, CLEAN_HTML, *SHOWN.values())
    }
    done = _count_done(context, {row["query"] for row in rows.values()})
    order = order_of(context)
    pictures = Pictures(context.campaign, {row["document"] for row in rows.values()})
    return [
        show_pair(
            row,
            pictures=pictures,
            assignment=seat.public_id,
            name=order.name(row["query"], row["document"], seat.occasion),
            query_name=order.query_name(row["query"]),
            query_done=done.get(row["query"], 0),
            is_training=seat.purpose == TRAINING,
        )
        for seat in held
        for row in [rows[seat.pair]]
    ]


def _list_held(context: AnnotatorContext, *, without: Sequence[UUID]) -> list[HeldSeat]:
    """What the viewer holds, in the order to label it in: that of the places."""
    rows = (
        get_own_seats(context)
        .filter(state=HELD)
        .exclude(public_id__in=without)
        .order_by()
        .values_list(
            "pair",
            "pair__query",
            "pair__document",
            "public_id",
            "purpose",
            Coalesce("stand_in__shown_id", "pair_id"),
            Coalesce("stand_in__occasion", "occasion"),
        )
    )
    order = order_of(context)
    in_order = sorted(rows, key=lambda row: order.key(pair=row[0], query=row[1], document=row[2]))
    return [HeldSeat(*row[3:]) for row in in_order]


def get_own_seats(context: AnnotatorContext) -> QuerySet[Assignment]:
    return Assignment.objects.filter(annotator=context.viewer, pair__campaign=context.campaign)


class Pictures:
    """Of the documents of pairs, read together. fields: that are not shown as text, therefore."""

    def __init__(self, campaign: Campaign, documents: Iterable[int]) -> None:
        collection = campaign.list.collection
        self.fields = field_names(collection)
        self._shown = list_pictures(collection=collection, documents=documents)

    def of(self, document: int) -> Sequence[ShownPicture]:
        """The pictures of a document, in order."""
        return self._shown.get(document, ())


def get_shown_picture(context: AnnotatorContext, *, name: UUID) -> bytes:
    """A stored picture of a document that was ever leased to the viewer, or labelled by them.

    Also after the lease: a page that was reloaded gives back what its successor shows already.
    """
    shown = Coalesce("stand_in__shown__document", "pair__document")
    labelled_qs = Label.objects.filter(
        annotator=context.viewer, pair__campaign=context.campaign
    ).values("pair__document")
    documents = Document.objects.filter(
        Q(pk__in=get_own_seats(context).values_list(shown)) | Q(pk__in=labelled_qs)
    )
    collection = context.campaign.list.collection
    return get_stored(collection=collection, name=name, documents=documents)


def count_filled(context: AnnotatorContext) -> int:
    """How many pairs that count for their own figures the viewer has labelled."""
    return get_own_seats(context).filter(state__in=FILLED).exclude(purpose=TRAINING).count()


def _count_done(context: AnnotatorContext, queries: Set[int]) -> dict[int, int]:
    """How many pairs of each query the viewer has labelled."""
    if not queries:
        return {}
    done_qs = get_own_seats(context).filter(Among("pair__query", queries), state__in=FILLED)
    counted_qs = done_qs.order_by().values_list("pair__query")
    return dict(counted_qs.annotate(pairs=Count("pair", distinct=True)))


def show_pair(
    row: Mapping[str, Any],
    *,
    pictures: Pictures,
    assignment: UUID,
    name: str,
    query_name: str,
    of: str = "",
    query_done: int = 0,
    is_training: bool = False,
) -> ShownPair:
    """The pair of a row with the document, IMAGES, CLEAN_HTML and what is SHOWN.

    of: stands before each name of the row.
    """
    shown = {name: row[of + column] for name, column in SHOWN.items()}
    html = framed_html(row[of + CLEAN_HTML], images=row[of + IMAGES])
    # in words, because marks count the characters of what is shown, and numbers are exact here
    shown["fields"] = {
        field: plain(value)
        for field, value in shown["fields"].items()
        if value not in EMPTY
        and field not in pictures.fields
        and not (html and field == HTML_FIELD)
    }
    return ShownPair(
        assignment=assignment,
        name=name,
        query_name=query_name,
        pictures=pictures.of(row[f"{of}document"]),
        html=html,
        query_done=query_done,
        is_training=is_training,
        **shown,
    )
