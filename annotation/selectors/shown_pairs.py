"""The pairs that an annotator has at hand, as they are shown.

Blindness is enforced here by not fetching. Nothing of these values says where a pair came from,
at which rank, whether it is a check, or what anybody else thinks; ids are random, the order is
the annotator's own.
"""

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import models
from django.db.models import Count, QuerySet
from django.db.models.functions import Cast, Length

from annotation.models import (
    Assignment,
)
from annotation.permissions import Desk
from annotation.selectors.streams import order_of
from judgments.markup import HTML_FIELD, framed_html
from judgments.prepared import OneOf, PreparedRows, slot
from judgments.words import plain

HELD = Assignment.State.LEASED
# labelled, as the annotator sees it: whether a label still counts is not told
FILLED = (Assignment.State.DONE, Assignment.State.ASIDE)
IMAGES = "pair__campaign__shows_images"
TRAINING = Assignment.Purpose.TRAINING
EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
SHOWN = {
    "query_text": "pair__query__text",
    "query_description": "pair__query__description",
    "title": "pair__document__title",
    "body": "pair__document__body",
    "url": "pair__document__url",
    "fields": "pair__document__fields",
    "content_hash": "pair__document__content_hash",
}


@dataclass(frozen=True, kw_only=True)
class ShownPair:
    """A query and a document as somebody labels them.

    assignment: what a label names. name: what is the same when the pair comes under another
    assignment, because the first had ended; two documents with the same text have two.
    fields: what the document's fields say, in words. content_hash: of exactly this document
    text. html: the document as a page for a frame, where it has HTML. query_done: how many pairs
    of this query the viewer has labelled. is_training: its answer is told at once, and it does
    not count.
    """

    assignment: UUID
    name: str
    query_text: str
    query_description: str
    title: str
    body: str
    url: str
    fields: Mapping[str, str]
    content_hash: str
    html: str = ""
    query_done: int = 0
    is_training: bool = False


def list_leased_seats(
    desk: Desk, *, characters: int, without: Sequence[UUID] = ()
) -> tuple[list[UUID], int]:
    """The next seats that the viewer has leases for, in order, and how many come after them.

    characters: at most as many of text as this, but at least one document. without: as for
    list_leased_pairs.
    """
    rows = _in_order(desk, _sizes.list(**_whose(desk), without=without))
    upto = list(itertools.accumulate(size for *_, size in rows))
    fitting = max(1, sum(total <= characters for total in upto))
    return [row[len(WHERE)] for row in rows[:fitting]], max(0, len(rows) - fitting)


def _sizes_qs() -> QuerySet[Any, Any]:
    size = Length("pair__document__body") + Length(
        Cast("pair__document__fields", models.TextField())
    )
    return _without_qs().values_list(*WHERE, "public_id", size)


_sizes: PreparedRows[Any] = PreparedRows(_sizes_qs)


def list_leased_pairs(
    desk: Desk, *, without: Sequence[UUID] = (), only: Sequence[UUID] | None = None
) -> list[ShownPair]:
    """The pairs that the viewer has leases for, in the order to label them in.

    without: seats whose pairs the page has already, and which need not be read again. only: no
    others than these seats.
    """
    if only is None:
        found = _leased.list(**_whose(desk), without=without)
    else:
        found = _leased_of.list(**_whose(desk), without=without, only=only)
    rows = [dict(zip(LEASED, row, strict=True)) for row in _in_order(desk, found)]
    done = _count_done(desk, {row["pair__query"] for row in rows})
    order = order_of(desk)
    return [
        show_pair(
            row,
            assignment=row["public_id"],
            name=order.name(*(row[column] for column in WHERE)),
            query_done=done.get(row["pair__query"], 0),
        )
        for row in rows
    ]


def _in_order(desk: Desk, rows: list[Any]) -> list[Any]:
    """Rows that begin with WHERE, in the order in which the viewer labels."""
    order = order_of(desk)
    return sorted(rows, key=lambda row: order.key(*row[: len(WHERE)]))


def _without_qs() -> QuerySet[Assignment]:
    held_qs = _own_slots_qs().filter(state=HELD)
    return held_qs.exclude(OneOf("public_id", "without", models.UUIDField()))


WHERE = ("pair__query", "pair__document", "occasion")
LEASED = (*WHERE, "public_id", "purpose", IMAGES, *SHOWN.values())
_leased: PreparedRows[Any] = PreparedRows(lambda: _without_qs().values_list(*LEASED))
_leased_of: PreparedRows[Any] = PreparedRows(
    lambda: (
        _without_qs().filter(OneOf("public_id", "only", models.UUIDField())).values_list(*LEASED)
    )
)


def get_own_seats(desk: Desk) -> QuerySet[Assignment]:
    return Assignment.objects.filter(annotator=desk.viewer, pair__campaign=desk.campaign)


def _own_slots_qs() -> QuerySet[Assignment]:
    seats_qs = Assignment.objects.filter(annotator=slot("viewer"), pair__campaign=slot("campaign"))
    return seats_qs.order_by()


def _whose(desk: Desk) -> dict[str, int]:
    return {"viewer": desk.viewer.pk, "campaign": desk.campaign.pk}


def count_filled(desk: Desk) -> int:
    """How many pairs that count for their own figures the viewer has labelled."""
    return sum(pairs for _, pairs in _filled.list(**_whose(desk)))


_filled: PreparedRows[Any] = PreparedRows(
    lambda: (
        _own_slots_qs()
        .filter(state__in=FILLED)
        .exclude(purpose=TRAINING)
        .values_list("annotator")
        .annotate(pairs=Count("pk"))
    )
)


def _count_done(desk: Desk, queries: Set[int]) -> dict[int, int]:
    """How many pairs of each query the viewer has labelled."""
    if not queries:
        return {}
    return dict(_done.list(**_whose(desk), queries=queries))


_done: PreparedRows[Any] = PreparedRows(
    lambda: (
        _own_slots_qs()
        .filter(OneOf("pair__query", "queries"), state__in=FILLED)
        .values_list("pair__query")
        .annotate(pairs=Count("pair", distinct=True))
    )
)


def show_pair(
    row: Mapping[str, Any], *, assignment: UUID, name: str, query_done: int = 0
) -> ShownPair:
    """The pair of a row with `purpose`, IMAGES and what is SHOWN."""
    shown = {name: row[column] for name, column in SHOWN.items()}
    html = framed_html(shown["fields"], images=row[IMAGES])
    # in words, because marks count the characters of what is shown, and numbers are exact here
    shown["fields"] = {
        field: plain(value)
        for field, value in shown["fields"].items()
        if value not in EMPTY and not (html and field == HTML_FIELD)
    }
    return ShownPair(
        assignment=assignment,
        name=name,
        html=html,
        query_done=query_done,
        is_training=row["purpose"] == TRAINING,
        **shown,
    )
