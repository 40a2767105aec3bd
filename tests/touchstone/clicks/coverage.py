"""How often each interval holds the truth, by simulation.

`python -m tests.touchstone.clicks.coverage` is the long form, with 10,000 repetitions; the tests
run a short one. Interrupted, it goes on with the next simulation. Prints, for each estimator, the
share of 95 % intervals that hold the truth, the mean estimate and the truth.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from time import process_time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.agreement.kappas import cohen_kappa
from touchstone.clicks.counterfactual import counterfactual
from touchstone.clicks.evidence import Evidence
from touchstone.clicks.interleaving_outcome import outcome
from touchstone.clicks.interventions import centred_band, find_interventions, position_curves
from touchstone.clicks.model_fits import sdbn_curve
from touchstone.clicks.pbm import fit_pbm, pbm_replicates
from touchstone.clicks.people import (
    Binning,
    binned_agreement,
    preference_auc,
    rank_correlation,
)
from touchstone.clicks.rankings import Ranking, ranking_report
from touchstone.clicks.scores import ctr_scores, examined_scores
from touchstone.clicks.sessions import Sessions
from touchstone.clicks.simulation import make_shelf, simulate_evidence
from touchstone.statistics.clustered import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXAMINATION: Final = np.array([1, 0.6, 0.4, 0.3])
RESAMPLES: Final = 200
PBM_RESAMPLES: Final = 40


@dataclass
class Tally:
    """What the repetitions of one estimator gave. truths: what each was to find."""

    truths: list[float]
    estimates: list[float]
    holds: list[bool]

    @property
    def coverage(self) -> float:
        """The share of intervals that held the truth."""
        return float(np.mean(self.holds))

    @property
    def truth(self) -> float:
        """What they were to find, on average."""
        return float(np.mean(self.truths))

    @property
    def mean(self) -> float:
        """The mean estimate."""
        return float(np.mean(self.estimates))


Tallies = dict[str, Tally]


def add(tallies: Tallies, name: str, truth: float, estimate: tuple[float, ...]) -> None:
    """One more repetition. estimate: value, low, high; a refused one is not counted."""
    value, low, high = estimate
    if np.isfinite(value):
        tally = tallies.setdefault(name, Tally([], [], []))
        tally.truths.append(truth)
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


def cascade_pages(seed: int, *, queries: int, pages: int, satisfaction: float) -> Sessions:
    """Pages read from the top until a click satisfies, by three rankers that know good documents.

    satisfaction: the probability that a click does.
    """
    shelf = make_shelf(
        EXAMINATION, queries=queries, documents=8, rankers=3, noise=1.0, seed=2 * seed
    )
    rng = np.random.default_rng(2 * seed + 1)
    query = rng.integers(0, queries, size=pages)
    shown = shelf.rankings[query, rng.integers(0, 3, size=pages)]
    attracts = rng.random(shown.shape) < shelf.attractiveness[query[:, None], shown]
    ends = attracts & (rng.random(shown.shape) < satisfaction)
    depth = len(EXAMINATION)
    is_read: NDArray[np.bool_] = np.cumsum(ends, axis=1) == ends
    return Sessions(
        np.repeat(np.arange(pages), depth),
        np.tile(np.arange(1, depth + 1), pages),
        np.repeat(query, depth),
        shown.reshape(-1).astype(np.int64),
        (attracts & is_read).reshape(-1),
    )


@cache
def reading(satisfaction: float) -> Floats:
    """The probability that each position is read on such pages, of half a million queries."""
    shelf = make_shelf(EXAMINATION, queries=500_000, documents=8, rankers=3, noise=1.0, seed=1)
    query = np.arange(500_000)[:, None, None]
    passed = 1 - satisfaction * shelf.attractiveness[query, shelf.rankings]
    before = np.cumprod(passed, axis=2)[:, :, :-1]
    return np.concatenate([[1.0], before.mean(axis=(0, 1))])


def sdbn(tallies: Tallies, seed: int) -> None:
    """The probability that ranks 2 and 4 are read, by SDBN, with few pages a query."""
    for satisfaction in (1.0, 0.5):
        pages = cascade_pages(seed, queries=200, pages=6000, satisfaction=satisfaction)
        name = f"SDBN (biased), 30 pages a query, {satisfaction:.0%} of clicks satisfy"
        _add_sdbn(tallies, name, pages, satisfaction, seed)


def sdbn_with_many(tallies: Tallies, seed: int) -> None:
    """The same with 1,000 pages a query, where every click satisfies."""
    pages = cascade_pages(seed, queries=60, pages=60_000, satisfaction=1.0)
    _add_sdbn(tallies, "SDBN, 1,000 pages a query, 100% of clicks satisfy", pages, 1.0, seed)


def _add_sdbn(tallies: Tallies, name: str, pages: Sessions, satisfaction: float, seed: int) -> None:
    curve = sdbn_curve(pages, resamples=RESAMPLES, seed=seed)
    for place in (1, 3):
        values = (curve.examination[place], curve.low[place], curve.high[place])
        add(tallies, f"{name}, rank {place + 1}", float(reading(satisfaction)[place]), values)


def scores(tallies: Tallies, seed: int) -> None:
    """Attractiveness of documents shown 25 to 100 times at each rank; click-through rate at one."""
    rng = np.random.default_rng(seed)
    attractive, shown = np.array([0.05, 0.2, 0.6]), np.array([100, 100, 50, 25])
    document, rank = (grid.reshape(-1) for grid in np.indices((3, 4)))
    clicks = rng.binomial(shown[rank], attractive[document] * EXAMINATION[rank])
    none = np.zeros(12, np.int64)
    own = Evidence(none, none, document, rank + 1, shown[rank], clicks)
    found = examined_scores(own, EXAMINATION.tolist())
    first = ctr_scores(own.select(own.rank == 1))
    for name, one in (("clicks over examined impressions", found), ("CTR at one rank", first)):
        for place, truth in enumerate(attractive.tolist()):
            values = (one.score[place], one.low[place], one.high[place])
            add(tallies, f"{name}, attractiveness {truth}", truth, values)


def graded(seed: int, queries: int) -> tuple[Ints, Floats, Ints]:
    """Scores and grades of ten documents a query; some queries' scores say more than others'."""
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, 4, size=(queries, 10))
    noise = rng.uniform(0.3, 3.0, size=(queries, 1))
    score = grade + rng.normal(size=grade.shape) * noise
    return np.repeat(np.arange(queries), 10), score.reshape(-1), grade.reshape(-1)


@cache
def many_graded() -> tuple[Ints, Floats, Ints]:
    """What agreement is of, of 20,000 queries."""
    return graded(0, 20_000)


@cache
def agreement_of_all() -> tuple[float, float]:
    """AUC and tau-b of them."""
    query, score, grade = many_graded()
    auc, tau = (
        preference_auc(query, score, grade.astype(np.float64)),
        rank_correlation(query, score, grade.astype(np.float64)),
    )
    assert auc is not None
    assert tau is not None
    return auc.auc.value, tau[0].value


def kappa_of_all(binning: Binning) -> float:
    """Kappa of some bins on them."""
    _, score, grade = many_graded()
    table = np.bincount(4 * binning.of(score) + grade, minlength=16).reshape(4, 4)
    value = cohen_kappa(table, range(4), resamples=0).value
    assert value is not None
    return value


def people(tallies: Tallies, seed: int) -> None:
    """Agreement of scores with people's grades of 100 queries; kappa is of the bins they taught."""
    query, score, grade = graded(1 + seed, 100)
    auc, tau = (
        preference_auc(query, score, grade.astype(np.float64)),
        rank_correlation(query, score, grade.astype(np.float64)),
    )
    binned = binned_agreement(query, score, grade, range(4), resamples=500, seed=seed)
    assert auc is not None
    assert tau is not None
    assert binned is not None
    kappa = binned.kappa
    assert kappa.value is not None
    assert kappa.low is not None
    assert kappa.high is not None
    truths = agreement_of_all()
    add(tallies, "preference AUC", truths[0], values_of(auc.auc))
    add(tallies, "tau-b", truths[1], values_of(tau[0]))
    of_bins = kappa_of_all(binned.binning)
    add(tallies, "weighted kappa, held out", of_bins, (kappa.value, kappa.low, kappa.high))


SIMULATIONS: Final[Mapping[str, Callable[[Tallies, int], None]]] = {
    "curves": curves,
    "pbm": pbm,
    "policies": policies,
    "ranking": ranking,
    "mixed": mixed,
    "interleaved": interleaved,
    "scores": scores,
    "people": people,
    "sdbn": sdbn,
    "sdbn_with_many": sdbn_with_many,
}


def simulated(name: str, *, repetitions: int) -> Tallies:
    """A simulation, repeated with the seeds 0, 1, …; interrupted, those that are done."""
    tallies: Tallies = {}
    try:
        for seed in range(repetitions):
            SIMULATIONS[name](tallies, seed)
    except KeyboardInterrupt:
        print("<!-- interrupted -->")
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
