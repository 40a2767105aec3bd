"""Guessing which of the requests were gold, from all that their annotators saw."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import ks_2samp, mannwhitneyu
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict

from tests.leaks.requests import Seen

# Two tests at this level: together they cry wolf less than once in ten thousand runs.
SURE = 5e-5


@dataclass(frozen=True)
class Guess:
    """How well gold could be told.

    gold, plain: requests. items: gold pairs and others, each seen in several of them. auc: of
    requests, for pairs that were not trained on; 0.5 is guessing. told_p: how likely scores so
    much higher for gold pairs are by chance, by pair. size_p: how likely sizes so different are.
    """

    gold: int
    plain: int
    items: tuple[int, int]
    same_fields: bool
    auc: float
    told_p: float
    size_p: float

    @property
    def is_told(self) -> bool:
        """Whether gold differs from other pairs beyond doubt."""
        return not self.same_fields or min(self.told_p, self.size_p) < SURE

    def __str__(self) -> str:
        return (
            f"{self.gold:,} gold and {self.plain:,} plain requests for {self.items[0]:,} and "
            f"{self.items[1]:,} pairs: fields {'equal' if self.same_fields else 'DIFFERENT'}, "
            f"sizes p = {self.size_p:.3f}, AUC on unseen pairs "
            f"{self.auc:.4f}, p = {self.told_p:.3f}"
        )


def guess(seen: Sequence[Seen], *, seed: int, trees: int = 200) -> Guess:
    """Train a forest on four fifths of the pairs, ask it about the rest, five times.

    Requests for one pair are alike, so what counts is one value for each pair: its mean score,
    its size. Which pairs are gold was drawn at random; where nothing tells, the two kinds'
    values are therefore of one distribution, and the ranks of the scores have a known one
    (Mann & Whitney 1947).
    """
    features = np.array([one.features for one in seen])
    is_gold = np.array([one.is_gold for one in seen])
    names = [one.item for one in seen]
    forest = RandomForestClassifier(
        n_estimators=trees, min_samples_leaf=5, random_state=seed, n_jobs=1
    )
    by_item = StratifiedGroupKFold(n_splits=5, shuffle=True, random_state=seed)
    chances = cross_val_predict(
        forest, features, is_gold, groups=names, cv=by_item, method="predict_proba"
    )[:, 1]
    fields = [{one.fields for one in seen if one.is_gold == kind} for kind in (True, False)]
    _, first, item = np.unique(names, return_index=True, return_inverse=True)
    scores = np.bincount(item, weights=chances) / np.bincount(item)
    sizes, golden = np.array([one.size for one in seen])[first], is_gold[first]
    told = mannwhitneyu(scores[golden], scores[~golden], alternative="greater", method="asymptotic")
    return Guess(
        gold=int(is_gold.sum()),
        plain=int((~is_gold).sum()),
        items=(int(golden.sum()), int((~golden).sum())),
        same_fields=fields[0] == fields[1],
        auc=float(roc_auc_score(is_gold, chances)),
        told_p=float(told.pvalue),
        size_p=float(ks_2samp(sizes[golden], sizes[~golden]).pvalue),
    )
