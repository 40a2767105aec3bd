"""The simplified dynamic Bayesian network: people read down to their last click.

Source: Chapelle & Zhang 2009, "A dynamic Bayesian network click model for web search ranking",
section 5; on a page without a click all results count as read, as in PyClick.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.pair_values import PairValues, pair_shares
from touchstone.clicks.sessions import Sessions

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sdbn:
    """attractiveness: of each pair, the chance of a click once it is read.

    satisfaction: the chance that a click on it is the last. Their product is the pair's relevance.
    """

    attractiveness: PairValues
    satisfaction: PairValues

    def click_chances(self, sessions: Sessions) -> Floats:
        """(rows,), the probability of a click on each result."""
        return self._chances(sessions, is_conditional=False)[0]

    def conditional_chances(self, sessions: Sessions) -> Floats:
        """(rows,), the same, given what was clicked above it."""
        return self._chances(sessions, is_conditional=True)[0]

    def reading_chances(self, sessions: Sessions) -> Floats:
        """(rows,), the probability that each result is read."""
        return self._chances(sessions, is_conditional=False)[1]

    def _chances(self, sessions: Sessions, *, is_conditional: bool) -> tuple[Floats, Floats]:
        """Of a click on each result, and of reading it."""
        attractive = self.attractiveness.of(sessions.pair)
        satisfying = self.satisfaction.of(sessions.pair)
        starts = np.cumsum(sessions.lengths) - sessions.lengths
        read = np.ones(len(sessions))
        result, reading = np.empty((2, len(attractive)))
        for position in range(sessions.depth):
            pages = np.flatnonzero(sessions.lengths > position)
            rows = starts[pages] + position
            attraction, satisfaction = attractive[rows], satisfying[rows]
            clicked = attraction * read[pages]
            result[rows], reading[rows] = clicked, read[pages]
            if is_conditional:
                passed = read[pages] * (1 - attraction) / (1 - clicked)
                read[pages] = np.where(sessions.click[rows], 1 - satisfaction, passed)
            else:
                read[pages] *= (1 - satisfaction) * attraction + (1 - attraction)
        return result, reading


def fit_sdbn(sessions: Sessions) -> Sdbn:
    """Shares of clicks among readings, and of last clicks among clicks, with pseudo-counts."""
    last = np.zeros(len(sessions), dtype=np.int64)
    np.maximum.at(last, sessions.session, np.where(sessions.click, sessions.position, 0))
    limit = np.where(last, last, sessions.lengths)[sessions.session]
    is_read = (sessions.position <= limit).astype(np.float64)
    clicks = sessions.click.astype(np.float64)
    is_last = clicks * (sessions.position == last[sessions.session])
    return Sdbn(
        attractiveness=pair_shares(sessions.pair, clicks, is_read),
        satisfaction=pair_shares(sessions.pair, is_last, clicks),
    )
