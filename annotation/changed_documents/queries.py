"""Which judgments of a list rest on labels of another text than the document has today."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.core.paginator import Page
from django.db.models import Exists, Max, OuterRef, QuerySet

from annotation.consolidation.overlap import overlap_grades
from annotation.models import Campaign, Pair
from judgments.lists.queries import GradeShown, get_list, show_grade
from judgments.models import AuditEntry, Judgment, JudgmentList
from judgments.pages.paging import paginate
from judgments.permissions import Access, check_may_see_people
from judgments.storage.caches import get_or_compute
from touchstone.scales import Scale

KEPT_SECONDS: Final = 60


@dataclass(frozen=True)
class ChangedRow:
    """A judgment. labelled_at: when its newest label came."""

    qid: str
    query: str
    docid: str
    title: str
    grade: GradeShown
    since: int
    labelled_at: datetime


@dataclass(frozen=True)
class ChangedPage:
    """A list's judgments on changed documents. open_campaigns: where they can be relabelled."""

    judgment_list: JudgmentList
    rows: "Page[ChangedRow]"
    open_campaigns: int


def changed_judgments(judgment_list: JudgmentList) -> QuerySet[Judgment]:
    """The current judgments that have labels, none of which was given on today's text.

    What was imported without labels is not among them: no one knows which text was judged.
    """
    labels_qs = overlap_grades().filter(
        pair__list=OuterRef("list"),
        pair__query=OuterRef("query"),
        pair__document=OuterRef("document"),
    )
    of_today_qs = labels_qs.filter(content_hash=OuterRef("document__content_hash"))
    current_qs = Judgment.objects.filter(list=judgment_list, until=None)
    return current_qs.filter(Exists(labels_qs), ~Exists(of_today_qs))


def count_changed(judgment_list: JudgmentList) -> int:
    """How many there are; after a label that makes no version, up to a minute late."""
    if not Campaign.objects.filter(list=judgment_list).exists():
        return 0
    loaded_qs = AuditEntry.objects.filter(
        collection=judgment_list.collection_id, action="documents.loaded"
    )
    loaded = loaded_qs.aggregate(newest=Max("pk"))["newest"] or 0
    name = f"changed-documents:{judgment_list.pk}:{judgment_list.head}:{loaded}"
    return get_or_compute(name, int, KEPT_SECONDS, lambda: changed_judgments(judgment_list).count())


def get_changed_page(*, access: Access, slug: str, page: str) -> ChangedPage:
    """The page of a list's judgments on changed documents; for leads and admins."""
    check_may_see_people(access)
    judgment_list = get_list(access=access, slug=slug)
    changed_qs = changed_judgments(judgment_list).select_related("query", "document")
    return ChangedPage(
        judgment_list=judgment_list,
        rows=paginate(
            changed_qs.order_by("query_id", "document_id"),
            page=page,
            show=lambda rows: _rows(judgment_list, rows),
        ),
        open_campaigns=judgment_list.campaigns.filter(state=Campaign.State.OPEN).count(),
    )


def _rows(judgment_list: JudgmentList, judgments: list[Judgment]) -> list[ChangedRow]:
    scale = Scale.from_json(judgment_list.scale)
    labels_qs = overlap_grades().filter(
        pair__list=judgment_list,
        pair__query__in={one.query_id for one in judgments},
        pair__document__in={one.document_id for one in judgments},
    )
    newest = {
        (query, document): at
        for query, document, at in labels_qs.order_by()
        .values_list("pair__query", "pair__document")
        .annotate(Max("received_at"))
    }
    return [
        ChangedRow(
            qid=one.query.qid,
            query=one.query.text,
            docid=one.document.docid,
            title=one.document.title,
            grade=show_grade(scale, one.grade),
            since=one.since,
            labelled_at=newest[one.query_id, one.document_id],
        )
        for one in judgments
    ]


def list_changed_pairs(judgment_list: JudgmentList, campaign: Campaign) -> list[int]:
    """The pairs of a campaign whose judgments are among these."""
    changed = set(changed_judgments(judgment_list).values_list("query", "document"))
    pairs_qs = Pair.objects.filter(campaign=campaign).values_list("pk", "query", "document")
    return [pk for pk, query, document in pairs_qs if (query, document) in changed]
