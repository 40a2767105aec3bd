"""scikit-learn's way to a DCG: inverse discounts that are 0 behind the cutoff, then a product.

One ranking at a time and as wide as the ranking, because a dot product's last bits depend on its
length. Where ties are averaged, the discounts are summed up first and each tie takes a difference.
Source: scikit-learn 1.9, sklearn/metrics/_ranking.py, described again from its documentation.
"""

import numpy as np

from touchstone.measures.discounts import FloatArray
from touchstone.measures.rankings import IntArray


def cumulative_dcg(
    gains: FloatArray, by_rank: FloatArray, cutoff: int | None, ties: IntArray | None
) -> float:
    """The DCG of one ranking.

    gains: at every rank. by_rank: what each is divided by, as long.
    ties: the first rank (from 0) of each rank's tie, to average over; None: the order stands.
    """
    if not len(gains):
        return 0.0
    weights = 1.0 / by_rank
    if cutoff is not None:
        weights[cutoff:] = 0.0
    if ties is None:
        return float(np.dot(weights, gains[:, None])[0])
    starts = np.flatnonzero(ties == np.arange(len(ties)))
    sizes = np.diff(np.append(starts, len(gains)))
    means = np.add.reduceat(gains, starts) / sizes
    last = np.cumsum(weights)[starts + sizes - 1]
    return float((means * np.diff(last, prepend=0.0)).sum())
