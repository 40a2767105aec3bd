"""Leases: who has which seats for now.

Choosing seats may be wrong or late; taking one is a conditional update, and the unique
constraints have the last word.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotation.gold.planting_services import draw_stand_ins
from annotation.gold.queries import get_check_plan
from annotation.models import (
    Assignment,
    Campaign,
    CampaignAnnotator,
    GoldItem,
    QuerySkip,
    StandIn,
)
from annotation.permissions import AnnotatorContext, check_may_label
from annotation.seats.services import end_leases, hand_out
from annotation.seats.streams import (
    FreeSeat,
    list_free_among,
    list_free_seats,
    list_returning_seats,
    order_of,
)
from annotation.training.rules import Stage
from annotation.training.services import lease_training
from annotation.training.standing import get_standing, held_qs, list_leases
from judgments.models import User
from judgments.storage.bulk import Among, PlaceAmong

MOST: Final = 60  # seats that one person holds at a time
SWEPT_AT_ONCE: Final = 500
TRIES: Final = 3
FRESH: Final = 0.9  # of a lease: with less left it is renewed


def lease_next(*, context: AnnotatorContext, count: int, at: datetime) -> int:
    """See to it that the viewer has pairs to label; how many seats they hold then.

    Their own leases come first and are renewed; the next are taken when fewer than half of
    `count` are left, up to `count`, in the viewer's own order. Sixty are enough for a train
    ride. What others let expire is taken over. Annotators who have to qualify first
    get the pairs for that, and nothing else.
    Raises CampaignClosed unless the campaign is open.
    """
    check_may_label(context)
    count = max(1, min(count, context.campaign.most_leases or MOST))
    enough = _enough(count)
    standing = get_standing(context)
    if standing.stage == Stage.WAITING:
        return 0
    if standing.stage == Stage.LEARNING and not context.campaign.stopped:
        return _lease_training(context, at)
    leases = list_leases(context)
    fresh = sum(until > at + FRESH * context.campaign.lease for until in leases)
    if fresh >= enough:
        return fresh
    if fresh < len(leases):
        renew_leases(context=context, at=at)
    release_expired(at=at, campaign=context.campaign)
    with transaction.atomic():
        _lock_place(context)
        held = len(list_leases(context))
        return _take_more(context, held=held, count=count, at=at) if standing.takes_more else held


def renew_leases(*, context: AnnotatorContext, at: datetime) -> int:
    """Let all leases of the viewer run for their full length from now; how many there are."""
    return held_qs(context).update(leased_until=at + context.campaign.lease)


def take_over(*, context: AnnotatorContext, pairs: Sequence[int], at: datetime) -> int:
    """Lease to the viewer a seat of each of these pairs where there is one for them; how many."""
    if context.campaign.stopped:
        return 0
    with transaction.atomic():
        _lock_place(context)
        return _lease(context, _not_locked(list_free_among(context, pairs)), at, in_turn=False)


def release_leases(*, context: AnnotatorContext, assignments: Sequence[UUID] | None = None) -> int:
    """Give seats back, e.g. because the page closes: those named, or all; how many.

    A label that was made before and comes later is still taken.
    """
    seats_qs = held_qs(context)
    if assignments is not None:
        seats_qs = seats_qs.filter(public_id__in=assignments)
    return end_leases(seats_qs)


def release_person(*, person: User) -> int:
    """Free all seats that a person holds, in every campaign; how many. Their labels stay."""
    return end_leases(Assignment.objects.filter(annotator=person), skip_locked=False)


def release_expired(*, at: datetime, campaign: Campaign | None = None) -> int:
    """Free the seats whose lease has run out, of one campaign or of all; how many."""
    expired_qs = Assignment.objects.filter(state=Assignment.State.LEASED, leased_until__lt=at)
    own_qs = expired_qs if campaign is None else expired_qs.filter(pair__campaign=campaign)
    some = list(own_qs.order_by("leased_until").values_list("pk", flat=True)[:SWEPT_AT_ONCE])
    return end_leases(expired_qs.filter(pk__in=some)) if some else 0


def _lease_training(context: AnnotatorContext, at: datetime) -> int:
    renew_leases(context=context, at=at)
    with transaction.atomic():
        _lock_place(context)
        return lease_training(context=context, at=at)


def _lock_place(context: AnnotatorContext) -> None:
    """One tab after the other, so that two do not take two seats of one pair."""
    CampaignAnnotator.objects.select_for_update(no_key=True).values("pk").get(
        pk=context.annotator_id
    )


def _enough(count: int) -> int:
    """With fewer held, the next are fetched."""
    return max(1, count // 2)


def _take_more(context: AnnotatorContext, *, held: int, count: int, at: datetime) -> int:
    enough = _enough(count)
    for _ in range(TRIES):
        free = _list_offered(context, held=held, wanted=count - held) if held < enough else []
        if not free:
            return held
        held += _lease(context, _not_locked(free[: count - held]), at)
    if held:
        return held
    # Everyone is after the same few seats. No one goes away empty while one is free: wait for
    # the one who chose it too, holding no seat that others could wait for meanwhile.
    free = _list_offered(context, held=held, wanted=1)[:MOST]
    return int(any(_lease(context, [seat], at) for seat in free))


def _list_offered(context: AnnotatorContext, *, held: int, wanted: int) -> list[FreeSeat]:
    """The next free seats for the viewer; last of all those in whose place they have labelled
    another pair."""
    return list_free_seats(context, wanted=wanted) or (
        [] if held else list_returning_seats(context)
    )


def _not_locked(seats: list[FreeSeat]) -> list[FreeSeat]:
    """Those of the seats that no one else is about to take, in order; waits for no one."""
    if not connection.features.has_select_for_update_skip_locked:
        return seats
    free_qs = _free_qs(seats).select_for_update(no_key=True, skip_locked=True)
    locked = set(free_qs.values_list("pk", flat=True))
    return [seat for seat in seats if seat.pk in locked]


def _free_qs(seats: Sequence[FreeSeat]) -> QuerySet[Assignment]:
    among = Among("pk", [seat.pk for seat in seats])
    return Assignment.objects.filter(among, state=Assignment.State.FREE).order_by()


def _lease(
    context: AnnotatorContext, seats: Sequence[FreeSeat], at: datetime, *, in_turn: bool = True
) -> int:
    """Lease the seats that are free, to be met in this order; how many.

    What is shown at some of these places in the pairs' stead is drawn here, once a query.
    in_turn: they are the next ones of the viewer's order.
    """
    if not seats:
        return 0
    first = order_of(context).chunk(pair=seats[0].pair, query=seats[0].query) if in_turn else None
    is_planting = get_check_plan(context.campaign).is_planting
    try:
        with transaction.atomic():
            draw_stand_ins(context=context, places={seat.pair: seat.query for seat in seats}, at=at)
            handed = hand_out(annotator_id=context.annotator_id, count=len(seats), chunk=first)
            return _free_qs(seats).update(
                state=Assignment.State.LEASED,
                annotator=context.viewer,
                leased_until=at + context.campaign.lease,
                order=context.campaign.order,
                stand_in=_stand_in(context) if is_planting else None,
                # as their how many-th seats the annotator gets these
                place=handed + PlaceAmong("pk", [seat.pk for seat in seats]),
            )
    except IntegrityError:
        # a label of the viewer, sent late by another tab, took a seat of one of these pairs
        return 0


def _stand_in(context: AnnotatorContext) -> Subquery:
    """What the annotator is shown in place of a seat's pair: gold that is still in use, or a pair
    of a query that they do not skip, while the campaign plants such; and not twice."""
    seats = Assignment.objects.filter(stand_in=OuterRef("pk")).exclude(
        state=Assignment.State.VOIDED
    )
    items = GoldItem.objects.filter(pair=OuterRef("shown"), retired_at=None)
    skips = QuerySkip.objects.filter(
        campaign=OuterRef("campaign"),
        annotator=OuterRef("annotator"),
        query=OuterRef("shown__query"),
        returned_at=None,
    )
    gold = Q(Exists(items), purpose="gold", campaign__check_plan__gold_percent__gt=0)
    repeat = Q(~Exists(skips), purpose="repeat", campaign__check_plan__repeat_percent__gt=0)
    stand_ins = StandIn.objects.filter(annotator=context.viewer, replaced=OuterRef("pair"))
    stand_ins = stand_ins.exclude(shown=None)
    return Subquery(stand_ins.filter(~Exists(seats), gold | repeat).order_by().values("pk")[:1])
