"""Feedback to annotators, in batches, if the campaign allows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from annotation.consolidation.overlap import overlap_grades
from annotation.gold.planting import seeded
from annotation.gold.queries import get_check_plan
from annotation.models import (
    CampaignAnnotator,
    Feedback,
    GoldCheck,
    Label,
    Pair,
)

AGREED = (Pair.State.COMPLETE, Pair.State.ADJUDICATED)


def give_feedback(*, annotator: CampaignAnnotator, at: datetime) -> Feedback | None:
    """Give feedback on an annotator's labels since the last batch, once enough were checked.

    Beside each label of gold there is one of a pair whose grade is agreed upon, as far as there
    are such: so no one learns what gold looks like. The caller has locked their place.
    """
    after = get_check_plan(annotator.campaign).feedback_after
    if not after:
        return None
    told = Feedback.objects.filter(campaign=annotator.campaign_id, annotator=annotator.user_id)
    checks_qs = GoldCheck.objects.select_related("item", "label").filter(
        item__campaign=annotator.campaign_id,
        label__annotator=annotator.user_id,
        label__superseded_by__isnull=True,
        error__isnull=False,
    )
    last = told.order_by("-pk").values_list("newest", flat=True).first()
    checks = list(checks_qs.filter(pk__gt=last or 0).order_by("pk"))
    if len(checks) < after:
        return None
    items = [
        _item(check.label, check.item.low, check.item.high, gold=check.item_id) for check in checks
    ]
    items += _list_agreed(annotator, told=_list_told(list(told)), count=len(items))
    rng = seeded(annotator.campaign.seed, annotator.pk, checks[-1].pk)
    return Feedback.objects.create(
        campaign=annotator.campaign,
        annotator_id=annotator.user_id,
        newest=checks[-1],
        items=sorted(items, key=lambda item: rng(item["label"])),
        given_at=at,
    )


def _item(label: Label, low: int, high: int, **why: int) -> dict[str, Any]:
    return {"label": str(label.pk), "low": low, "high": high, **why}


def _list_told(told: Sequence[Feedback]) -> set[str]:
    return {item["label"] for one in told for item in one.items}


def _list_agreed(
    annotator: CampaignAnnotator, *, told: set[str], count: int
) -> list[dict[str, Any]]:
    """The newest labels of other pairs with a grade, each with what was decided and why."""
    labels_qs = overlap_grades().filter(
        pair__campaign=annotator.campaign_id,
        annotator=annotator.user_id,
        pair__state__in=AGREED,
        pair__grade__isnull=False,
    )
    newest = labels_qs.select_related("pair").order_by("-received_at", "pk")[
        : 2 * count + len(told)
    ]
    untold = [label for label in newest if str(label.pk) not in told][:count]
    return [_agreed_item(label) for label in untold]


def _agreed_item(label: Label) -> dict[str, Any]:
    grade = label.pair.grade
    assert grade is not None  # only such are looked up
    decided = label.pair.adjudications.order_by("-pair_seq").first()
    if decided and label.pair.state == Pair.State.ADJUDICATED:
        return _item(label, grade, grade, adjudication=decided.pk)
    return _item(label, grade, grade)
