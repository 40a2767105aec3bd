"""Queries and documents as pages show them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page
from django.db.models import Count, F, Q, QuerySet

from judgments.lists.queries import GradeShown, find_version_number, show_grade, votes_in
from judgments.models import Document, Judgment, JudgmentList, Query
from judgments.pages.markup import HTML_FIELD, framed_html
from judgments.pages.paging import by_id, paginate, put_in_order
from judgments.permissions import (
    Access,
    NotFound,
    check_may_see_content,
    may_see_people,
    may_see_rankings,
)
from judgments.pictures.queries import DocumentPictures, get_document_pictures
from judgments.versions.queries import at_head
from touchstone.scales import Scale


@dataclass(frozen=True)
class QueriesPage:
    """rows: a page of queries. segments: all there are. has_sets: saved sets are open to one.

    sort: the column they are in the order of; none as they were uploaded.
    """

    rows: "Page[Query]"
    segments: list[str]
    total: int
    is_filtered: bool
    has_sets: bool
    sort: str


def get_queries_page(
    *, access: Access, search: str, segment: str, sort: str, page: str
) -> QueriesPage:
    """The collection's queries whose id or text holds `search`, in a segment if one is given."""
    check_may_see_content(access)
    queries = Query.objects.filter(collection=access.collection)
    columns = {"qid": by_id("qid"), "text": (F("text"),), "segment": (F("segment"),)}
    result, sort = put_in_order(queries, sort=sort, columns=columns, last=("id",))
    if search:
        result = result.filter(Q(qid__icontains=search) | Q(text__icontains=search))
    if segment:
        result = result.filter(segment=segment)
    return QueriesPage(
        rows=paginate(result, page=page, show=list),
        segments=list_segment_names(access=access),
        total=queries.count(),
        is_filtered=bool(search or segment),
        has_sets=may_see_rankings(access),
        sort=sort,
    )


def list_segment_names(*, access: Access) -> list[str]:
    """The segments that the collection's queries are in now, without the nameless one."""
    check_may_see_content(access)
    queries = Query.objects.filter(collection=access.collection).exclude(segment="")
    return list(queries.order_by("segment").values_list("segment", flat=True).distinct())


@dataclass(frozen=True)
class DocumentsPage:
    rows: "Page[Document]"
    total: int
    is_filtered: bool


def get_documents_page(*, access: Access, search: str, page: str) -> DocumentsPage:
    """The collection's documents whose id or title holds `search`; without their bodies."""
    check_may_see_content(access)
    documents = Document.objects.filter(collection=access.collection)
    result: QuerySet[Document] = documents.only("id", "docid", "title", "is_stub").order_by("id")
    if search:
        result = result.filter(Q(docid__icontains=search) | Q(title__icontains=search))
    return DocumentsPage(
        rows=paginate(result, page=page, show=list),
        total=documents.count(),
        is_filtered=bool(search),
    )


@dataclass(frozen=True)
class JudgedRow:
    """A document judged for a query (or a query that a document is judged for).

    votes: what people said, for those who may see it.
    """

    id: str
    title: str
    grade: GradeShown
    since: int
    votes: str


@dataclass(frozen=True)
class ListChoice:
    """The lists of the collection, the one shown, and at which version."""

    lists: list[JudgmentList]
    chosen: JudgmentList
    version: int
    is_head: bool


@dataclass(frozen=True)
class QueryPage:
    """choice, judged: None where the viewer may not see grades, or there is no list."""

    query: Query
    choice: ListChoice | None
    judged: "Page[JudgedRow] | None"
    shows_people: bool


@dataclass(frozen=True)
class OtherList:
    """A list that is not shown, and for how many queries its newest version judges the document."""

    slug: str
    name: str
    queries: int


@dataclass(frozen=True)
class DocumentPage:
    """others: the other lists that judge it. The rest as in `QueryPage`."""

    document: Document
    fields: list[tuple[str, Any]]
    html: str
    pictures: DocumentPictures
    choice: ListChoice | None
    judged: "Page[JudgedRow] | None"
    others: list[OtherList]
    shows_people: bool


def get_query_page(
    *, access: Access, qid: str, list_slug: str, version: str, page: str
) -> QueryPage:
    """A query, with the documents judged for it in a list at a version, best first."""
    check_may_see_content(access)
    query = Query.objects.filter(collection=access.collection, qid=qid).first()
    if query is None:
        raise NotFound("query")
    choice = get_choice(access=access, list_slug=list_slug, version=version)
    people = may_see_people(access)
    if choice is None:
        return QueryPage(query, None, None, people)
    rows = _holding(choice).filter(query=query).select_related("document")
    result = rows.order_by("-grade", "document__docid").defer(
        "document__body", "document__fields", "document__clean_html"
    )
    judged = _paginate_judged(
        access, choice, result, page, lambda row: (row.document.docid, row.document.title)
    )
    return QueryPage(query, choice, judged, people)


def get_document_page(
    *, access: Access, docid: str, list_slug: str, version: str, page: str
) -> DocumentPage:
    """A document, with the queries that it is judged for in a list at a version."""
    check_may_see_content(access)
    document = Document.objects.filter(collection=access.collection, docid=docid).first()
    if document is None:
        raise NotFound("document")
    html = framed_html(document.clean_html)
    pictures = get_document_pictures(access=access, document=document)
    fields = [
        (name, value)
        for name, value in sorted(document.fields.items())
        if not (html and name == HTML_FIELD) and name not in pictures.fields
    ]
    choice = get_choice(access=access, list_slug=list_slug, version=version)
    people = may_see_people(access)
    if choice is None:
        return DocumentPage(document, fields, html, pictures, None, None, [], people)
    rows = _holding(choice).filter(document=document).select_related("query")
    result = rows.order_by("-grade", "query__qid")
    judged = _paginate_judged(
        access, choice, result, page, lambda row: (row.query.qid, row.query.text)
    )
    others = _other_lists(choice, document)
    return DocumentPage(document, fields, html, pictures, choice, judged, others, people)


def _paginate_judged(
    access: Access,
    choice: ListChoice,
    found: QuerySet[Judgment],
    page: str,
    what: Callable[[Judgment], tuple[str, str]],
) -> "Page[JudgedRow]":
    """what: the id and the title of what is judged, or is judged for."""
    scale = Scale.from_json(choice.chosen.scale)

    def show(judged: list[Judgment]) -> list[JudgedRow]:
        return [
            JudgedRow(
                *what(row), show_grade(scale, row.grade), row.since, votes_in(access, row.evidence)
            )
            for row in judged
        ]

    return paginate(found, page=page, show=show)


def _other_lists(choice: ListChoice, document: Document) -> list[OtherList]:
    own = Judgment.objects.filter(at_head(), document=document).exclude(list=choice.chosen)
    counts = dict(own.order_by().values_list("list").annotate(Count("pk")))
    return [
        OtherList(one.slug, one.name, counts[one.pk]) for one in choice.lists if one.pk in counts
    ]


def get_choice(*, access: Access, list_slug: str, version: str) -> ListChoice | None:
    """The list and version that a page's address asks for; the first list and its head if neither.

    None where the viewer may not see grades, or there is no list; NotFound for another.
    """
    if not may_see_rankings(access):
        return None
    lists = list(JudgmentList.objects.filter(collection=access.collection).order_by("id"))
    if not lists:
        if list_slug:
            raise NotFound("list")
        return None
    chosen = next((one for one in lists if one.slug == list_slug), None)
    if chosen is None:
        if list_slug:
            raise NotFound("list")
        chosen = lists[0]
    number = find_version_number(judgment_list=chosen, name=version) if version else chosen.head
    return ListChoice(lists, chosen, number, number == chosen.head)


def _holding(choice: ListChoice) -> QuerySet[Judgment]:
    return Judgment.objects.filter(
        Q(until=None) | Q(until__gt=choice.version),
        list=choice.chosen,
        since__lte=choice.version,
    )
