"""How well a click model predicts sessions, its own or others."""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.sessions import Sessions

Floats = NDArray[np.float64]

RANKS: Final = 10  # PyClick's RANK_MAX


class ClickModel(Protocol):
    """What can be evaluated."""

    def click_chances(self, sessions: Sessions) -> Floats:
        """(rows,), the marginal probability of a click on each result."""

    def conditional_chances(self, sessions: Sessions) -> Floats:
        """(rows,), the same, given what was clicked above it on the page."""


@dataclass(frozen=True)
class Fit:
    """log_likelihood: the mean over pages of a page's mean log probability of what was clicked.

    perplexity: as PyClick has it, the mean over ten ranks, or as many as the longest page has, of
    2^−(Σ log2 p / all pages): a rank that no page shows counts as predicted, with 1.
    perplexity_by_rank: (depth,), over the pages that show the rank; perplexity_shown: their mean.
    1 is best, 2 is a coin.
    """

    sessions: int
    log_likelihood: float
    perplexity: float
    perplexity_shown: float
    perplexity_by_rank: Floats


def evaluate(model: ClickModel, sessions: Sessions) -> Fit:
    """A model on sessions.

    Sources: PyClick's `LogLikelihood` and `Perplexity`; Dupret & Piwowarski 2008.
    """
    count, position = len(sessions), sessions.position - 1
    conditional = chances_of_outcome(model.conditional_chances(sessions), sessions)
    by_page = np.bincount(sessions.session, weights=np.log(conditional)) / sessions.lengths
    bits = -np.log2(chances_of_outcome(model.click_chances(sessions), sessions))
    ranks = max(RANKS, sessions.depth)
    sums = np.bincount(position, weights=bits, minlength=ranks)
    shown = np.bincount(position)
    by_rank = 2.0 ** (sums[: len(shown)] / shown)
    return Fit(
        sessions=count,
        log_likelihood=float(by_page.mean()),
        perplexity=float((2.0 ** (sums / count)).mean()),
        perplexity_shown=float(by_rank.mean()),
        perplexity_by_rank=by_rank,
    )


def chances_of_outcome(chances: Floats, sessions: Sessions) -> Floats:
    """(rows,), the probability of what happened. chances: of a click on each result."""
    return np.where(sessions.click, chances, 1 - chances)


def halves(sessions: Sessions, *, seed: int) -> tuple[Sessions, Sessions]:
    """The pages dealt out at random to two halves, to learn from one and evaluate on the other."""
    is_first = np.random.default_rng(seed).permutation(len(sessions)) % 2 == 0
    return sessions.select(is_first), sessions.select(~is_first)
