"""Click logs with known examination and attractiveness, to see what estimators make of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.evidence import Evidence, counted
from touchstone.clicks.sessions import Sessions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Shelf:
    """What people may see: queries with documents, and rankers that show them.

    attractiveness: (queries, documents). rankings: (queries, rankers, depth), the documents that
    each ranker shows, best first. examination: (depth,), the chance that a position is seen.
    """

    attractiveness: Floats
    rankings: Ints
    examination: Floats


def make_shelf(
    examination: Floats, *, queries: int, documents: int, rankers: int, noise: float, seed: int
) -> Shelf:
    """Rankers that know attractiveness up to normal noise on its logit.

    documents: of each query, at least as many as there are positions.
    """
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.5, 1.0, size=(queries, documents))
    scores = logits[:, None, :] + rng.normal(0, noise, size=(queries, rankers, documents))
    rankings = np.argsort(-scores, axis=2, kind="stable")[:, :, : len(examination)]
    return Shelf(1 / (1 + np.exp(-logits)), rankings, np.asarray(examination, dtype=np.float64))


def simulate(shelf: Shelf, *, pages: int, seed: int) -> Sessions:
    """Pages of random queries by random rankers, clicked as the position-based model says."""
    rng = np.random.default_rng(seed)
    queries, rankers, depth = shelf.rankings.shape
    query = rng.integers(0, queries, size=pages)
    shown = shelf.rankings[query, rng.integers(0, rankers, size=pages)]
    chances = shelf.attractiveness[query[:, None], shown] * shelf.examination
    click = rng.random(shown.shape) < chances
    return Sessions(
        session=np.repeat(np.arange(pages), depth),
        position=np.tile(np.arange(1, depth + 1), pages),
        query=np.repeat(query, depth),
        document=shown.reshape(-1).astype(np.int64),
        click=click.reshape(-1),
    )


def simulate_evidence(shelf: Shelf, *, pages: int, seed: int) -> Evidence:
    """The counts of such pages, drawn as counts: as `simulate(…).evidence` is distributed.

    Its cost does not depend on the number of pages.
    """
    rng = np.random.default_rng(seed)
    queries, rankers, depth = shelf.rankings.shape
    cells = queries * rankers
    shown = rng.multinomial(pages, np.full(cells, 1 / cells)).reshape(queries, rankers, 1)
    document = shelf.rankings
    query = np.arange(queries)[:, None, None]
    clicks = rng.binomial(shown, shelf.attractiveness[query, document] * shelf.examination)
    query, impressions, rank = (
        np.broadcast_to(column, document.shape).reshape(-1)
        for column in (query, shown, np.arange(1, depth + 1))
    )
    key = (np.zeros_like(query), query, document.reshape(-1), rank)
    table = counted(key, impressions, clicks.reshape(-1))
    return table.select(table.impressions > 0)
