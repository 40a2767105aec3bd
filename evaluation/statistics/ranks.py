"""How alike two orders are: of rankers on a board, or of documents in a ranking."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from evaluation.statistics.resampling import FloatArray


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


def overlap(first: Sequence[int], second: Sequence[int], *, k: int) -> float:
    """The share of the top k that two rankings have in common; 1 where both show nothing."""
    one, other = set(first[:k]), set(second[:k])
    longest = max(len(one), len(other))
    return len(one & other) / longest if longest else 1.0


def rank_biased_overlap(first: Sequence[int], second: Sequence[int], *, p: float = 0.9) -> float:
    """Rank-biased overlap of two rankings, extrapolated beyond the shorter one's end.

    first, second: the documents best first, none twice. p: how patient the reader is, below 1.
    Returns a number from 0 (nothing in common) to 1 (the same). Two empty rankings are the same.
    Source: Webber, Moffat & Zobel 2010, equation 32.
    """
    short, long = sorted((first, second), key=len)
    if not long:
        return 1.0
    if not short:
        return 0.0
    at = _agreements(short, long)
    s, length = len(short), len(long)
    depths = np.arange(1, length + 1)
    weights = p**depths
    beyond = depths[s:]
    total = float((at / depths * weights).sum())
    total += float((at[s - 1] * (beyond - s) / (s * beyond) * weights[s:]).sum())
    last = (at[-1] - at[s - 1]) / length + at[s - 1] / s
    return float((1 - p) / p * total + last * weights[-1])


def _agreements(short: Sequence[int], long: Sequence[int]) -> FloatArray:
    """At each depth of the longer ranking, how many documents both have shown so far."""
    places = {document: place for place, document in enumerate(long)}
    met = [
        max(place, places[document]) for place, document in enumerate(short) if document in places
    ]
    return np.cumsum(np.bincount(met, minlength=len(long))).astype(np.float64)
