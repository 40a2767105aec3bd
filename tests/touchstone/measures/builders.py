"""Small made-up judgments and runs, and the engine's answer to them."""

import random
from collections.abc import Mapping, Sequence

import numpy as np

from touchstone.measures.definition import Measure
from touchstone.measures.engine import Values, evaluate_batch
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.ordering import rank_order
from touchstone.measures.rankings import GradedRankings, Judgments, judge_rankings

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]


def random_qrels_and_run(
    *, seed: int, n_queries: int = 200, grades: Sequence[int] = (-1, 0, 0, 1, 2, 3, 4)
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Qrels with unjudged, unreturned and unanswered; a run with many tied scores."""
    rng = random.Random(seed)
    names = [f"{prefix}{i}" for prefix in ("d", "D", "é", "日本", "~") for i in range(12)]
    qrels, run = {}, {}
    for number in range(n_queries):
        qid = f"q{number}"
        qrels[qid] = {docid: rng.choice(grades) for docid in rng.sample(names, rng.randint(1, 40))}
        if rng.random() < 0.9:
            returned = rng.sample(names, rng.randint(1, 50))
            run[qid] = {docid: rng.randint(0, 15) / 4 for docid in returned}
    return qrels, run


def graded(
    qrels: Qrels,
    run: Run,
    grades: Grades,
    *,
    width: int | None = None,
    counted: bool = False,
    **order: str,
) -> GradedRankings:
    """The rankings of all judged queries, in the order of the qrels."""
    number = {
        docid: i
        for i, docid in enumerate(
            sorted({d for part in (*qrels.values(), *run.values()) for d in part})
        )
    }
    pairs = [(number[d], grade) for judged in qrels.values() for d, grade in judged.items()]
    judgments = Judgments(
        np.array([document for document, _ in pairs], np.int32),
        grades.levels(np.array([grade for _, grade in pairs])),
        np.array([len(judged) for judged in qrels.values()]),
    )
    documents: list[int] = []
    lengths = []
    for qid in qrels:
        returned = list(run.get(qid, {}).items())
        docids = [docid for docid, _ in returned]
        best_first = rank_order(docids, np.array([s for _, s in returned], np.float64), **order)  # type: ignore[arg-type]
        documents += [number[docids[place]] for place in best_first]
        lengths.append(len(returned))
    return judge_rankings(
        np.array(documents, np.int32),
        np.array(lengths),
        judgments,
        n_grades=len(grades.codes),
        width=width,
        returned=counted,
    )


def values_of(names: Sequence[str], qrels: Qrels, run: Run, grades: Grades) -> Values:
    """The engine's values, a row per judged query, a column per measure."""
    return evaluate_batch(
        [parse_measure(name) for name in names], graded(qrels, run, grades), grades
    )


def value_of(
    measure: str | Measure,
    ranked: Sequence[int | None],
    *,
    also_judged: Sequence[int] = (),
    grades: Grades | None = None,
) -> float:
    """One measure of one ranking: the grade codes at rank 1, 2, …; None where unjudged.

    also_judged: grades of judged documents that were not returned.
    """
    scale = grades or Grades.integers(range(5))
    levels = np.array(
        [[0 if code is None else int(scale.levels(np.array([code]))[0]) for code in ranked]],
        np.uint8,
    )
    codes = [code for code in (*ranked, *also_judged) if code is not None]
    judged = np.array([[codes.count(code) for code in scale.codes]])
    rankings = GradedRankings(levels, np.array([len(ranked)]), judged)
    asked = parse_measure(measure) if isinstance(measure, str) else measure
    return float(evaluate_batch([asked], rankings, scale).values[0, 0])
