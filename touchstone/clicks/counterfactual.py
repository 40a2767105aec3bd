"""What a policy or a ranking would have got, from what another one got: inverse propensities.

Sources: Horvitz & Thompson 1952; Swaminathan & Joachims 2015 (SNIPS); Joachims, Swaminathan &
Schnabel 2017 (clicks weighted by examination); Liang & Zeger 1986 (variance by clusters).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.statistics.clustered import Estimate, clustered_mean, clustered_ratio

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST: Final = 5  # weights that are shown
CLIPS: Final = (0.999, 0.99, 0.95, 0.9)  # quantiles of the weights at which they are clipped


@dataclass(frozen=True)
class Clipped:
    """clip: the largest weight that is left as it is. share: of the observations beyond it."""

    clip: float
    share: float
    ips: Estimate


@dataclass(frozen=True)
class Counterfactual:
    """ips, snips: the mean reward under the target policy. logged: under the logging policy.

    ess: the effective sample size (Σw)² / Σw². largest: (row, weight), the largest first.
    sensitivity: the estimate with weights clipped, by falling clips.
    """

    n: int
    clusters: int
    logged: Estimate
    ips: Estimate
    snips: Estimate
    ess: float
    largest: tuple[tuple[int, float], ...]
    sensitivity: tuple[Clipped, ...]


def counterfactual(
    rewards: Floats,
    logging: Floats,
    target: Floats,
    clusters: Ints | None = None,
    *,
    clips: Sequence[float] | None = None,
) -> Counterfactual:
    """Inverse propensity estimates of a target policy's mean reward.

    rewards, logging, target: (n,), what came of each logged action and the probabilities that the
    two policies give it. clusters: (n,), what is independent of each other, such as queries; None
    for every row by itself. clips: the weights to clip at; quantiles of the weights unless given.
    Raises ValueError for no rows, a logging probability that is not above 0, or any above 1.
    """
    if not len(rewards):
        raise ValueError("there is no observation")
    if not ((logging > 0) & (logging <= 1) & (target >= 0) & (target <= 1)).all():
        raise ValueError("a probability outside 0 to 1, or a logging probability of 0")
    owner = np.arange(len(rewards)) if clusters is None else clusters
    _, cluster = np.unique(owner, return_inverse=True)
    weights = target / logging
    order = np.argsort(-weights, kind="stable")[:LARGEST]
    if clips is None:
        clips = sorted(set(np.quantile(weights, CLIPS).tolist()), reverse=True)
    return Counterfactual(
        n=len(rewards),
        clusters=int(cluster.max()) + 1,
        logged=clustered_mean(rewards, cluster),
        ips=clustered_mean(weights * rewards, cluster),
        snips=clustered_ratio(weights * rewards, weights, cluster),
        ess=effective_sample_size(weights),
        largest=tuple((int(row), float(weights[row])) for row in order),
        sensitivity=tuple(
            Clipped(
                clip=clip,
                share=float((weights > clip).mean()),
                ips=clustered_mean(np.minimum(weights, clip) * rewards, cluster),
            )
            for clip in clips
        ),
    )


def effective_sample_size(weights: Floats) -> float:
    """(Σw)² / Σw²: how many equally weighted observations would vary as much. 0 without weight."""
    square = float((weights**2).sum())
    return float(weights.sum()) ** 2 / square if square else 0.0
