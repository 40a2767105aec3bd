"""Where someone stands in a training, and which pairs they learn by."""

import pytest

from annotation.gold.planting import seeded
from annotation.training.rules import Attempt, Course, Stage, draw_evenly, needed, stage_of

COURSE = Course(pairs=10, percent=75, tries=2)
OPEN, PASSED, FAILED = (Attempt(state, 1) for state in ("open", "passed", "failed"))


@pytest.mark.parametrize(
    ("attempts", "stage"),
    [
        ([], Stage.LEARNING),
        ([OPEN], Stage.LEARNING),
        ([FAILED], Stage.LEARNING),
        ([FAILED, FAILED], Stage.WAITING),
        ([FAILED, PASSED], Stage.PASSED),
        ([FAILED, FAILED, Attempt("open", 2)], Stage.LEARNING),
        ([FAILED, FAILED, Attempt("failed", 2)], Stage.LEARNING),
        ([PASSED, Attempt("open", 2)], Stage.LEARNING),
    ],
)
def test_the_stage_follows_from_the_attempts(attempts: list[Attempt], stage: Stage) -> None:
    assert stage_of(COURSE, attempts, is_new=True) == stage
    assert stage_of(COURSE._replace(pairs=0), attempts, is_new=True) == Stage.NONE


def test_whoever_has_labelled_before_is_let_off_unless_asked() -> None:
    assert stage_of(COURSE, [], is_new=False) == Stage.NONE
    assert stage_of(COURSE, [OPEN], is_new=False) == Stage.LEARNING


def test_the_pass_mark_is_rounded_up() -> None:
    assert [needed(10, 75), needed(10, 70), needed(3, 100), needed(3, 1)] == [8, 7, 3, 1]


def test_every_grade_is_learnt_by_about_as_many_pairs() -> None:
    answers = {pair: 0 if pair < 90 else 1 + pair % 3 for pair in range(100)}
    drawn = draw_evenly(answers, wanted=12, dice=seeded("some"))
    assert len(set(drawn)) == 12
    counts = sorted(sum(answers[pair] == grade for pair in drawn) for grade in range(4))
    assert counts == [3, 3, 3, 3]
    assert draw_evenly(answers, wanted=12, dice=seeded("other")) != drawn
    assert len(draw_evenly(answers, wanted=200, dice=seeded("some"))) == 100
