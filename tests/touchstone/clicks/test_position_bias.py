"""Examination: known propensities are recovered, naive estimates are biased, thin data refused."""

import numpy as np
import pytest
from scipy.optimize import minimize

from touchstone.clicks.all_pairs import all_pairs, connected
from touchstone.clicks.ctr import fit_rank_ctr
from touchstone.clicks.interventions import (
    adjacent_chain,
    centred_band,
    find_interventions,
    pivot_one,
    position_curves,
)
from touchstone.clicks.pbm import fit_pbm, pbm_replicates
from touchstone.clicks.sessions import Sessions
from touchstone.clicks.simulation import make_shelf, simulate

EXAMINATION = np.array([1, 0.7, 0.55, 0.45, 0.38, 0.33])


@pytest.fixture(scope="module")
def sessions() -> Sessions:
    shelf = make_shelf(EXAMINATION, queries=300, documents=12, rankers=3, noise=1.0, seed=1)
    return simulate(shelf, pages=200_000, seed=2)


def test_known_examination_is_recovered(sessions: Sessions) -> None:
    curves = position_curves(find_interventions(sessions.evidence), resamples=0)
    for name, curve in curves.items():
        assert curve.examination == pytest.approx(EXAMINATION, rel=0.05), name
        assert np.isnan(curve.low).all()


def test_the_model_recovers_examination_where_rankings_are_nearly_random() -> None:
    shelf = make_shelf(EXAMINATION, queries=300, documents=6, rankers=20, noise=10.0, seed=1)
    pbm = fit_pbm(simulate(shelf, pages=100_000, seed=2).evidence).examination
    assert pbm / pbm[0] == pytest.approx(EXAMINATION, rel=0.02)


def test_the_model_takes_less_where_good_documents_stand_on_top(sessions: Sessions) -> None:
    # its pseudo-counts make rarely seen documents, which stand low, look attractive
    pbm = fit_pbm(sessions.evidence).examination
    relative = pbm / pbm[0] / EXAMINATION
    assert (relative[1:] < 1).all()
    assert (relative > 0.9).all()
    # but far less than the click-through rate takes
    rates = fit_rank_ctr(sessions).rates
    assert (relative[1:] > rates[1:] / rates[0] / EXAMINATION[1:] + 0.1).all()


def test_the_click_through_rate_takes_the_rankers_merit_for_examination(sessions: Sessions) -> None:
    rates = fit_rank_ctr(sessions).rates
    assert (rates[1:] / rates[0] < 0.9 * EXAMINATION[1:]).all()


def test_all_pairs_is_where_the_likelihood_is_greatest(sessions: Sessions) -> None:
    found = find_interventions(sessions.select(np.arange(len(sessions)) < 3000).evidence)
    hits, misses = found.hits.sum(axis=0), found.misses.sum(axis=0)
    depth = len(hits)
    rows, columns = np.nonzero(np.triu(np.ones((depth, depth)), 1))

    def unlikelihood(logs: np.ndarray) -> float:
        p = np.concatenate([[0.0], logs[: depth - 1]])
        r = np.zeros((depth, depth))
        r[rows, columns] = r[columns, rows] = logs[depth - 1 :]
        theta = np.minimum(p[:, None] + r, -1e-9)
        mask = ~np.eye(depth, dtype=bool)
        terms = hits * theta + misses * np.log1p(-np.exp(theta))
        return -float(terms[mask].sum())

    start = np.concatenate([np.zeros(depth - 1), np.full(len(rows), -2.0)])
    best = minimize(unlikelihood, start, method="BFGS", options={"gtol": 1e-7})
    everything = ~np.eye(depth, dtype=bool)
    estimate = all_pairs(hits[None], misses[None], everything)[0]
    assert estimate[1:] == pytest.approx(np.exp(best.x[: depth - 1]), rel=1e-4)


def test_ratios_are_the_formulas() -> None:
    hits = np.array([[[0, 4, 6], [2, 0, 3], [1, 2, 0]]], dtype=np.float64)
    everything = ~np.eye(3, dtype=bool)
    assert pivot_one(hits, hits, everything)[0] == pytest.approx([1, 2 / 4, 1 / 6])
    chain = adjacent_chain(hits, hits, everything)[0]
    assert chain == pytest.approx([1, 2 / 4, 2 / 4 * 2 / 3])


def sets(*rows: str) -> np.ndarray:
    return np.array([[sign == "x" for sign in row] for row in rows])


def test_what_no_set_supports_is_refused() -> None:
    # 1-2 and 3-4 are compared, 2-3 is not; 5 is compared with 1
    supported = sets("-x--x", "x----", "---x-", "--x--", "x----")
    rng = np.random.default_rng(1)
    hits, misses = rng.uniform(1, 2, size=(2, 2, 5, 5))
    assert connected(supported).tolist() == [True, True, False, False, True]
    known = {
        "all pairs": (all_pairs, [0, 1, 4]),
        "pivot": (pivot_one, [0, 1, 4]),
        "chain": (adjacent_chain, [0, 1]),
    }
    for name, (estimate, positions) in known.items():
        found = estimate(hits, misses, supported)
        assert np.flatnonzero(np.isfinite(found[0])).tolist() == positions, name
    nothing = all_pairs(hits, misses, np.zeros((5, 5), dtype=bool))
    assert np.isfinite(nothing[0]).tolist() == [True, False, False, False, False]


def test_interventions_are_documents_that_moved() -> None:
    # of query 1, document 5 stands at 1 (twice, one click) and at 2 (once, clicked)
    sessions = Sessions(
        session=np.array([0, 0, 1, 1, 2, 2, 3, 3]),
        position=np.array([1, 2, 1, 2, 1, 2, 1, 2]),
        query=np.array([1, 1, 1, 1, 1, 1, 2, 2]),
        document=np.array([5, 6, 5, 6, 7, 5, 5, 6]),
        click=np.array([True, False, False, False, False, True, True, True]),
    )
    found = find_interventions(sessions.evidence)
    assert found.documents.tolist() == [[0, 1], [1, 0]]
    assert found.clicks.tolist() == [[0, 1], [1, 0]]
    assert found.hits.tolist() == [[[0, 0.5], [1.0, 0]]]
    assert found.misses.tolist() == [[[0, 0.5], [0.0, 0]]]
    assert not found.is_supported.any()
    curves = position_curves(found, resamples=10)
    assert all(np.isnan(curve.examination[1]) for curve in curves.values())


def test_bands_hold_the_estimate_and_follow_from_their_seed(sessions: Sessions) -> None:
    found = find_interventions(sessions.evidence)
    curves = position_curves(found, resamples=100, seed=4)
    again = position_curves(found, resamples=100, seed=4)
    for name, curve in curves.items():
        assert (curve.low[1:] < curve.examination[1:]).all()
        assert (curve.examination[1:] < curve.high[1:]).all()
        assert np.array_equal(curve.low, again[name].low)
    some = sessions.select(np.arange(len(sessions)) < 20_000)
    relative = fit_pbm(some.evidence).examination / fit_pbm(some.evidence).examination[0]
    low, high = centred_band(relative, pbm_replicates(some.evidence, resamples=40, seed=4))
    assert ((low[1:] < relative[1:]) & (relative[1:] < high[1:])).all()
