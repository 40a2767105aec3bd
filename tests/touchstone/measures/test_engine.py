"""Batches: a row's values depend on the row alone, and so does whether it counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.measures.builders import graded, random_qrels_and_run, values_of
from touchstone.measures.engine import counts_needed, depth_needed, evaluate_batch
from touchstone.measures.errors import MeasureError, ZeroIdealError
from touchstone.measures.exact import add, exact_sums, subtract, to_bytes
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure, parse_measures
from touchstone.measures.rankings import GradedRankings

SCALE = Grades.integers(range(-1, 5))
MANY = [
    "SetP",
    "SetR(rel=2)",
    "SetF",
    "NumRet",
    "nDCG@1",
    "nDCG@5",
    "nDCG@10",
    "nDCG",
    "nDCG(gain='exp2')@10",
    "nDCG(gain={0:0,1:2,2:3,3:5,4:9})@10",
    "nDCG(ideal='local')@10",
    "nDCG(ideal='local')@3",
    "nDCG(ideal='recall')@10",
    "nDCG(ideal='max')@10",
    "nDCG(ideal='max')",
    "nDCG(ideal_depth='all')@5",
    "nDCG(ideal_depth='returned')@5",
    "nDCG(discount='burn-in',b=2)@10",
    "nDCG(discount='reciprocal')@10",
    "nDCG(discount='linear')@10",
    "nDCG(discount='linear')@5",
    "nDCG(unjudged='condensed',empty='skip')@10",
    "nDCG(negatives='raw')@10",
    "nDCG(empty=0.5)@10",
    "nDCG(arithmetic='multiply',gain='exp2')@10",
    "nDCG(arithmetic='multiply_divide')@10",
    "nDCG(arithmetic='multiply_each')@5",
    "nDCG(arithmetic='multiply_each',ideal='recall')@10",
    "nDCG(short='zero')@10",
    "nDCG(ideal='recall',ideal_first=5)@10",
    "nDCG(ideal='recall',ideal_first=3)",
    "nDCG(unjudged='prior',prior=1)@10",
    "nDCG(unjudged='prior',prior=0.5,ideal='recall',gain='exp2')@5",
    "nDCG(negatives='removed')@5",
    "nDCG(negatives='raw',negative_ideal='empty',gain='exp2')@3",
    "nDCG(discount='ln/ln2',ideal='recall',arithmetic='cumulative')@5",
    "nDCG(decimals=2,rounding='half_up')@5",
    "nDCG(decimals=3)@5",
    "nDCG(decimals=2,rounding='floor',rounded='rank',gain='exp2')@5",
    "nDCG(queries='several')@5",
    "P(unjudged='prior',prior=2)@5",
    "AP(negatives='removed',rel=0)",
    "RR",
    "RR@3",
    "AP",
    "AP(rel=2)@10",
    "P@5",
    "P(unjudged='condensed')@5",
    "R(rel=3)@10",
    "Hit@3",
    "Judged@10",
    "Judged",
    "Unjudged@5",
    "P(denominator='returned')@30",
    "AP(denominator='returned')@10",
    "AP(denominator='cutoff')@5",
    "Rprec",
    "Rprec(rel=3)",
    "ERR@10",
    "ERR(top=5)",
    "RBP",
    "RBP(p=0.5,rel=2)@10",
    "RBPResidual@10",
    "RBPResidual(p=0.95)",
    "Bpref",
    "Bpref(rel=2)",
    "infAP",
    "infAP(rel=3,unjudged='condensed',negatives='unjudged')",
]


def shuffled_rows(rankings: GradedRankings, order: np.ndarray) -> GradedRankings:
    return GradedRankings(
        np.ascontiguousarray(rankings.levels[order]),
        rankings.lengths[order],
        rankings.judged[order],
    )


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2))])
def test_a_query_has_the_same_bits_alone_in_any_order_and_among_thousands(seed: int) -> None:
    qrels, run = random_qrels_and_run(seed=seed, n_queries=60)
    measures = [parse_measure(name) for name in MANY]
    rankings = graded(qrels, run, SCALE)
    together = evaluate_batch(measures, rankings, SCALE)
    for row in range(len(rankings)):
        own = slice(row, row + 1)
        alone = rankings.rows(row, row + 1)
        short = GradedRankings(
            alone.levels[:, : int(alone.lengths[0])].copy(), alone.lengths, alone.judged
        )
        for one in (alone, short):
            found = evaluate_batch(measures, one, SCALE)
            assert found.values.tobytes() == together.values[own].tobytes()
            assert found.counted.tobytes() == together.counted[own].tobytes()
    many = np.random.default_rng(seed).integers(0, len(rankings), 5000)
    among = evaluate_batch(measures, shuffled_rows(rankings, many), SCALE)
    assert among.values.tobytes() == together.values[many].tobytes()
    assert among.counted.tobytes() == together.counted[many].tobytes()


def test_rankings_cut_where_the_measures_stop_have_the_bits_of_whole_ones() -> None:
    qrels, run = random_qrels_and_run(seed=3, n_queries=300)
    ideals = ["global", "recall", "local", "max"]
    names = [f"nDCG(ideal='{ideal}')@{k}" for ideal in ideals for k in (1, 3, 5)]
    names += ["nDCG(ideal='recall',ideal_depth='all')@5", "nDCG(ideal='recall',ideal_first=9)@5"]
    names += ["nDCG(ideal='recall',negatives='unjudged')@5", "P@5"]
    measures = [parse_measure(name) for name in names]
    assert depth_needed(measures) == 9
    assert counts_needed(measures)
    whole = graded(qrels, run, SCALE)
    cut = graded(qrels, run, SCALE, width=9, counted=True)
    assert cut.levels.shape[1] == 9
    found, expected = (evaluate_batch(measures, one, SCALE) for one in (cut, whole))
    assert found.values.tobytes() == expected.values.tobytes()
    with pytest.raises(ValueError, match="behind was not counted"):
        evaluate_batch(measures, graded(qrels, run, SCALE, width=9), SCALE)


def test_a_measure_has_the_same_bits_alone_and_beside_others() -> None:
    qrels, run = random_qrels_and_run(seed=9, n_queries=20)
    together = values_of(MANY, qrels, run, SCALE)
    for column, name in enumerate(MANY):
        alone = values_of([name], qrels, run, SCALE)
        assert alone.values[:, 0].tobytes() == together.values[:, column].tobytes()
        assert alone.counted[:, 0].tobytes() == together.counted[:, column].tobytes()


@given(st.integers(0, 10**6), st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True))
def test_sums_moved_by_the_touched_queries_equal_sums_from_scratch(
    seed: int, touched: list[int]
) -> None:
    qrels, run = random_qrels_and_run(seed=seed, n_queries=10)
    changed = {qid: dict(judged) for qid, judged in qrels.items()}
    for row in touched:
        judged = changed[f"q{row}"]
        docid = next(iter(judged))
        judged[docid] = 4 if judged[docid] != 4 else 0
    before, after = (values_of(MANY, version, run, SCALE) for version in (qrels, changed))
    moved = add(
        subtract(
            exact_sums(before.values, before.counted),
            exact_sums(before.values[touched], before.counted[touched]),
        ),
        exact_sums(after.values[touched], after.counted[touched]),
    )
    assert to_bytes(moved) == to_bytes(exact_sums(after.values, after.counted))


def test_which_queries_are_in_the_mean() -> None:
    qrels = {"good": {"a": 1}, "zero": {"a": 0}, "missing": {"a": 2}, "negative": {"a": -1}}
    run = {"good": {"a": 1.0}, "zero": {"a": 1.0}, "negative": {"b": 1.0}}
    rules = ("judged", "returned", "run", "all", "relevant")
    names = [f"nDCG(queries='{rule}')@5" if rule != "judged" else "nDCG@5" for rule in rules]
    names.append("nDCG(empty='skip')@5")
    counted = values_of(names, qrels, run, SCALE).counted
    assert {name: counted[:, i].tolist() for i, name in enumerate((*rules, "skip"))} == {
        "judged": [True, True, True, True],
        "returned": [True, True, False, True],
        "run": [True, True, False, True],
        "all": [True, True, True, True],
        "relevant": [True, False, False, False],
        "skip": [True, False, True, False],
    }


def test_a_query_that_nobody_judged_counts_only_for_what_is_about_the_run() -> None:
    rankings = GradedRankings(np.zeros((1, 3), np.uint8), np.array([3]), np.zeros((1, 6), int))
    names = ("RR", "RR(queries='run')", "RR(queries='all')", "Judged@5")
    found = evaluate_batch([parse_measure(name) for name in names], rankings, SCALE)
    assert found.counted.tolist() == [[False, True, True, False]]


def test_the_query_without_gain_is_named_by_its_row_even_far_behind() -> None:
    levels = np.full((70_000, 2), 3, np.uint8)
    levels[69_999] = 2
    judged = np.zeros((70_000, 6), np.int64)
    judged[:, 2] = 2
    judged[69_999] = (0, 2, 0, 0, 0, 0)
    rankings = GradedRankings(levels, np.full(70_000, 2), judged)
    with pytest.raises(ZeroIdealError) as refused:
        evaluate_batch([parse_measure("nDCG(empty='error')@2")], rankings, SCALE)
    assert refused.value.row == 69_999


@pytest.mark.parametrize(
    ("names", "depth"),
    [
        ("nDCG@10 P@20 AP@5", 20),
        ("nDCG@10 RR", None),
        ("nDCG(ideal='recall')@10", 10),
        ("nDCG(ideal='recall',ideal_first=30)@10", 30),
        ("nDCG(ideal='recall',arithmetic='cumulative')@10", None),
        ("nDCG(ideal='local')@10", 10),
        ("P(unjudged='condensed')@5", None),
    ],
)
def test_how_deep_the_measures_read(names: str, depth: int | None) -> None:
    assert depth_needed([measure for _, measure in parse_measures(names)]) == depth


def test_rankings_that_were_cut_too_short_are_refused() -> None:
    rankings = GradedRankings(np.ones((1, 5), np.uint8), np.array([9]), np.ones((1, 6), int))
    evaluate_batch([parse_measure("P@5")], rankings, SCALE)
    for name in ("P@6", "RR"):
        with pytest.raises(ValueError, match="ranks are needed"):
            evaluate_batch([parse_measure(name)], rankings, SCALE)


def test_measures_that_order_differently_are_refused_together() -> None:
    rankings = GradedRankings(np.ones((1, 5), np.uint8), np.array([5]), np.ones((1, 6), int))
    with pytest.raises(MeasureError, match="in different orders"):
        evaluate_batch([parse_measure("RR"), parse_measure("RR(ties='listed')")], rankings, SCALE)


def test_counts_of_another_scale_are_refused() -> None:
    rankings = GradedRankings(np.ones((1, 5), np.uint8), np.array([5]), np.ones((1, 4), int))
    with pytest.raises(ValueError, match="not of this scale"):
        evaluate_batch([parse_measure("RR")], rankings, SCALE)


def test_a_table_that_lacks_a_grade_is_refused_before_anything_is_computed() -> None:
    rankings = GradedRankings(np.zeros((0, 0), np.uint8), np.zeros(0, int), np.zeros((0, 6), int))
    with pytest.raises(MeasureError, match="has no grade"):
        evaluate_batch([parse_measure("nDCG(gain={0:0})")], rankings, SCALE)


def test_no_ranking_has_no_values() -> None:
    rankings = GradedRankings(np.zeros((0, 0), np.uint8), np.zeros(0, int), np.zeros((0, 6), int))
    found = evaluate_batch([parse_measure(name) for name in MANY], rankings, SCALE)
    assert found.values.shape == found.counted.shape == (0, len(MANY))
