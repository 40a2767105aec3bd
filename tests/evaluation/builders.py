"""Rankers, runs and the answers that evaluations are held against. Keyword-only, fixed seeds."""

import io
from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.exact import add, exact_sums, to_bytes
from evaluation.measures.engine import evaluate_batch
from evaluation.measures.rankings import GradedRankings
from evaluation.models import Ranker, Ranking, Run
from evaluation.packing import unpack_documents, unpack_order
from evaluation.selectors.measure_sets import get_leaderboard, grades_of, measures_of
from evaluation.services.rankers import start_ranker
from evaluation.services.runs import read_run_file, store_run
from judgments.models import Collection, Judgment, JudgmentList
from tests.builders import NOW

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
    sums = np.zeros((len(measures), 6), np.int64)
    for query_id, own in judged.items():
        ranking = Ranking.objects.filter(run=run, query=query_id).first()
        ranked: list[int] = []
        if ranking is not None:
            documents = unpack_documents(ranking.documents)
            ranked = documents[unpack_order(ranking.order, len(documents))].tolist()
        codes = np.array(list(own.values()), np.int64)
        level = dict(zip(own, grades.levels(codes).tolist(), strict=True))
        graded = GradedRankings(
            np.array([[level.get(document, 0) for document in ranked]], np.uint8),
            np.array([len(ranked)]),
            np.array([[codes.tolist().count(code) for code in grades.codes]]),
        )
        values = evaluate_batch(measures, graded, grades)
        sums = add(sums, exact_sums(values.values, values.counted))
    return to_bytes(sums)
