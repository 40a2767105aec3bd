"""Significance groups of many rankers, as letters."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from touchstone.statistics.paired import holm
from touchstone.statistics.resampling import FloatArray
from touchstone.statistics.tukey import tukey_reach

Correction = Literal["tukey", "holm"]
LEVEL: Final = 0.05
RANGE: Final = 4  # letters in a row that are shown as a range


@dataclass(frozen=True)
class RankerGroups:
    """Which of k rankers differ at 5 %.

    differs: bool (k, k), symmetric: the two differ. letters: of each ranker; two that share one
    do not differ, and two that share none do.
    """

    differs: npt.NDArray[np.bool_]
    letters: tuple[str, ...]


def significance_groups(values: FloatArray, *, correction: Correction) -> RankerGroups:
    """The groups of rankers by their values on the same queries.

    values: float64 (n_queries, n_rankers), at least two of each.
    correction: tukey: the honestly significant difference on the two-way layout. holm: paired t
    tests of all pairs, corrected by Holm's method.
    Raises ValueError for fewer than two queries or rankers.
    Source: Tukey 1953; Holm 1979; for letters Piepho 2004, "An algorithm for a letter-based
    representation of all-pairwise comparisons", whose two conditions hold.
    """
    n, k = values.shape
    if n < 2 or k < 2:
        raise ValueError("groups need two queries and two rankers at least")
    differs = _by_tukey(values) if correction == "tukey" else _by_holm(values)
    return RankerGroups(
        differs, letters(differs, order=np.argsort(-values.mean(axis=0), kind="stable"))
    )


def letters(
    differs: npt.NDArray[np.bool_], *, order: Sequence[int] | npt.NDArray[np.intp]
) -> tuple[str, ...]:
    """The letters of each of k things, a to the group of the first in `order`.

    differs: bool (k, k), symmetric. Two share a letter exactly where they do not differ. Groups are
    made as long as such a pair shares none, each as large as it can be: of differences between
    means these are the fewest there can be, and in any case no more than there are pairs.
    """
    order = np.asarray(order)
    k = len(order)
    alike = ~differs[np.ix_(order, order)]
    np.fill_diagonal(alike, True)
    shared = np.zeros((k, k), bool)
    result: list[list[str]] = [[] for _ in range(k)]
    number = 0
    for first in range(k):
        for second in range(k - 1, first - 1, -1):  # the farthest first: it takes most others in
            if not alike[first, second] or shared[first, second]:
                continue
            group = _grown(alike, first, second)
            shared[np.ix_(group, group)] = True
            for position in group:
                result[position].append(_letter(number))
            number += 1
    joint = "" if number <= len(ascii_lowercase) else " "
    of_place = dict(zip(order.tolist(), result, strict=True))
    return tuple(joint.join(of_place[one]) for one in range(k))


def _grown(alike: npt.NDArray[np.bool_], first: int, second: int) -> list[int]:
    """A largest set with these two in which none differs from another: nothing can be added."""
    group = list(dict.fromkeys((first, second)))
    left = alike[first] & alike[second]
    for position in (*range(first, len(alike)), *range(first)):
        if left[position] and position not in group:
            group.append(position)
            left &= alike[position]
    return group


def _letter(number: int) -> str:
    """a to z, then a2 to z2, and so on."""
    round_, position = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[position] + (str(round_ + 1) if round_ else "")


def letter_ranges(letters: str) -> str:
    """The letters as a person reads them: four or more in a row are a range, "a–r"."""
    names = letters.split(" ") if " " in letters else re.findall(r"[a-z]\d*", letters)
    rows: list[list[str]] = []
    last = -1
    for name in names:
        number = ascii_lowercase.index(name[0]) + len(ascii_lowercase) * (int(name[1:] or 1) - 1)
        if not rows or number != last + 1:
            rows.append([])
        rows[-1].append(name)
        last = number
    return " ".join(f"{row[0]}–{row[-1]}" if len(row) >= RANGE else " ".join(row) for row in rows)


def _by_tukey(values: FloatArray) -> npt.NDArray[np.bool_]:
    means = values.mean(axis=0)
    differs: npt.NDArray[np.bool_] = np.abs(means[:, None] - means[None]) > tukey_reach(values)
    return differs


def _by_holm(values: FloatArray) -> npt.NDArray[np.bool_]:
    n, k = values.shape
    p_values = np.ones((k, k))
    for one in range(k - 1):
        differences = values[:, one + 1 :] - values[:, one : one + 1]
        mean, spread = differences.mean(axis=0), differences.std(axis=0, ddof=1)
        is_point = np.ptp(differences, axis=0) == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            own = 2 * stdtr(n - 1, -np.abs(mean) / (spread / np.sqrt(n)))
        p_values[one, one + 1 :] = np.where(is_point, np.where(differences[0] == 0, 1.0, 0.0), own)
    upper = np.triu_indices(k, 1)
    differs = np.zeros((k, k), bool)
    differs[upper] = holm(p_values[upper]) <= LEVEL
    return differs | differs.T
