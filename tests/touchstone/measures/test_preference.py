"""bpref and infAP by hand; against trec_eval they are in tests/reference."""

import pytest

from tests.touchstone.measures.builders import value_of
from touchstone.measures.grades import Grades

SIGNED = Grades.integers(range(-2, 3))


def test_bpref_counts_judged_others_before_each_relevant_document() -> None:
    # R = 2, N = 1: the second relevant one has lost its one opponent
    assert value_of("Bpref", [1, 0, 1]) == pytest.approx((1 + 0) / 2)
    # R = 2, N = 3, so two opponents at most count
    assert value_of("Bpref", [0, 1, 0, 1, 0]) == pytest.approx((0.5 + 0) / 2)


def test_unjudged_documents_and_negative_grades_play_no_part_in_bpref() -> None:
    with_holes = value_of("Bpref", [None, 1, None, 0, 1])
    assert with_holes == value_of("Bpref", [1, 0, 1])
    assert value_of("Bpref", [-1, 1, -2, 0, 1], grades=SIGNED) == with_holes


def test_bpref_without_opponents_is_recall() -> None:
    assert value_of("Bpref", [1, None, 2], also_judged=[3]) == pytest.approx(2 / 3)


def test_the_threshold_of_bpref_makes_lower_grades_opponents() -> None:
    assert value_of("Bpref(rel=2)", [1, 2]) == 0.0
    assert value_of("Bpref", [1, 2]) == 1.0


def test_infap_is_average_precision_where_everything_is_judged() -> None:
    for ranked in ([1, 0, 1], [0, 0, 2, 1], [4, 3]):
        assert value_of("infAP", ranked) == pytest.approx(value_of("AP", ranked), abs=1e-4)


def test_infap_takes_unjudged_documents_of_the_pool_for_as_good_as_the_judged() -> None:
    # above rank 4: one relevant, one not, one of the pool: half of three
    expected = (1 + 1 / 4 + (3 / 4) * (3 / 3) * (1 / 2)) / 2
    assert value_of("infAP", [1, 0, -1, 1], grades=SIGNED) == pytest.approx(expected, abs=1e-4)
    # outside the pool it is not relevant
    expected = (1 + 1 / 4 + (3 / 4) * (2 / 3) * (1 / 2)) / 2
    assert value_of("infAP", [1, 0, None, 1], grades=SIGNED) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", ["Bpref", "infAP", "Rprec", "ERR", "RBP"])
def test_nothing_relevant_or_nothing_returned_makes_zero(name: str) -> None:
    assert value_of(name, [0, None, 0]) == 0.0
    assert value_of(name, [], also_judged=[3]) == 0.0
    assert value_of(name, [], also_judged=[0]) == 0.0
