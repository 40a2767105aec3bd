"""The page of what moved between two runs: per query, the documents in, out, up and down."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Generic, TypeVar
from urllib.parse import urlencode

import numpy as np

from evaluation.comparison.ranking_changes import list_changed, list_tops
from evaluation.evaluations.queries import FilterRefused, SetChoice
from evaluation.runs.selection import (
    ChosenRuns,
    ComparedRun,
    Differences,
    RunsFilters,
    differences_of,
    get_chosen_runs,
)
from judgments.lists.queries import GradeShown, show_grade
from judgments.models import Document, Query
from judgments.permissions import Access
from judgments.versions.queries import get_judged
from touchstone.scales import Scale

Rows = TypeVar("Rows")


@dataclass(frozen=True)
class MovedDocument:
    """A document that two runs have at other ranks. None: below the ranks looked at, or nowhere."""

    docid: str
    title: str
    before: int | None
    after: int | None
    grade: GradeShown | None

    @property
    def way(self) -> str:
        """Where it went: in, out, up or down by so many ranks."""
        if self.before is None:
            return "in"
        if self.after is None:
            return "out"
        ranks = self.before - self.after
        return f"up {ranks}" if ranks > 0 else f"down {-ranks}"


@dataclass(frozen=True)
class ChangedQuery:
    """A query on which the runs' first ranks differ, and its value in each. same: that stayed."""

    qid: str
    text: str
    first: float
    second: float
    documents: tuple[MovedDocument, ...]
    same: int

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass(frozen=True)
class MovedPage(Generic[Rows]):
    """first, second: the runs. queries: that are in both means."""

    chosen: ChosenRuns
    filters: RunsFilters
    first: ComparedRun
    second: ComparedRun
    queries: int
    rows: Rows

    @property
    def sets(self) -> SetChoice:
        """The saved sets to choose from."""
        return self.chosen.sets

    @property
    def list_address(self) -> str:
        """The parameters of the pages that explain a value."""
        measure = self.chosen.asked.canonical
        own = {"list": self.chosen.list.slug, "version": self.chosen.version, "measure": measure}
        return urlencode(own)


def get_moved_page(
    *,
    access: Access,
    slug: str,
    filters: RunsFilters,
    cut: Callable[[Sequence[int], Callable[[list[int]], list[ChangedQuery]]], Rows],
) -> MovedPage[Rows]:
    """The queries on which two runs' first ranks differ, those first whose value differs most.

    cut: which of them are shown.
    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    chosen = get_chosen_runs(access=access, slug=slug, filters=filters)
    if not chosen.version:
        raise FilterRefused("nothing_judged", "Nothing is judged on this list yet.")
    if len(chosen.compared) != 2:
        raise FilterRefused("two_runs", "Choose two runs: what moved is between two of them.")
    first, second = chosen.compared
    found = differences_of(first, second)
    changed = list_changed(
        first=first.run, second=second.run, query_ids=found.query_ids.tolist(), k=chosen.depth
    )
    own = found.within(changed)
    order = np.lexsort((own.query_ids, -np.abs(own.values)))
    return MovedPage(
        chosen=chosen,
        filters=filters,
        first=first,
        second=second,
        queries=len(found.query_ids),
        rows=cut(order.tolist(), partial(_shown, chosen, own)),
    )


def _shown(chosen: ChosenRuns, found: Differences, places: list[int]) -> list[ChangedQuery]:
    ids = [int(found.query_ids[place]) for place in places]
    first, second = (one.run for one in chosen.compared)
    tops = [
        (one[: chosen.depth], other[: chosen.depth])
        for one, other in list_tops(first=first, second=second, query_ids=ids)
    ]
    judged = get_judged(list_id=chosen.list.pk, version=chosen.version, query_ids=ids).pairs()
    pks = {pk for pair in tops for ranking in pair for pk in ranking}
    documents = Document.objects.only("docid", "title").in_bulk(pks)
    queries = Query.objects.only("qid", "text").in_bulk(ids)
    scale = Scale.from_json(chosen.list.scale)

    def document(query_id: int, pk: int, before: int | None, after: int | None) -> MovedDocument:
        code = judged.get((query_id, pk))
        grade = None if code is None else show_grade(scale, code)
        return MovedDocument(documents[pk].docid, documents[pk].title, before, after, grade)

    return [
        ChangedQuery(
            queries[query_id].qid,
            queries[query_id].text,
            float(found.first[place]),
            float(found.second[place]),
            tuple(document(query_id, *move) for move in _moves(*pair)),
            sum(one == other for one, other in zip_longest(*pair)),
        )
        for query_id, place, pair in zip(ids, places, tops, strict=True)
    ]


def _moves(before: list[int], after: list[int]) -> list[tuple[int, int | None, int | None]]:
    """(document, rank before, rank after) of those that moved: by rank, those that left last."""
    old, new = ({pk: rank for rank, pk in enumerate(side, start=1)} for side in (before, after))
    moved = [(pk, old.get(pk), rank) for pk, rank in new.items() if old.get(pk) != rank]
    return [*moved, *((pk, rank, None) for pk, rank in old.items() if pk not in new)]
