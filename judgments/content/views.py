"""Queries and documents."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from judgments.content import queries as content
from judgments.pages.rendering import render_page
from judgments.permissions import get_access


@require_safe
def queries(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's queries, searched and filtered by the URL."""
    access = get_access(viewer=request.user, slug=slug)
    page = content.get_queries_page(
        access=access,
        search=request.GET.get("q", ""),
        segment=request.GET.get("segment", ""),
        sort=request.GET.get("sort", ""),
        page=request.GET.get("page", ""),
    )
    return render_page(request, "queries", page, access=access, section="queries")


@require_safe
def documents(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's documents, searched by the URL."""
    access = get_access(viewer=request.user, slug=slug)
    page = content.get_documents_page(
        access=access, search=request.GET.get("q", ""), page=request.GET.get("page", "")
    )
    return render_page(request, "documents", page, access=access, section="documents")


@require_safe
def query(request: HttpRequest, slug: str, qid: str) -> HttpResponse:
    """A query and the documents judged for it."""
    access = get_access(viewer=request.user, slug=slug)
    page = content.get_query_page(
        access=access,
        qid=qid,
        list_slug=request.GET.get("list", ""),
        version=request.GET.get("version", ""),
        page=request.GET.get("page", ""),
    )
    return render_page(request, "query", page, access=access, section="queries")


@require_safe
def document(request: HttpRequest, slug: str, docid: str) -> HttpResponse:
    """A document and the queries that it is judged for."""
    access = get_access(viewer=request.user, slug=slug)
    page = content.get_document_page(
        access=access,
        docid=docid,
        list_slug=request.GET.get("list", ""),
        version=request.GET.get("version", ""),
        page=request.GET.get("page", ""),
    )
    return render_page(request, "document", page, access=access, section="documents")
