"""Comparing labels of gold pairs with the right answers: after the fact, in the worker.

What is due is a label of a gold pair without a check; so doing this twice or late does no harm.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from django.db import transaction

from annotation.gold.accuracy import error_of
from annotation.gold.actions import act
from annotation.gold.feedback_services import give_feedback
from annotation.gold.queries import list_unchecked
from annotation.models import (
    Assignment,
    CampaignAnnotator,
    GoldCheck,
    GoldItem,
    Label,
    Pair,
    StandIn,
)
from annotation.seats.services import balance_seats, lock_pairs
from judgments.models import JudgmentList
from touchstone.scales import Scale

AT_ONCE: Final = 500
VOIDED: Final = Assignment.State.VOIDED


def check_labels(*, list_id: int, at: datetime) -> int:
    """Check the labels of a list's gold pairs, and act on it where a rule says so; how many.

    With the checks of a person their campaign's rules have been asked, or neither has happened.
    The pairs that the gold replaced are free for others first: whatever happens in between, the
    labels are due as long as they are not checked.
    """
    unchecked_qs = list_unchecked().filter(pair__list=list_id)
    if not unchecked_qs.exists():
        return 0
    due_qs = unchecked_qs.order_by("received_at", "pk")
    _free_replaced(due_qs[:AT_ONCE])
    with transaction.atomic():
        places = _lock_places(due_qs[:AT_ONCE])
        # looked up again: another worker may have been here before the places were locked
        return _check_locked(list_id, list(due_qs[:AT_ONCE]), places, at)


def _free_replaced(labels: Iterable[Label]) -> None:
    """Give the pairs in whose place these labels were made the seats that they lack, for others."""
    rows = StandIn.objects.filter(seats__labels__in=[label.pk for label in labels]).order_by()
    stand_ins = list(rows.values_list("pk", "replaced", "campaign__overlap"))
    if not stand_ins:
        return
    by_overlap: dict[int, set[int]] = defaultdict(set)
    for _, pair_id, overlap in stand_ins:
        by_overlap[overlap].add(pair_id)
    with transaction.atomic():
        lock_pairs(Pair.objects.filter(pk__in={pair_id for _, pair_id, _ in stand_ins}))
        added_qs = Assignment.objects.filter(
            is_added=True, state=VOIDED, stand_in__in=[pk for pk, _, _ in stand_ins]
        )
        added_qs.update(is_added=False)
        for overlap, pair_ids in by_overlap.items():
            balance_seats(pair_ids=pair_ids, overlap=overlap)


def _lock_places(labels: Iterable[Label]) -> list[CampaignAnnotator]:
    """The places of those who made the labels, locked until the transaction ends."""
    wanted = {(label.pair_id, label.annotator_id) for label in labels}
    places_qs = CampaignAnnotator.objects.filter(
        campaign__pairs__in={pair for pair, _ in wanted}, user__in={user for _, user in wanted}
    )
    result = set(places_qs.order_by().values_list("pk", flat=True))
    locked_qs = CampaignAnnotator.objects.select_related("campaign__list__collection", "user")
    locked_qs = locked_qs.select_for_update(no_key=True, of=("self",))
    return list(locked_qs.filter(pk__in=result).order_by("pk"))


def _check_locked(
    list_id: int, due: Sequence[Label], places: Sequence[CampaignAnnotator], at: datetime
) -> int:
    held = {place.user_id for place in places}
    due = [label for label in due if label.annotator_id in held]
    if not due:
        return 0
    codes = Scale.from_json(JudgmentList.objects.get(pk=list_id).scale).codes
    items = _find_answers(label.pair_id for label in due)
    checks = [_check(label, items[label.pair_id], codes, at) for label in due]
    GoldCheck.objects.bulk_create(checks)
    for place in places:
        act(annotator=place, at=at)
        give_feedback(annotator=place, at=at)
    return len(checks)


def _find_answers(pair_ids: Iterable[int]) -> dict[int, GoldItem]:
    """The newest answer of each pair; also where it has been retired since it was planted."""
    items_qs = GoldItem.objects.filter(pair__in=set(pair_ids)).order_by("pk")
    return {item.pair_id: item for item in items_qs}


def _check(label: Label, item: GoldItem, codes: tuple[int, ...], at: datetime) -> GoldCheck:
    error = None
    if label.grade is not None:
        error = error_of(label.grade, low=item.low, high=item.high, codes=codes)
    return GoldCheck(label=label, item=item, error=error, checked_at=at)
