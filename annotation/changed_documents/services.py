"""Relabelling judgments on changed documents, or treating them as unjudged in a new version."""

from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from django.db import transaction

from annotation.changed_documents.queries import changed_judgments, list_changed_pairs
from annotation.consolidation.services import lock_list
from annotation.models import Campaign
from annotation.overlap_requests.queries import list_askable
from annotation.overlap_requests.services import request_labels
from judgments.lists.services import check_own_list
from judgments.models import JudgmentList, JudgmentVersion
from judgments.permissions import Access, check_may_lead
from judgments.versions.services import Change, commit_judgments

REASON = "the documents have changed since they were labelled"


@dataclass(frozen=True)
class Relabelled:
    """How many pairs get another label, and how many judgments can't: their campaign is closed, or
    no one is left who has not labelled the pair.
    """

    asked: int
    left: int


def relabel_changed(*, access: Access, judgment_list: JudgmentList, at: datetime) -> Relabelled:
    """Request one more label, on today's text, of every pair that can still be labelled.

    For leads. The judgments stay until the labels come. Pairs that wait for a label already are
    not asked again.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    asked = 0
    total = changed_judgments(judgment_list).count()
    for campaign in judgment_list.campaigns.filter(state=Campaign.State.OPEN).order_by("pk"):
        with transaction.atomic():
            lock_list(campaign.list_id)
            changed = set(list_changed_pairs(judgment_list, campaign))
            wanted = [pk for pk, _ in list_askable(campaign, None) if pk in changed]
            if wanted:
                asked += request_labels(
                    access=access,
                    campaign=campaign,
                    pair_ids=wanted,
                    words=REASON,
                    batch=uuid4(),
                    at=at,
                )
    return Relabelled(asked, total - asked)


def unjudge_changed(
    *, access: Access, judgment_list: JudgmentList, at: datetime
) -> JudgmentVersion | None:
    """Make a version without these judgments; None where there are none; for leads.

    It can be reverted. A later label brings a pair back, with all its labels.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    with transaction.atomic():
        lock_list(judgment_list.pk)
        pairs = list(changed_judgments(judgment_list).values_list("query", "document"))
        return commit_judgments(
            judgment_list=judgment_list,
            changes=[Change(query, document, None) for query, document in pairs],
            by=access.user,
            at=at,
            reason=REASON,
            source=JudgmentVersion.Source.CHANGED,
        )
