"""Leases: who has which seats for now.

Choosing seats may be wrong or late; taking one is a conditional update, and the unique
constraints have the last word.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet

from annotation.models import Assignment, Campaign, CampaignAnnotator
from annotation.permissions import Desk, check_may_label
from annotation.selectors.streams import FreeSeat, list_free_seats
from annotation.services.seats import end_leases

LEASE: Final = timedelta(minutes=30)
MOST: Final = 60  # seats that one person holds at a time
REFILL: Final = 8  # with fewer at hand, the next are fetched
SWEPT_AT_ONCE: Final = 500
TRIES: Final = 3


def lease_next(*, desk: Desk, count: int, at: datetime) -> int:
    """See to it that the viewer has pairs to label; how many seats they hold then.

    Their own leases come first and are renewed; the next are taken when fewer than eight (or
    than `count`, if that is less) are left, up to `count`, in the viewer's own order; query by
    query, no further than the end of a query. What others let expire is taken over.
    Raises CampaignClosed unless the campaign is open.
    """
    check_may_label(desk)
    count = max(1, min(count, MOST))
    enough = min(count, REFILL)
    fresh = _held(desk).filter(leased_until__gt=at + LEASE / 2).count()
    if fresh >= enough:
        return fresh
    renew_leases(desk=desk, at=at)
    release_expired(at=at, campaign=desk.campaign)
    with transaction.atomic():
        # one tab after the other, so that two do not take two seats of one pair
        CampaignAnnotator.objects.select_for_update(no_key=True).get(pk=desk.annotator_id)
        return _take_more(desk, held=_held(desk).count(), count=count, at=at)


def renew_leases(*, desk: Desk, at: datetime) -> int:
    """Let all leases of the viewer run for another half hour; how many there are."""
    return _held(desk).update(leased_until=at + LEASE)


def release_leases(*, desk: Desk, assignments: Sequence[UUID] | None = None) -> int:
    """Give seats back, e.g. because the page closes: those named, or all; how many.

    A label that was made before and comes later is still taken.
    """
    held_qs = _held(desk)
    if assignments is not None:
        held_qs = held_qs.filter(public_id__in=assignments)
    return end_leases(held_qs)


def release_expired(*, at: datetime, campaign: Campaign | None = None) -> int:
    """Free the seats whose lease has run out, of one campaign or of all; how many."""
    expired_qs = Assignment.objects.filter(state=Assignment.State.LEASED, leased_until__lt=at)
    if campaign is not None:
        expired_qs = expired_qs.filter(pair__campaign=campaign)
    some = list(expired_qs.order_by("leased_until").values_list("pk", flat=True)[:SWEPT_AT_ONCE])
    if not some:
        return 0
    return end_leases(expired_qs.filter(pk__in=some))


def _held(desk: Desk) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        annotator=desk.viewer, state=Assignment.State.LEASED, pair__campaign=desk.campaign
    )


def _next_of(desk: Desk, free: list[FreeSeat], *, held: int, count: int) -> list[FreeSeat]:
    """The seats to take: up to `count` are held then; query by query only whole queries' worth."""
    chosen = free[: count - held]
    if desk.campaign.order != Campaign.Order.BY_QUERY:
        return chosen
    for place in range(max(1, min(count, REFILL) - held), len(chosen)):
        if chosen[place].query != chosen[place - 1].query:
            return chosen[:place]
    return chosen


def _take_more(desk: Desk, *, held: int, count: int, at: datetime) -> int:
    enough = min(count, REFILL)
    for _ in range(TRIES):
        free = list_free_seats(desk, wanted=enough - held) if held < enough else []
        if not free:
            return held
        held += _lease(desk, _not_locked(_next_of(desk, free, held=held, count=count)), at)
    if held:
        return held
    # Everybody is after the same few seats. Nobody goes away empty while one is free: wait for
    # whoever chose it too, holding no seat that others could wait for meanwhile.
    free = list_free_seats(desk, wanted=1)[:MOST]
    return int(any(_lease(desk, [seat.pk], at) for seat in free))


def _not_locked(seats: list[FreeSeat]) -> list[int]:
    """Those of the seats that nobody else is about to take; waits for nobody."""
    pks = [seat.pk for seat in seats]
    if not connection.features.has_select_for_update_skip_locked:
        return pks
    free_qs = Assignment.objects.filter(pk__in=pks, state=Assignment.State.FREE)
    locked_qs = free_qs.select_for_update(no_key=True, skip_locked=True)
    return list(locked_qs.values_list("pk", flat=True))


def _lease(desk: Desk, pks: list[int], at: datetime) -> int:
    """Lease the seats that are free; how many."""
    free_qs = Assignment.objects.filter(pk__in=pks, state=Assignment.State.FREE)
    try:
        with transaction.atomic():
            return free_qs.update(
                state=Assignment.State.LEASED, annotator=desk.viewer, leased_until=at + LEASE
            )
    except IntegrityError:
        # a label of the viewer, sent late by another tab, took a seat of one of these pairs
        return 0
