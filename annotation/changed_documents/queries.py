"""Which judgments of a list rest on labels of another text than the document has today."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.core.paginator import Page
from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from annotation.consolidation.overlap import overlap_grades
from annotation.models import Adjudication, Campaign, Pair
from judgments.lists.queries import GradeShown, get_list, show_grade
from judgments.models import AuditEntry, Judgment, JudgmentList, JudgmentVersion
from judgments.pages.paging import paginate
from judgments.permissions import Access, check_may_see_people
from judgments.storage.caches import get_or_compute
from judgments.versions.queries import at_head, up_to_head
from touchstone.scales import Scale

KEPT_SECONDS: Final = 60
OF_JUDGMENT: Final = {
    "pair__list": OuterRef("list"),
    "pair__query": OuterRef("query"),
    "pair__document": OuterRef("document"),
}
TODAY: Final = {"content_hash": OuterRef("document__content_hash")}


@dataclass(frozen=True)
class ChangedRow:
    """A judgment. counts: it is in the newest version. labelled_at: when its newest label came."""

    qid: str
    query: str
    docid: str
    title: str
    grade: GradeShown
    since: int
    counts: bool
    labelled_at: datetime


@dataclass(frozen=True)
class ChangedPage:
    """A list's judgments on changed documents. open_campaigns: where they can be relabelled."""

    judgment_list: JudgmentList
    rows: "Page[ChangedRow]"
    open_campaigns: int

    @property
    def is_unjudged(self) -> bool:
        """Whether the list treats them as unjudged."""
        return self.judgment_list.changed_documents == JudgmentList.ChangedDocuments.UNJUDGED


def changed_judgments(judgment_list: JudgmentList) -> QuerySet[Judgment]:
    """The judgments that have labels, none of which was given on today's text: those of the newest
    version, and, where the list treats them as unjudged, those that were taken out of it.

    An adjudication on today's text counts as such a label. What was imported without labels is not
    among them: no one knows which text was judged.
    """
    own_qs = Judgment.objects.filter(list=judgment_list)
    if judgment_list.changed_documents == JudgmentList.ChangedDocuments.UNJUDGED:
        own_qs = own_qs.filter(at_head() | Q(pk__in=taken_out(judgment_list).values("pk")))
    else:
        own_qs = own_qs.filter(at_head())
    return own_qs.filter(Exists(overlap_grades().filter(**OF_JUDGMENT)), ~is_on_todays_text())


def is_on_todays_text() -> Q:
    """Whether a judgment has a label, or an adjudication, of the text that its document has."""
    labels_qs = overlap_grades().filter(**OF_JUDGMENT, **TODAY)
    decided_qs = Adjudication.objects.filter(**OF_JUDGMENT, **TODAY, reopening=None)
    return Q(Exists(labels_qs)) | Q(Exists(decided_qs))


def taken_out(judgment_list: JudgmentList) -> QuerySet[Judgment]:
    """What versions about changed documents took out of a list, and nothing has replaced since."""
    made_qs = JudgmentVersion.objects.filter(
        list=judgment_list, source=JudgmentVersion.Source.CHANGED
    )
    later_qs = Judgment.objects.filter(
        up_to_head(),
        list=OuterRef("list"),
        query=OuterRef("query"),
        document=OuterRef("document"),
        since__gte=OuterRef("until"),
    )
    own_qs = Judgment.objects.filter(list=judgment_list, until__in=made_qs.values("number"))
    return own_qs.filter(~Exists(later_qs))


def newest_load(collection_id: int) -> int:
    """The audit entry of a collection's newest upload of documents; 0 for none."""
    loaded_qs = AuditEntry.objects.filter(collection=collection_id, action="documents.loaded")
    return int(loaded_qs.aggregate(newest=Max("pk"))["newest"] or 0)


def count_changed(judgment_list: JudgmentList) -> int:
    """How many there are; after a label that makes no version, up to a minute late."""
    if not Campaign.objects.filter(list=judgment_list).exists():
        return 0
    state = f"{judgment_list.head}:{newest_load(judgment_list.collection_id)}"
    name = f"changed-documents:{judgment_list.pk}:{judgment_list.changed_documents}:{state}"
    return get_or_compute(name, int, KEPT_SECONDS, lambda: changed_judgments(judgment_list).count())


def get_changed_page(*, access: Access, slug: str, page: str) -> ChangedPage:
    """The page of a list's judgments on changed documents; for leads and admins."""
    check_may_see_people(access)
    judgment_list = get_list(access=access, slug=slug)
    changed_qs = changed_judgments(judgment_list).select_related("list", "query", "document")
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
            counts=one.until is None or one.until > one.list.head,
            labelled_at=newest[one.query_id, one.document_id],
        )
        for one in judgments
    ]


def list_changed_pairs(judgment_list: JudgmentList, campaign: Campaign) -> list[int]:
    """The pairs of a campaign whose judgments are among these."""
    changed = set(changed_judgments(judgment_list).values_list("query", "document"))
    pairs_qs = Pair.objects.filter(campaign=campaign).values_list("pk", "query", "document")
    return [pk for pk, query, document in pairs_qs if (query, document) in changed]
