"""What measures take out of a ranking, and what they take for granted."""

import numpy as np
import pytest

from tests.touchstone.measures.builders import value_of
from touchstone.measures.engine import evaluate_batch
from touchstone.measures.errors import MeasureError
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.rankings import GradedRankings
from touchstone.measures.views import kept_ranks, seen, seen_grades

SIGNED = Grades.integers(range(-2, 4))


def ranked(codes: list[int | None], *, ties: list[int] | None = None) -> GradedRankings:
    levels = [0 if code is None else SIGNED.codes.index(code) + 1 for code in codes]
    judged = [[codes.count(code) for code in SIGNED.codes]]
    return GradedRankings(
        np.array([levels], np.uint8),
        np.array([len(codes)]),
        np.array(judged),
        None if ties is None else np.array([ties]),
    )


def test_documents_with_a_negative_grade_can_be_taken_out_and_the_unjudged_stay() -> None:
    measure = parse_measure("RR(negatives='removed')")
    rankings = ranked([-1, None, -2, 1])
    assert kept_ranks(measure, rankings, SIGNED).tolist() == [[False, True, False, True]]
    view = seen(measure, rankings, SIGNED)
    assert view.lengths.tolist() == [2]
    assert view.levels[0, :2].tolist() == [0, 4]
    assert evaluate_batch([measure], rankings, SIGNED).values.tolist() == [[0.5]]


def test_condensed_and_removed_leave_the_judged_that_are_not_negative() -> None:
    measure = parse_measure("RR(unjudged='condensed',negatives='removed')")
    assert kept_ranks(measure, ranked([-1, None, 0, 1]), SIGNED).tolist() == [
        [False, False, True, True]
    ]


def test_ranks_that_close_up_keep_their_ties() -> None:
    measure = parse_measure("nDCG(unjudged='condensed',ties='averaged')")
    view = seen(measure, ranked([None, 3, None, 2, 1], ties=[0, 0, 2, 2, 4]), SIGNED)
    assert view.ties is not None
    assert view.ties.tolist() == [[0, 1, 2, 3, 4]]
    view = seen(measure, ranked([3, None, 2, 1], ties=[0, 0, 0, 3]), SIGNED)
    assert view.ties is not None
    assert view.ties.tolist() == [[0, 0, 2, 3]]


def test_a_scale_with_negative_grades_can_be_refused() -> None:
    with pytest.raises(MeasureError, match="the scale has grade -2"):
        value_of("nDCG(negatives='error')@5", [1], grades=SIGNED)
    assert value_of("nDCG(negatives='error')@5", [1]) == 1.0


def test_a_prior_makes_unjudged_documents_count_as_judged_with_that_grade() -> None:
    # gains 1, 0, 3 against 3, 1, 0
    expected = (1 + 3 / 2) / (3 + 1 / np.log2(3))
    assert value_of("nDCG(unjudged='prior',prior=1)", [None, 0, 3]) == pytest.approx(expected)
    assert value_of("P(unjudged='prior',prior=1)@3", [None, 0, 3]) == pytest.approx(2 / 3)
    assert value_of("P(unjudged='prior',prior=1,rel=2)@3", [None, 0, 3]) == pytest.approx(1 / 3)
    assert value_of("R(unjudged='prior',prior=1)@1", [None, 0, 3]) == 0.5


def test_a_prior_may_lie_between_the_grades() -> None:
    measure = parse_measure("nDCG(unjudged='prior',prior=0.5)@2")
    assert seen_grades(measure, SIGNED).values == (-2, -1, 0, 0.5, 1, 2, 3)
    view = seen(measure, ranked([None, 2]), SIGNED)
    assert view.judged.tolist() == [[0, 0, 0, 1, 0, 1, 0]]
    expected = (0.5 + 2 / np.log2(3)) / (2 + 0.5 / np.log2(3))
    assert value_of(measure, [None, 2]) == pytest.approx(expected)


def test_a_prior_of_zero_is_the_same_as_no_gain() -> None:
    for ranking in ([None, 2, None, 1], [None], [3, 1, None]):
        with_prior = value_of("nDCG(unjudged='prior',prior=0)@3", ranking, also_judged=[4])
        assert with_prior == value_of("nDCG@3", ranking, also_judged=[4])


def test_a_table_of_gains_must_have_the_prior() -> None:
    with pytest.raises(MeasureError, match=r"has no grade 0\.5"):
        value_of("nDCG(gain={0:0,1:1,2:2,3:3,4:4},unjudged='prior',prior=0.5)", [None])
