"""nDCG of so many rankings that compiled loops are worth it; of others, as `ndcg` says.

The loops take the plain cases: gains of 0 and more, cutoffs, and so few different ideal rankings
that the DCGs of all of them lie in one table. A ranking's place in that table is a number that
grows with each of its documents, so that no ideal ranking is ever laid out twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.measures import ndcg as arrays
from touchstone.measures.compiled import loops_after
from touchstone.measures.counting import count_levels
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import FloatArray
from touchstone.measures.grades import Grades
from touchstone.measures.joining import Chains, Judgments, whole_lanes
from touchstone.measures.packing import RankedDocuments
from touchstone.measures.rankings import BoolArray, GradedRankings, IntArray

SOURCES: Final = {"global": 0, "recall": 1, "local": 2, "max": 3}
_NUMBERS: Final = 1 << 18  # of a table of ideal rankings, at most
_CELLS: Final = 1 << 22  # of their ranks, at most
_TOGETHER: Final = 64  # rankings that are worked on together: they stay in the nearest cache


def ndcg(
    measures: Sequence[Measure], grades: Grades, rankings: GradedRankings
) -> tuple[FloatArray, BoolArray | None]:
    """`touchstone.measures.ndcg.ndcg`, to the last bit."""
    found = quick_ndcg(measures, grades, rankings)
    return arrays.ndcg(measures, grades, rankings) if found is None else (found, None)


def quick_ndcg(
    measures: Sequence[Measure], grades: Grades, rankings: GradedRankings
) -> FloatArray | None:
    """The values by a compiled loop; None where there is none, or the measures are not plain."""
    if rankings.ties is not None or not rankings.levels.size:
        return None
    plain = plain_ndcg(tuple(measures), grades)
    if plain is None or (loops := loops_after(rankings.levels.size)) is None:
        return None
    stops = np.minimum(plain.stops, rankings.levels.shape[1])
    values = np.empty((len(measures), len(rankings)))
    loops.normalise(
        np.ascontiguousarray(rankings.levels.T[: stops[-1]]),
        _by_level(rankings.judged),
        _by_level(_returned(plain, rankings)),
        *plain.arguments(stops),
        *plain.room(),
        values,
    )
    return values.T


@dataclass(frozen=True, eq=False)
class Plain:
    """What compiled loops know of some measures; `loops.normalise` says what it is.

    asks_returned: an ideal is made of what is returned.
    """

    terms: FloatArray
    best_first: IntArray
    powers: npt.NDArray[np.uint64]
    stops: IntArray
    ideals: FloatArray
    tops: FloatArray
    sources: IntArray
    places: IntArray
    is_multiplied: bool

    @property
    def depth(self) -> int:
        """How many ranks are read."""
        return len(self.terms)

    @property
    def asks_returned(self) -> bool:
        """Whether an ideal is made of all that is returned."""
        return SOURCES["recall"] in self.sources

    def arguments(self, stops: IntArray) -> tuple[Any, ...]:
        """What the loops take of it. stops: where rankings are shorter than the cutoffs."""
        first = (self.terms.ravel(), self.best_first, self.powers, stops, self.depth, self.ideals)
        return (*first, self.tops, self.sources, self.places, self.is_multiplied)

    def room(self) -> tuple[Any, ...]:
        """Where the loops work on some rankings together."""
        n = len(self.stops)
        numbers = np.empty((n + 2, _TOGETHER), np.uint64)
        near = np.empty((_TOGETHER, whole_lanes(self.depth)), np.uint8)
        return near, np.empty((n, _TOGETHER)), numbers, np.empty(_TOGETHER)


@lru_cache(maxsize=16)
def plain_ndcg(measures: tuple[Measure, ...], grades: Grades) -> Plain | None:
    """What loops need for nDCGs that share gains and discounts; None where they are not plain."""
    level_gains = arrays.gains(measures[0], grades)
    if not _is_plain(measures, level_gains):
        return None
    cutoffs = tuple(sorted({measure.cutoff or 0 for measure in measures}))
    ideals, best_first, powers = _ideals(measures[0], level_gains, cutoffs)
    is_multiplied = measures[0].arithmetic == "multiply"
    tops = np.full(len(cutoffs), np.inf)
    nothing = np.zeros((0, len(grades.codes)), np.int32)
    none = GradedRankings(np.zeros((0, 0), np.uint8), np.zeros(0, np.int64), nothing)
    of_tops = arrays.Ideals(measures, level_gains, none)
    for measure in measures:
        if measure.ideal == "max":
            tops[cutoffs.index(measure.cutoff or 0)] = of_tops.dcg(measure).sums[0]
    tops[tops == 0.0] = np.inf
    gain_rows = np.repeat(level_gains[:, None], cutoffs[-1], axis=1)
    return Plain(
        terms=np.ascontiguousarray(arrays.discounted(gain_rows, measures[0]).T),
        best_first=best_first,
        powers=powers,
        stops=np.array(cutoffs),
        ideals=ideals,
        tops=1.0 / tops if is_multiplied else tops,
        sources=np.array([SOURCES[measure.ideal] for measure in measures]),
        places=np.array([cutoffs.index(measure.cutoff or 0) for measure in measures]),
        is_multiplied=is_multiplied,
    )


class Scorer:
    """nDCG of stored rankings by a compiled loop, straight from documents and judgments.

    ranked: the rankings. rows: the query of each, as the judgments have it.
    """

    def __init__(
        self,
        loops: Any,
        plain: Plain,
        judgments: Judgments,
        ranked: RankedDocuments,
        rows: IntArray,
        *,
        n_grades: int,
    ) -> None:
        self._n_measures = len(plain.sources)
        lengths = ranked.lengths()
        longest = int(lengths.max(initial=0))
        counted = plain.asks_returned and longest > plain.depth
        self._score = loops.score.bound(
            np.ascontiguousarray(ranked.documents),
            ranked.starts[:-1],
            lengths,
            np.ascontiguousarray(rows, np.int64),
            *Chains.of(judgments, longest).arguments,
            np.empty((n_grades, 1), np.int32),
            np.empty((n_grades if counted else 0, _TOGETHER), np.int32),
            *plain.arguments(plain.stops),
            *plain.room(),
        )

    def values(self, order: IntArray) -> FloatArray:
        """The values of some rankings, those of one query together; (n_measures, n)."""
        out = np.empty((self._n_measures, len(order)))
        self._score(order, out)
        return out


def _is_plain(measures: Sequence[Measure], level_gains: FloatArray) -> bool:
    """Whether the loops take these."""
    if level_gains.min() < 0 or measures[0].arithmetic in ("multiply_each", "cumulative"):
        return False
    deepest, n_gains = max(m.cutoff or 0 for m in measures), int((level_gains > 0).sum())
    if (deepest + 1) ** n_gains > _NUMBERS or comb(deepest + n_gains, n_gains) * deepest > _CELLS:
        return False
    return n_gains > 0 and all(
        measure.cutoff is not None
        and measure.ideal_depth == "k"
        and measure.ideal_first is None
        and measure.empty == 0.0
        and measure.decimals is None
        and measure.short == "as_is"
        for measure in measures
    )


def _returned(plain: Plain, rankings: GradedRankings) -> IntArray:
    """How many documents of each ranking have each level, where its first ranks don't tell."""
    if plain.asks_returned and rankings.returned is not None:
        return rankings.returned
    if plain.asks_returned and rankings.levels.shape[1] > plain.depth:
        return count_levels(rankings.levels, rankings.judged.shape[1])
    return np.empty((len(rankings), 0), np.int32)


def _by_level(counts: IntArray) -> IntArray:
    return np.ascontiguousarray(counts.T, np.int32)


def _ideals(
    measure: Measure, level_gains: FloatArray, cutoffs: tuple[int, ...]
) -> tuple[FloatArray, IntArray, npt.NDArray[np.uint64]]:
    """The ideal DCG at every cutoff, by the number of an ideal ranking; infinite where it is 0.

    They are inverses where the measure multiplies. Returns with them the levels that gain
    something, best first, and what a document of each level adds to the number.
    """
    deepest, best_first = cutoffs[-1], np.argsort(-level_gains, kind="stable")
    best_first = best_first[: int((level_gains > 0).sum())]
    powers = np.zeros(len(level_gains), np.uint64)
    powers[best_first] = (deepest + 1) ** np.arange(len(best_first))
    counts = _all_counts(best_first, len(level_gains), deepest)
    rows = arrays.ideal_rows(*arrays.level_ends(counts, level_gains), deepest)
    sums = arrays.cumulated(rows, measure)[:, np.array(cutoffs) - 1]
    out = np.full(((deepest + 1) ** len(best_first), len(cutoffs)), np.inf)
    out[counts @ powers.astype(np.int64)] = np.where(sums == 0.0, np.inf, sums)
    return 1.0 / out if measure.arithmetic == "multiply" else out, best_first, powers


def _all_counts(levels: IntArray, n_levels: int, most: int) -> npt.NDArray[np.int32]:
    """All ways to have no more than so many documents of these levels: (n, n_levels)."""
    counts = np.zeros((1, n_levels), np.int32)
    for level in levels.tolist():
        ways = most + 1 - counts.sum(axis=1)  # to have none of it, one, …
        ends = np.cumsum(ways)
        counts = np.repeat(counts, ways, axis=0)
        counts[:, level] = np.arange(len(counts)) - np.repeat(ends - ways, ways)
    return counts
