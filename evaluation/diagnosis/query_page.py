"""The page of one run and one query: what stands at each rank, and what it is worth."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from uuid import UUID

import numpy as np
from django.core.paginator import Page
from django.db.models import Value
from django.db.models.functions import Left

from evaluation.diagnosis.explanations import Apart, Definition, Judged, explain_all, list_judged
from evaluation.diagnosis.run_page import RunHead, get_run_head
from evaluation.diagnosis.selection import Looked, RunFilters, get_looked, get_ordered
from evaluation.evaluations.measure_sets import grades_of
from evaluation.models import Run
from evaluation.rankings.queries import load_answers
from evaluation.runs.queries import get_run
from judgments.models import Document, Query
from judgments.pages.paging import Part, paginate
from judgments.permissions import Access, NotFound
from touchstone.measures.answers import Answer
from touchstone.measures.explanation import Explanation, Rank
from touchstone.measures.ndcg import gains

SNIPPET: Final = 280  # characters
LONGEST_IDEAL: Final = 50  # rows
PER_PAGE: Final = 20  # ranks, whose texts take room
MOST_PER_PAGE: Final = 50  # where a measure looks further
ALL_ON_A_PAGE: Final = 1000  # without texts
MOST_DEFINITIONS: Final = 5  # side by side


@dataclass(frozen=True)
class DocumentShown:
    """What tells a document from another at a glance."""

    docid: str
    title: str
    snippet: str


@dataclass(frozen=True)
class Cell:
    """What a definition makes of a document.

    rank: where it stands in the definition's own order. counted: None where the definition does
    not look at it. is_beyond: it stands behind all that the definition looks at.
    """

    rank: int
    counted: Rank | None
    has_gains: bool
    is_beyond: bool


@dataclass(frozen=True)
class RankRow:
    """A document that the run returned. judged: None where it is not judged.

    is_tied: a neighbour has the same score, so the tie rule put them in order.
    is_beyond: no definition looks as far.
    """

    rank: int
    document: DocumentShown
    score: float
    is_tied: bool
    judged: Judged | None
    cells: tuple[Cell, ...]
    is_beyond: bool


@dataclass(frozen=True)
class IdealRow:
    """A rank of the best order there could be. document: None where only its grade is fixed.

    found_at: the rank at which the run has the document; None where it does not have it.
    """

    rank: int
    gain: float | None
    contribution: float | None
    document: DocumentShown | None
    judged: Judged | None
    found_at: int | None


@dataclass(frozen=True)
class Ideal:
    """The best order there could be, for the definitions that share it. left_out: further ranks."""

    names: tuple[str, ...]
    has_gains: bool
    rows: tuple[IdealRow, ...]
    left_out: int


@dataclass(frozen=True)
class Neighbours:
    """The query's place among the run's queries in the order at hand; "" at either end."""

    place: int
    total: int
    previous: str
    next: str


@dataclass(frozen=True)
class RunQueryPage:
    """One run's answer to one query. looked: None where the collection has no list.

    definitions: as they were asked for; apart: why the others differ from the first.
    shown: how many documents the first looks at; judged_shown: how many of them are judged.
    is_whole: every rank is on the page, without texts.
    """

    run: RunHead
    query: Query
    looked: Looked | None
    definitions: tuple[Definition, ...]
    apart: tuple[Apart, ...]
    ranks: "Page[RankRow]"
    ideals: tuple[Ideal, ...]
    judged: int
    judged_shown: int
    shown: int
    neighbours: Neighbours | None
    is_whole: bool

    @property
    def explanation(self) -> Explanation | None:
        """What the first definition says."""
        return self.definitions[0].explanation if self.definitions else None

    @property
    def widest(self) -> int:
        """How many columns the table of ranks has."""
        return 4 + sum(3 if one.has_gains else 1 for one in self.definitions)


@dataclass(frozen=True)
class _Lookup:
    """What rows are made of: the first definition's order, and every document's judgment."""

    answer: Answer
    definitions: tuple[Definition, ...]
    judged: Mapping[int, Judged]

    @cached_property
    def ranked(self) -> Sequence[int]:
        if self.definitions:
            return self.definitions[0].ranked
        order: list[int] = self.answer.documents[self.answer.order].tolist()
        return order

    @cached_property
    def scores(self) -> dict[int, float]:
        return dict(zip(self.answer.documents.tolist(), self.answer.scores.tolist(), strict=True))

    @cached_property
    def rank_in(self) -> list[dict[int, int]]:
        """For each definition, where it has each document."""
        return [{pk: i for i, pk in enumerate(d.ranked, start=1)} for d in self.definitions]


def get_run_query_page(
    *,
    access: Access,
    public_id: UUID,
    qid: str,
    filters: RunFilters,
    page: str,
    whole: bool = False,
) -> RunQueryPage:
    """One run's answer to a query. Raises MeasureError or FilterRefused for the impossible."""
    run = get_run(access=access, public_id=public_id)
    query = _query(access, qid)
    looked = get_looked(access=access, filters=filters, most=MOST_DEFINITIONS)
    found, apart = _look_up(run, query, looked)
    definitions, judged = found.definitions, found.judged
    shown = found.ranked[: None if looked is None else looked.measure.cutoff]

    def show(places: list[int]) -> list[RankRow]:
        return _rank_rows(found, places, with_texts=not whole and len(definitions) < 2)

    return RunQueryPage(
        run=get_run_head(access=access, run=run),
        query=query,
        looked=looked,
        definitions=definitions,
        apart=apart,
        ranks=paginate(
            range(len(found.answer)),
            page=page,
            show=show,
            per_page=ALL_ON_A_PAGE if whole else _per_page(definitions),
        ),
        ideals=() if looked is None else _ideals(looked, found),
        judged=len(judged),
        judged_shown=sum(document in judged for document in shown),
        shown=len(shown),
        neighbours=None if looked is None else _neighbours(looked, run, query),
        is_whole=whole,
    )


@dataclass(frozen=True)
class RunExplained:
    """The same for programs: a part of the ranks, without texts."""

    query: Query
    looked: Looked
    definitions: tuple[Definition, ...]
    ideals: tuple[Ideal, ...]
    judged: int
    ranks: Part[RankRow]


def get_run_explained(
    *,
    access: Access,
    public_id: UUID,
    qid: str,
    filters: RunFilters,
    cut: Callable[[Sequence[int], Callable[[list[int]], list[RankRow]]], Part[RankRow]],
) -> RunExplained:
    """One run's answer to a query. cut: which ranks are told. Raises as `get_run_query_page`."""
    run = get_run(access=access, public_id=public_id)
    query = _query(access, qid)
    looked = get_looked(access=access, filters=filters, most=MOST_DEFINITIONS)
    if looked is None:
        raise NotFound("list")
    found, _ = _look_up(run, query, looked)
    return RunExplained(
        query=query,
        looked=looked,
        definitions=found.definitions,
        ideals=_ideals(looked, found),
        judged=len(found.judged),
        ranks=cut(
            range(len(found.answer)), lambda places: _rank_rows(found, places, with_texts=False)
        ),
    )


def _look_up(run: Run, query: Query, looked: Looked | None) -> tuple[_Lookup, tuple[Apart, ...]]:
    (answer,) = load_answers(run_id=run.pk, query_ids=[query.pk])
    if looked is None:
        return _Lookup(answer, (), {}), ()
    judged = list_judged(looked=looked, query=query)
    definitions, apart = explain_all(looked=looked, answer=answer, judged=judged)
    return _Lookup(answer, definitions, judged), apart


def _query(access: Access, qid: str) -> Query:
    found = None
    if "\x00" not in qid:  # which PostgreSQL refuses to look for
        found = Query.objects.filter(collection=access.collection, qid=qid).first()
    if found is None:
        raise NotFound("query")
    return found


def _per_page(definitions: Sequence[Definition]) -> int:
    """As many ranks as the definitions look at, where those are not too many."""
    deepest = max((d.asked.measure.cutoff or 0 for d in definitions), default=0)
    return min(max(deepest, PER_PAGE), MOST_PER_PAGE)


def _rank_rows(found: _Lookup, places: Sequence[int], *, with_texts: bool) -> list[RankRow]:
    last = max((one.last for one in found.definitions), default=0)
    documents = _documents((found.ranked[place] for place in places), with_texts=with_texts)
    tied = found.definitions[0].tied if found.definitions else [False] * len(found.ranked)
    return [
        RankRow(
            rank=place + 1,
            document=documents[pk],
            score=found.scores[pk],
            is_tied=tied[place],
            judged=found.judged.get(pk),
            cells=tuple(
                Cell(ranks[pk], one.counted.get(pk), one.has_gains, ranks[pk] > one.last)
                for one, ranks in zip(found.definitions, found.rank_in, strict=True)
            ),
            is_beyond=place >= last,
        )
        for place, pk in ((place, found.ranked[place]) for place in places)
    ]


def _ideals(looked: Looked, found: _Lookup) -> tuple[Ideal, ...]:
    """The ideal of each definition, those together that are the same."""
    groups: dict[tuple[IdealRow, ...], list[Definition]] = {}
    left_out: dict[tuple[IdealRow, ...], int] = {}
    for one in found.definitions:
        rows, more = _ideal_rows(looked, one, found)
        if rows:
            groups.setdefault(rows, []).append(one)
            left_out[rows] = more
    return tuple(
        Ideal(tuple(one.name for one in group), group[0].has_gains, rows, left_out[rows])
        for rows, group in groups.items()
    )


def _ideal_rows(
    looked: Looked, one: Definition, found: _Lookup
) -> tuple[tuple[IdealRow, ...], int]:
    """For nDCG the ideal that it divides by, else the best judged documents; how many more."""
    grades = grades_of(looked.judgment_list)
    worth = grades.values
    if one.has_gains:
        worth = tuple(gains(one.asked.measure, grades)[1:].tolist())
    worth_of = dict(zip(grades.codes, worth, strict=True))
    judged = found.judged
    found_at = {document: place for place, document in enumerate(found.ranked, start=1)}
    best = sorted(
        _candidates(one, judged),
        key=lambda pk: (-worth_of[judged[pk].code], found_at.get(pk, len(found_at) + 1), pk),
    )
    ranks = _ideal_ranks(one.explanation, len(best))
    shown = _documents(best[: min(len(ranks), LONGEST_IDEAL)], with_texts=False)
    rows, following = [], iter(best)
    pk = next(following, None)
    for place, (gain, contribution) in enumerate(ranks[:LONGEST_IDEAL], start=1):
        if pk is None or (gain is not None and gain != worth_of[judged[pk].code]):
            rows.append(IdealRow(place, gain, contribution, None, None, None))
            continue
        rows.append(IdealRow(place, gain, contribution, shown[pk], judged[pk], found_at.get(pk)))
        pk = next(following, None)
    return tuple(rows), len(ranks) - len(rows)


def _candidates(one: Definition, judged: Mapping[int, Judged]) -> list[int]:
    """The judged documents that the ideal is made of; none where only a grade is."""
    ideal = one.asked.measure.ideal
    if not one.has_gains or ideal == "global":
        return list(judged)
    if ideal == "max":
        return []
    first = one.asked.measure.ideal_first
    seen = one.ranked[:first] if ideal == "recall" else tuple(one.counted)
    return [pk for pk in seen if pk in judged]


def _ideal_ranks(
    explanation: Explanation, candidates: int
) -> list[tuple[float | None, float | None]]:
    """(gain, contribution) at each rank of the ideal, as far as it gains anything."""
    if explanation.dcg is None:
        return [(None, None)] * min(candidates, explanation.measure.cutoff or candidates)
    ranks = [(rank.ideal_gain, rank.ideal_contribution) for rank in explanation.ranks]
    while ranks and not ranks[-1][0]:
        ranks.pop()
    return list(ranks)


def _documents(pks: Iterable[int], *, with_texts: bool) -> dict[int, DocumentShown]:
    start = Left("body", 2 * SNIPPET) if with_texts else Value("")
    rows = Document.objects.filter(pk__in=set(pks)).annotate(snippet=start)
    return {
        pk: DocumentShown(docid, title, _snippet(start))
        for pk, docid, title, start in rows.values_list("pk", "docid", "title", "snippet")
    }


def _snippet(start: str) -> str:
    """The beginning of a text in one line."""
    line = " ".join(start.split())
    return line if len(line) <= SNIPPET else f"{line[:SNIPPET].rsplit(' ', 1)[0]} …"


def _neighbours(looked: Looked, run: Run, query: Query) -> Neighbours | None:
    """None for a query that is not among those that the address asks for."""
    found, qids = get_ordered(looked=looked, run=run)
    places = np.flatnonzero(found.query_ids == query.pk)
    if not len(places):
        return None
    place, ids = int(places[0]), found.query_ids
    return Neighbours(
        place=place + 1,
        total=len(found),
        previous=qids[int(ids[place - 1])] if place else "",
        next=qids[int(ids[place + 1])] if place + 1 < len(found) else "",
    )
