"""Scores of pairs with their posteriors, by formulas and by simulation."""

import numpy as np
import pytest
from scipy import stats

from touchstone.clicks.evidence import Evidence
from touchstone.clicks.scores import coec_scores, ctr_scores, examined_scores
from touchstone.clicks.simulation import make_shelf, simulate


def evidence(*rows: tuple[int, int, int, int, int]) -> Evidence:
    """rows: (query, document, rank, impressions, clicks)."""
    columns = np.array(rows, dtype=np.int64).T
    return Evidence(np.zeros(len(rows), np.int64), *columns)


ROWS = evidence((0, 1, 1, 10, 5), (0, 1, 2, 10, 2), (0, 2, 2, 20, 1), (0, 3, 3, 0, 4))


def test_the_scores_are_posterior_means_with_their_central_95_percent() -> None:
    ctr, coec = ctr_scores(ROWS), coec_scores(ROWS)
    # clicks on what was not shown have no rate
    assert ctr.document.tolist() == [1, 2]
    assert ctr.score == pytest.approx([8 / 22, 2 / 22])
    beta = stats.beta(8, 14)
    assert (ctr.low[0], ctr.high[0]) == pytest.approx(beta.interval(0.95))
    # rank 1 has a CTR of 1/2, rank 2 of 3/30: expected are 5 + 1 and 2
    assert coec.score[:2] == pytest.approx([8 / 7, 2 / 3])
    gamma = stats.gamma(2, scale=1 / 3)
    assert (coec.low[1], coec.high[1]) == pytest.approx(gamma.interval(0.95))


def test_examined_scores_leave_out_positions_that_nothing_is_known_of() -> None:
    found = examined_scores(ROWS, [1.0, 0.5])
    assert found.impressions.tolist() == [20, 20]
    assert found.score == pytest.approx([(1 + 7) / (2 + 15), (1 + 1) / (2 + 10)])
    found = examined_scores(ROWS, [1.0, None, 0.2])
    assert (found.document.tolist(), found.impressions.tolist()) == ([1], [10])


def test_examined_scores_find_attractiveness_where_rates_do_not() -> None:
    examination = np.array([1.0, 0.5, 0.25])
    shelf = make_shelf(examination, queries=40, documents=6, rankers=4, noise=1.0, seed=1)
    pages = simulate(shelf, pages=60_000, seed=2).evidence
    found, naive = examined_scores(pages, examination.tolist()), ctr_scores(pages)
    often = found.impressions > 300
    truth = shelf.attractiveness[found.query, found.document][often]
    assert np.abs(found.score[often] - truth).mean() < 0.02
    assert np.abs(naive.score[often] - truth).mean() > 0.06
    held = (found.low[often] <= truth) & (truth <= found.high[often])
    assert held.mean() > 0.93
