"""ERR and RBP by hand, and their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.measures.builders import value_of
from touchstone.measures.engine import evaluate_batch
from touchstone.measures.errors import MeasureError
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.rankings import GradedRankings

RANKED = st.lists(st.none() | st.integers(0, 4), max_size=12)


def test_err_by_hand() -> None:
    # 15/16 at rank 1; then 1/16 of the people go on to 3/16 at rank 2
    assert value_of("ERR", [4, 2]) == 15 / 16 + (3 / 16) * (1 / 16) / 2
    assert value_of("ERR@1", [4, 2]) == 15 / 16
    assert value_of("ERR", [None, 1]) == (1 / 16) / 2


def test_the_top_grade_of_err_can_be_told() -> None:
    assert value_of("ERR(top=5)", [4]) == 15 / 32
    binary = Grades.integers(range(2))
    assert value_of("ERR", [1], grades=binary) == 0.5
    assert value_of("ERR(top=4)", [1], grades=binary) == 1 / 16


def test_a_grade_above_the_top_is_refused_before_anything_is_computed() -> None:
    with pytest.raises(MeasureError, match="grade 4 is above top=3"):
        value_of("ERR(top=3)@5", [1])


def test_rbp_by_hand() -> None:
    assert value_of("RBP(p=0.5)", [1, 0, 2, None]) == 0.5 + 0.125
    assert value_of("RBP(p=0.5,rel=2)", [1, 0, 2, None]) == 0.125
    assert value_of("RBP(p=0.5)@2", [1, 0, 2, None]) == 0.5
    assert value_of("RBP", [1]) == pytest.approx(0.2)


def test_the_residual_is_what_unjudged_documents_and_the_ranks_behind_could_add() -> None:
    assert value_of("RBPResidual(p=0.5)", [1, None]) == 0.25 + 0.25
    assert value_of("RBPResidual(p=0.5)@1", [1, None]) == 0.5
    assert value_of("RBPResidual(p=0.5)@9", [1, 0]) == 0.25
    assert value_of("RBPResidual(p=0.5)", [], also_judged=[1]) == 1.0


@given(RANKED, st.sampled_from([0.5, 0.8, 0.95]), st.none() | st.integers(1, 14))
def test_rbp_and_its_residual_bound_what_full_judgments_would_give(
    ranked: list[int | None], p: float, k: int | None
) -> None:
    cutoff = "" if k is None else f"@{k}"
    low = value_of(f"RBP(p={p}){cutoff}", ranked, also_judged=[0])
    residual = value_of(f"RBPResidual(p={p}){cutoff}", ranked, also_judged=[0])
    judged = [4 if code is None else code for code in ranked]
    high = value_of(f"RBP(p={p}){cutoff}", judged, also_judged=[0])
    assert low <= high + 1e-12
    assert high <= low + residual + 1e-12
    assert low + residual <= 1 + 1e-12


@given(RANKED, st.integers(1, 13))
def test_err_is_a_fraction_that_grows_with_the_cutoff(ranked: list[int | None], k: int) -> None:
    shallow = value_of(f"ERR@{k}", ranked, also_judged=[0])
    assert 0.0 <= shallow <= value_of(f"ERR@{k + 1}", ranked, also_judged=[0]) < 1.0


@given(RANKED.filter(bool))
def test_err_never_falls_when_a_better_document_moves_up(ranked: list[int | None]) -> None:
    best_first = sorted(ranked, key=lambda code: -(code or 0))
    assert value_of("ERR", best_first) >= value_of("ERR", ranked) - 1e-12


def test_a_fit_is_checked_without_a_ranking() -> None:
    nothing = GradedRankings(
        np.zeros((0, 0), np.uint8), np.zeros(0, np.int64), np.zeros((0, 5), np.int64)
    )
    with pytest.raises(MeasureError, match="above top"):
        evaluate_batch([parse_measure("ERR(top=2)")], nothing, Grades.integers(range(5)))
