"""How often each interval holds the truth, by simulation.

`python -m tests.touchstone.clicks.coverage` is the long form, with 10,000 repetitions; the tests
run a short one. Prints, for each estimator, the share of 95 % intervals that hold the truth, the
mean estimate and the truth.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import process_time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.counterfactual import counterfactual
from touchstone.clicks.evidence import Evidence
from touchstone.clicks.interleaving_outcome import outcome
from touchstone.clicks.interventions import centred_band, find_interventions, position_curves
from touchstone.clicks.pbm import fit_pbm, pbm_replicates
from touchstone.clicks.rankings import Ranking, ranking_report
from touchstone.clicks.sessions import Sessions
from touchstone.clicks.simulation import make_shelf, simulate_evidence
from touchstone.statistics.clustered import Estimate

Floats = NDArray[np.float64]

EXAMINATION: Final = np.array([1, 0.6, 0.4, 0.3])
RESAMPLES: Final = 200
PBM_RESAMPLES: Final = 40


@dataclass
class Tally:
    """What the repetitions of one estimator gave. truth: the same in each."""

    truth: float
    estimates: list[float]
    holds: list[bool]

    @property
    def coverage(self) -> float:
        """The share of intervals that held the truth."""
        return float(np.mean(self.holds))

    @property
    def mean(self) -> float:
        """The mean estimate."""
        return float(np.mean(self.estimates))


Tallies = dict[str, Tally]


def add(tallies: Tallies, name: str, truth: float, estimate: tuple[float, ...]) -> None:
    """One more repetition. estimate: value, low, high; a refused one is not counted."""
    value, low, high = estimate
    if np.isfinite(value):
        tally = tallies.setdefault(name, Tally(truth, [], []))
        tally.estimates.append(value)
        tally.holds.append(bool(low <= truth <= high))


def fresh_pages(queries: int, pages: int, seed: int, *, noise: float = 1.0) -> Evidence:
    """New queries with new documents each time, so that the truth is examination alone."""
    shelf = make_shelf(
        EXAMINATION, queries=queries, documents=8, rankers=3, noise=noise, seed=2 * seed
    )
    return simulate_evidence(shelf, pages=pages, seed=2 * seed + 1)


def curves(tallies: Tallies, seed: int) -> None:
    """Examination at ranks 2 and 4 by each estimator, of 400 queries with 12,000 pages."""
    pages = fresh_pages(400, 12_000, seed)
    found = position_curves(find_interventions(pages), resamples=RESAMPLES, seed=seed)
    shown, clicks = (
        np.bincount(pages.rank, weights=counts) for counts in (pages.impressions, pages.clicks)
    )
    for place in (1, 3):
        for name, curve in found.items():
            values = (curve.examination[place], curve.low[place], curve.high[place])
            add(tallies, f"{name}, rank {place + 1}", EXAMINATION[place], values)
        naive = clicks[place + 1] / shown[place + 1] * shown[1] / clicks[1]
        add(tallies, f"CTR (naive), rank {place + 1}", EXAMINATION[place], (naive, naive, naive))


def pbm(tallies: Tallies, seed: int) -> None:
    """Examination at ranks 2 and 4 by the position-based model: 30 pages a query, and 10,000."""
    for pages in (30, 10_000):
        evidence = fresh_pages(60, 60 * pages, seed, noise=10.0 if pages > 30 else 1.0)
        examination = fit_pbm(evidence).examination
        relative = examination / examination[0]
        replicates = pbm_replicates(evidence, resamples=PBM_RESAMPLES, seed=seed)
        low, high = centred_band(relative, replicates)
        for place in (1, 3):
            values = (relative[place], low[place], high[place])
            name = f"PBM{' (biased)' if pages == 30 else ''}, {pages:,} pages a query"
            add(tallies, f"{name}, rank {place + 1}", EXAMINATION[place], values)


def policies(tallies: Tallies, seed: int) -> None:
    """A policy's mean reward from another one's log: 300 clusters of 1 to 9 decisions."""
    rng = np.random.default_rng(seed)
    logging = np.array([0.4, 0.3, 0.2, 0.1])
    target = np.array([0.1, 0.2, 0.3, 0.4])
    rewards = np.array([0.1, 0.2, 0.3, 0.5])
    cluster = np.repeat(np.arange(300), rng.integers(1, 10, size=300))
    # a cluster's own luck: its decisions are not independent
    luck = rng.uniform(0.5, 1.5, size=300)[cluster]
    action = rng.choice(4, p=logging, size=len(cluster))
    reward = (rng.random(len(cluster)) < rewards[action] * luck).astype(np.float64)
    found = counterfactual(reward, logging[action], target[action], cluster)
    truth = float(target @ rewards)
    for name, estimate in (("IPS", found.ips), ("SNIPS", found.snips)):
        add(tallies, name, truth, values_of(estimate))
    alone = counterfactual(reward, logging[action], target[action])
    add(tallies, "IPS without clusters (naive)", truth, values_of(alone.ips))
    clipped = counterfactual(reward, logging[action], target[action], cluster, clips=[2.0])
    add(tallies, "IPS clipped at 2 (biased)", truth, values_of(clipped.sensitivity[0].ips))
    add(tallies, "logged mean (naive)", truth, values_of(found.logged))


def values_of(estimate: Estimate) -> tuple[float, float, float]:
    """value, low, high."""
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.value, estimate.low, estimate.high


def ranking(tallies: Tallies, seed: int) -> None:
    """The DCG at 3 of the ranking that turns pages round, of queries that are drawn each time."""
    rng = np.random.default_rng(seed)
    queries, pages, depth = 200, 1000, 4
    attractiveness = rng.beta(1, 3, size=(queries, depth))
    query = rng.integers(0, queries, size=pages)
    click = rng.random((pages, depth)) < attractiveness[query] * EXAMINATION
    place = np.tile(np.arange(depth), pages)
    sessions = Sessions(
        np.repeat(np.arange(pages), depth),
        place + 1,
        np.repeat(query, depth),
        place,
        click.reshape(-1),
    )
    new = Ranking(
        np.repeat(np.arange(queries), depth),
        np.tile(np.arange(depth), queries),
        np.tile(depth - np.arange(depth), queries),
    )
    found = ranking_report(sessions.evidence, EXAMINATION, new, k=3)
    assert found is not None
    # a document is clicked with 1/4 where it is seen, and 3 of them are counted
    truth = 0.25 * float((1 / np.log2([2, 3, 4])).sum())
    add(tallies, "IPS-DCG@3 of a ranking", truth, values_of(found.dcg))


def mixed(tallies: Tallies, seed: int) -> None:
    """The DCG at 3 of a ranking of which pages showed four of six documents, in any order."""
    rng = np.random.default_rng(seed)
    queries, pages, depth, documents = 100, 3000, 4, 6
    attractiveness = rng.beta(1, 3, size=(queries, documents))
    query = rng.integers(0, queries, size=pages)
    shown = rng.permuted(np.tile(np.arange(documents), (pages, 1)), axis=1)[:, :depth]
    chances = attractiveness[query[:, None], shown] * EXAMINATION
    sessions = Sessions(
        np.repeat(np.arange(pages), depth),
        np.tile(np.arange(1, depth + 1), pages),
        np.repeat(query, depth),
        shown.reshape(-1),
        (rng.random(shown.shape) < chances).reshape(-1),
    )
    new = Ranking(
        np.repeat(np.arange(queries), documents),
        np.tile(np.arange(documents), queries),
        np.tile(np.arange(1, documents + 1), queries),
    )
    found = ranking_report(sessions.evidence, EXAMINATION, new, k=3)
    assert found is not None
    truth = 0.25 * float((1 / np.log2([2, 3, 4])).sum())
    add(tallies, "IPS-DCG@3 of a ranking shown in part", truth, values_of(found.dcg))


def interleaved(tallies: Tallies, seed: int) -> None:
    """Delta of pages of 80 users, each of whom has a taste of their own."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(80), rng.integers(1, 12, size=80))
    better = rng.beta(6, 4, size=80)[user]
    sign = np.where(rng.random(len(user)) < better, 1.0, -1.0)
    sign[rng.random(len(user)) < 0.2] = 0.0
    found = outcome(sign, user, resamples=500, seed=seed)
    assert found.low is not None
    assert found.high is not None
    add(tallies, "interleaving delta", 0.8 * 0.1, (found.delta, found.low, found.high))


SIMULATIONS: Final[Mapping[str, Callable[[Tallies, int], None]]] = {
    "curves": curves,
    "pbm": pbm,
    "policies": policies,
    "ranking": ranking,
    "mixed": mixed,
    "interleaved": interleaved,
}


def simulated(name: str, *, repetitions: int) -> Tallies:
    """A simulation, repeated with the seeds 0, 1, …"""
    tallies: Tallies = {}
    for seed in range(repetitions):
        SIMULATIONS[name](tallies, seed)
    return tallies


def main() -> None:
    """Print a table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10_000)
    parser.add_argument("--only", choices=SIMULATIONS, nargs="+", default=list(SIMULATIONS))
    options = parser.parse_args()
    print("| estimator | repetitions | coverage | mean estimate | truth |")
    print("|---|---|---|---|---|")
    for name in options.only:
        start = process_time()
        for estimator, tally in simulated(name, repetitions=options.repetitions).items():
            print(
                f"| {estimator} | {len(tally.holds):,} | {tally.coverage:.3f} "
                f"| {tally.mean:.4f} | {tally.truth:.4f} |",
                flush=True,
            )
        print(f"<!-- {name}: {process_time() - start:.0f} s -->", flush=True)


if __name__ == "__main__":
    main()
