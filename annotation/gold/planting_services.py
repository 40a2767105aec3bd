"""Gold and repeats in the place of other pairs, and seats for training.

Who leases is in labelling/leasing.py; which places of a query are taken, in planting.py.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from annotation.gold.planting import Dice, draw_count, draw_gold, list_replaceable, seeded
from annotation.gold.queries import get_check_plan
from annotation.gold.stand_ins import list_places, list_repeatable, list_undrawn, list_waiting
from annotation.models import Assignment, Campaign, Pair, StandIn
from annotation.permissions import AnnotatorContext
from annotation.seats.services import hand_out, lock_pairs

OWN_SEAT: Final = 0  # the number of a seat outside the overlap


def draw_stand_ins(*, context: AnnotatorContext, places: Mapping[int, int], at: datetime) -> None:
    """Decide what the viewer is shown at places of their order, where it is not decided yet.

    places: the pairs that the viewer is leased next, with their queries. For the whole of a query
    it is decided at once. The caller holds the viewer's place in the campaign.
    """
    plan = get_check_plan(context.campaign)
    if not plan.is_planting:
        return
    undrawn = list_undrawn(context, set(places.values()))
    if undrawn:
        whose = {"campaign": context.campaign, "annotator": context.viewer, "drawn_at": at}
        # one statement for all rows, so that its time does not tell whether a query has any gold
        StandIn.objects.bulk_create(
            [
                *(StandIn(query_id=query, **whose) for query in undrawn),
                *(StandIn(**drawn, **whose) for drawn in _draw(context, undrawn)),
            ]
        )
    if plan.repeat_percent:
        _choose_repeats(context, places)


def _draw(context: AnnotatorContext, queries: Collection[int]) -> Iterator[dict[str, Any]]:
    plan, purposes = get_check_plan(context.campaign), Assignment.Purpose
    places = list_places(context, queries)
    for query in queries:
        rng = seeded(context.campaign.secret, context.viewer.pk, query)
        gold = draw_gold(places[query], percent=plan.gold_percent, dice=rng)
        for replaced, shown in gold.items():
            of_pairs = {"replaced_id": replaced, "shown_id": shown}
            yield {"query_id": query, "purpose": purposes.GOLD, **of_pairs}
        plain = list_replaceable(places[query])
        left = [pair for pair in plain if pair not in gold]
        if context.campaign.order == Campaign.Order.SHUFFLED:
            left = sorted(left, key=partial(_throw, rng))
        # query by query at its end: another query in between would be seen at a glance
        wanted = draw_count(len(plain), percent=plan.repeat_percent, rest=rng("repeat rest"))
        for replaced in left[len(left) - min(wanted, len(left)) :]:
            occasion = {"purpose": purposes.REPEAT, "occasion": 1}
            yield {"query_id": query, "replaced_id": replaced, **occasion}


def _throw(dice: Dice, pair: int) -> float:
    return dice(("again", pair))


def _choose_repeats(context: AnnotatorContext, pairs: Collection[int]) -> None:
    """Choose what is repeated in the place of those of the pairs that are to repeat something."""
    waiting = list_waiting(context, pairs)
    again = list_repeatable(context) if waiting else []
    rng = seeded(context.campaign.secret, context.viewer.pk, "repeats")
    for stand_in in waiting[: len(again)]:
        stand_in.shown_id = again.pop(int(rng(stand_in.pk) * len(again)))
        stand_in.save(update_fields=["shown"])


def give_own_seats(
    context: AnnotatorContext, pairs: Collection[int], purpose: str, at: datetime
) -> int:
    """Lease to the viewer a seat of their own at each of the pairs, outside the overlap; how many.

    The caller holds the viewer's place in the campaign.
    """
    if not pairs:
        return 0
    # waits for no lock: the holder of a pair may be waiting for a seat that the caller has taken
    locked = lock_pairs(Pair.objects.filter(pk__in=pairs, is_open=True), skip_locked=True)
    handed = hand_out(annotator_id=context.annotator_id, count=len(locked))
    Assignment.objects.bulk_create(
        Assignment(
            pair_id=pair,
            seat=OWN_SEAT,
            purpose=purpose,
            state=Assignment.State.LEASED,
            annotator=context.viewer,
            leased_until=at + context.campaign.lease,
            order=context.campaign.order,
            place=position,
        )
        for position, pair in enumerate(locked, start=handed + 1)
    )
    return len(locked)
