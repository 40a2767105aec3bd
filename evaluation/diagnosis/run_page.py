"""The page of a run: every query with its value, on a list at a version."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

import numpy as np

from evaluation.diagnosis.selection import Looked, RunFilters, get_looked, get_ordered
from evaluation.evaluations.queries import SetChoice
from evaluation.evaluations.query_values import Mean, QueryValues, get_mean
from evaluation.models import Run
from evaluation.permissions import may_withdraw
from evaluation.runs.queries import get_run
from evaluation.runs.uploaders import list_uploaders
from judgments.collections.query_metadata import get_query_traits, list_segments
from judgments.models import Query
from judgments.permissions import Access

Rows = TypeVar("Rows")


@dataclass(frozen=True)
class RunHead:
    """What a run is, whatever it is looked at with."""

    public_id: UUID
    name: str
    tag: str
    sha256: str
    ranker_slug: str
    ranker_name: str
    queries: int
    rows: int
    created_at: datetime
    who: str
    withdrawn_at: datetime | None


@dataclass(frozen=True)
class QueryRow:
    """A query's value. value: None where it is not in the mean. judged: of `shown` documents."""

    qid: str
    text: str
    segment: str
    value: float | None
    judged: int
    shown: int


@dataclass(frozen=True)
class RunPage(Generic[Rows]):
    """A run on a list. looked, mean, rows: None where the collection has no list.

    unjudged: queries of the run without a judgment. unanswered: judged queries, of those shown,
    that the run has no answer to.
    """

    run: RunHead
    looked: Looked | None
    mean: Mean | None
    rows: Rows | None
    segments: tuple[str, ...]
    unjudged: int
    unanswered: int
    may_withdraw: bool

    @property
    def sets(self) -> SetChoice | None:
        """The saved sets to choose from; None without a list."""
        return self.looked.sets if self.looked else None


def get_run_page(
    *,
    access: Access,
    public_id: UUID,
    filters: RunFilters,
    cut: Callable[[Sequence[int], Callable[[list[int]], list[QueryRow]]], Rows],
) -> RunPage[Rows]:
    """A run as its address asks for it. cut: which of its queries are shown.

    Raises MeasureError or FilterRefused for the impossible.
    """
    run = get_run(access=access, public_id=public_id)
    looked = get_looked(access=access, filters=filters)
    head = get_run_head(access=access, run=run)
    if looked is None:
        return RunPage(head, None, None, None, (), run.query_count, 0, may_withdraw(access, run))
    found, qids = get_ordered(looked=looked, run=run)
    answered = int((found.shown > 0).sum())

    def show(places: list[int]) -> list[QueryRow]:
        return _rows(looked, found.rows(np.array(places, np.intp)), dict(qids))

    return RunPage(
        run=head,
        looked=looked,
        mean=get_mean(
            found=found,
            judgment_list=looked.judgment_list,
            version=looked.version,
            measure=looked.measure,
        ),
        rows=cut(range(len(found)), show),
        segments=tuple(list_segments(list_id=looked.judgment_list.pk, version=looked.version)),
        unjudged=0 if looked.segment or looked.sets.chosen else run.query_count - answered,
        unanswered=len(found) - answered,
        may_withdraw=may_withdraw(access, run),
    )


def get_run_head(*, access: Access, run: Run) -> RunHead:
    """What a run is, and who brought it."""
    names = list_uploaders(access=access, user_ids=[run.created_by_id])
    return RunHead(
        public_id=run.public_id,
        name=run.name,
        tag=run.tag,
        sha256=run.sha256,
        ranker_slug=run.ranker.slug,
        ranker_name=run.ranker.name,
        queries=run.query_count,
        rows=run.row_count,
        created_at=run.created_at,
        who=names[run.created_by_id],
        withdrawn_at=run.withdrawn_at,
    )


def _rows(looked: Looked, found: QueryValues, qids: dict[int, str]) -> list[QueryRow]:
    ids = found.query_ids.tolist()
    texts = dict(Query.objects.filter(pk__in=ids).values_list("pk", "text"))
    traits = get_query_traits(
        list_id=looked.judgment_list.pk, version=looked.version, query_ids=ids
    )
    judged = np.rint(found.judged * found.shown).astype(np.int64)
    columns = (found.values, found.counted, judged, found.shown)
    return [
        QueryRow(
            qid=qids[pk],
            text=texts[pk],
            segment=traits[pk].segment,
            value=value if counted else None,
            judged=judged_here,
            shown=shown,
        )
        for pk, value, counted, judged_here, shown in zip(
            ids, *(column.tolist() for column in columns), strict=True
        )
    ]
