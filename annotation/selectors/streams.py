"""Each annotator's order of a campaign's pairs, and which of them have a free seat for them."""

import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Assignment, Campaign, Pair, Pool, QuerySkip
from annotation.ordering import Order, Place, stream
from annotation.permissions import Desk
from judgments.prepared import OneOf, PreparedRows, slot

LOOKS = (64, 512)  # how many pairs of the stream are looked at before all of them are
KEPT_STREAMS = 128


class FreeSeat(NamedTuple):
    """A seat that its reader may lease."""

    pk: int
    pair: int
    query: int
    document: int


@dataclass
class Stream:
    """An annotator's pairs in their order.

    pool: the newest pool of the campaign when this was read; a newer one makes it stale.
    queries: of the pairs, in the same order.
    start: where to look first; before it nothing was free when somebody last looked. Only a
    hint, kept by this process: whoever finds nothing after it looks at everything.
    """

    pool: int
    pairs: "array[int]"
    queries: "array[int]"
    start: int = 0


_streams: OrderedDict[tuple[UUID, int, str], Stream] = OrderedDict()
_guard = threading.Lock()


def order_of(desk: Desk) -> Order:
    """The order in which this annotator meets the campaign's pairs."""
    campaign = desk.campaign
    return Order(
        seed=campaign.seed,
        annotator=desk.viewer.pk,
        query_by_query=campaign.order == Campaign.Order.BY_QUERY,
    )


def list_free_seats(desk: Desk, *, wanted: int) -> list[FreeSeat]:
    """Free seats of pairs that the viewer has no seat at, one a pair, in the viewer's order.

    None of a query that they skip.
    Enough for `wanted` where there are, maybe more. The first looks read only the next few
    pairs of the stream, so that the cost does not grow with what was labelled already.
    """
    own_stream = get_stream(desk)
    start = own_stream.start
    for length in LOOKS:
        pairs = own_stream.pairs[start : start + length]
        found = list_free_among(desk, pairs) if pairs else []
        if len(found) >= wanted:
            own_stream.start = start + pairs.index(found[0].pair)
            return found
    found = list_free_among(desk, None)
    # what was freed before the start is as good as what follows it, but comes after it
    ahead = _position(own_stream, found, start)
    own_stream.start = own_stream.pairs.index(found[ahead].pair) if ahead < len(found) else 0
    return found[ahead:] + found[:ahead]


def _position(own_stream: Stream, found: Sequence[FreeSeat], start: int) -> int:
    """How many of the found stand before the start of the stream."""
    behind = set(own_stream.pairs[:start])
    return sum(seat.pair in behind for seat in found)


def get_stream(desk: Desk) -> Stream:
    """All pairs of the campaign in the viewer's order, kept by this process."""
    campaign = desk.campaign
    pool = next((pk for (pk,) in _newest_pool.list(campaign=campaign.pk)), 0)
    key = (campaign.public_id, desk.viewer.pk, campaign.order)
    with _guard:
        kept = _streams.get(key)
        if kept is not None and kept.pool == pool:
            _streams.move_to_end(key)
            return kept
    made = Stream(pool, *_list_pairs(desk))
    with _guard:
        _streams[key] = made
        while len(_streams) > KEPT_STREAMS:
            _streams.popitem(last=False)
    return made


_newest_pool: PreparedRows[Any] = PreparedRows(
    lambda: Pool.objects.filter(campaign=slot("campaign")).order_by("-pk").values_list("pk")[:1]
)


def _list_pairs(desk: Desk) -> "tuple[array[int], array[int]]":
    pairs_qs = Pair.objects.filter(campaign=desk.campaign).order_by()
    places = (Place(*row) for row in pairs_qs.values_list("pk", "query_id", "document_id"))
    in_order = stream(
        places,
        seed=desk.campaign.seed,
        annotator=desk.viewer.pk,
        query_by_query=desk.campaign.order == Campaign.Order.BY_QUERY,
    )
    pairs = array("q", (place.pair for place in in_order))
    return pairs, array("q", (place.query for place in in_order))


def list_free_among(desk: Desk, pairs: Sequence[int] | None) -> list[FreeSeat]:
    """The free seats for the viewer among these pairs, or in the whole campaign; one a pair."""
    who = {"viewer": desk.viewer.pk, "campaign": desk.campaign.pk}
    rows = _free.list(**who) if pairs is None else _free_among.list(**who, pairs=pairs)
    one_each = {row[1]: FreeSeat(*row) for row in rows}  # the last, the lowest seat, stays
    order = order_of(desk)
    return sorted(one_each.values(), key=lambda seat: order.key(seat.query, seat.document))


def _free_qs() -> QuerySet[Assignment]:
    viewer, campaign = slot("viewer"), slot("campaign")
    own = Assignment.objects.filter(pair=OuterRef("pair"), annotator=viewer, occasion=0)
    skips_qs = QuerySkip.objects.filter(campaign=campaign, annotator=viewer, returned_at=None)
    return (
        Assignment.objects.filter(state=Assignment.State.FREE, occasion=0)
        .exclude(Exists(own.exclude(state=Assignment.State.VOIDED)))
        .exclude(pair__query__in=skips_qs.values("query"))
        .order_by("pair_id", "-seat")
    )


SEAT = ("pk", "pair_id", "pair__query_id", "pair__document_id")
_free: PreparedRows[Any] = PreparedRows(
    lambda: _free_qs().filter(pair__campaign=slot("campaign")).values_list(*SEAT)
)
_free_among: PreparedRows[Any] = PreparedRows(
    lambda: _free_qs().filter(OneOf("pair_id", "pairs")).values_list(*SEAT)
)
