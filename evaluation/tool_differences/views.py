"""How tools differ: every one's number for a run, and every one's order of a list."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from evaluation.pages.rendering import answer_page
from evaluation.tool_differences.queries import (
    ListToolOrders,
    RunToolValues,
    ToolFilters,
    get_list_tool_orders,
    get_run_tool_values,
)
from evaluation.tool_differences.services import enqueue
from judgments.permissions import get_access
from judgments.rate_limits import costly

Found = TypeVar("Found", ListToolOrders, RunToolValues)


@costly
@require_safe
def run_rosetta(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """A run's nDCG as every tool would print it; an open page asks on until it is there."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(_computed, get_run_tool_values, access=access, public_id=public_id)
    return answer_page(
        request,
        "run_rosetta",
        lambda: page(filters=filters_of(request.GET)),
        lambda: page(filters=ToolFilters()),
        access=access,
        section="rankers",
        part="_dialects",
    )


@costly
@require_safe
def list_rosetta(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The order of a list's runs under every preset; an open page asks on until all are there."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(_computed, get_list_tool_orders, access=access, slug=list_slug)
    return answer_page(
        request,
        "list_rosetta",
        lambda: page(filters=filters_of(request.GET)),
        lambda: page(filters=ToolFilters()),
        access=access,
        section="leaderboard",
        part="_orders",
    )


def _computed(query: Callable[..., Found], **asked: Any) -> Found:
    """The answer of a query; a worker is woken for what is missing in it."""
    result = query(**asked)
    enqueue(result)
    return result


def filters_of(parameters: QueryDict) -> ToolFilters:
    """What an address asks for."""
    return ToolFilters(
        list_slug=parameters.get("list", ""),
        version=parameters.get("version", "").strip(),
        cutoff=parameters.get("k", ""),
    )
