"""What another version of a list did to the runs, and to one run query by query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import urlencode
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
from judgments.permissions import Access, may_see_people
from judgments.sets.queries import list_set_queries
from judgments.versions.queries import list_differences
from judgments.versions.temporal import Difference
from touchstone.measures.definition import Measure
from touchstone.measures.wording import describe
from touchstone.scales import Scale

OUTSIDE = "outside"
SHOWN_PAIRS = 20  # of a query; a page of it has them all
Rows = TypeVar("Rows")


@dataclass(frozen=True)
class RunEffect:
    """A run's value at both versions; None where it has none."""

    run_id: UUID
    run_name: str
    ranker_slug: str
    ranker_name: str
    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        """after − before."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


@dataclass(frozen=True)
class EffectPage:
    """rows: the runs, the most moved first. winners: the best run at both versions."""

    list_slug: str
    list_name: str
    before: int
    after: int
    measure: str
    rows: list[RunEffect]
    winners: tuple[str, str]

    @property
    def moved(self) -> int:
        """How many runs have another value."""
        return sum(bool(row.change) for row in self.rows)


class _RankedChange(NamedTuple):
    change: Difference
    rank: int | None


@dataclass(frozen=True)
class MovedPair:
    """A document whose grade differs. rank: its place in the run; None: the run lacks it.

    is_labelled: people's votes are behind a grade of it, and not a file alone.
    """

    docid: str
    title: str
    rank: int | None
    before: GradeShown | None
    after: GradeShown | None
    is_labelled: bool


@dataclass(frozen=True)
class MovedQuery:
    """A query whose value differs, and why. more: pairs that are not shown."""

    qid: str
    text: str
    before: float | None
    after: float | None
    pairs: list[MovedPair]
    more: int

    @property
    def change(self) -> float:
        """after − before; a query that is not in a mean counts as nothing there."""
        return (self.after or 0.0) - (self.before or 0.0)


@dataclass(frozen=True)
class MovesPage(Generic[Rows]):
    """A run between two versions. queries: in the mean at each.

    sets: with the one whose queries alone count. inside, outside: how many queries that moved are
    in it, and not; side: which of them the rows are.
    """

    run_id: UUID
    run_name: str
    ranker_slug: str
    ranker_name: str
    list_slug: str
    list_name: str
    before: int
    after: int
    measure: str
    description: str
    means: tuple[float | None, float | None]
    queries: tuple[int, int]
    sets: SetChoice
    side: str
    inside: int
    outside: int
    rows: Rows
    shows_people: bool

    @property
    def moved_words(self) -> str:
        """How many queries moved inside the set and outside it."""
        moved = self.inside + self.outside
        if not moved:
            return "No query moved."
        name = self.sets.chosen.name if self.sets.chosen else ""
        share = f"{100 * self.inside / moved:.0f} % of what moved"
        queries = "query" if moved == 1 else "queries"
        return (
            f"{moved:,} {queries} moved: {self.inside:,} in “{name}”, {self.outside:,} outside it. "
            f"{share} lies inside."
        )

    @property
    def address(self) -> str:
        """The parameters of this page, for the queries inside the set."""
        own = {"list": self.list_slug, "before": self.before, "after": self.after}
        return urlencode(own | {"measure": self.measure, "set": self.sets.slug})


def get_effect(*, access: Access, slug: str, before: str, after: str, measure: str) -> EffectPage:
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
    rows = [
        RunEffect(
            run.public_id,
            run.name,
            run.ranker.slug,
            run.ranker.name,
            old.get(pk),
            new.get(pk),
        )
        for pk, run in runs.items()
    ]
    rows.sort(key=lambda row: (-abs(row.change or 0.0), row.ranker_name, row.run_name))
    return EffectPage(
        one.slug,
        one.name,
        numbers[0],
        numbers[1],
        asked[0].name,
        rows,
        (_winner(runs, old), _winner(runs, new)),
    )


def get_moves_page(
    *,
    access: Access,
    public_id: UUID,
    slug: str,
    before: str,
    after: str,
    measure: str,
    cut: "Callable[[Sequence[_Moved], Callable[[list[_Moved]], list[MovedQuery]]], Rows]",
    saved_set: str = "",
    side: str = "",
) -> MovesPage[Rows]:
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
        raise FilterRefused("nothing_judged", "Nothing is judged in version 0: choose another.")
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
    return MovesPage(
        run_id=run.public_id,
        run_name=run.name,
        ranker_slug=run.ranker.slug,
        ranker_name=run.ranker.name,
        list_slug=one.slug,
        list_name=one.name,
        before=numbers[0],
        after=numbers[1],
        measure=asked.name,
        description=describe(asked),
        means=(_mean(sides[0]), _mean(sides[1])),
        queries=(int(sides[0].counted.sum()), int(sides[1].counted.sum())),
        sets=sets,
        side=OUTSIDE if is_outside else "",
        inside=len(inside),
        outside=len(every) - len(inside),
        rows=cut(moved, partial(_shown, one, run, changes)),
        shows_people=may_see_people(access),
    )


def _values(one: JudgmentList, number: int, measures: Sequence[Measure]) -> list[RunSums]:
    version = get_version(judgment_list=one, name=str(number)) if number else None
    found = list_run_sums(judgment_list=one, version=version, measures=measures)
    # a run that is still being brought to the head has values of an older version
    return [own for own in found if own.version in (None, number)]


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
    found = [
        (query_id, old.get(query_id), new.get(query_id))
        for query_id in sorted(old.keys() | new.keys())
        if old.get(query_id) != new.get(query_id)
    ]
    found.sort(key=lambda one: -abs((one[2] or 0.0) - (one[1] or 0.0)))
    return found


def _shown(
    one: JudgmentList, run: Run, changes: Sequence[Difference], moved: list[_Moved]
) -> list[MovedQuery]:
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

    def pair(found: _RankedChange) -> MovedPair:
        key = (found.change.query_id, found.change.document_id)
        return _pair(scale, documents, found, is_labelled=key in labelled)

    return [
        MovedQuery(
            queries[query_id].qid,
            queries[query_id].text,
            before,
            after,
            [pair(found) for found in ordered[query_id][:SHOWN_PAIRS]],
            max(0, len(ordered[query_id]) - SHOWN_PAIRS),
        )
        for query_id, before, after in moved
    ]


def _by_rank(changes: Sequence[Difference], ranks: dict[int, int]) -> list[_RankedChange]:
    """The documents that the run shows first, in its order; then those that it lacks."""
    found = [_RankedChange(change, ranks.get(change.document_id)) for change in changes]
    return sorted(found, key=lambda one: (one.rank is None, one.rank, one.change.document_id))


def _labelled(
    one: JudgmentList, query_ids: Sequence[int], document_ids: set[int]
) -> set[tuple[int, int]]:
    """The pairs with votes behind a grade that they have or had."""
    rows = Judgment.objects.filter(list=one, query__in=query_ids, document__in=document_ids)
    found = rows.order_by("id").values_list("query_id", "document_id", "evidence")
    return {(query, document) for query, document, evidence in found if "votes" in evidence}


def _pair(
    scale: Scale, documents: dict[int, Document], found: _RankedChange, *, is_labelled: bool
) -> MovedPair:
    change, rank = found
    document = documents[change.document_id]
    return MovedPair(
        document.docid,
        document.title,
        rank,
        None if change.before is None else show_grade(scale, change.before),
        None if change.after is None else show_grade(scale, change.after),
        is_labelled,
    )


def _ranks(run: Run, query_ids: list[int]) -> dict[int, dict[int, int]]:
    """By query, the place of each document in the run, from 1."""
    if not query_ids:
        return {}
    loaded = load_rankings(run_ids=[run.pk], query_ids=query_ids)
    return {
        query_ids[row]: {
            document: rank
            for rank, document in enumerate(
                np.asarray(loaded.ranked.ranking(place)).tolist(), start=1
            )
        }
        for place, row in enumerate(loaded.query_rows.tolist())
    }
