"""Which measures a set holds, and which set a list keeps current."""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache

from evaluation.models import Leaderboard, MeasureSet
from judgments.models import JudgmentList
from touchstone.measures.definition import Measure
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.scales import Scale
from touchstone.statistics.named_tests import USUAL_TEST

Definition = list[list[str | int]]


def definition_of(measures: Sequence[Measure]) -> Definition:
    """The stored form of a set: names and the revisions of their arithmetic, in order."""
    return [[measure.name, measure.revision] for measure in measures]


def digest_of(definition: Definition) -> str:
    """SHA-256 of a stored form: equal sets have equal digests."""
    return hashlib.sha256(json.dumps(definition, ensure_ascii=False).encode()).hexdigest()


def measures_of(measure_set: MeasureSet) -> tuple[Measure, ...]:
    """The measures of a stored set, in order."""
    return _parsed(tuple(name for name, _ in measure_set.measures))


def is_of_this_arithmetic(measure_set: MeasureSet) -> bool:
    """Whether this code still computes every measure of the set as it did when it was stored."""
    return bool(definition_of(measures_of(measure_set)) == measure_set.measures)


def grades_of(judgment_list: JudgmentList) -> Grades:
    """The list's grade scale as the measure engine wants it."""
    scale = Scale.from_json(judgment_list.scale)
    return Grades.of({grade.code: grade.value for grade in scale.grades})


def get_leaderboard(*, judgment_list: JudgmentList) -> Leaderboard | None:
    """The list's leaderboard; None before its first evaluation."""
    try:
        return judgment_list.leaderboard
    except Leaderboard.DoesNotExist:
        return None


def get_test(*, judgment_list: JudgmentList) -> str:
    """The test that the list's comparisons use."""
    leaderboard = get_leaderboard(judgment_list=judgment_list)
    return leaderboard.test if leaderboard else USUAL_TEST


@lru_cache(maxsize=256)
def _parsed(names: tuple[str, ...]) -> tuple[Measure, ...]:
    return tuple(parse_measure(name) for name in names)
