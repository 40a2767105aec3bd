"""What an approval would change in the list; for leads and admins."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT

from annotation.campaigns.queries import with_names
from annotation.models import Campaign, Pair
from annotation.permissions import check_may_watch
from judgments.models import Judgment
from judgments.pages.paging import paginate
from judgments.permissions import Access
from judgments.versions.queries import at_head


@dataclass(frozen=True)
class ApprovalPage:
    """The changes of an approval. rows: pairs, `before`: their grade in the list now.

    A pair whose labels were taken back has no grade: it becomes what it was before.
    confirmed: pairs that keep their grade, with newer evidence.
    """

    campaign: Campaign
    rows: "Page[Any]"
    confirmed: int


def get_approval_page(*, access: Access, campaign: Campaign, page: str) -> ApprovalPage:
    """What an approval would do now."""
    check_may_watch(access, campaign)
    shown_qs = with_names(_waiting(campaign).filter(_changes(campaign)))
    return ApprovalPage(
        campaign=campaign,
        rows=paginate(shown_qs.order_by("query__qid", "pk"), page=page, show=list),
        confirmed=_waiting(campaign).filter(grade=F("before")).count(),
    )


def count_waiting(campaign: Campaign) -> int:
    """How many grades of the list an approval would change now."""
    if campaign.commit != Campaign.Commit.APPROVAL:
        return 0
    return _waiting(campaign).filter(_changes(campaign)).count()


def _waiting(campaign: Campaign) -> QuerySet[Any]:
    """Pairs that have a conclusion which the list was not told of, with what it holds now."""
    holding_qs = Judgment.objects.filter(
        at_head(), list=OuterRef("list"), query=OuterRef("query"), document=OuterRef("document")
    )
    pairs_qs = Pair.objects.filter(campaign=campaign, consolidated_seq__gt=F("committed_seq"))
    return pairs_qs.annotate(
        before=Subquery(holding_qs.values("grade")[:1]),
        by=Subquery(holding_qs.annotate(name=KT("evidence__campaign")).values("name")[:1]),
    )


def _changes(campaign: Campaign) -> Q:
    given = Q(grade__isnull=False) & (Q(before__isnull=True) | ~Q(before=F("grade")))
    # without a grade of its own a pair only gives back what this campaign had put there
    given_back = Q(grade__isnull=True, before__isnull=False, by=str(campaign.public_id))
    return given | given_back
