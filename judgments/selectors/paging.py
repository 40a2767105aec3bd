"""A long table one page at a time."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

Row = TypeVar("Row")
Shown = TypeVar("Shown")
PER_PAGE = 50


def paged(
    page: str, per_page: int = PER_PAGE
) -> Callable[[Sequence[Row], Callable[[list[Row]], list[Shown]]], "Page[Shown]"]:
    """A way to part rows: by pages, of which this one is asked for."""
    return lambda rows, show: paginate(rows, page=page, show=show, per_page=per_page)


def paginate(
    rows: QuerySet[Any, Row] | Sequence[Row],
    *,
    page: str,
    show: Callable[[list[Row]], list[Shown]],
    per_page: int = PER_PAGE,
) -> "Page[Shown]":
    """The page of the rows that a URL asks for, each turned into what is shown.

    page: as typed in a URL; what is no page is the first one, what is beyond the end the last.
    """
    paginator: Any = Paginator(rows, per_page)
    found = paginator.get_page(page)
    return Page(show(list(found.object_list)), found.number, paginator)
