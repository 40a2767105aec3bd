"""Click-through rates as models: by rank alone, and by query and document alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.pair_values import UNSEEN, PairValues, pair_shares, smoothed
from touchstone.clicks.sessions import Sessions

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RankCtr:
    """rates: (depth,), the share of clicks at each position, with PyClick's pseudo-counts."""

    rates: Floats

    def click_chances(self, sessions: Sessions) -> Floats:
        """(rows,); 1/2 below the positions that were seen."""
        seen = np.append(self.rates, UNSEEN)
        chances: Floats = seen[np.minimum(sessions.position, len(seen)) - 1]
        return chances

    def conditional_chances(self, sessions: Sessions) -> Floats:
        """The same: clicks do not depend on each other."""
        return self.click_chances(sessions)


@dataclass(frozen=True)
class DocumentCtr:
    """rates: the share of clicks of each (query, document), with PyClick's pseudo-counts."""

    rates: PairValues

    def click_chances(self, sessions: Sessions) -> Floats:
        """(rows,); 1/2 for a pair that was not seen."""
        return self.rates.of(sessions.pair)

    def conditional_chances(self, sessions: Sessions) -> Floats:
        """The same: clicks do not depend on each other."""
        return self.click_chances(sessions)


def fit_rank_ctr(sessions: Sessions) -> RankCtr:
    """Clicks over impressions at each position."""
    position = sessions.position - 1
    clicks = np.bincount(position, weights=sessions.click).astype(np.float64)
    return RankCtr(smoothed(clicks, np.bincount(position).astype(np.float64)))


def fit_document_ctr(sessions: Sessions) -> DocumentCtr:
    """Clicks over impressions of each (query, document), over all positions."""
    shown = np.ones(len(sessions.click))
    return DocumentCtr(pair_shares(sessions.pair, sessions.click.astype(np.float64), shown))
