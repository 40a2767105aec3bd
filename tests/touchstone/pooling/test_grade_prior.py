"""What is expected of documents that no one has judged."""

import numpy as np
import pytest

from touchstone.pooling.grade_prior import CENTRE, OF_QUERY, fit_prior, level_chances


def made_up(n_queries: int = 60, depth: int = 10, seed: int = 1):
    """Two runs whose first ranks are good; what both show is better."""
    dice = np.random.default_rng(seed)
    rows, ranks = [], []
    for query in range(n_queries):
        one, other = dice.permutation(15)[:depth] + 1, dice.permutation(15)[:depth] + 1
        for document in range(1, 16):
            places = [
                list(own).index(document) + 1 if document in own else 0 for own in (one, other)
            ]
            if any(places):
                rows.append(query)
                ranks.append(places)
    ranks_of = np.array(ranks)
    chance = 0.1 + 0.4 * np.where(ranks_of > 0, 1 / np.maximum(ranks_of, 1), 0).sum(axis=1)
    gains = (dice.random(len(rows)) < chance).astype(float)
    return ranks_of, np.array(rows), gains


def fitted(known: float, seed: int = 1):
    ranks, queries, gains = made_up(seed=seed)
    mask = np.random.default_rng(seed + 1).random(len(gains)) < known
    prior = fit_prior(ranks=ranks, queries=queries, n_queries=60, known=mask, gains=gains, top=1.0)
    return prior, ranks, queries, gains, mask


def test_without_a_label_every_pair_is_expected_the_same():
    prior, *_ = fitted(0.0)
    assert prior.mean == pytest.approx(CENTRE)


def test_what_is_expected_of_the_rest_is_nearer_to_it_than_its_mean_is():
    prior, _, _, gains, mask = fitted(0.5)
    rest = ~mask
    error = ((prior.mean - gains)[rest] ** 2).mean()
    assert error < 0.95 * gains[rest].var()
    assert prior.mean[rest].mean() == pytest.approx(gains[rest].mean(), abs=0.08)


def test_gains_of_another_scale_give_the_same_in_that_scale():
    ranks, queries, gains = made_up()
    mask = np.arange(len(gains)) % 3 == 0
    asked = {"ranks": ranks, "queries": queries, "n_queries": 60, "known": mask}
    one, four = (fit_prior(gains=gains * top, top=top, **asked) for top in (1.0, 4.0))
    assert four.mean == pytest.approx(4 * one.mean)
    weights = np.random.default_rng(3).random((len(gains), 2))
    assert four.covariance(weights) == pytest.approx(16 * one.covariance(weights))


def test_the_covariance_is_that_of_the_whole_regression_written_out():
    prior, _, queries, gains, _ = fitted(0.3)
    weights = np.random.default_rng(3).random((len(gains), 3))
    n_features = prior.features.shape[1]
    design = np.zeros((len(gains), n_features + 60))
    design[:, :n_features] = prior.features
    design[np.arange(len(gains)), n_features + queries] = 1
    # queries are what is left of them, less what the line pulls along
    pulled = np.hstack([np.eye(n_features), -prior.pull])
    whole = pulled.T @ prior.of_line @ pulled
    whole[n_features:, n_features:] += np.diag(prior.of_queries)
    sums = design.T @ weights
    expected = sums.T @ whole @ sums + weights.T @ (weights * prior.own[:, None])
    assert prior.covariance(weights) == pytest.approx(expected)
    assert np.linalg.eigvalsh(whole).min() > 0


def test_a_query_without_a_label_stays_as_unsure_as_queries_are():
    ranks, queries, gains = made_up()
    prior = fit_prior(
        ranks=ranks, queries=queries, n_queries=60, known=queries > 0, gains=gains, top=1.0
    )
    assert prior.of_queries[0] == pytest.approx(OF_QUERY**2)
    assert (prior.of_queries[1:] < OF_QUERY**2).all()


def test_a_scale_without_gain_is_refused():
    ranks, queries, gains = made_up()
    with pytest.raises(ValueError, match="gain above 0"):
        fit_prior(ranks=ranks, queries=queries, n_queries=60, known=gains > 2, gains=gains, top=0.0)


def test_level_chances_have_the_mean_and_keep_the_base_where_they_can():
    gains, base = np.array([0.0, 1.0, 3.0, 7.0]), np.array([60.0, 25.0, 10.0, 5.0])
    means = np.array([0.2, 1.0, 3.5, 6.5])
    chances = level_chances(means, gains, base)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert chances @ gains == pytest.approx(means, abs=1e-6)
    shares = base / base.sum()
    assert level_chances(np.array([shares @ gains]), gains, base)[0] == pytest.approx(
        shares, abs=1e-6
    )
