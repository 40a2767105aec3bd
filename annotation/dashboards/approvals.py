"""What an approval would change in the list; for leads and admins."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT

from annotation.models import Campaign, Pair
from annotation.permissions import check_may_watch
from judgments.lists.queries import GradeShown, show_grade
from judgments.models import Judgment
from judgments.pages.paging import paginate
from judgments.permissions import Access
from touchstone.scales import Scale


@dataclass(frozen=True)
class WaitingRow:
    """A pair whose grade in the list would change. before, after: None where it has none.

    after is None for a pair whose labels were taken back: it becomes what it was before.
    """

    pair_id: int
    qid: str
    query_text: str
    docid: str
    title: str
    before: GradeShown | None
    after: GradeShown | None


@dataclass(frozen=True)
class ApprovalPage:
    """The changes of an approval. confirmed: pairs that keep their grade, with newer evidence."""

    campaign: Campaign
    rows: "Page[WaitingRow]"
    confirmed: int


def get_approval_page(*, access: Access, campaign: Campaign, page: str) -> ApprovalPage:
    """What an approval would do now."""
    check_may_watch(access, campaign)
    scale = Scale.from_json(campaign.list.scale)

    def show(pairs: list[Any]) -> list[WaitingRow]:
        return [_row(pair, scale) for pair in pairs]

    changing_qs = _waiting(campaign).filter(_changes(campaign))
    shown_qs = changing_qs.select_related("query", "document").defer(
        "document__body", "document__clean_html"
    )
    return ApprovalPage(
        campaign=campaign,
        rows=paginate(shown_qs.order_by("query__qid", "pk"), page=page, show=show),
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
        list=OuterRef("list"),
        query=OuterRef("query"),
        document=OuterRef("document"),
        until__isnull=True,
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


def _row(pair: Any, scale: Scale) -> WaitingRow:
    return WaitingRow(
        pair_id=pair.pk,
        qid=pair.query.qid,
        query_text=pair.query.text,
        docid=pair.document.docid,
        title=pair.document.title,
        before=None if pair.before is None else show_grade(scale, pair.before),
        after=None if pair.grade is None else show_grade(scale, pair.grade),
    )
