"""A run's value of every query, on a list at a version."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

import numpy as np

from evaluation.diagnosis.selection import (
    RunFilters,
    RunSelection,
    get_ordered,
    get_run_selection,
)
from evaluation.evaluations.queries import SetChoice
from evaluation.evaluations.query_values import QueryValues, get_mean
from evaluation.models import Run
from evaluation.runs.queries import get_run
from judgments.collections.query_metadata import get_query_traits
from judgments.models import Query
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access
from touchstone.statistics.intervals import half_interval

Rows = TypeVar("Rows")


@dataclass(frozen=True)
class QueryValue:
    """A query's value; null if it is not in the mean. judged: of the `shown` documents."""

    query_id: str
    segment: str
    value: float | None
    judged: int
    shown: int
    text: str = field(metadata=ON_PAGES)


@dataclass(frozen=True, kw_only=True)
class RunValues(Generic[Rows]):
    """mean: over `n` queries, exact; null if undefined. results: the judged queries, by id.

    On pages, selection: None in a collection without a list. answered: so many of the `queries` the
    run answers. unjudged: queries of the run without a judgment. unanswered: judged queries, of
    those shown, that the run has no answer to.
    """

    version: int = 0
    measure: str = ""
    mean: float | None = None
    standard_error: float | None = None
    n: int = 0
    judged: float | None = None
    run: Run = field(metadata=ON_PAGES)
    selection: RunSelection | None = field(metadata=ON_PAGES)
    rows: Rows = field(metadata=ON_PAGES)
    answered: int = field(default=0, metadata=ON_PAGES)
    queries: int = field(default=0, metadata=ON_PAGES)
    unjudged: int = field(default=0, metadata=ON_PAGES)
    unanswered: int = field(default=0, metadata=ON_PAGES)

    @property
    def sets(self) -> SetChoice | None:
        """The saved sets to choose from; None without a list."""
        return self.selection.sets if self.selection else None

    @property
    def half(self) -> float | None:
        """Half of the interval of 95 %; 0 where all queries have the same value."""
        return half_interval(self.standard_error, self.n)


def get_run_values(
    *,
    access: Access,
    public_id: UUID,
    filters: RunFilters,
    cut: Callable[[Sequence[int], Callable[[list[int]], list[QueryValue]]], Rows],
) -> RunValues[Rows]:
    """A run as its address asks for it. cut: which of its queries are shown.

    Raises MeasureError or FilterRefused for the impossible.
    """
    run = get_run(access=access, public_id=public_id)
    selection = get_run_selection(access=access, filters=filters)
    if selection is None:
        nothing = cut((), lambda _: [])
        return RunValues(run=run, selection=None, rows=nothing, unjudged=run.query_count)
    result, query_ids = get_ordered(selection=selection, run=run)
    answered = int((result.shown > 0).sum())
    mean = get_mean(
        found=result,
        judgment_list=selection.judgment_list,
        version=selection.version,
        measure=selection.measure,
    )

    def show(places: list[int]) -> list[QueryValue]:
        return _query_values(selection, result.rows(np.array(places, np.intp)), query_ids)

    return RunValues(
        version=selection.version,
        measure=selection.name,
        mean=mean.value,
        standard_error=mean.error,
        n=mean.queries,
        judged=mean.judged,
        run=run,
        selection=selection,
        rows=cut(range(len(result)), show),
        answered=mean.answered,
        queries=mean.of,
        unjudged=0 if selection.segment or selection.sets.chosen else run.query_count - answered,
        unanswered=len(result) - answered,
    )


def _query_values(
    selection: RunSelection, found: QueryValues, query_ids: Mapping[int, str]
) -> list[QueryValue]:
    ids = found.query_ids.tolist()
    texts = dict(Query.objects.filter(pk__in=ids).values_list("pk", "text"))
    traits = get_query_traits(
        list_id=selection.judgment_list.pk, version=selection.version, query_ids=ids
    )
    judged = np.rint(found.judged * found.shown).astype(np.int64)
    columns = (found.values, found.counted, judged, found.shown)
    return [
        QueryValue(
            query_id=query_ids[pk],
            segment=traits[pk].segment,
            value=value if counted else None,
            judged=judged_here,
            shown=shown,
            text=texts[pk],
        )
        for pk, value, counted, judged_here, shown in zip(
            ids, *(column.tolist() for column in columns), strict=True
        )
    ]
