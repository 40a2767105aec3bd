"""A first stage of a campaign: pairs whose answer is known, with the answer after each.

Someone who is new labels so many of them; with enough right they go on to the pairs that count.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from annotation.gold.planting import Dice


class Stage(StrEnum):
    """Where someone stands: nothing is asked of them first; they learn; they have used all their
    tries and a lead has to say; they have passed."""

    NONE = "none"
    LEARNING = "learning"
    WAITING = "waiting"
    PASSED = "passed"


class Course(NamedTuple):
    """What a campaign asks for: `percent` right of so many pairs, in so many tries. pairs: 0 where
    it asks for nothing."""

    pairs: int
    percent: int
    tries: int


class Attempt(NamedTuple):
    """state: open, passed or failed. series: goes up each time a lead lets someone begin again."""

    state: str
    series: int


def stage_of(course: Course, attempts: Sequence[Attempt], *, is_new: bool) -> Stage:
    """Where someone stands.

    attempts: theirs, oldest first. is_new: they have not labelled here yet; others are let
    off, unless a lead made them begin.
    """
    if not course.pairs or not (attempts or is_new):
        return Stage.NONE
    if not attempts or attempts[-1].state == "open":
        return Stage.LEARNING
    if attempts[-1].state == "passed":
        return Stage.PASSED
    tried = sum(attempt.series == attempts[-1].series for attempt in attempts)
    return Stage.LEARNING if tried < course.tries else Stage.WAITING


def needed(pairs: int, percent: int) -> int:
    """How many of the pairs have to be right."""
    return -(-pairs * percent // 100)


def draw_evenly(answers: Mapping[int, int], *, wanted: int, dice: Dice) -> list[int]:
    """So many of the pairs, of every right grade about as many as of any other.

    answers: each pair's right grade. The dice decide which of a grade come first.
    """
    of_grade: dict[int, list[int]] = defaultdict(list)
    for pair in sorted(answers, key=dice):
        of_grade[answers[pair]].append(pair)
    in_turn = sorted(
        (position, dice(("grade", grade)), pair)
        for grade, pairs in of_grade.items()
        for position, pair in enumerate(pairs)
    )
    return [pair for _, _, pair in in_turn[:wanted]]
