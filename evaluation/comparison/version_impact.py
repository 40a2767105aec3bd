"""What another version of a list did to the runs, and to one run query by query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

import numpy as np

from evaluation.evaluations.queries import (
    FilterRefused,
    RunSums,
    SetChoice,
    choose_set,
    chosen_measures,
    list_run_sums,
)
from evaluation.evaluations.query_values import QueryValues, get_query_values
from evaluation.models import Run
from evaluation.rankings.queries import load_rankings
from evaluation.runs.queries import get_run
from judgments.lists.queries import (
    GradeShown,
    find_version_number,
    get_list,
    get_version,
    show_grade,
)
from judgments.models import Document, Judgment, JudgmentList, Query
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access
from judgments.sets.queries import list_set_queries
from judgments.versions.queries import list_differences, up_to_head
from judgments.versions.temporal import Difference
from touchstone.measures.definition import Measure
from touchstone.scales import Scale

OUTSIDE = "outside"
SHOWN_PAIRS = 20  # of a query; a page of it has them all
Rows = TypeVar("Rows")


@dataclass(frozen=True)
class RunEffect:
    """A run's mean at both versions; null if it has none. change: after minus before."""

    ranker: str
    run: str
    id: UUID
    before: float | None
    after: float | None
    change: float | None
    ranker_name: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class Effect:
    """before, after: version numbers. runs: largest change first.

    On pages, winners: the names of the rankers that are best at each, "" where no run has a value.
    """

    before: int
    after: int
    measure: str
    runs: tuple[RunEffect, ...]
    winners: tuple[str, str] = field(metadata=ON_PAGES)
    list: JudgmentList = field(metadata=ON_PAGES)

    @property
    def moved(self) -> int:
        """How many runs have another value."""
        return sum(bool(one.change) for one in self.runs)


class _RankedChange(NamedTuple):
    change: Difference
    rank: int | None


@dataclass(frozen=True)
class GradeChange:
    """A document whose grade differs; null if unjudged. rank: in the run; null if not returned.

    On pages, shown: both grades as they are drawn. is_labelled: people's votes led to a grade of
    it, and not a file alone.
    """

    doc_id: str
    rank: int | None
    before: int | None
    after: int | None
    title: str = field(metadata=ON_PAGES)
    shown: tuple[GradeShown | None, GradeShown | None] = field(metadata=ON_PAGES)
    is_labelled: bool = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class QueryMove:
    """A query whose value differs; null if it is not in the mean.

    documents: with changed grades, those that the run shows first; more: number of further ones.
    change: after minus before; a query that is not in a mean counts as 0 there.
    """

    query_id: str
    before: float | None
    after: float | None
    change: float
    documents: tuple[GradeChange, ...]
    more: int
    text: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class RunMoves(Generic[Rows]):
    """since, version: version numbers. mean_before, mean_after: null if no query is in the mean.

    inside, outside: number of changed queries inside and outside the set.

    On pages, side: which of them the rows are. queries: in the mean at each version.
    """

    since: int
    version: int
    measure: str
    mean_before: float | None
    mean_after: float | None
    inside: int
    outside: int
    run: Run = field(metadata=ON_PAGES)
    list: JudgmentList = field(metadata=ON_PAGES)
    measured: Measure = field(metadata=ON_PAGES)
    queries: tuple[int, int] = field(metadata=ON_PAGES)
    sets: SetChoice = field(metadata=ON_PAGES)
    side: str = field(metadata=ON_PAGES)
    rows: Rows = field(metadata=ON_PAGES)

    @property
    def moved(self) -> int:
        """How many queries moved."""
        return self.inside + self.outside

    @property
    def share_inside(self) -> float:
        """Of the queries that moved, the fraction inside the set; 0 where none did."""
        return self.inside / self.moved if self.moved else 0.0


def get_effect(*, access: Access, slug: str, before: str, after: str, measure: str) -> Effect:
    """How a measure of every run differs between two versions of a list.

    Raises MeasureError for what is no measure of the list, NotFound for a version.
    """
    one = get_list(access=access, slug=slug)
    numbers = [find_version_number(judgment_list=one, name=name) for name in (before, after)]
    asked = chosen_measures(one, measure)[:1]
    earlier, later = (_values(one, number, asked) for number in numbers)
    runs = {own.run.pk: own.run for own in [*earlier, *later]}
    old, new = (
        {own.run.pk: own.averages[0].value for own in side if own.sums is not None}
        for side in (earlier, later)
    )
    rows = [_run_effect(run, old.get(pk), new.get(pk)) for pk, run in runs.items()]
    rows.sort(key=lambda row: (-abs(row.change or 0.0), row.ranker_name, row.run))
    return Effect(
        before=numbers[0],
        after=numbers[1],
        measure=asked[0].name,
        runs=tuple(rows),
        winners=(_winner(runs, old), _winner(runs, new)),
        list=one,
    )


def get_run_moves(
    *,
    access: Access,
    public_id: UUID,
    slug: str,
    before: str,
    after: str,
    measure: str,
    cut: "Callable[[Sequence[_Moved], Callable[[list[_Moved]], list[QueryMove]]], Rows]",
    saved_set: str = "",
    side: str = "",
) -> RunMoves[Rows]:
    """Why a run's value differs between two versions: its queries, and the grades that moved.

    cut: which of the queries are shown. saved_set: its queries alone, or those outside it where
    that is the `side`; the means are of the set in either case.
    Raises MeasureError for what is no measure of the list, NotFound for a run or a version,
    FilterRefused for what is no set.
    """
    run = get_run(access=access, public_id=public_id)
    one = get_list(access=access, slug=slug)
    asked = chosen_measures(one, measure)[0]
    numbers = [find_version_number(judgment_list=one, name=name) for name in (before, after)]
    if 0 in numbers:
        raise FilterRefused("nothing_judged", "Version 0 has no judgments. Choose another version.")
    sides = [
        get_query_values(run=run, judgment_list=one, version=number, measure=asked)
        for number in numbers
    ]
    sets = choose_set(access=access, judgment_list=one, slug=saved_set)
    own = set(list_set_queries(set_id=sets.chosen.pk)) if sets.chosen else None
    every = _moved(*sides)
    inside = every if own is None else [one for one in every if one[0] in own]
    if own is not None:
        sides = [values.within(sorted(own)) for values in sides]
    is_outside = own is not None and side == OUTSIDE
    moved = [one for one in every if own and one[0] not in own] if is_outside else inside
    changes = list_differences(list_id=one.pk, before=numbers[0], after=numbers[1])
    return RunMoves(
        since=numbers[0],
        version=numbers[1],
        measure=asked.name,
        mean_before=_mean(sides[0]),
        mean_after=_mean(sides[1]),
        inside=len(inside),
        outside=len(every) - len(inside),
        run=run,
        list=one,
        measured=asked,
        queries=(int(sides[0].counted.sum()), int(sides[1].counted.sum())),
        sets=sets,
        side=OUTSIDE if is_outside else "",
        rows=cut(moved, partial(_query_moves, one, run, changes)),
    )


def _run_effect(run: Run, before: float | None, after: float | None) -> RunEffect:
    return RunEffect(
        ranker=run.ranker.slug,
        run=run.name,
        id=run.public_id,
        before=before,
        after=after,
        change=None if before is None or after is None else after - before,
        ranker_name=run.ranker.name,
    )


def _values(one: JudgmentList, number: int, measures: Sequence[Measure]) -> list[RunSums]:
    version = get_version(judgment_list=one, name=str(number)) if number else None
    result = list_run_sums(judgment_list=one, version=version, measures=measures)
    # a run that is still being brought to the head has values of an older version
    return [own for own in result if own.version in (None, number)]


def _winner(runs: dict[int, Run], values: dict[int, float | None]) -> str:
    known = {pk: value for pk, value in values.items() if value is not None}
    if not known:
        return ""
    best = max(known, key=lambda pk: (known[pk], -pk))
    return runs[best].ranker.name


def _mean(values: QueryValues) -> float | None:
    return float(values.values[values.counted].mean()) if values.counted.any() else None


_Moved = tuple[int, float | None, float | None]


def _moved(before: QueryValues, after: QueryValues) -> list[_Moved]:
    """(query, value before, value after) where they differ, the greatest difference first."""
    old, new = (
        {
            query_id: value if counted else None
            for query_id, value, counted in zip(
                side.query_ids.tolist(), side.values.tolist(), side.counted.tolist(), strict=True
            )
        }
        for side in (before, after)
    )
    result = [
        (query_id, old.get(query_id), new.get(query_id))
        for query_id in sorted(old.keys() | new.keys())
        if old.get(query_id) != new.get(query_id)
    ]
    result.sort(key=lambda one: -abs((one[2] or 0.0) - (one[1] or 0.0)))
    return result


def _query_moves(
    one: JudgmentList, run: Run, changes: Sequence[Difference], moved: list[_Moved]
) -> list[QueryMove]:
    ids = [query_id for query_id, _, _ in moved]
    own: dict[int, list[Difference]] = {query_id: [] for query_id in ids}
    for change in changes:
        if change.query_id in own:
            own[change.query_id].append(change)
    ranks = _ranks(run, ids)
    ordered = {
        query_id: _by_rank(found, ranks.get(query_id, {})) for query_id, found in own.items()
    }
    queries = Query.objects.only("qid", "text").in_bulk(ids)
    pks = {own.change.document_id for found in ordered.values() for own in found[:SHOWN_PAIRS]}
    documents = Document.objects.only("docid", "title").in_bulk(pks)
    scale = Scale.from_json(one.scale)
    labelled = _labelled(one, ids, pks)

    def grade_change(found: _RankedChange) -> GradeChange:
        own, document = found.change, documents[found.change.document_id]
        return GradeChange(
            doc_id=document.docid,
            rank=found.rank,
            before=own.before,
            after=own.after,
            title=document.title,
            shown=(
                None if own.before is None else show_grade(scale, own.before),
                None if own.after is None else show_grade(scale, own.after),
            ),
            is_labelled=(own.query_id, own.document_id) in labelled,
        )

    return [
        QueryMove(
            query_id=queries[query_id].qid,
            before=before,
            after=after,
            change=(after or 0.0) - (before or 0.0),
            documents=tuple(map(grade_change, ordered[query_id][:SHOWN_PAIRS])),
            more=max(0, len(ordered[query_id]) - SHOWN_PAIRS),
            text=queries[query_id].text,
        )
        for query_id, before, after in moved
    ]


def _by_rank(changes: Sequence[Difference], ranks: dict[int, int]) -> list[_RankedChange]:
    """The documents that the run shows first, in its order; then those that it lacks."""
    result = [_RankedChange(change, ranks.get(change.document_id)) for change in changes]
    return sorted(result, key=lambda one: (one.rank is None, one.rank, one.change.document_id))


def _labelled(
    one: JudgmentList, query_ids: Sequence[int], document_ids: set[int]
) -> set[tuple[int, int]]:
    """The pairs with votes behind a grade that they have or had."""
    rows = Judgment.objects.filter(
        up_to_head(), list=one, query__in=query_ids, document__in=document_ids
    )
    result = rows.order_by("id").values_list("query_id", "document_id", "evidence")
    return {(query, document) for query, document, evidence in result if "votes" in evidence}


def _ranks(run: Run, query_ids: list[int]) -> dict[int, dict[int, int]]:
    """By query, the place of each document in the run, from 1."""
    if not query_ids:
        return {}
    loaded = load_rankings(run_ids=[run.pk], query_ids=query_ids)
    return {
        query_ids[row]: {
            document: rank
            for rank, document in enumerate(
                np.asarray(loaded.ranked.ranking(position)).tolist(), start=1
            )
        }
        for position, row in enumerate(loaded.query_rows.tolist())
    }
