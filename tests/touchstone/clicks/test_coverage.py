"""Intervals hold the truth about as often as they say: the short form of `coverage`.

Seeds are fixed; so few repetitions show a share of 0.95 four standard errors off at most.
docs/clicks.md has the long form's figures.
"""

import pytest

from tests.touchstone.clicks.coverage import simulated


@pytest.mark.parametrize(
    ("simulation", "repetitions"),
    [
        ("curves", 30),
        ("policies", 100),
        ("ranking", 100),
        ("mixed", 100),
        ("interleaved", 100),
        ("people", 30),
    ],
)
def test_intervals_hold_the_truth(simulation: str, repetitions: int) -> None:
    for name, tally in simulated(simulation, repetitions=repetitions).items():
        if "naive" not in name and "biased" not in name:
            assert tally.coverage >= 0.95 - 4 * (0.95 * 0.05 / repetitions) ** 0.5, name
            assert tally.mean == pytest.approx(tally.truth, rel=0.04), name


def test_posteriors_hold_the_truth() -> None:
    # their prior draws small scores of few clicks towards 1/2
    for name, tally in simulated("scores", repetitions=200).items():
        assert tally.coverage >= 0.95 - 4 * (0.95 * 0.05 / 200) ** 0.5, name


def test_naive_estimates_are_biased() -> None:
    tallies = simulated("policies", repetitions=10) | simulated("curves", repetitions=5)
    for name in ("logged mean (naive)", "IPS clipped at 2 (biased)", "CTR (naive), rank 4"):
        assert tallies[name].mean < 0.75 * tallies[name].truth
        assert tallies[name].coverage == 0.0
    # pages on which a click is often not the last are read further than SDBN assumes
    for name, tally in simulated("sdbn", repetitions=2).items():
        assert (tally.mean < tally.truth) == ("50%" in name), name
    # EM's pseudo-counts are the stronger, the fewer pages a document has
    for name, tally in simulated("pbm", repetitions=2).items():
        few = "biased" in name
        assert (0.5 if few else 0.97) * tally.truth < tally.mean, name
        assert tally.mean < (0.95 if few else 1.05) * tally.truth, name
