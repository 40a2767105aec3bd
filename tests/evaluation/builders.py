"""Rankers, runs and the answers that evaluations are held against. Keyword-only, fixed seeds."""

import io
from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.evaluations.measure_set_services import ensure_leaderboard, ensure_measure_set
from evaluation.evaluations.measure_sets import get_leaderboard, grades_of, measures_of
from evaluation.models import Ranker, Ranking, Run
from evaluation.runs.rankers import start_ranker
from evaluation.runs.services import read_run_file, store_run
from judgments.models import (
    Collection,
    Document,
    Judgment,
    JudgmentList,
    Query,
    QueryMetadataHistory,
)
from tests.builders import NOW
from touchstone.measures.averages import Groups, n_rows, sums_of, together
from touchstone.measures.definition import Measure
from touchstone.measures.engine import evaluate_batch
from touchstone.measures.exact import to_bytes
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measures
from touchstone.measures.ordering import rank_order, rule_of, tie_starts
from touchstone.measures.packing import Floats, unpack_documents, unpack_scores
from touchstone.measures.rankings import GradedRankings

Rankings = Mapping[str, Sequence[str]]


def make_ranker(*, collection: Collection, slug: str = "bm25") -> Ranker:
    """A ranker; the one that is there already, if so."""
    found = Ranker.objects.filter(collection=collection, slug=slug).first()
    return found or start_ranker(collection=collection, by=None, at=NOW, slug=slug)


def run_text(rankings: Rankings) -> str:
    """A TREC run of {qid: docids, best first}."""
    return "".join(
        f"{qid} Q0 {docid} {rank} {1 / rank!r} test\n"
        for qid, docids in rankings.items()
        for rank, docid in enumerate(docids, start=1)
    )


def make_run(
    *,
    collection: Collection,
    rankings: Rankings | None = None,
    text: str | None = None,
    ranker: str = "bm25",
    name: str = "one",
    create: bool = False,
) -> Run:
    """A run of {qid: docids, best first}, or of a file's text."""
    body = run_text(rankings or {}) if text is None else text
    read = read_run_file(source=io.BytesIO(body.encode()), file_name=f"{name}.run")
    return store_run(
        ranker=make_ranker(collection=collection, slug=ranker),
        read=read,
        name=name,
        by=None,
        at=NOW,
        create=create,
    ).run


def evaluate_from_scratch(*, run: Run, judgment_list: JudgmentList, version: int) -> bytes:
    """What a stored evaluation of the list's measures must be: one query after the other.

    Another way on purpose: no batch, no differences, and a dictionary for the join.
    """
    leaderboard = get_leaderboard(judgment_list=judgment_list)
    assert leaderboard is not None
    measures, grades = measures_of(leaderboard.measure_set), grades_of(judgment_list)
    judged: dict[int, dict[int, int]] = {}
    rows = Judgment.objects.filter(list=judgment_list, since__lte=version)
    for row in rows.exclude(until__lte=version):
        judged.setdefault(row.query_id, {})[row.document_id] = row.grade
    traits = traits_of(judgment_list, version)
    names = sorted({traits[query_id][0] for query_id in judged})
    if not any(measure.average == "segments" for measure in measures):
        names = []
    sums = np.zeros((n_rows(measures, len(names)), 6), np.int64)
    rankings = {ranking.query_id: ranking for ranking in Ranking.objects.filter(run=run)}
    documents_qs = Document.objects.filter(collection=judgment_list.collection_id)
    docids = dict(documents_qs.values_list("pk", "docid"))
    for query_id in sorted({*judged, *rankings}):
        answer = _answer(rankings.get(query_id), docids)
        found = [_value(measure, grades, answer, judged.get(query_id, {})) for measure in measures]
        values = np.array([[value for value, _ in found]])
        counted = np.array([[is_counted for _, is_counted in found]])
        segment, weight = traits[query_id] if query_id in judged else ("", 1.0)
        place = names.index(segment) if segment in names else -1
        groups = Groups(np.array([weight]), np.array([place]), tuple(names))
        sums = together(measures, sums, sums_of(measures, values, counted, groups))
    return to_bytes(sums)


Answer = tuple[Sequence[int], Sequence[str], Floats]


def _answer(ranking: Ranking | None, docids: Mapping[int, str]) -> Answer:
    """A ranking's documents, their ids and scores, as its file had them."""
    if ranking is None:
        return [], [], np.zeros(0)
    pks = unpack_documents(bytes(ranking.documents)).tolist()
    return pks, [docids[pk] for pk in pks], unpack_scores(bytes(ranking.scores))


def _value(
    measure: Measure, grades: Grades, answer: Answer, judged: Mapping[int, int]
) -> tuple[float, bool]:
    """One query's value, and whether it is in the mean."""
    pks, docids, scores = answer
    rule, precision = rule_of(measure.ordering)
    order = rank_order(docids, scores, ties=rule, precision=precision)
    ties = None
    if measure.ties == "averaged":
        ties = tie_starts(scores[order], precision=precision)[None]
    codes = np.array(list(judged.values()), np.int64)
    level = dict(zip(judged, grades.levels(codes).tolist(), strict=True))
    graded = GradedRankings(
        np.array([[level.get(pks[place], 0) for place in order.tolist()]], np.uint8),
        np.array([len(pks)]),
        np.array([[codes.tolist().count(code) for code in grades.codes]]),
        ties,
    )
    found = evaluate_batch([measure], graded, grades)
    return float(found.values[0, 0]), bool(found.counted[0, 0])


def traits_of(judgment_list: JudgmentList, version: int) -> dict[int, tuple[str, float]]:
    """The segment and weight that each query had at a version of a list."""
    queries_qs = Query.objects.filter(collection=judgment_list.collection_id)
    past_qs = QueryMetadataHistory.objects.filter(
        list=judgment_list, since__lte=version, until__gt=version
    )
    now = {query.pk: (query.segment, query.weight) for query in queries_qs}
    return now | {row.query_id: (row.segment, row.weight) for row in past_qs}


def keep(*, judgment_list: JudgmentList, names: str) -> None:
    """Keep other measures current on a list."""
    leaderboard = ensure_leaderboard(judgment_list=judgment_list)
    measures = [measure for _, measure in parse_measures(names)]
    leaderboard.measure_set = ensure_measure_set(measures=measures)
    leaderboard.save(update_fields=["measure_set"])
