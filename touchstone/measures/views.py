"""A ranking as one measure sees it: without what it takes out, with what it takes for granted.

Three parameters make the view: `unjudged`, its `prior`, and `negatives`. Measures that share them
share one view.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from touchstone.measures.definition import Measure
from touchstone.measures.errors import MeasureError
from touchstone.measures.grades import MOST_GRADES, Grades, LevelArray
from touchstone.measures.rankings import BoolArray, GradedRankings, IntArray

ViewKey = tuple[str, str, float | None]


def view_key(measure: Measure) -> ViewKey:
    """Measures with the same key see the same."""
    return measure.unjudged, measure.negatives, measure.prior


def seen_grades(measure: Measure, grades: Grades) -> Grades:
    """The grades that the measure's view is of: those of the scale, and its prior.

    Raises MeasureError for a scale with a grade below 0 where the measure refuses those.
    """
    if measure.negatives == "error" and grades.values[0] < 0:
        raise MeasureError(
            f"{measure.name}: the scale has grade {grades.values[0]:g}, but negatives='error'"
        )
    return grades if measure.prior is None else _with_prior(grades, measure.prior)[0]


def seen(measure: Measure, rankings: GradedRankings, grades: Grades) -> GradedRankings:
    """The rankings as the measure sees them. Their levels are of `seen_grades`.

    Where documents are taken out the ranks close up; where unjudged ones have a prior, those that
    are returned count as judged.
    """
    zero = grades.at_least(0.0)
    if measure.negatives == "unjudged":
        rankings = replace(
            rankings,
            levels=rankings.levels * (rankings.levels >= zero),
            returned=_without_first(rankings.returned, zero - 1),
        )
    kept = _kept(measure, rankings, zero)
    if kept is not None:
        rankings = _closed_up(rankings, kept)
    if measure.prior is not None:
        rankings = _with_unjudged_at(measure.prior, rankings, grades)
    return rankings


def kept_ranks(measure: Measure, rankings: GradedRankings, grades: Grades) -> BoolArray:
    """Which ranks of these rankings, as they are, stay in the measure's view; (n, width)."""
    zero = grades.at_least(0.0)
    levels = rankings.levels
    if measure.negatives == "unjudged":
        levels = levels * (levels >= zero)
    plain = GradedRankings(levels, rankings.lengths, rankings.judged)
    kept = _kept(measure, plain, zero)
    return _filled(plain) if kept is None else kept


def _without_first(counts: IntArray | None, n_grades: int) -> IntArray | None:
    """Counts by grade, where the first so many grades are not judged."""
    return counts if counts is None else counts * (np.arange(counts.shape[1]) >= n_grades)


def _kept(measure: Measure, rankings: GradedRankings, zero: int) -> BoolArray | None:
    """What stays; None where nothing is taken out. zero: the lowest level worth 0 or more."""
    levels = rankings.levels
    if measure.unjudged == "condensed":
        above = zero if measure.negatives == "removed" else 1
        return np.asarray(levels >= max(above, 1), bool)
    if measure.negatives == "removed" and zero > 1:
        return np.asarray(((levels == 0) | (levels >= zero)) & _filled(rankings), bool)
    return None


def _filled(rankings: GradedRankings) -> BoolArray:
    return np.arange(rankings.levels.shape[1]) < rankings.lengths[:, None]


def _closed_up(rankings: GradedRankings, kept: BoolArray) -> GradedRankings:
    lengths = np.count_nonzero(kept, axis=1)
    left = np.arange(kept.shape[1]) < lengths[:, None]
    levels = np.zeros_like(rankings.levels)
    levels[left] = rankings.levels[kept]
    ties = None
    if rankings.ties is not None:
        moved = np.zeros_like(rankings.ties)
        moved[left] = rankings.ties[kept]
        ties = _starts(moved, left)
    return GradedRankings(levels, lengths, rankings.judged, ties)


def _starts(ties: IntArray, filled: BoolArray) -> IntArray:
    """The first rank of each tie, told from where the numbers change; behind the end, the rank."""
    positions = np.broadcast_to(np.arange(ties.shape[1]), ties.shape)
    begins = ~filled
    begins[:, :1] = True
    begins[:, 1:] |= ties[:, 1:] != ties[:, :-1]
    return np.maximum.accumulate(np.where(begins, positions, 0), axis=1)


def _with_unjudged_at(prior: float, rankings: GradedRankings, grades: Grades) -> GradedRankings:
    extended, moved = _with_prior(grades, prior)
    level = extended.at_least(prior)
    levels = moved[rankings.levels]
    unjudged = (levels == 0) & _filled(rankings)
    levels[unjudged] = level
    judged = np.zeros((len(rankings), len(extended.codes)), np.int64)
    judged[:, moved[1:].astype(np.intp) - 1] = rankings.judged
    judged[:, level - 1] += np.count_nonzero(unjudged, axis=1)
    return GradedRankings(levels, rankings.lengths, judged, rankings.ties)


@lru_cache(maxsize=64)
def _with_prior(grades: Grades, prior: float) -> tuple[Grades, LevelArray]:
    if len(grades.codes) == MOST_GRADES:
        raise MeasureError(f"prior={prior:g}: the scale already has {MOST_GRADES} grades")
    return grades.with_value(prior)
