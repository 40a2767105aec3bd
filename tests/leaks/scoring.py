"""How well scores tell gold from other pairs, and how likely chance is to do as well."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

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


@dataclass(frozen=True)
class Score:
    """What a strategy is worth on the pairs of persons it was not fitted on.

    auc: the probability that of a gold pair and another of the same person the gold pair has the
    higher score; ties count half. p: two-sided, of permutations within persons, by their normal
    approximation. precision, recall: guessing as many pairs of each person as are gold; ties by
    expectation. by_lot: the same of a guess by lot; above the share of gold, because who has more
    of it guesses more. rate: the share of gold. gold: pairs, in both halves.
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
        [(predict(one.features), one.is_gold, one.weights) for one in held_out],
        gold=sum(int(one.is_gold.sum()) for one in seen),
    )


def _fit(seen: Sequence[Seen], *, seed: int) -> Callable[[Array], Array]:
    features = np.concatenate([one.features for one in seen])
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


def measure(persons: Sequence[tuple[Array, NDArray[np.bool_], Array]], *, gold: int) -> Score:
    """What scores are worth. persons: of each its scores, what is gold, and the weights."""
    wins, pairs, variance = 0.0, 0.0, 0.0
    hits, by_lot, wanted, everything = 0.0, 0.0, 0.0, 0.0
    for scores, is_gold, weights in persons:
        golden, count = int(is_gold.sum()), len(scores)
        hits += _expected_hits(scores, is_gold, weights)
        by_lot += golden**2 / float(weights.sum())
        wanted += golden
        everything += float(weights.sum())
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
