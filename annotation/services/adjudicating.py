"""Deciding a pair: a lead's word wins over every label."""

from datetime import datetime
from typing import Final

from django.db import transaction

from annotation.models import Adjudication, Campaign, Pair
from annotation.permissions import is_own
from annotation.services.consolidating import commit_conclusions, conclude, lock_list
from judgments.errors import DomainError
from judgments.permissions import Access, NotFound, may_lead
from judgments.scales import Scale
from judgments.services import audit

MAX_REASON_CHARACTERS: Final = 4_000


class AdjudicationRefused(DomainError):
    """The pair can't be decided like this."""


def may_adjudicate(access: Access, pair: Pair) -> bool:
    """Whether the viewer may decide this pair."""
    try:
        check_may_adjudicate(access, pair)
    except DomainError:
        return False
    return True


def check_may_adjudicate(access: Access, pair: Pair) -> None:
    """Leads decide pairs of campaigns that have begun.

    A pair that is open in a later campaign of the list is decided there.
    """
    if not is_own(access, pair.campaign) or not may_lead(access):
        raise NotFound("pair")
    if pair.campaign.state == Campaign.State.DRAFT:
        raise AdjudicationRefused("campaign_draft", "The campaign has not been opened yet.")
    elsewhere = Pair.objects.filter(
        list=pair.list_id, query=pair.query_id, document=pair.document_id, is_open=True
    ).exclude(pk=pair.pk)
    other = elsewhere.values_list("campaign__name", flat=True).first()
    if other is not None:
        raise AdjudicationRefused(
            "pair_open_elsewhere", f"This pair is open in the campaign {other}: decide it there."
        )


def adjudicate(
    *, access: Access, pair: Pair, grade: int, reason: str, at: datetime
) -> Adjudication:
    """Decide a pair; a live campaign's list has the grade when this returns.

    The newest decision holds, whatever labels say before or afterwards.
    """
    check_may_adjudicate(access, pair)
    if not Scale.from_json(pair.list.scale).contains(grade):
        raise AdjudicationRefused("grade_unknown", f"The scale has no grade {grade}.")
    reason = reason.strip().replace("\0", "")[:MAX_REASON_CHARACTERS]
    with transaction.atomic():
        judgment_list = lock_list(pair.list_id)
        locked = Pair.objects.select_for_update(no_key=True).get(pk=pair.pk)
        locked.label_seq += 1
        locked.save(update_fields=["label_seq"])
        newest = pair.campaign.guideline.revisions.order_by("-number").first()
        assert newest is not None  # a guideline begins with a revision
        adjudication = Adjudication.objects.create(
            pair=locked,
            grade=grade,
            reason=reason,
            guideline_revision=newest,
            decided_at=at,
            decided_by=access.user,
            pair_seq=locked.label_seq,
        )
        concluded = conclude(judgment_list=judgment_list, due_qs=Pair.objects.filter(pk=locked.pk))
        if pair.campaign.commit == Campaign.Commit.LIVE:
            commit_conclusions(judgment_list=judgment_list, concluded=concluded, by=None, at=at)
        audit.record(
            collection=access.collection,
            actor=access.user,
            at=at,
            action="pair.adjudicated",
            subject=f"{pair.query.qid} {pair.document.docid}",
            before={"grade": pair.grade, "state": pair.state},
            after={"grade": grade, "reason": reason},
        )
    return adjudication
