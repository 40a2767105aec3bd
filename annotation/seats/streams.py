"""Each annotator's order of a campaign's pairs, and which of them have a free seat for them."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Campaign, CampaignAnnotator, Pair, QuerySkip, StandIn
from annotation.permissions import AnnotatorContext
from annotation.seats.assigned import Withheld, withheld_from
from annotation.seats.ordering import CHUNKS, Order
from judgments.models import User
from judgments.storage.bulk import Among

LOOKS: Final = (6, 64)  # how many chunks of the order are looked at before all of them are


class FreeSeat(NamedTuple):
    """A seat that its reader may lease."""

    pk: int
    pair: int
    query: int
    document: int


def order_of(context: AnnotatorContext) -> Order:
    """The order in which this annotator meets the campaign's pairs."""
    campaign = context.campaign
    return Order(
        seed=campaign.seed,
        annotator=context.viewer.pk,
        query_by_query=_is_by_query(context),
    )


def list_free_seats(context: AnnotatorContext, *, wanted: int) -> list[FreeSeat]:
    """Free seats of pairs that the viewer has no seat at, one a pair, in the viewer's order.

    None of a query that they skip, or that the campaign assigns to others.
    Enough for `wanted` where there are, maybe more. The first looks read only the next few
    chunks of the order, so that the cost does not grow with what was labelled already. The query
    that they are in the middle of comes first: seats are handed out ahead, and those that go back
    when the page closes must not tear a query apart. What else was freed before the chunk from
    which seats were handed out last is as good as what follows it, but comes after it.
    """
    order = order_of(context)
    here = CampaignAnnotator.objects.values_list("chunk", flat=True).get(pk=context.annotator_id)
    kept = withheld_from(context.campaign, context.viewer)
    begun = _find_begun(context) if here is not None and _is_by_query(context) else None
    near = [chunk for chunk in dict.fromkeys((begun, here)) if chunk is not None]
    start = (-1, -1) if here is None else order.chunk_key(here)
    after = [one for one in _list_chunks(context, order, kept) if order.chunk_key(one) > start]
    next_chunks = near + [chunk for chunk in after if chunk not in near]
    for chunks in (next_chunks[: LOOKS[0]], next_chunks[: LOOKS[1]], None):
        result = _list_free(context, order, kept, chunks=chunks)
        if len(result) >= wanted:
            break

    def turn(seat: FreeSeat) -> int:
        chunk = order.chunk(pair=seat.pair, query=seat.query)
        return 0 if chunk in near else 1 if order.chunk_key(chunk) > start else 2

    return sorted(result, key=turn)


def list_free_among(context: AnnotatorContext, pairs: Sequence[int]) -> list[FreeSeat]:
    """The free seats for the viewer at these pairs, one a pair, in the viewer's order."""
    kept = withheld_from(context.campaign, context.viewer)
    return _read_seats(order_of(context), _offered_qs(context, kept).filter(Among("pair", pairs)))


def list_returning_seats(context: AnnotatorContext) -> list[FreeSeat]:
    """Free seats of pairs in whose place the viewer has labelled another one.

    Offered to them once there is nothing else.
    """
    kept = withheld_from(context.campaign, context.viewer)
    free_qs = _free_qs(context, kept).filter(is_replaced(context.viewer))
    return _read_seats(order_of(context), free_qs)


def is_met(viewer: User) -> Exists:
    """Whether the viewer has a seat at the pair of a seat, which is not voided."""
    own = Assignment.objects.filter(annotator=viewer, pair=OuterRef("pair"), occasion=0)
    return Exists(own.exclude(state=Assignment.State.VOIDED))


def is_replaced(viewer: User) -> Exists:
    """Whether the viewer has labelled what stands in for the pair of a seat."""
    seats = Assignment.objects.filter(stand_in=OuterRef("pk"))
    stand_ins = StandIn.objects.filter(annotator=viewer, replaced=OuterRef("pair"))
    return Exists(stand_ins.filter(Exists(seats.exclude(state=Assignment.State.VOIDED))))


def row_by_row(exists: Exists) -> Coalesce:
    """The same, looked up in an index for each row.

    PostgreSQL would make an anti-join of it: where it has no statistics of a table that grows, a
    nested loop over all that the annotator has labelled, for each seat.
    """
    return Coalesce(exists, Value(value=False))


def _offered_qs(context: AnnotatorContext, kept: Withheld | None) -> "QuerySet[Assignment]":
    """The free seats that are offered to the viewer now, maybe several of a pair."""
    return _free_qs(context, kept).exclude(row_by_row(is_replaced(context.viewer)))


def _free_qs(context: AnnotatorContext, kept: Withheld | None) -> "QuerySet[Assignment]":
    """Free seats of pairs that the viewer has not met. kept: queries that are not for them."""
    skips_qs = QuerySkip.objects.filter(
        campaign=context.campaign, annotator=context.viewer, returned_at=None
    )
    free_qs = (
        Assignment.objects.filter(
            state=Assignment.State.FREE, occasion=0, pair__campaign=context.campaign
        )
        .exclude(row_by_row(is_met(context.viewer)))
        .exclude(pair__query__in=skips_qs.values("query"))
    )
    return free_qs if kept is None else free_qs.exclude(kept.find("pair__query"))


def _list_free(
    context: AnnotatorContext,
    order: Order,
    kept: Withheld | None,
    *,
    chunks: Collection[int] | None = None,
) -> list[FreeSeat]:
    """The free seats for the viewer in these chunks, or in the whole campaign."""
    seats_qs = _offered_qs(context, kept)
    if chunks is not None and not chunks:
        return []
    if chunks is not None and _is_by_query(context):
        seats_qs = seats_qs.filter(Among("pair__query", chunks))
    elif chunks is not None:
        seats_qs = seats_qs.annotate(chunk=F("pair_id") % CHUNKS).filter(Among("chunk", chunks))
    return _read_seats(order, seats_qs)


def _read_seats(order: Order, seats_qs: "QuerySet[Assignment]") -> list[FreeSeat]:
    rows = seats_qs.order_by("pair_id", "-seat").values_list(
        "pk", "pair_id", "pair__query_id", "pair__document_id"
    )
    one_each = {row[1]: FreeSeat(*row) for row in rows}  # the last, the lowest seat, stays
    return sorted(one_each.values(), key=lambda seat: order.key(**_place(seat)))


def _place(seat: FreeSeat) -> dict[str, int]:
    return {"pair": seat.pair, "query": seat.query, "document": seat.document}


def _find_begun(context: AnnotatorContext) -> int | None:
    """The query of the pair that the viewer holds for next, else of what they labelled last."""
    leased = Q(state=Assignment.State.LEASED)
    own_qs = Assignment.objects.filter(
        leased | Q(state=Assignment.State.DONE),
        annotator=context.viewer,
        pair__campaign=context.campaign,
        occasion=0,
    ).exclude(purpose=Assignment.Purpose.TRAINING)
    nearest = Case(When(leased, then=F("place")), default=-F("place"))
    return own_qs.order_by("-state", nearest).values_list("pair__query", flat=True).first()


def _list_chunks(context: AnnotatorContext, order: Order, kept: Withheld | None) -> list[int]:
    """The chunks of the campaign in the viewer's order."""
    if not _is_by_query(context):
        return order.sort_chunks(range(CHUNKS))
    pairs_qs = Pair.objects.filter(campaign=context.campaign).order_by()
    if kept is not None:
        pairs_qs = pairs_qs.exclude(kept.find("query"))
    return order.sort_chunks(pairs_qs.values_list("query", flat=True).distinct())


def _is_by_query(context: AnnotatorContext) -> bool:
    return context.campaign.order == Campaign.Order.BY_QUERY
