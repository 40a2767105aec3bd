"""Planting gold and repeats among the pairs that somebody has just been given.

Who leases is in leasing.py; how much, which and where is decided in annotation/planting.py.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from django.db.models import Max

from annotation.models import Assignment, Campaign, CheckPlan, Pair
from annotation.permissions import Desk
from annotation.planting import Dice, Given, Unit, beside, deficit, draw, seeded
from annotation.selectors.gold import get_check_plan
from annotation.selectors.planned import (
    count_given,
    get_gold_at_hand,
    list_repeatable,
    list_reusable,
)
from annotation.selectors.streams import get_stream
from annotation.services.seats import hand_out, lock_pairs

# Seats of one person alone: far above the numbers of the overlap, and never used again.
FIRST_OWN_SEAT: Final = 1_000


def plant(*, desk: Desk, among: Sequence[int], at: datetime) -> int:
    """Lease to the viewer what is to be planted among these pairs; how many seats.

    The pairs are those that the viewer was leased last, in their order. The caller holds the
    viewer's place in the campaign. A pair that somebody is labelling right now is left out this
    time: what is missing is made up for later.
    """
    plan = get_check_plan(desk.campaign)
    if not plan.gold_percent and not plan.repeat_percent:
        return 0
    given = count_given(desk)
    gold, repeat = Assignment.Purpose.GOLD, Assignment.Purpose.REPEAT
    golden = _draw_gold(desk, plan, given[gold], among) if plan.gold_percent else {}
    again = _draw_repeats(desk, plan, given[repeat], among) if plan.repeat_percent else {}
    return give_own_seats(desk, golden, gold, at) + give_own_seats(desk, again, repeat, at)


def give_own_seats(desk: Desk, occasions: Mapping[int, int], purpose: str, at: datetime) -> int:
    """Lease to the viewer a seat of their own at each of the pairs, outside the overlap; how many.

    occasions: the pairs, and the how many-th time they meet each, from 0. The caller holds the
    viewer's place in the campaign.
    """
    if not occasions:
        return 0
    # waits for nobody: whoever holds a pair may be waiting for a seat that the caller has taken
    locked = lock_pairs(Pair.objects.filter(pk__in=occasions, is_open=True), skip_locked=True)
    seats_qs = Assignment.objects.filter(pair__in=locked)
    rows = seats_qs.order_by().values_list("pair").annotate(last=Max("seat"))
    last: dict[int, int] = defaultdict(int, rows)
    handed = hand_out(annotator_id=desk.annotator_id, count=len(locked))
    Assignment.objects.bulk_create(
        Assignment(
            pair_id=pair,
            seat=max(FIRST_OWN_SEAT, last[pair] + 1),
            occasion=occasions[pair],
            purpose=purpose,
            state=Assignment.State.LEASED,
            annotator=desk.viewer,
            leased_until=at + desk.campaign.lease,
            order=desk.campaign.order,
            place=place,
        )
        for place, pair in enumerate(locked, start=handed + 1)
    )
    return len(locked)


def _draw_gold(
    desk: Desk, plan: CheckPlan, given: Given, among: Sequence[int]
) -> Mapping[int, int]:
    wanted = deficit(given, percent=plan.gold_percent, others=plan.repeat_percent)
    if wanted <= 0:
        return {}
    dice = _dice(desk, Assignment.Purpose.GOLD, given)
    at_hand = get_gold_at_hand(desk)
    if not at_hand.unmet and plan.when_used_up == CheckPlan.UsedUp.REUSE:
        again = list_reusable(desk, among=among, after=plan.reuse_after)
        return _draw_single(again, wanted, dice)
    stream = get_stream(desk)
    units = beside(
        stream.pairs,
        stream.queries,
        taken=[pair for pair in among if pair not in at_hand.all],
        gold=at_hand.all,
        whole=at_hand.whole,
        query_by_query=desk.campaign.order == Campaign.Order.BY_QUERY,
    )
    unmet = [unit for unit in units if at_hand.unmet.issuperset(unit.pairs)]
    return dict.fromkeys(draw(unmet, wanted=wanted, dice=dice), 0)


def _draw_repeats(
    desk: Desk, plan: CheckPlan, given: Given, among: Sequence[int]
) -> Mapping[int, int]:
    wanted = deficit(given, percent=plan.repeat_percent, others=plan.gold_percent)
    if wanted <= 0:
        return {}
    again = dict.fromkeys(list_repeatable(desk, among=among), 1)
    return _draw_single(again, wanted, _dice(desk, Assignment.Purpose.REPEAT, given))


def _draw_single(occasions: Mapping[int, int], wanted: float, dice: Dice) -> Mapping[int, int]:
    units = [Unit(pair, (pair,)) for pair in occasions]
    return {pair: occasions[pair] for pair in draw(units, wanted=wanted, dice=dice)}


def _dice(desk: Desk, purpose: str, given: Given) -> Dice:
    return seeded(desk.campaign.seed, desk.viewer.pk, purpose, given.plain)
