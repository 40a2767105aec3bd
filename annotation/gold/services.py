"""Marking pairs as gold, and how much of it a campaign plants."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from django.db import transaction

from annotation.gold.queries import get_check_plan, list_agreed_decisions
from annotation.models import Assignment, Campaign, CheckPlan, GoldItem, Pair
from annotation.permissions import check_may_run
from annotation.seats.services import balance_seats, end_leases, lock_pairs
from judgments.audit import services as audit
from judgments.permissions import Access, NotFound
from touchstone.errors import DomainError
from touchstone.scales import Scale

MAX_REASON_CHARACTERS: Final = 4_000
MOST_PERCENT: Final = 30
PLANNED: Final = (
    "gold_percent", "repeat_percent", "when_used_up", "feedback_after",
    "training_pairs", "training_percent", "training_tries",
)  # fmt: skip
# what a number of the plan may be, and what is said where it is not
BOUNDS: Final = {
    "gold_percent": (0, MOST_PERCENT, f"The share must be 0 to {MOST_PERCENT} percent."),
    "repeat_percent": (0, MOST_PERCENT, f"The share must be 0 to {MOST_PERCENT} percent."),
    "training_percent": (1, 100, "The pass mark must be 1 to 100 percent."),
    "training_tries": (1, 10, "Attempts must be 1 to 10."),
}


class GoldRefused(DomainError):
    """This can't be gold, or the checks can't be like this."""


@dataclass(frozen=True)
class Answer:
    """What is right for a pair: a grade from `low` to `high`, and why."""

    pair_id: int
    low: int
    high: int
    reason: str = ""


def mark_gold(
    *, access: Access, pair: Pair, low: int, high: int, reason: str, at: datetime
) -> GoldItem:
    """Say what the right answer of a pair is, and check annotators by it; for leads.

    The pair leaves the overlap: its free seats are gone, the labels that it has stay.
    Raises GoldRefused for a pair that is gold already or a range that is none.
    """
    check_may_run(access, pair.campaign)
    (item,) = mark_answers(
        access=access, campaign=pair.campaign, answers=[Answer(pair.pk, low, high, reason)], at=at
    )
    return item


def take_agreed_decisions(
    *, access: Access, campaign: Campaign, reason: str, at: datetime
) -> list[GoldItem]:
    """Make gold of the decided pairs whose labels agree with the decision; for leads.

    Those of `list_agreed_decisions`. Raises GoldRefused where there are none.
    """
    check_may_run(access, campaign)
    result = list_agreed_decisions(access=access, campaign=campaign)
    if not result:
        raise GoldRefused(
            "nothing_to_take",
            "No adjudicated pair qualifies yet: its labels have to agree with the decision.",
        )
    answers = [Answer(pair_id, grade, grade, reason) for pair_id, grade in result]
    return mark_answers(access=access, campaign=campaign, answers=answers, at=at)


def mark_answers(
    *,
    access: Access,
    campaign: Campaign,
    answers: Sequence[Answer],
    at: datetime,
    source: Mapping[str, str] = MappingProxyType({}),
) -> list[GoldItem]:
    """Make gold of several pairs of a campaign, all or nothing; for leads.

    source: where the answers are from, for the audit, e.g. {"file": name}. Raises GoldRefused.
    """
    check_may_run(access, campaign)
    scale = Scale.from_json(campaign.list.scale)
    for answer in answers:
        if not scale.contains(answer.low) or not scale.contains(answer.high):
            raise GoldRefused("grade_unknown", "This grade is not on the scale.")
        if answer.low > answer.high:
            raise GoldRefused("range_invalid", "The worst accepted grade is above the best.")
    with transaction.atomic():
        if Campaign.objects.get(pk=campaign.pk).state == Campaign.State.CLOSED:
            raise GoldRefused("state", "The campaign is closed.")
        pair_ids = _lock(campaign, [answer.pair_id for answer in answers])
        GoldItem.objects.bulk_create(
            GoldItem(
                campaign=campaign,
                pair_id=answer.pair_id,
                low=answer.low,
                high=answer.high,
                reason=answer.reason.strip().replace("\0", "")[:MAX_REASON_CHARACTERS],
                created_at=at,
                created_by=access.user,
            )
            for answer in answers
        )
        balance_seats(pair_ids=pair_ids, overlap=campaign.overlap)
        made_qs = GoldItem.objects.filter(pair__in=pair_ids, retired_at=None)
        made = list(made_qs.select_related("campaign", "pair__query", "pair__document"))
        pairs = [_said(item) for item in made]
        audit.record_by(access, at, "gold.marked", campaign.name, after={**source, "pairs": pairs})
    return made


def retire_gold(*, access: Access, item: GoldItem, at: datetime) -> None:
    """Plant it no longer; the pair is labelled like any other again. For leads."""
    check_may_run(access, item.campaign)
    with transaction.atomic():
        lock_pairs(Pair.objects.filter(pk=item.pair_id))
        in_use_qs = GoldItem.objects.filter(pk=item.pk, retired_at=None)
        if not in_use_qs.update(retired_at=at, retired_by=access.user):
            raise GoldRefused("retired", "This pair is no longer gold.")
        balance_seats(pair_ids=[item.pair_id], overlap=item.campaign.overlap)
        audit.record_by(access, at, "gold.retired", item.campaign.name, before=_said(item))


def change_checks(*, access: Access, campaign: Campaign, at: datetime, **changes: Any) -> CheckPlan:
    """Change how much is planted, at any time; for leads. What is not given stays.

    changes: those of PLANNED. Where training ends, its pairs that people hold go back.
    """
    check_may_run(access, campaign)
    unknown = changes.keys() - set(PLANNED)
    if unknown:
        raise TypeError(f"{min(unknown)} is no part of the checks")
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        plan = get_check_plan(Campaign.objects.get(pk=campaign.pk))
        before = _planned(plan)
        for name, value in changes.items():
            setattr(plan, name, value)
        _check_plan(plan)
        plan.save()
        if not plan.training_pairs:
            training = Assignment.Purpose.TRAINING
            end_leases(Assignment.objects.filter(pair__campaign=campaign, purpose=training))
        audit.record_by(
            access,
            at,
            "campaign.checks_changed",
            campaign.name,
            before=before,
            after=_planned(plan),
        )
    return plan


def _check_plan(plan: CheckPlan) -> None:
    for name, (least, most, words) in BOUNDS.items():
        if not least <= getattr(plan, name) <= most:
            raise GoldRefused(f"{name}_invalid", words)
    if plan.training_pairs != 0 and not 3 <= plan.training_pairs <= 50:
        raise GoldRefused(
            "training_pairs_invalid", "Training pairs must be 3 to 50, or 0 for no training."
        )
    if plan.feedback_after != 0 and not 5 <= plan.feedback_after <= 100:
        raise GoldRefused(
            "feedback_after_invalid", "Feedback must be every 5 to 100 checks, or 0 for never."
        )
    if plan.when_used_up not in CheckPlan.UsedUp.values:
        raise GoldRefused("when_used_up_invalid", "Not a valid choice.")


def _planned(plan: CheckPlan) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in PLANNED}


def _lock(campaign: Campaign, wanted: Iterable[int]) -> list[int]:
    """The pairs' ids, locked, if they are of the campaign and not gold yet."""
    wanted = set(wanted)
    pair_ids = lock_pairs(campaign.pairs.filter(pk__in=wanted))
    if len(pair_ids) != len(wanted):
        raise NotFound("pair")
    if GoldItem.objects.filter(pair__in=pair_ids, retired_at=None).exists():
        raise GoldRefused("gold_already", "This pair is already gold.")
    return pair_ids


def _said(item: GoldItem) -> dict[str, Any]:
    pair = item.pair
    return {
        "pair": f"{pair.query.qid} {pair.document.docid}",
        "low": item.low,
        "high": item.high,
        "reason": item.reason,
    }
