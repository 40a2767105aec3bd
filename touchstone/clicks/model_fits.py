"""How well click models predict held-out pages, and the positions that SDBN takes for read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.ctr import fit_document_ctr, fit_rank_ctr
from touchstone.clicks.fit import ClickModel, chances_of_outcome, halves
from touchstone.clicks.interventions import FEWEST_CLICKS, PositionCurve, band
from touchstone.clicks.pbm import fit_pbm
from touchstone.clicks.sdbn import fit_sdbn
from touchstone.clicks.sessions import Sessions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_PAGES: Final = 100  # held out
FEWEST_QUERIES: Final = 10  # of the pages held out
FEWEST_PAGES_EACH: Final = 10  # of a pair, on average, or SDBN is mostly its pseudo-counts
QUERIES: Final = 4096  # resampled at a time

MODELS: Final[Mapping[str, Callable[[Sessions], ClickModel]]] = {
    "rank_ctr": fit_rank_ctr,
    "document_ctr": fit_document_ctr,
    "pbm": lambda sessions: fit_pbm(sessions.evidence),
    "sdbn": fit_sdbn,
}


@dataclass(frozen=True)
class Banded:
    """A figure with its band of 95 %, by resampling queries."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class HeldOutFit:
    """A model on the half of the pages that it was not fitted to.

    log_likelihood: the mean over pages of a page's mean log probability of what was clicked.
    perplexity: the mean over the positions of perplexity_by_rank, (depth,). 1 is best, 2 a coin.
    """

    log_likelihood: Banded
    perplexity: Banded
    perplexity_by_rank: Floats


def held_out_fits(sessions: Sessions, *, resamples: int, seed: int) -> dict[str, HeldOutFit]:
    """Each model, fitted to a random half of the pages and evaluated on the other half.

    Empty where the other half has fewer than FEWEST_PAGES pages, FEWEST_QUERIES queries or
    FEWEST_CLICKS clicks.
    """
    if len(sessions) < 2:
        return {}
    first, second = halves(sessions, seed=seed)
    queries, query = np.unique(second.query, return_inverse=True)
    clicks = int(second.click.sum())
    if len(second) < FEWEST_PAGES or len(queries) < FEWEST_QUERIES or clicks < FEWEST_CLICKS:
        return {}
    return {
        name: _held_out(learn(first), second, query, resamples=resamples, seed=seed)
        for name, learn in MODELS.items()
    }


def sdbn_curve(sessions: Sessions, *, resamples: int, seed: int) -> PositionCurve:
    """The probability that people read down to each position, by SDBN.

    NaN where a position has fewer than FEWEST_CLICKS clicks, or its documents were shown on fewer
    than FEWEST_PAGES_EACH pages on average.
    """
    depth, position = sessions.depth, sessions.position - 1
    _, query = np.unique(sessions.query, return_inverse=True)
    _, pair, counts = np.unique(sessions.pair, return_inverse=True, return_counts=True)
    read = fit_sdbn(sessions).reading_chances(sessions)
    shown = np.bincount(position).astype(np.float64)
    each = np.bincount(position, weights=counts[pair]) / shown
    clicks = np.bincount(position[sessions.click], minlength=depth)
    enough = (clicks >= FEWEST_CLICKS) & (each >= FEWEST_PAGES_EACH)
    sums = np.stack(
        [_by_query(query, position, depth, weights) for weights in (read, np.ones(len(read)))]
    )
    totals, drawn = sums.sum(axis=1), _resampled(sums, resamples, seed)
    # a resample may draw no query with so deep a page
    low, high = band(drawn[0] / np.maximum(drawn[1], 1))
    refused = np.where(enough, 1.0, np.nan)
    return PositionCurve(totals[0] / totals[1] * refused, low * refused, high * refused)


def _held_out(
    model: ClickModel, sessions: Sessions, query: Ints, *, resamples: int, seed: int
) -> HeldOutFit:
    depth, position = sessions.depth, sessions.position - 1
    logs = np.log(chances_of_outcome(model.conditional_chances(sessions), sessions))
    bits = -np.log2(chances_of_outcome(model.click_chances(sessions), sessions))
    part_of_page = 1 / sessions.lengths[sessions.session]
    columns = [
        _by_query(query, np.zeros_like(position), depth, logs * part_of_page),
        _by_query(query, np.zeros_like(position), depth, part_of_page),
        _by_query(query, position, depth, bits),
        _by_query(query, position, depth, np.ones(len(bits))),
    ]
    sums = np.stack(columns)
    total = sums.sum(axis=1)[:, None]
    likelihood, by_rank = _figures(total)
    drawn_likelihood, drawn_by_rank = _figures(_resampled(sums, resamples, seed))
    return HeldOutFit(
        _banded(likelihood[0], drawn_likelihood),
        _banded(by_rank[0].mean(), drawn_by_rank.mean(axis=1)),
        by_rank[0],
    )


def _figures(sums: Floats) -> tuple[Floats, Floats]:
    """Log-likelihood (batch,) and perplexity by rank (batch, depth). sums: (4, batch, depth)."""
    logs, pages, bits, shown = sums
    # a resample may draw no query with a deep page: nothing is added there
    return logs[:, 0] / pages[:, 0], 2.0 ** (bits / np.maximum(shown, 1))


def _banded(value: float, replicates: Floats) -> Banded:
    low, high = band(replicates[:, None])
    return Banded(float(value), float(low[0]), float(high[0]))


def _by_query(query: Ints, position: Ints, depth: int, weights: Floats) -> Floats:
    """(queries, depth), the sum of each query's rows at each position."""
    queries = int(query.max()) + 1
    sums = np.bincount(query * depth + position, weights=weights, minlength=queries * depth)
    return sums.reshape(queries, depth).astype(np.float64)


def _resampled(sums: Floats, resamples: int, seed: int) -> Floats:
    """(tables, resamples, depth), summed over queries that count as Poisson variables of mean 1.

    sums: (tables, queries, depth).
    """
    rng = np.random.default_rng(seed)
    result = np.zeros((len(sums), resamples, sums.shape[2]))
    for start in range(0, sums.shape[1], QUERIES):
        part = sums[:, start : start + QUERIES]
        result += rng.poisson(1.0, size=(resamples, part.shape[1])).astype(np.float64) @ part
    return result
