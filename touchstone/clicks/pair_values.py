"""A number for each (query, document) that was seen, and one for all others."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# PyClick's pseudo-counts: one click in two impressions, so that an unseen pair has 1/2
CLICKS: Final = 1.0
IMPRESSIONS: Final = 2.0
UNSEEN: Final = CLICKS / IMPRESSIONS


@dataclass(frozen=True)
class PairValues:
    """pairs: (n,), ascending. values: (n,), of each."""

    pairs: Ints
    values: Floats

    def of(self, pairs: Ints) -> Floats:
        """The values of these pairs, (m,); 1/2 for one that was never seen."""
        if not len(self.pairs):
            return np.full(len(pairs), UNSEEN)
        position = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return np.where(self.pairs[position] == pairs, self.values[position], UNSEEN)


def smoothed(hits: Floats, of: Floats) -> Floats:
    """Shares with the pseudo-counts."""
    return (hits + CLICKS) / (of + IMPRESSIONS)


def pair_shares(pairs: Ints, hits: Floats, of: Floats) -> PairValues:
    """Smoothed shares by pair. pairs, hits, of: one entry for each observation."""
    names, position = np.unique(pairs, return_inverse=True)
    count = len(names)
    all_hits, all_of = (
        np.bincount(position, weights=weights, minlength=count).astype(np.float64)
        for weights in (hits, of)
    )
    return PairValues(names, smoothed(all_hits, all_of))
