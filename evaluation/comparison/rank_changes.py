"""What moved between two runs: per query, the documents in, out, up and down."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Generic, TypeVar

import numpy as np

from evaluation.comparison.differences import Differences, differences_of
from evaluation.comparison.ranking_changes import list_changed, list_tops
from evaluation.evaluations.queries import FilterRefused, SetChoice
from evaluation.runs.selection import ChosenRuns, RunMean, RunsFilters, get_chosen_runs
from judgments.lists.queries import GradeShown, show_grade
from judgments.models import Document, Query
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access
from judgments.versions.queries import get_judged
from touchstone.scales import Scale

Rows = TypeVar("Rows")


@dataclass(frozen=True)
class MovedDocument:
    """A document's rank in both runs; null if below the depth. grade: null if unjudged."""

    doc_id: str
    before: int | None
    after: int | None
    grade: int | None
    title: str = field(metadata=ON_PAGES)
    shown: GradeShown | None = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class ChangedQuery:
    """A query on which the top ranks differ, and its value in each run.

    stayed: how many documents kept their ranks.
    """

    query_id: str
    first: float
    second: float
    difference: float
    stayed: int
    documents: tuple[MovedDocument, ...]
    text: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class MovedDocuments(Generic[Rows]):
    """depth: number of ranks compared. queries: number of queries in both means."""

    version: int
    measure: str
    depth: int
    queries: int
    first: RunMean
    second: RunMean
    rows: Rows = field(metadata=ON_PAGES)
    chosen: ChosenRuns = field(metadata=ON_PAGES)

    @property
    def sets(self) -> SetChoice:
        """The saved sets to choose from."""
        return self.chosen.sets


def get_moved_documents(
    *,
    access: Access,
    slug: str,
    filters: RunsFilters,
    cut: Callable[[Sequence[int], Callable[[list[int]], list[ChangedQuery]]], Rows],
) -> MovedDocuments[Rows]:
    """The queries on which two runs' first ranks differ, those first whose value differs most.

    cut: which of them are shown.
    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    chosen = get_chosen_runs(access=access, slug=slug, filters=filters)
    if not chosen.version:
        raise FilterRefused("nothing_judged", "This list has no judgments yet.")
    if len(chosen.compared) != 2:
        raise FilterRefused("two_runs", "Choose two runs.")
    first, second = chosen.compared
    paired = differences_of(first, second)
    changed = list_changed(
        first=first.run, second=second.run, query_ids=paired.query_ids.tolist(), k=chosen.depth
    )
    own = paired.within(changed)
    order = np.lexsort((own.query_ids, -np.abs(own.values)))
    return MovedDocuments(
        version=chosen.version,
        measure=chosen.asked.canonical,
        depth=chosen.depth,
        queries=len(paired.query_ids),
        first=first.shown,
        second=second.shown,
        rows=cut(order.tolist(), partial(_changed_queries, chosen, own)),
        chosen=chosen,
    )


def _changed_queries(
    chosen: ChosenRuns, paired: Differences, places: list[int]
) -> list[ChangedQuery]:
    ids = [int(paired.query_ids[place]) for place in places]
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
        shown = None if code is None else show_grade(scale, code)
        return MovedDocument(documents[pk].docid, before, after, code, documents[pk].title, shown)

    return [
        ChangedQuery(
            query_id=queries[query_id].qid,
            first=float(paired.first[place]),
            second=float(paired.second[place]),
            difference=float(paired.values[place]),
            stayed=sum(one == other for one, other in zip_longest(*pair)),
            documents=tuple(document(query_id, *move) for move in _moves(*pair)),
            text=queries[query_id].text,
        )
        for query_id, place, pair in zip(ids, places, tops, strict=True)
    ]


def _moves(before: list[int], after: list[int]) -> list[tuple[int, int | None, int | None]]:
    """(document, rank before, rank after) of those that moved: by rank, those that left last."""
    old, new = ({pk: rank for rank, pk in enumerate(side, start=1)} for side in (before, after))
    moved = [(pk, old.get(pk), rank) for pk, rank in new.items() if old.get(pk) != rank]
    return [*moved, *((pk, rank, None) for pk, rank in old.items() if pk not in new)]
