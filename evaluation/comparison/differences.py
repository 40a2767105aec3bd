"""What one run has more than another, query by query, and what that says."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.evaluations.query_values import KEPT
from evaluation.runs.selection import ComparedRun
from judgments.storage.caches import read_many_cached, write_cached
from touchstone.statistics.named_tests import Test
from touchstone.statistics.paired import Comparison, compare_all, holm
from touchstone.statistics.resampling import FloatArray

RESAMPLES: Final = 10_000


@dataclass(frozen=True, eq=False)
class Differences:
    """What one run has more than the baseline, query by query; three arrays of one length.

    query_ids: the queries that are in both means, ascending. first, second: the values of the
    baseline and of the other run.
    """

    query_ids: npt.NDArray[np.int64]
    first: FloatArray
    second: FloatArray

    @property
    def values(self) -> FloatArray:
        """second − first."""
        return self.second - self.first

    def within(self, query_ids: Sequence[int]) -> "Differences":
        """Only those of some queries."""
        own = np.isin(self.query_ids, np.array(query_ids, np.int64))
        return Differences(self.query_ids[own], self.first[own], self.second[own])

    def without(self, query_ids: npt.NDArray[np.int64]) -> "Differences":
        """Only those of other queries than some."""
        return self.within(np.setdiff1d(self.query_ids, query_ids).tolist())


def differences_of(baseline: ComparedRun, other: ComparedRun) -> Differences:
    """Query by query, over those that are in both means."""
    both = baseline.values.counted & other.values.counted
    return Differences(
        baseline.values.query_ids[both], baseline.values.values[both], other.values.values[both]
    )


def compare_with_baseline(
    found: Sequence[Differences], *, test: Test
) -> list[tuple[Comparison, float | None]]:
    """Each comparison with its p-value after Holm's correction for all of them.

    Comparisons without a p-value (too few queries) take no part in the correction.
    """
    comparisons = _get_comparisons([one.values for one in found], test=test)
    places = [position for position, one in enumerate(comparisons) if one.p_value is not None]
    corrected = holm([comparisons[position].p_value or 0.0 for position in places])
    p_values: list[float | None] = [None] * len(comparisons)
    for position, p_value in zip(places, corrected.tolist(), strict=True):
        p_values[position] = p_value
    return list(zip(comparisons, p_values, strict=True))


def _get_comparisons(
    some: Sequence[FloatArray], *, test: Test, resamples: int = RESAMPLES
) -> list[Comparison]:
    """The comparisons, best known from the cache; the seed is fixed, so the answers are too."""
    names = [_cache_name(one, test, resamples) for one in some]
    known = read_many_cached(names, Comparison)
    missing = [position for position, name in enumerate(names) if name not in known]
    made = compare_all([some[position] for position in missing], test=test, resamples=resamples)
    for position, one in zip(missing, made, strict=True):
        known[names[position]] = one
        write_cached(names[position], one, KEPT)
    return [known[name] for name in names]


def _cache_name(differences: FloatArray, test: Test, resamples: int) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(differences).tobytes()).hexdigest()
    return f"compared:2:{test}:{resamples}:{digest}"


def by_segment(
    found: Differences, segments: Sequence[tuple[str, Sequence[int]]], *, test: Test
) -> list[tuple[str, Differences, Comparison]]:
    """The same comparison within each segment that has a query in it."""
    parts = [(name, found.within(query_ids)) for name, query_ids in segments]
    resamples = RESAMPLES // 5
    own = [(name, part) for name, part in parts if len(part.query_ids)]
    comparisons = _get_comparisons([part.values for _, part in own], test=test, resamples=resamples)
    return [(*one, comparison) for one, comparison in zip(own, comparisons, strict=True)]
