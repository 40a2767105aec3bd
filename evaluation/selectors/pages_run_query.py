"""The page of one run and one query: what stands at each rank, and what it is worth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
from django.core.paginator import Page
from django.db.models import Q
from django.db.models.functions import Left

from evaluation.measures.explanation import Explanation, Rank, explain
from evaluation.measures.ndcg import gains
from evaluation.measures.rankings import Judgments, judge_rankings
from evaluation.models import Ranking, Run
from evaluation.packing import unpack_documents, unpack_order, unpack_scores
from evaluation.selectors.measure_sets import grades_of
from evaluation.selectors.pages_runs import RunHead, get_run_head
from evaluation.selectors.run_views import Looked, RunFilters, get_looked, get_ordered
from evaluation.selectors.runs import get_run
from judgments.models import Document, Judgment, Query
from judgments.permissions import Access, NotFound
from judgments.scales import Scale
from judgments.selectors.lists import GradeShown, show_grade
from judgments.selectors.paging import paginate

SNIPPET: Final = 280  # characters
LONGEST_IDEAL: Final = 50  # rows
PER_PAGE: Final = 20  # ranks, whose texts take room


@dataclass(frozen=True)
class Judged:
    """A grade and the version that it came with."""

    grade: GradeShown
    code: int
    since: int


@dataclass(frozen=True)
class DocumentShown:
    """What tells a document from another at a glance."""

    docid: str
    title: str
    snippet: str


@dataclass(frozen=True)
class RankRow:
    """A document that the run returned. judged: None where it is not judged.

    counted: what the measure makes of it; None where the measure does not look at it.
    is_tied: a neighbour has the same score, so the tie rule put them in order.
    is_beyond: it stands behind all that the measure looks at.
    """

    rank: int
    document: DocumentShown
    score: float
    is_tied: bool
    judged: Judged | None
    counted: Rank | None
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
class Neighbours:
    """The query's place among the run's queries in the order at hand; "" at either end."""

    place: int
    total: int
    previous: str
    next: str


@dataclass(frozen=True)
class RunQueryPage:
    """One run's answer to one query. explanation, ranks: None where the collection has no list."""

    run: RunHead
    query: Query
    looked: Looked | None
    explanation: Explanation | None
    ranks: "Page[RankRow]"
    ideal: tuple[IdealRow, ...]
    judged: int
    judged_shown: int
    shown: int
    neighbours: Neighbours | None

    @property
    def has_gains(self) -> bool:
        """Whether the measure knows gains and discounts."""
        return self.explanation is not None and self.explanation.dcg is not None


@dataclass(frozen=True, eq=False)
class _Answer:
    """A ranking, best first."""

    documents: list[int]
    scores: list[float]
    tied: list[bool]


def get_run_query_page(
    *, access: Access, public_id: UUID, qid: str, filters: RunFilters, page: str
) -> RunQueryPage:
    """One run's answer to a query. Raises MeasureError or FilterRefused for the impossible."""
    run = get_run(access=access, public_id=public_id)
    query = _query(access, qid)
    looked = get_looked(access=access, filters=filters)
    answer = _answer(run, query)
    judged = {} if looked is None else _judged(looked, query)
    explanation = None if looked is None else _explained(looked, answer, judged)
    counted = {} if explanation is None else _by_document(explanation)

    def show(places: list[int]) -> list[RankRow]:
        return _rank_rows(answer, places, judged, counted)

    cutoff = None if looked is None else looked.measure.cutoff
    shown = answer.documents[:cutoff]
    return RunQueryPage(
        run=get_run_head(access=access, run=run),
        query=query,
        looked=looked,
        explanation=explanation,
        ranks=paginate(range(len(answer.documents)), page=page, show=show, per_page=PER_PAGE),
        ideal=()
        if looked is None or explanation is None
        else _ideal_rows(looked, explanation, answer, judged),
        judged=len(judged),
        judged_shown=sum(document in judged for document in shown),
        shown=len(shown),
        neighbours=None if looked is None else _neighbours(looked, run, query),
    )


def _query(access: Access, qid: str) -> Query:
    found = None
    if "\x00" not in qid:  # which PostgreSQL refuses to look for
        found = Query.objects.filter(collection=access.collection, qid=qid).first()
    if found is None:
        raise NotFound("query")
    return found


def _answer(run: Run, query: Query) -> _Answer:
    ranking = Ranking.objects.filter(run=run, query=query).first()
    if ranking is None:
        return _Answer([], [], [])
    documents = unpack_documents(bytes(ranking.documents))
    order = unpack_order(bytes(ranking.order), len(documents))
    scores = unpack_scores(bytes(ranking.scores))[order]
    with np.errstate(over="ignore"):  # compared as the tie rule compares them
        same = np.diff(scores.astype(np.float32)) == 0
    tied = np.append(same, False) | np.append(False, same)
    return _Answer(documents[order].tolist(), scores.tolist(), tied[: len(documents)].tolist())


def _judged(looked: Looked, query: Query) -> dict[int, Judged]:
    """The query's judgments at the version, by document."""
    scale = Scale.from_json(looked.judgment_list.scale)
    rows = Judgment.objects.filter(
        Q(until=None) | Q(until__gt=looked.version),
        list=looked.judgment_list,
        query=query,
        since__lte=looked.version,
    )
    return {
        document_id: Judged(show_grade(scale, code), code, since)
        for document_id, code, since in rows.values_list("document_id", "grade", "since")
    }


def _explained(looked: Looked, answer: _Answer, judged: Mapping[int, Judged]) -> Explanation:
    grades = grades_of(looked.judgment_list)
    codes = np.array([one.code for one in judged.values()], np.int64)
    own = Judgments(np.array(list(judged), np.int64), grades.levels(codes), np.array([len(judged)]))
    rankings = judge_rankings(
        np.array(answer.documents, np.int64),
        np.array([len(answer.documents)]),
        own,
        n_grades=len(grades.codes),
    )
    return explain(looked.measure, [str(pk) for pk in answer.documents], rankings, grades)


def _by_document(explanation: Explanation) -> dict[int, Rank]:
    return {
        int(rank.document.doc_id): rank for rank in explanation.ranks if rank.document is not None
    }


def _rank_rows(
    answer: _Answer,
    places: Sequence[int],
    judged: Mapping[int, Judged],
    counted: Mapping[int, Rank],
) -> list[RankRow]:
    shown = _documents(answer.documents[place] for place in places)
    last = max((place for place, pk in enumerate(answer.documents) if pk in counted), default=-1)
    return [
        RankRow(
            rank=place + 1,
            document=shown[answer.documents[place]],
            score=answer.scores[place],
            is_tied=answer.tied[place],
            judged=judged.get(answer.documents[place]),
            counted=counted.get(answer.documents[place]),
            is_beyond=place > last,
        )
        for place in places
    ]


def _ideal_rows(
    looked: Looked, explanation: Explanation, answer: _Answer, judged: Mapping[int, Judged]
) -> tuple[IdealRow, ...]:
    """For nDCG the ideal that it divides by, else the best judged documents."""
    grades = grades_of(looked.judgment_list)
    worth = grades.values
    if explanation.dcg is not None:
        worth = tuple(gains(looked.measure, grades)[1:].tolist())
    worth_of = dict(zip(grades.codes, worth, strict=True))
    found_at = {document: place for place, document in enumerate(answer.documents, start=1)}
    candidates = _candidates(looked, explanation, judged)
    best = sorted(
        candidates,
        key=lambda pk: (-worth_of[judged[pk].code], found_at.get(pk, len(found_at) + 1), pk),
    )
    ranks = _ideal_ranks(explanation, len(best))[:LONGEST_IDEAL]
    shown = _documents(best[: len(ranks)])
    rows = []
    for place, (gain, contribution) in enumerate(ranks):
        pk = best[place] if place < len(best) else None
        if pk is None or (gain is not None and gain != worth_of[judged[pk].code]):
            rows.append(IdealRow(place + 1, gain, contribution, None, None, None))
        else:
            own = IdealRow(place + 1, gain, contribution, shown[pk], judged[pk], found_at.get(pk))
            rows.append(own)
    return tuple(rows)


def _candidates(
    looked: Looked, explanation: Explanation, judged: Mapping[int, Judged]
) -> list[int]:
    """The judged documents that the ideal is made of; none where only a grade is."""
    ideal = looked.measure.ideal
    if explanation.dcg is None or ideal == "global":
        return list(judged)
    if ideal == "max":
        return []
    seen = [int(r.document.doc_id) for r in explanation.ranks if r.document is not None]
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


def _documents(pks: Iterable[int]) -> dict[int, DocumentShown]:
    rows = Document.objects.filter(pk__in=set(pks)).annotate(snippet=Left("body", 2 * SNIPPET))
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
