"""The engine against the tools themselves, on random input with ties."""

import ir_measures
import pytest
import pytrec_eval

from tests.touchstone.measures.builders import random_qrels_and_run, values_of
from tests.touchstone.measures.file_builders import judged
from tests.touchstone.measures.file_builders import run as run_file
from touchstone.measures.asking import ask
from touchstone.measures.files import evaluate_file
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure

SAME_IN_TREC_EVAL = {
    "nDCG@1": "ndcg_cut_1",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "nDCG@20": "ndcg_cut_20",
    "nDCG@100": "ndcg_cut_100",
    "nDCG": "ndcg",
    "RR": "recip_rank",
    "AP": "map",
    "AP@10": "map_cut_10",
    "P@1": "P_1",
    "P@5": "P_5",
    "P@100": "P_100",
    "R@10": "recall_10",
    "R@100": "recall_100",
    "Hit@1": "success_1",
    "Hit@5": "success_5",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "infAP": "infAP",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF": "set_F",
    "NumRet": "num_ret",
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rel", [1, 2, 3])
def test_every_value_equals_pytrec_evals_to_the_last_bit(seed: int, rel: int) -> None:
    qrels, run = random_qrels_and_run(seed=seed)
    names = {
        name
        if rel == 1 or name.startswith(("nDCG", "NumRet"))
        else f"{name.split('@')[0]}(rel={rel})"
        + ("@" + name.split("@")[1] if "@" in name else ""): theirs
        for name, theirs in SAME_IN_TREC_EVAL.items()
    }
    ours = values_of(list(names), qrels, run, Grades.integers(range(-1, 5)))
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, set(SAME_IN_TREC_EVAL.values()), relevance_level=rel
    )
    theirs = evaluator.evaluate(run)
    assert ours.counted.all()
    for row, qid in enumerate(qrels):
        for column, (name, in_trec_eval) in enumerate(names.items()):
            expected = theirs[qid][in_trec_eval] if qid in run else 0.0
            assert ours.values[row, column] == expected, (name, qid)


# No gains={…}: pytrec_eval keeps them, and later evaluators of the process have them too.
IN_IR_MEASURES = [
    "nDCG@5",
    "nDCG@20",
    "nDCG",
    "nDCG(judged_only=True)@10",
    "AP",
    "AP(rel=2)@10",
    "P(rel=3)@5",
    "R(rel=2)@10",
    "Success@5",
    "RR",
    "RR@5",
    "Rprec(rel=2)",
    "Bpref",
    "infAP(rel=2)",
    "SetP",
    "SetR(rel=2)",
    "SetF(rel=2)",
]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["Judged@1", "Judged@3", "Judged@10", "Judged@100", "Judged"])
def test_the_named_reading_of_judged_equals_ir_measures_with_its_own_rule_for_ties(
    name: str, seed: int
) -> None:
    qrels, run = random_qrels_and_run(seed=seed, grades=range(5))
    lines = [f"{q} {d} {grade}" for q, own in qrels.items() for d, grade in own.items()]
    ranked = [f"{q} {d} {score}" for q, own in run.items() for d, score in own.items()]
    asked = ask(f"ir_measures:{name}")
    ours = evaluate_file(
        judged("\n".join(lines)), run_file("\n".join(ranked)), [asked.plain], asked.preset
    )
    metrics = ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)
    theirs = {metric.query_id: metric.value for metric in metrics}
    own = dict(zip(ours.query_ids, ours.values[:, 0].tolist(), strict=True))
    assert ours.counted.all()
    assert own == theirs


@pytest.mark.parametrize("seed", range(3))
def test_every_value_equals_that_of_ir_measures_where_scores_do_not_tie(seed: int) -> None:
    qrels, run = random_qrels_and_run(seed=seed, grades=range(5))
    untied = {
        qid: {docid: float(place) for place, docid in enumerate(returned)}
        for qid, returned in run.items()
    }
    names = [parse_measure(name).name for name in IN_IR_MEASURES]
    ours = values_of(names, qrels, untied, Grades.integers(range(5)))
    measures = {name: ir_measures.parse_measure(name) for name in IN_IR_MEASURES}
    theirs = {
        (metric.query_id, str(metric.measure)): metric.value
        for metric in ir_measures.iter_calc(measures.values(), qrels, untied)
    }
    for row, qid in enumerate(qrels):
        for column, (name, measure) in enumerate(measures.items()):
            expected = theirs[qid, str(measure)]
            assert ours.values[row, column] == expected, (name, qid)
