"""Ways to tell gold that were open once, put back on purpose, to show that a strategy finds them.

Each changes the product's code for as long as `patch` says.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

import pytest

from annotation.gold.planting import seeded
from annotation.gold.planting_services import OWN_SEAT
from annotation.labelling import api as labelling_api
from annotation.labelling import leasing
from annotation.labelling import services as labelling
from annotation.models import Assignment
from annotation.permissions import AnnotatorContext
from annotation.seats.services import end_leases
from annotation.seats.streams import list_free_seats
from annotation.training.standing import held_qs
from tests.leaks import active

Patch = pytest.MonkeyPatch


def drawn_for_each_count(patch: Patch) -> None:
    """Whether a place shows gold depends on how many pairs were asked for."""
    lease_next = leasing.lease_next

    def lease(*, context: AnnotatorContext, count: int, at: datetime) -> int:
        held = lease_next(context=context, count=count, at=at)
        dice = seeded("count", count)
        seats = held_qs(context).filter(stand_in__purpose="gold").values_list("pk", "stand_in")
        dropped = [pk for pk, stand_in in seats if dice(stand_in) < 0.5]
        return held - end_leases(Assignment.objects.filter(pk__in=dropped))

    patch.setattr(labelling_api, "lease_next", lease)


def gold_beside_the_count(patch: Patch) -> None:
    """Gold comes on top of the pairs that were asked for."""
    take_more = leasing._take_more

    def take(context: AnnotatorContext, *, held: int, count: int, at: datetime) -> int:
        held = take_more(context, held=held, count=count, at=at)
        gold = held_qs(context).filter(stand_in__purpose="gold").count()
        more = list_free_seats(context, wanted=gold)[:gold] if gold else []
        return held + leasing._lease(context, more, at, in_turn=False)

    patch.setattr(leasing, "_take_more", take)


def gold_is_never_too_late(patch: Patch) -> None:
    """A late label of gold finds a seat although its place was filled meanwhile."""
    find_seat = labelling._find_seat

    def find(context: AnnotatorContext, named: Any) -> int | None:
        found = find_seat(context, named)
        if found is not None or named.stand_in is None:
            return found
        Assignment.objects.filter(pk=named.pk).update(
            state=Assignment.State.DONE,
            seat=OWN_SEAT,
            leased_until=None,
            **labelling._shown_there(named),
        )
        return int(named.pk)

    patch.setattr(labelling, "_find_seat", find)


def gold_alone_is_counted(patch: Patch) -> None:
    """Of the labels that come late, progress counts those of gold; the receipts say nothing."""
    gold_is_never_too_late(patch)
    submit_labels = labelling.submit_labels

    def submit(**words: Any) -> list[labelling.Receipt]:
        return [replace(receipt, is_surplus=False) for receipt in submit_labels(**words)]

    patch.setattr(labelling_api, "submit_labels", submit)


# with the strategy that has to find it, and the effort that it takes
SABOTAGES: MappingProxyType[str, tuple[Callable[[Patch], None], str, int]] = MappingProxyType(
    {
        drawn_for_each_count.__name__: (drawn_for_each_count, "other counts", 6),
        # every count: with half of them the AUC is 0.7 to 0.9 from one draw of gold to the next
        gold_beside_the_count.__name__: (gold_beside_the_count, "lengths of answers", 60),
        gold_is_never_too_late.__name__: (gold_is_never_too_late, "late labels", 1),
        gold_alone_is_counted.__name__: (gold_alone_is_counted, "progress after late labels", 1),
    }
)
FOUND_P = 1e-6


def find_sabotage(name: str, *, gold: int = 60, seed: int) -> active.Verdict:
    """The verdict on a sabotage by the strategy that has to find it; on few campaigns."""
    sabotage, strategy, effort = SABOTAGES[name]
    with Patch.context() as patch:
        sabotage(patch)
        (verdict,) = active.attack(
            gold=gold,
            seed=seed,
            strategies=[strategy],
            percents=[20],
            orders=["query"],
            effort=effort,
        )
    return verdict
