"""Click models on held-out pages: the true model predicts best, thin data is refused."""

import numpy as np
import pytest

from touchstone.clicks.fit import evaluate, halves
from touchstone.clicks.model_fits import MODELS, held_out_fits, sdbn_curve
from touchstone.clicks.sdbn import fit_sdbn
from touchstone.clicks.sessions import Sessions
from touchstone.clicks.simulation import make_shelf, simulate

EXAMINATION = np.array([1, 0.6, 0.4, 0.3])


@pytest.fixture(scope="module")
def sessions() -> Sessions:
    shelf = make_shelf(EXAMINATION, queries=20, documents=8, rankers=3, noise=3.0, seed=1)
    return simulate(shelf, pages=8000, seed=2)


def cascade(pages: int) -> Sessions:
    """Pages that are read down to the first click."""
    rng = np.random.default_rng(3)
    query = rng.integers(0, 20, size=pages)
    attractive = rng.beta(2, 3, size=(20, 6))
    document = rng.permuted(np.tile(np.arange(6), (pages, 1)), axis=1)[:, :4]
    click = rng.random((pages, 4)) < attractive[query[:, None], document]
    left = np.cumsum(click, axis=1) - click > 0
    return Sessions(
        np.repeat(np.arange(pages), 4),
        np.tile(np.arange(1, 5), pages),
        np.repeat(query, 4),
        document.reshape(-1),
        (click & ~left).reshape(-1),
    )


def test_figures_are_those_of_one_evaluation_within_their_bands(sessions: Sessions) -> None:
    fits = held_out_fits(sessions, resamples=200, seed=5)
    first, second = halves(sessions, seed=5)
    for name, learn in MODELS.items():
        expected, fit = evaluate(learn(first), second), fits[name]
        assert fit.log_likelihood.value == pytest.approx(expected.log_likelihood, abs=1e-12)
        assert fit.perplexity.value == pytest.approx(expected.perplexity_shown, abs=1e-12)
        assert fit.perplexity_by_rank == pytest.approx(expected.perplexity_by_rank, abs=1e-12)
        for one in (fit.log_likelihood, fit.perplexity):
            assert one.low < one.value < one.high


def test_the_model_that_made_the_clicks_predicts_them_best(sessions: Sessions) -> None:
    for own, pages in (("pbm", sessions), ("sdbn", cascade(8000))):
        fits = held_out_fits(pages, resamples=10, seed=1)
        best = min(fits, key=lambda name: fits[name].perplexity.value)
        assert best == own
        assert max(fits, key=lambda name: fits[name].log_likelihood.value) == own


def test_sdbn_recovers_how_far_a_cascade_is_read() -> None:
    curve = sdbn_curve(cascade(20_000), resamples=200, seed=1)
    clicks = cascade(20_000).click.reshape(-1, 4)
    left = np.cumsum(clicks, axis=1) - clicks > 0
    read = 1 - np.mean(left, axis=0)
    assert curve.examination == pytest.approx(read, abs=0.01)
    assert (np.diff(curve.examination) < 0).all()
    assert (curve.low[1:] < curve.examination[1:]).all()
    assert (curve.examination[1:] < curve.high[1:]).all()


def test_thin_pages_are_refused(sessions: Sessions) -> None:
    few = sessions.select(np.arange(len(sessions)) < 150)
    assert held_out_fits(few, resamples=10, seed=1) == {}
    assert np.isnan(sdbn_curve(few, resamples=10, seed=1).examination).all()
    one_query = sessions.select(
        np.bincount(sessions.session, weights=sessions.query == 0).astype(bool)
    )
    assert len(one_query) > 300
    assert held_out_fits(one_query, resamples=10, seed=1) == {}


def test_reading_is_certain_at_the_top_and_never_rises_down_a_page(sessions: Sessions) -> None:
    chances = fit_sdbn(sessions).reading_chances(sessions).reshape(-1, 4)
    assert (chances[:, 0] == 1).all()
    assert (np.diff(chances, axis=1) < 0).all()


def test_pages_are_in_the_same_order_however_they_come(sessions: Sessions) -> None:
    mask = np.random.default_rng(1).random(len(sessions)) < 0.3
    one = Sessions.joined([sessions])
    other = Sessions.joined([sessions.select(mask), sessions.select(~mask)])
    for name, column in vars(one).items():
        assert np.array_equal(column, getattr(other, name)), name
    assert int(one.click.sum()) == int(sessions.click.sum())
    assert sorted(one.pair.tolist()) == sorted(sessions.pair.tolist())
