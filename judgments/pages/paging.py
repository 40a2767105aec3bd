"""A long table one page at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import F, Func, Model, QuerySet, Value
from django.db.models.functions import Length

Row = TypeVar("Row")
Shown = TypeVar("Shown")
Rows = TypeVar("Rows", bound=Model)
Stored = TypeVar("Stored", bound=Model)
PER_PAGE = 50
DIGITS: Final = "0123456789"


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
    result = paginator.get_page(page)
    return Page(show(list(result.object_list)), result.number, paginator)


def put_in_order(
    rows: QuerySet[Rows],
    *,
    sort: str,
    columns: Mapping[str, Sequence[F | Func]],
    last: Sequence[str],
    default: str = "",
) -> tuple[QuerySet[Rows], str]:
    """The rows by the column that a URL asks for, and what was asked: "key", or "-key" downwards.

    columns: what each key sorts by. last: fields that decide among equals, total, and alone where
    no column is asked for and `default` names none. Rows without a value come last, either way.
    """
    asked = sort if sort.removeprefix("-") in columns else default
    terms = columns.get(asked.removeprefix("-"), ())
    if asked.startswith("-"):
        wanted = [term.desc(nulls_last=True) for term in terms]
    else:
        wanted = [term.asc(nulls_last=True) for term in terms]
    return rows.order_by(*wanted, *last), asked


def by_id(field: str) -> tuple[F | Func, ...]:
    """Ids as people count them: q2 before q10, 9 before 10."""
    stem = Func(F(field), Value(DIGITS), function="RTRIM")
    return stem, Length(field), F(field)


@dataclass(frozen=True)
class Part(Generic[Row]):
    """Some rows of a list. after: what the next part begins after; None where this is the last."""

    rows: list[Row]
    after: int | None


def parted(
    after: int, limit: int
) -> Callable[[Sequence[Row], Callable[[list[Row]], list[Shown]]], Part[Shown]]:
    """A way to part rows: at most `limit` of them behind the first `after`."""

    def part(rows: Sequence[Row], show: Callable[[list[Row]], list[Shown]]) -> Part[Shown]:
        own = list(rows[after : after + limit])
        end = after + len(own)
        return Part(show(own), end if end < len(rows) else None)

    return part


def part_of(
    rows: "QuerySet[Stored, Stored]",
    after: int,
    limit: int,
    show: Callable[[list[Stored]], list[Shown]],
) -> Part[Shown]:
    """At most `limit` rows after the one with the pk `after`, in the order of their pks."""
    result: list[Any] = list(rows.filter(pk__gt=after).order_by("pk")[: limit + 1])
    return Part(show(result[:limit]), result[limit - 1].pk if len(result) > limit else None)
