"""One run's answer to one query: what stands at each rank, and what it is worth."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Generic, TypeVar
from uuid import UUID

import numpy as np
from django.db.models import Value
from django.db.models.functions import Left

from evaluation.diagnosis.explanations import Apart, Definition, Judged, explain_all, list_judged
from evaluation.diagnosis.selection import (
    RunFilters,
    RunSelection,
    get_ordered,
    get_run_selection,
)
from evaluation.evaluations.measure_sets import grades_of
from evaluation.models import Run
from evaluation.rankings.queries import load_answers
from evaluation.runs.queries import get_run
from judgments.models import Document, Query
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, NotFound
from touchstone.measures.answers import Answer
from touchstone.measures.explanation import Explanation, Rank
from touchstone.measures.ndcg import gains

Rows = TypeVar("Rows")

SNIPPET: Final = 280  # characters
LONGEST_IDEAL: Final = 50  # rows
MOST_DEFINITIONS: Final = 5  # side by side


@dataclass(frozen=True)
class DocumentShown:
    """What tells a document from another at a glance."""

    docid: str
    title: str
    snippet: str


@dataclass(frozen=True)
class MeasurePart:
    """A document's contribution to a measure. rank: in the measure's own order of tied documents.

    contribution: to DCG, or else to the value; gain, discount: null for measures other than nDCG.
    All three are null if the measure ignores the document.

    On pages, counted: None then. is_beyond: it stands after all that the measure looks at.
    """

    rank: int
    gain: float | None
    discount: float | None
    contribution: float | None
    counted: Rank | None = field(metadata=ON_PAGES)
    has_gains: bool = field(metadata=ON_PAGES)
    is_beyond: bool = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class RankRow:
    """A document that the run returned. grade: null if unjudged.

    is_tied: a neighbour has the same score. measures: its contribution to each, by name.

    On pages, is_beyond: no measure looks as far.
    """

    rank: int
    doc_id: str
    score: float
    grade: int | None
    is_tied: bool
    measures: Mapping[str, MeasurePart]
    document: DocumentShown = field(metadata=ON_PAGES)
    judged: Judged | None = field(metadata=ON_PAGES)
    is_beyond: bool = field(metadata=ON_PAGES)

    @property
    def parts(self) -> tuple[MeasurePart, ...]:
        """What each measure makes of it, in their order."""
        return tuple(self.measures.values())


@dataclass(frozen=True)
class IdealRank:
    """A rank of the ideal order. doc_id, grade: null if only the gain is determined.

    found_at: the document's rank in the run; null if not returned.
    """

    rank: int
    doc_id: str | None
    grade: int | None
    gain: float | None
    contribution: float | None
    found_at: int | None
    document: DocumentShown | None = field(metadata=ON_PAGES)
    judged: Judged | None = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class Ideal:
    """The ideal order by some of the measures, down to some rank. more: number of further ranks."""

    measures: tuple[str, ...]
    ranks: tuple[IdealRank, ...]
    more: int
    has_gains: bool = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class Neighbours:
    """The query's place among the run's queries in the order asked for; "" at either end."""

    place: int
    total: int
    previous: str
    next: str


@dataclass(frozen=True, kw_only=True)
class RunExplained(Generic[Rows]):
    """judged: number of judged documents of the query. results: the run's documents, in the order
    of the first measure.

    On pages, selection: None in a collection without a list. apart: why the other measures differ
    from the first. shown: how many documents the first looks at; judged_shown: how many of them
    are judged.
    """

    version: int
    query_id: str
    judged: int
    measures: tuple[Definition, ...]
    ideals: tuple[Ideal, ...]
    run: Run = field(metadata=ON_PAGES)
    query: Query = field(metadata=ON_PAGES)
    selection: RunSelection | None = field(metadata=ON_PAGES)
    apart: tuple[Apart, ...] = field(metadata=ON_PAGES)
    rows: Rows = field(metadata=ON_PAGES)
    shown: int = field(metadata=ON_PAGES)
    judged_shown: int = field(metadata=ON_PAGES)

    @property
    def widest(self) -> int:
        """How many columns a table of the ranks has."""
        return 4 + sum(3 if one.has_gains else 1 for one in self.measures)


Cut = Callable[[Sequence[int], Callable[[list[int]], list[RankRow]]], Rows]


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


def get_run_explained(
    *,
    access: Access,
    public_id: UUID,
    qid: str,
    filters: RunFilters,
    cut: "Callable[[tuple[Definition, ...]], Cut[Rows]]",
    with_texts: bool = False,
) -> RunExplained[Rows]:
    """One run's answer to one query. cut: which ranks are shown, for the definitions asked for.

    with_texts: where there is one definition, with how each document begins.
    Raises MeasureError or FilterRefused for the impossible.
    """
    run = get_run(access=access, public_id=public_id)
    query = _query(access, qid)
    selection = get_run_selection(access=access, filters=filters, most=MOST_DEFINITIONS)
    (answer,) = load_answers(run_id=run.pk, query_ids=[query.pk])
    judged: dict[int, Judged] = {}
    definitions: tuple[Definition, ...] = ()
    apart: tuple[Apart, ...] = ()
    if selection is not None:
        judged = list_judged(selection=selection, query=query)
        definitions, apart = explain_all(selection=selection, answer=answer, judged=judged)
    result = _Lookup(answer, definitions, judged)
    shown = result.ranked[: None if selection is None else selection.measure.cutoff]

    def show(places: list[int]) -> list[RankRow]:
        return _rank_rows(result, places, with_texts=with_texts and len(definitions) < 2)

    return RunExplained(
        version=selection.version if selection else 0,
        query_id=query.qid,
        judged=len(judged),
        measures=definitions,
        ideals=_ideals(selection, result) if selection else (),
        run=run,
        query=query,
        selection=selection,
        apart=apart,
        rows=cut(definitions)(range(len(answer)), show),
        shown=len(shown),
        judged_shown=sum(document in judged for document in shown),
    )


def _query(access: Access, qid: str) -> Query:
    result = None
    if "\x00" not in qid:  # which PostgreSQL refuses to look for
        result = Query.objects.filter(collection=access.collection, qid=qid).first()
    if result is None:
        raise NotFound("query")
    return result


def _rank_rows(found: _Lookup, places: Sequence[int], *, with_texts: bool) -> list[RankRow]:
    last = max((one.last for one in found.definitions), default=0)
    documents = _documents((found.ranked[place] for place in places), with_texts=with_texts)
    tied = found.definitions[0].tied if found.definitions else [False] * len(found.ranked)
    return [
        RankRow(
            rank=place + 1,
            doc_id=documents[pk].docid,
            score=found.scores[pk],
            grade=found.judged[pk].code if pk in found.judged else None,
            is_tied=tied[place],
            measures={
                one.name: _part(one, pk, ranks[pk])
                for one, ranks in zip(found.definitions, found.rank_in, strict=True)
            },
            document=documents[pk],
            judged=found.judged.get(pk),
            is_beyond=place >= last,
        )
        for place, pk in ((place, found.ranked[place]) for place in places)
    ]


def _part(one: Definition, pk: int, rank: int) -> MeasurePart:
    counted = one.ranks.get(pk)
    return MeasurePart(
        rank=rank,
        gain=counted.gain if counted else None,
        discount=counted.discount if counted else None,
        contribution=counted.contribution if counted else None,
        counted=counted,
        has_gains=one.has_gains,
        is_beyond=rank > one.last,
    )


def _ideals(selection: RunSelection, found: _Lookup) -> tuple[Ideal, ...]:
    """The ideal of each definition, those together that are the same."""
    groups: dict[tuple[IdealRank, ...], list[Definition]] = {}
    left_out: dict[tuple[IdealRank, ...], int] = {}
    for one in found.definitions:
        rows, more = _ideal_rows(selection, one, found)
        if rows:
            groups.setdefault(rows, []).append(one)
            left_out[rows] = more
    return tuple(
        Ideal(tuple(one.name for one in group), rows, left_out[rows], group[0].has_gains)
        for rows, group in groups.items()
    )


def _ideal_rows(
    selection: RunSelection, one: Definition, found: _Lookup
) -> tuple[tuple[IdealRank, ...], int]:
    """For nDCG the ideal that it divides by, else the best judged documents; how many more."""
    grades = grades_of(selection.judgment_list)
    worth = grades.values
    if one.has_gains:
        worth = tuple(gains(one.asked.measure, grades)[1:].tolist())
    worth_of = dict(zip(grades.codes, worth, strict=True))
    judged = found.judged
    found_at = {document: position for position, document in enumerate(found.ranked, start=1)}
    best = sorted(
        _candidates(one, judged),
        key=lambda pk: (-worth_of[judged[pk].code], found_at.get(pk, len(found_at) + 1), pk),
    )
    ranks = _ideal_ranks(one.explanation, len(best))
    shown = _documents(best[: min(len(ranks), LONGEST_IDEAL)], with_texts=False)
    rows, following = [], iter(best)
    pk = next(following, None)
    for position, (gain, contribution) in enumerate(ranks[:LONGEST_IDEAL], start=1):
        if pk is None or (gain is not None and gain != worth_of[judged[pk].code]):
            rows.append(IdealRank(position, None, None, gain, contribution, None, None, None))
            continue
        rows.append(
            IdealRank(
                rank=position,
                doc_id=shown[pk].docid,
                grade=judged[pk].code,
                gain=gain,
                contribution=contribution,
                found_at=found_at.get(pk),
                document=shown[pk],
                judged=judged[pk],
            )
        )
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
    seen = one.ranked[:first] if ideal == "recall" else tuple(one.ranks)
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


def get_neighbours(*, selection: RunSelection, run: Run, query: Query) -> Neighbours | None:
    """The queries before and after one in a run; None for one that is not asked for."""
    result, qids = get_ordered(selection=selection, run=run)
    places = np.flatnonzero(result.query_ids == query.pk)
    if not len(places):
        return None
    place, ids = int(places[0]), result.query_ids
    return Neighbours(
        place=place + 1,
        total=len(result),
        previous=qids[int(ids[place - 1])] if place else "",
        next=qids[int(ids[place + 1])] if place + 1 < len(result) else "",
    )
