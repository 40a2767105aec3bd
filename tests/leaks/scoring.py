"""How well scores tell gold from other pairs, and how likely chance is to do as well."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """The pairs that one person was offered, as one strategy sees them.

    features: (pairs, features), NaN where nothing was observed. is_gold: (pairs,). weights:
    (pairs,), how many pairs each stands for. half: 0 to fit on, 1 to score on.
    """

    half: int
    percent: int
    features: Array
    is_gold: NDArray[np.bool_]
    weights: Array


class Scored(NamedTuple):
    """A person's pairs with a strategy's scores; the rest as in `Seen`."""

    percent: int
    scores: Array
    is_gold: NDArray[np.bool_]
    weights: Array


@dataclass(frozen=True)
class Score:
    """What a strategy is worth on the pairs of persons it was not fitted on.

    auc: the probability that of a gold pair and another of the same person the gold pair has the
    higher score; ties count half. p: two-sided, of permutations within persons, by their normal
    approximation. precision, recall: guessing as many pairs as are gold, among all persons of
    whom so many percent were to be gold; ties by expectation. by_lot: the same of a guess by lot;
    above the share of gold, because more is guessed where there is more. rate: the share of gold.
    gold: pairs, in both halves.
    """

    gold: int
    auc: float
    standard_error: float
    p: float
    precision: float
    recall: float
    by_lot: float
    rate: float


def score(seen: Sequence[Seen], *, seed: int) -> Score:
    """Fit a classifier on one half of the persons and score the other half."""
    fitted = [one for one in seen if one.half == 0]
    held_out = [one for one in seen if one.half == 1]
    predict = _fit(fitted, seed=seed)
    return measure(
        [Scored(one.percent, predict(one.features), one.is_gold, one.weights) for one in held_out],
        gold=sum(int(one.is_gold.sum()) for one in seen),
    )


def _fit(seen: Sequence[Seen], *, seed: int) -> Callable[[Array], Array]:
    features = np.concatenate([one.features for one in seen])
    features[:, np.isnan(features).all(axis=0)] = 0.0  # the trees refuse a column without a value
    is_gold = np.concatenate([one.is_gold for one in seen])
    weights = np.concatenate([one.weights for one in seen])
    trees = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=8,
        learning_rate=0.1,
        random_state=seed,
        early_stopping=False,
        min_samples_leaf=10,
    )
    with threadpool_limits(1):
        trees.fit(features, is_gold, sample_weight=weights)

    def predict(rows: Array) -> Array:
        with threadpool_limits(1):
            return trees.predict_proba(rows)[:, 1]

    return predict


def measure(persons: Sequence[Scored], *, gold: int) -> Score:
    """What scores are worth."""
    hits, by_lot, wanted, everything = 0.0, 0.0, 0.0, 0.0
    for percent in {one.percent for one in persons}:
        own = [one for one in persons if one.percent == percent]
        scores, are_gold, weights = (
            np.concatenate(column) for column in list(zip(*own, strict=True))[1:]
        )
        golden, among = float(are_gold.sum()), float(weights.sum())
        hits += _expected_hits(scores, are_gold, weights)
        by_lot += golden**2 / among
        wanted += golden
        everything += among
    wins, pairs, variance = 0.0, 0.0, 0.0
    for _, scores, is_gold, _ in persons:
        golden, count = int(is_gold.sum()), len(scores)
        if not 0 < golden < count:
            continue
        ranks = rankdata(scores)
        wins += float(ranks[is_gold].sum()) - golden * (golden + 1) / 2
        pairs += golden * (count - golden)
        variance += golden * (count - golden) / count * float(ranks.var(ddof=1))
    auc, error = wins / pairs, sqrt(variance) / pairs
    z = (auc - 0.5) / error if error else 0.0
    return Score(
        gold=gold,
        auc=auc,
        standard_error=error,
        p=float(2 * norm.sf(abs(z))),
        precision=hits / wanted,
        recall=hits / wanted,
        by_lot=by_lot / wanted,
        rate=wanted / everything,
    )


def _expected_hits(scores: Array, is_gold: NDArray[np.bool_], weights: Array) -> float:
    """How many gold pairs are among the highest scores, as many as are gold; ties drawn by lot."""
    left, hits = float(is_gold.sum()), 0.0
    for value in np.unique(scores)[::-1]:
        tied = scores == value
        share = min(1.0, left / float(weights[tied].sum()))
        hits += share * float(is_gold[tied].sum())
        left -= share * float(weights[tied].sum())
        if left <= 0:
            break
    return hits
