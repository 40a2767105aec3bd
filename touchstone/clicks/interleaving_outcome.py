"""Which of two interleaved rankers wins, and how sure that is.

Source: Chapelle, Joachims, Radlinski & Yue 2012, "Large-scale validation and analysis of
interleaved search evaluation".
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RESAMPLES: Final = 10_000
CONFIDENCE: Final = 0.95
CELLS: Final = 1 << 22  # resampled users held at a time


@dataclass(frozen=True)
class InterleavingOutcome:
    """wins, losses, ties: result pages with a click, by which of two rankers got more credit.

    delta: (wins + ties / 2) / (wins + losses + ties) − 1/2, above 0 where the first one is better.
    low, high: its interval, by resampling users; None with fewer than two of them.
    p_value: of the sign test on the pages without a tie, two-sided and exact; it takes pages for
    independent, which those of one user are not.
    """

    wins: int
    losses: int
    ties: int
    users: int
    delta: float
    low: float | None
    high: float | None
    p_value: float


def outcome(
    differences: Floats, users: Ints, *, resamples: int = RESAMPLES, seed: int = 0
) -> InterleavingOutcome:
    """The outcome over result pages that were clicked.

    differences: (pages,), the first ranker's credit minus the second's. users: (pages,), codes.
    Raises ValueError without a page.
    """
    if not len(differences):
        raise ValueError("no page was clicked")
    _, user = np.unique(users, return_inverse=True)
    count = int(user.max()) + 1
    signs = np.sign(differences)
    wins, losses = int((signs > 0).sum()), int((signs < 0).sum())
    untied = wins + losses
    # (wins + t/2)/n − 1/2 is half the mean sign
    sums = np.bincount(user, weights=signs, minlength=count).astype(np.float64)
    pages = np.bincount(user, minlength=count).astype(np.float64)
    low = high = None
    if count > 1 and resamples:
        replicates = _replicates(sums, pages, resamples, seed)
        tail = (1 - CONFIDENCE) / 2
        low, high = map(float, np.quantile(replicates, [tail, 1 - tail], method="weibull"))
    tail_chance = float(bdtr(min(wins, losses), untied, 0.5)) if untied else 0.5
    return InterleavingOutcome(
        wins=wins,
        losses=losses,
        ties=len(signs) - untied,
        users=count,
        delta=(wins - losses) / (2 * len(signs)),
        low=low,
        high=high,
        p_value=min(1.0, 2 * tail_chance),
    )


def _replicates(sums: Floats, pages: Floats, resamples: int, seed: int) -> Floats:
    """Delta of resampled users."""
    rng = np.random.default_rng(seed)
    users = len(sums)
    result = np.empty(resamples)
    step = max(1, CELLS // users)
    for start in range(0, resamples, step):
        some = min(step, resamples - start)
        weights = rng.multinomial(users, np.full(users, 1 / users), size=some)
        result[start : start + some] = (weights @ sums) / (2 * (weights @ pages))
    return result
