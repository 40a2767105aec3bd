"""Labels as counts: what every measure of agreement is computed from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """How often each grade was given, for each different set of labels.

    patterns: (sets, grades), labels per grade. units: (sets,), how many units have that set.
    values: (grades,), what the grades stand for, ascending. clusters: (clusters, sets), how many
    of each cluster's units have that set, where intervals are to resample clusters, such as the
    queries of pairs; else None.
    """

    patterns: Floats
    units: Ints
    values: Floats
    clusters: Ints | None = None

    @property
    def sizes(self) -> Floats:
        """Labels per unit, for each set."""
        sizes: Floats = self.patterns.sum(axis=1)
        return sizes

    def pairable(self) -> "Counts":
        """The sets with two labels or more."""
        return self.only(self.sizes >= 2)

    def only(self, keep: NDArray[np.bool_]) -> "Counts":
        """Some of the sets, with all clusters."""
        clusters = None if self.clusters is None else self.clusters[:, keep]
        return Counts(self.patterns[keep], self.units[keep], self.values, clusters)


def count_labels(
    units: Ints, steps: Ints, values: Sequence[float], cluster: Ints | None = None
) -> Counts:
    """The labels of each unit as counts per grade, equal units joined.

    units: any integers, one per label. steps: places on the scale from 0, one per label.
    values: what the scale's steps stand for, ascending. cluster: any integers, one per label, the
    same for all labels of a unit: intervals then resample clusters.
    Raises ValueError for arrays of different length or a step outside the scale.
    """
    if len(units) != len(steps):
        raise ValueError("one unit and one step per label")
    if len(steps) and not (steps.min() >= 0 and steps.max() < len(values)):
        raise ValueError("a step outside the scale")
    names, first, positions = np.unique(units, return_index=True, return_inverse=True)
    shape = (len(names), len(values))
    flat = np.bincount(positions * len(values) + steps, minlength=shape[0] * shape[1])
    patterns, own, counts = _unique_rows(flat.reshape(shape))
    members = None if cluster is None else cluster_counts(cluster[first], own, len(patterns))
    scale = np.asarray(values, dtype=np.float64)
    return Counts(patterns.astype(np.float64), counts, scale, members)


def cluster_counts(cluster: Ints, own: Ints, sets: int) -> Ints:
    """How many units of each cluster have which set: (clusters, sets).

    cluster: any integers, one per unit. own: the number of its set.
    """
    names, positions = np.unique(cluster, return_inverse=True)
    shape = (len(names), sets)
    return np.bincount(positions * sets + own, minlength=len(names) * sets).reshape(shape)


def count_own(
    units: Ints,
    steps: Ints,
    is_own: NDArray[np.bool_],
    values: Sequence[float],
    cluster: Ints | None = None,
) -> Counts:
    """One person's label of each unit beside the others', equal units joined.

    units, steps, values, cluster: as for `count_labels`. is_own: per label; at most one a unit. A
    pattern has the person's own grade in its first half, the others' counts in the second.
    """
    grades = len(values)
    mine = np.isin(units, units[is_own])
    doubled = [*values, *values]
    result = count_labels(
        units[mine],
        np.where(is_own, steps, steps + grades)[mine],
        doubled,
        None if cluster is None else cluster[mine],
    )
    scale = np.asarray(values, dtype=np.float64)
    return Counts(result.patterns, result.units, scale, result.clusters)


def two_way_table(
    first: tuple[Ints, Ints], second: tuple[Ints, Ints], grades: int
) -> NDArray[np.int64]:
    """How often two people gave which grades to the units that both graded.

    first, second: units and steps of each, a unit at most once per person.
    Returns (grades, grades): rows are the first person's.
    """
    _, left, right = np.intersect1d(first[0], second[0], assume_unique=True, return_indices=True)
    cells = first[1][left] * grades + second[1][right]
    return np.bincount(cells, minlength=grades * grades).reshape(grades, grades).astype(np.int64)


def coincidences(counts: Counts) -> Floats:
    """Each set's coincidence matrix for one unit (sets, grades, grades).

    A unit with m labels adds 1 / (m - 1) for every ordered pair of its labels; nothing if m < 2.
    """
    patterns = counts.patterns
    pairs = patterns[:, :, None] * patterns[:, None, :]
    pairs -= patterns[:, :, None] * np.eye(patterns.shape[1])
    sizes = np.maximum(counts.sizes, 2)
    matrices: Floats = pairs / (sizes - 1)[:, None, None]
    return matrices


def _unique_rows(rows: Ints) -> tuple[Ints, Ints, Ints]:
    """The different rows, the number of each row's, and how often each is there."""
    base = int(rows.max(initial=0)) + 1
    if base ** rows.shape[1] < 2**62:
        keys = rows @ (base ** np.arange(rows.shape[1], dtype=np.int64))
        _, first, own, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return rows[first], own, counts
    different, own, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return different, own.reshape(-1), counts
