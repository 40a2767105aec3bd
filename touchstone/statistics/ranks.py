"""How alike two orders are: of rankers on a board, or of documents in a ranking."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from touchstone.statistics.resampling import FloatArray

IntArray = npt.NDArray[np.int64]


def kendall_tau(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Kendall's tau-b of two lists of values of the same things; None where one has no order.

    Source: Kendall 1945; ties are taken out of the scale.
    """
    return next(kendall_taus([first], second))


def kendall_taus(rows: Iterable[npt.ArrayLike], second: npt.ArrayLike) -> Iterator[float | None]:
    """Kendall's tau-b of each of many lists of values with the same other one."""
    other = np.asarray(second, np.float64)
    upper = np.triu_indices(len(other), 1)
    signs = np.sign(other[upper[0]] - other[upper[1]])
    total = float(np.abs(signs).sum())
    for row in rows:
        one = np.asarray(row, np.float64)
        own = np.sign(one[upper[0]] - one[upper[1]])
        scale = np.sqrt(float(np.abs(own).sum()) * total)
        yield float(own @ signs / scale) if scale > 0 else None


def ap_correlation(reference: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """AP correlation of an order with a reference: like Kendall's tau, but a swap near the top of
    the other order counts more. None for fewer than two things, or a reference without an order.

    reference, other: values of the same things, larger is better. Things that are tied in the other
    order come in a random one: the result is the mean over these; a pair that is tied in the
    reference counts half.
    Source: Yilmaz, Aslam & Robertson 2008, eq. 4; ties: Urbano & Marrero 2017, sec. 3.
    """
    truth, own = np.asarray(reference, np.float64), np.asarray(other, np.float64)
    many = len(own)
    if many < 2 or (truth == truth[0]).all():
        return None
    # [i, j]: how much j is rightly above i
    right = (np.sign(truth[None, :] - truth[:, None]) + 1) / 2
    above, tied = own[None, :] > own[:, None], own[None, :] == own[:, None]
    np.fill_diagonal(tied, val=False)
    sure, half = (right * above).sum(axis=1), (right * tied).sum(axis=1)
    total = 0.0
    for thing in range(many):
        first, others = int(above[thing].sum()), int(tied[thing].sum())
        places = np.arange(first, first + others + 1)  # how many are above it, in any of the orders
        mean = half[thing] / others if others else 0.0
        counted = sure[thing] + (places - first) * mean
        total += float((counted[places > 0] / places[places > 0]).sum()) / len(places)
    return 2 * total / (many - 1) - 1


def overlaps(first: IntArray, second: IntArray, *, k: int) -> FloatArray:
    """The share of the top k that two rankings have in common, for every query at once.

    first, second: (n_queries, depth), the documents best first, none twice, −1 behind the last one;
    k: 1 to the depth. 1 where both show nothing.
    """
    longest = np.maximum(_lengths(first[:, :k]), _lengths(second[:, :k]))
    met = _agreements(first[:, :k], second[:, :k])[:, -1]
    return np.divide(met, longest, out=np.ones(len(met)), where=longest > 0)


def rank_biased_overlaps(first: IntArray, second: IntArray, *, p: float = 0.9) -> FloatArray:
    """Rank-biased overlap of two rankings, extrapolated beyond the shorter one's end.

    first, second: as of `overlaps`. p: how patient the reader is, below 1.
    Returns numbers from 0 (nothing in common) to 1 (the same). Two empty rankings are the same.
    Source: Webber, Moffat & Zobel 2010, equation 32.
    """
    lengths = np.stack([_lengths(first), _lengths(second)])
    short, long = lengths.min(axis=0), lengths.max(axis=0)
    rows, some = np.arange(len(first)), short > 0
    at = _agreements(first, second)
    depths = np.arange(1, first.shape[1] + 1)
    weights = p**depths
    at_short = at[rows, np.maximum(short, 1) - 1]
    at_long = at[rows, np.maximum(long, 1) - 1]
    s, length = np.maximum(short, 1), np.maximum(long, 1)
    own = np.where(depths <= length[:, None], at / depths, 0.0)
    beyond = (depths > s[:, None]) & (depths <= length[:, None])
    carried = at_short[:, None] * (depths - s[:, None]) / (s[:, None] * depths)
    total = (own + np.where(beyond, carried, 0.0)) @ weights
    last = (at_long - at_short) / length + at_short / s
    result = (1 - p) / p * total + last * p**length
    return np.where(some, result, np.where(long > 0, 0.0, 1.0))


def _lengths(rankings: IntArray) -> IntArray:
    return np.asarray(np.count_nonzero(rankings >= 0, axis=1), np.int64)


def _agreements(first: IntArray, second: IntArray) -> FloatArray:
    """At each depth, how many documents both rankings of a query have shown: (n_queries, depth)."""
    same = (first[:, :, None] == second[:, None, :]) & (first >= 0)[:, :, None]
    rows, positions, others = np.nonzero(same)
    met = rows * first.shape[1] + np.maximum(positions, others)
    counts = np.bincount(met, minlength=first.size).reshape(first.shape)
    return np.cumsum(counts, axis=1).astype(np.float64)
