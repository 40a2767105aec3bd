"""Seeded draws from a frame, with the chance that each query had."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt

from touchstone.sampling.allocation import FEWEST, Counts, proportional
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.frames import Floats, Frame, Ints, permanent_random_numbers

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SamplePlan:
    """The queries that a seed draws, an entry each, in the order of their texts.

    rows: int64 (n,), in the frame. pi: float64 (n,), the chance of each to be in the sample: exact
    for equal chances, Ohlsson's approximation for those proportional to size; 1 for a query that is
    in every sample. stratum: (n,), a place in the frame's strata.
    """

    frame: Frame
    seed: int
    rows: Rows
    pi: Floats

    @property
    def queries(self) -> list[str]:
        """The texts."""
        return [self.frame.queries[row] for row in self.rows.tolist()]

    @property
    def strata(self) -> list[str]:
        """The name of each query's stratum."""
        return [self.frame.strata[code] for code in self.frame.stratum[self.rows].tolist()]


def simple_random(frame: Frame, n: int, *, seed: int) -> SamplePlan:
    """n queries of the whole frame, each with the same chance; strata and sizes are not used."""
    whole = np.zeros(len(frame), np.int64)
    return _draw(frame, whole, np.array([n]), seed=seed, by_size=False)


def sequential_poisson(frame: Frame, n: int, *, seed: int) -> SamplePlan:
    """n queries of the whole frame with chances in proportion to their sizes; strata are not used.

    A query whose size would give it a chance of 1 or more is in every sample; the others share what
    is left. Of those the n − certain ones with the smallest u / p are drawn, with the permanent
    random number u of each: when sizes change, the next month's sample keeps what it can.
    Source: Ohlsson 1998, "Sequential Poisson sampling".
    """
    whole = np.zeros(len(frame), np.int64)
    return _draw(frame, whole, np.array([n]), seed=seed, by_size=True)


def stratified(
    frame: Frame,
    n: int | Mapping[str, int],
    *,
    seed: int,
    by_size: bool = False,
) -> SamplePlan:
    """Queries of every stratum, each stratum drawn by itself.

    n: how many; of all, split in proportion to the strata's queries (with `by_size` to the sums of
    their sizes), at least 2 of each; or how many of each stratum by its name, as `allocation` has
    them. by_size: within a stratum chances in proportion to size, as in `sequential_poisson`.
    Raises SamplingError for a stratum of one query, which says nothing of how its values vary
    (`collapsed` makes a frame without such), and for more queries than a stratum has.
    """
    counts = sizes_of_strata(frame)
    alone = [name for name, count in zip(frame.strata, counts, strict=True) if count < FEWEST]
    if alone:
        raise SamplingError(
            f"the stratum {alone[0]!r} has one query, which says nothing of how values vary in it; "
            "put it into another stratum"
        )
    if isinstance(n, int):
        shares = np.bincount(frame.stratum, weights=frame.size) if by_size else counts
        own = proportional(n, shares, counts)
    else:
        if n.keys() != set(frame.strata):
            raise SamplingError("each stratum of the frame needs a number of queries, and no other")
        own = np.array([n[name] for name in frame.strata])
    return _draw(frame, frame.stratum, own, seed=seed, by_size=by_size)


def collapsed(frame: Frame) -> Frame:
    """The frame with each stratum of one query joined to the smallest other one.

    The joined stratum is named after both, with ` + ` between. Repeated until no stratum has one
    query, or there is one stratum alone.
    """
    counts = dict(enumerate(sizes_of_strata(frame).tolist()))
    names = dict(enumerate(frame.strata))
    target = np.arange(len(names))
    while len(counts) > 1 and min(counts.values()) < FEWEST:
        first, second = sorted(counts, key=lambda code: (counts[code], names[code]))[:2]
        counts[second] += counts.pop(first)
        names[second] = f"{names[second]} + {names.pop(first)}"
        target[target == first] = second
    own = [names[code] for code in target.tolist()]
    return Frame.of(
        [text.decode() for texts in frame.queries.chunks() for text in texts],
        strata=[own[code] for code in frame.stratum.tolist()],
        sizes=frame.size,
    )


def sizes_of_strata(frame: Frame) -> Counts:
    """N_h: how many queries each stratum has, int64 (n_strata,)."""
    return np.bincount(frame.stratum, minlength=len(frame.strata))


def inclusion_probabilities(sizes: Floats, n: int) -> Floats:
    """The chance of each query in a sample of n in proportion to size, float64 (N,); they sum to n.

    p = n · size / Σ size; where that is 1 or more the query is certain, and what is left of n is
    split among the others in the same way. The order of the sizes does not matter to any digit.
    """
    if n >= len(sizes):
        return np.ones(len(sizes))
    parted = np.partition(sizes, len(sizes) - n)
    largest = np.sort(parted[len(sizes) - n :])[::-1]
    # of the k-th largest and all that are smaller
    rest = np.append(np.cumsum(largest[::-1])[::-1], 0.0) + fsum(parted[: len(sizes) - n])
    is_certain = (n - np.arange(n)) * largest >= rest[:-1]
    certain = int(np.argmin(np.append(is_certain, False)))
    if not certain:
        return np.asarray(n * sizes / rest[0])
    return np.where(sizes >= largest[certain - 1], 1.0, (n - certain) * sizes / rest[certain])


def expected_overlap(before: Floats, after: Floats) -> float:
    """How many queries two sequential Poisson samples by the same seed are expected to share.

    before, after: (N,), the chances of the same queries in both; 0 where one was not in a frame.
    Each query is kept with the smaller of its chances, because its random number is the same.
    """
    return fsum(np.minimum(before, after))


def draw(
    random: Floats, stratum: Ints, n: Counts, *, sizes: Floats | None = None
) -> tuple[Rows, Floats]:
    """The rows that are drawn, int64, and the chance of each, float64; stratum after stratum.

    random: the permanent random number of each query, (N,). stratum: (N,), a code from 0.
    n: int64 (n_strata,), how many queries of each. sizes: (N,), for chances in proportion to size;
    None for equal chances within a stratum.
    Raises SamplingError for none or too many of a stratum.
    """
    order = np.argsort(stratum, kind="stable") if len(n) > 1 else np.arange(len(random))
    ends = np.cumsum(np.bincount(stratum, minlength=len(n)))
    rows, chances = [], []
    for own_n, members in zip(n.tolist(), np.split(order, ends[:-1]), strict=True):
        if not 1 <= own_n <= len(members):
            raise SamplingError(f"{own_n:,} queries can't be drawn from {len(members):,}")
        keys = random[members]
        if sizes is not None:
            pi = inclusion_probabilities(sizes[members], own_n)
            keys = np.where(pi < 1, keys / pi, 0.0)  # the certain ones first
        drawn = np.argpartition(keys, own_n - 1)[:own_n]
        rows.append(members[drawn])
        chances.append(pi[drawn] if sizes is not None else np.full(own_n, own_n / len(members)))
    return np.concatenate(rows), np.concatenate(chances)


def probabilities(stratum: Ints, n: Counts, *, sizes: Floats | None = None) -> Floats:
    """The chance of every query, (N,), in the sample that `draw` draws with these arguments."""
    counts = np.bincount(stratum, minlength=len(n))
    if sizes is None:
        return np.asarray((n / counts)[stratum])
    found = np.empty(len(stratum))
    for code, own_n in enumerate(n.tolist()):
        members = stratum == code
        found[members] = inclusion_probabilities(sizes[members], own_n)
    return found


def check_seed(seed: int) -> None:
    """Raises SamplingError for a seed that is not from 0 to 2⁶³ − 1."""
    if not 0 <= seed < 2**63:
        raise SamplingError("a seed is a whole number from 0, below 2^63")


def _draw(frame: Frame, stratum: Ints, n: Counts, *, seed: int, by_size: bool) -> SamplePlan:
    check_seed(seed)
    random = permanent_random_numbers(frame.queries, seed)
    found, pi = draw(random, stratum, n, sizes=frame.size if by_size else None)
    texts = [frame.queries[row] for row in found.tolist()]
    by_text = sorted(range(len(texts)), key=texts.__getitem__)
    return SamplePlan(frame, seed, found[by_text], pi[by_text])
