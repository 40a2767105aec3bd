"""Compiled loops say what arrays say, to the last bit, where they are worth loading."""

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.compiled_loops import loops
from touchstone import compiled as shared
from touchstone.measures import compiled
from touchstone.measures.definition import Measure
from touchstone.measures.engine import (
    Values,
    counts_needed,
    depth_needed,
    evaluate_batch,
    plain_plan,
)
from touchstone.measures.exact import as_integers, exact_sums
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.joining import LANES, whole_lanes
from touchstone.measures.packing import RankedDocuments
from touchstone.measures.rankings import GradedRankings, Judgments, judge_rankings
from touchstone.measures.scoring import JudgedQueries, StoredRankings, score_sums

SHAPES: list[dict[str, int]] = [
    {"n": 300, "longest": 25, "judged": 25},
    {"n": 300, "longest": 600, "judged": 30, "n_queries": 4},
    {"n": 40, "longest": 300, "judged": 90, "n_queries": 3},
    {"n": 5, "longest": 4, "judged": 2},
]
VALUES = st.one_of(
    st.floats(0, 1), st.floats(0, 2**-50), st.sampled_from([0.0, -0.0, 1.0, 2**-61, 3 * 2**-61])
)


def made(
    seed: int, *, n: int, longest: int, judged: int, n_grades: int, n_queries: int | None = None
) -> tuple[Any, Any, Judgments, Any]:
    """Rankings of different lengths, some empty, some documents of them judged."""
    rng = np.random.default_rng(seed)
    rows = np.arange(n) if n_queries is None else rng.integers(0, n_queries, n)
    lengths = rng.integers(0, longest + 1, n)
    ids = rng.integers(-(2**31), 2**31, 2 * max(longest, judged, 1), np.int64).astype(np.int32)
    ids = np.unique(np.concatenate((ids[::2], np.arange(len(ids) // 2, dtype=np.int32))))
    n_judged = rng.integers(0, judged + 1, n if n_queries is None else n_queries)
    ranked = [rng.permutation(ids)[:length] for length in lengths]
    known = [rng.permutation(ids)[:length] for length in n_judged]
    levels = rng.integers(1, n_grades + 1, int(n_judged.sum())).astype(np.uint8)
    judgments = Judgments(np.concatenate(known), levels, n_judged)
    return np.concatenate(ranked), lengths, judgments, rows


def both(
    measures: list[Measure], grades: Grades, seed: int, **shape: int
) -> tuple[tuple[GradedRankings, Values], tuple[GradedRankings, Values]]:
    documents, lengths, judgments, rows = made(seed, n_grades=len(grades.codes), **shape)

    def found() -> tuple[GradedRankings, Values]:
        graded = judge_rankings(
            documents,
            lengths,
            judgments,
            n_grades=len(grades.codes),
            queries=rows,
            width=depth_needed(measures),
            returned=counts_needed(measures),
        )
        return graded, evaluate_batch(measures, graded, grades)

    with loops(wanted=True):
        one = found()
    with loops(wanted=False):
        return one, found()


def check_same(one: tuple[GradedRankings, Values], other: tuple[GradedRankings, Values]) -> None:
    for mine, theirs in zip(one, other, strict=True):
        for name in ("levels", "judged", "returned", "values", "counted"):
            if getattr(mine, name, None) is not None:
                found, wanted = getattr(mine, name), getattr(theirs, name)
                assert found.shape == wanted.shape
                assert np.ascontiguousarray(found).tobytes() == wanted.astype(found.dtype).tobytes()


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(SHAPES),
    st.sampled_from([range(5), range(-1, 3), range(9), (0, 1)]),
    st.sampled_from([(1, 3, 20), (10,), (5, 30), (1000,)]),
    st.fixed_dictionaries(
        {
            "gain": st.sampled_from(["linear", "exp2"]),
            "discount": st.sampled_from(["log2", "reciprocal", "none"]),
            "arithmetic": st.sampled_from(["divide", "multiply", "multiply_divide"]),
            "queries": st.sampled_from(["judged", "run"]),
        }
    ),
)
def test_rankings_have_the_values_that_they_have_without_them(
    seed: int,
    shape: dict[str, int],
    codes: range | tuple[int, ...],
    cutoffs: tuple[int, ...],
    parameters: dict[str, Any],
) -> None:
    measures = [
        Measure(family="nDCG", cutoff=k, ideal=ideal, **parameters)
        for ideal in ("global", "recall", "local", "max")
        for k in cutoffs
    ]
    check_same(*both(measures, Grades.integers(codes), seed, **shape))


@pytest.mark.parametrize(
    "names",
    [
        "nDCG@10 nDCG@20 P@5 RR Judged@10",
        "nDCG nDCG@10",
        "nDCG(decimals=3)@10",
        "nDCG(empty='skip')@10 nDCG@5",
        "nDCG(queries='run')@10 nDCG@10",
        "nDCG(negatives='raw')@10",
        "nDCG(unjudged='condensed')@5",
        "nDCG(short='zero')@10",
    ],
)
def test_measures_that_are_not_plain_have_them_too(names: str) -> None:
    measures = [parse_measure(name) for name in names.split()]
    for seed, shape in enumerate(SHAPES):
        check_same(*both(measures, Grades.integers(range(-1, 4)), seed, **shape))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(VALUES, st.booleans()), min_size=1, max_size=40), st.integers(1, 40))
@example([(1.0, True)], 40)
@example([(0.5, True), (2.0, True)], 1)
@example([(-0.5, True), (1.0, False)], 7)
@example([(1e9, False), (4000.0, True)], 3)
def test_sums_have_the_same_bits(cells: list[tuple[float, bool]], times: int) -> None:
    values = np.tile(np.array([value for value, _ in cells]), (3, times)).T
    counted = np.tile(np.array([own for _, own in cells]), (3, times)).T
    for marks in (counted, np.broadcast_to(counted[:, :1], counted.shape)):
        with loops(wanted=False):
            wanted = exact_sums(values, marks)
        with loops(wanted=True):
            assert np.array_equal(exact_sums(values, marks), wanted)


def test_no_value_is_summed_to_nothing() -> None:
    for shape in ((0, 3), (2, 0, 3), (2, 4, 0)):
        with loops(wanted=True):
            sums = exact_sums(np.zeros(shape), np.zeros(shape, bool))
        assert sums.shape == (*shape[:-2], shape[-1], 6)
        assert not sums.any()


def test_a_million_values_of_1_are_summed() -> None:
    values = np.ones((1_200_000, 2))
    with loops(wanted=True):
        sums = exact_sums(values, values > 0)
    assert [as_integers(row) for row in sums.tolist()] == [
        (1_200_000, 1_200_000 << 60, 1_200_000 << 120)
    ] * 2


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 1, 3]),
    st.sampled_from([(25, 25), (300, 120), (3, 2), (0, 5), (5, 0)]),
    st.sampled_from(["nDCG@10", "nDCG@1 nDCG(ideal='recall')@20 nDCG(ideal='local')@5"]),
    st.booleans(),
)
def test_sums_of_stored_rankings_are_those_of_their_values(
    seed: int, n_runs: int, sizes: tuple[int, int], names: str, in_order: bool
) -> None:
    rng, n_queries, (longest, most) = np.random.default_rng(seed), 12, sizes
    ids = rng.choice(2**31, 2 * max(longest, most, 1), replace=False).astype(np.int32)
    n_judged = rng.integers(0, most + 1, n_queries)
    known = [rng.permutation(ids)[:length] for length in n_judged]
    levels = rng.integers(1, 6, int(n_judged.sum())).astype(np.uint8)
    judged = JudgedQueries(np.arange(n_queries), Judgments(np.concatenate(known), levels, n_judged))
    cells = np.arange(n_runs * n_queries)[rng.random(n_runs * n_queries) < 0.8]
    cells = cells if in_order else rng.permutation(cells)
    lengths = rng.integers(0, longest + 1, len(cells))
    documents = [rng.permutation(ids)[:length] for length in lengths]
    starts = np.concatenate(([0], np.cumsum(lengths)))
    ranked = RankedDocuments(starts, np.concatenate([ids[:0], *documents]))
    rankings = StoredRankings(cells // n_queries, cells % n_queries, ranked)
    asked = [parse_measure(name) for name in names.split()]
    found = []
    for wanted in (True, False):
        with loops(wanted=wanted):
            found.append(
                score_sums(asked, Grades.integers(range(5)), judged, rankings, n_runs=n_runs)
            )
    assert np.array_equal(*found)


def test_plain_measures_alone_go_straight_from_documents_to_sums() -> None:
    grades = Grades.integers(range(5))
    assert plain_plan([parse_measure("nDCG@10")], grades) is not None
    for names in (
        "nDCG",
        "nDCG@5 P@5",
        "nDCG(unjudged='condensed')@5",
        "nDCG@5 nDCG(gain='exp2')@5",
    ):
        assert plain_plan([parse_measure(name) for name in names.split()], grades) is None


def test_what_loops_fill_is_as_wide_as_they_take_it_to_be() -> None:
    assert importlib.import_module(f"{compiled.LOOPS}.lanes").LANES == LANES
    assert [whole_lanes(width) for width in (1, 32, 33)] == [32, 32, 64]


def test_small_batches_never_ask_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "LOADING", 1.0)
    monkeypatch.setattr(shared, "COMPILING", 2.0)
    monkeypatch.setattr(compiled, "LEAST", 1 << 16)
    monkeypatch.setattr(shared._Saved, "seconds", 0.0)
    for _ in range(9):
        assert compiled.loops_after(compiled.LEAST - 1) is None
    assert shared._Saved.seconds == 0.0
    compiled.loops_after(compiled.LEAST)
    assert shared._Saved.seconds > 0.0
