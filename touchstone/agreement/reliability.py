"""A vote in which those who are right more often weigh more.

One number per annotator: how often they agree with what the others of a pair say. Where the grades
are equally likely and errors spread evenly over the other grades, the vote that is right most
often weighs each person by log(p (grades - 1) / (1 - p)); someone no better than chance weighs
nothing, never less. How often someone is right depends on the weights, and they on it, so
both are found in turn.

Sources: Nitzan & Paroush 1982 (the weights); Li & Yu, Error Rate Bounds and Iterative Weighted
Majority Voting for Crowdsourcing, 2014 (in turn).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_ROUNDS: Final = 100
TOLERANCE: Final = 1e-9
# labels that everyone is thought to have given before the first: mostly right ones
RIGHT_BEFORE: Final = 3.0
WRONG_BEFORE: Final = 1.0
EQUAL: Final = 1e-9  # weights closer than this are a tie


@dataclass(frozen=True)
class WeightedVote:
    """What the weighted vote comes to.

    posterior: (units, grades), each row sums to 1; a unit without a label has equal shares.
    winners: (units,), the step with the most weight, -1 for a tie or no label.
    weights, accuracy: (annotators,). rounds, converged: of finding them in turn.
    """

    posterior: Floats
    winners: Ints
    weights: Floats
    accuracy: Floats
    rounds: int
    converged: bool


def weighted_vote(
    units: Ints, annotators: Ints, steps: Ints, *, shape: tuple[int, int, int]
) -> WeightedVote:
    """The vote by reliability; the same labels in any order give the same answer.

    units, annotators, steps: dense integers from 0, one of each per label. shape: how many
    units, annotators and grades there are.
    """
    order = np.lexsort((steps, annotators, units))
    units, annotators, steps = units[order], annotators[order], steps[order]
    weights = np.ones(shape[1])
    rounds, converged = 0, False
    accuracy = weights
    while not converged and rounds < MOST_ROUNDS:
        rounds += 1
        accuracy = _accuracy(units, annotators, steps, weights, shape)
        odds = accuracy * (shape[2] - 1) / (1 - accuracy)
        before, weights = weights, np.maximum(np.log(odds), 0.0)
        converged = bool(np.abs(weights - before).max(initial=0.0) < TOLERANCE)
    votes = _votes(units, annotators, steps, weights, shape)
    likely = np.exp(votes - votes.max(axis=1, keepdims=True))
    posterior = likely / likely.sum(axis=1, keepdims=True)
    return WeightedVote(posterior, _winners(votes), weights, accuracy, rounds, converged)


def _votes(
    units: Ints, annotators: Ints, steps: Ints, weights: Floats, shape: tuple[int, int, int]
) -> Floats:
    count, _, grades = shape
    flat = np.bincount(
        units * grades + steps, weights=weights[annotators], minlength=count * grades
    )
    return flat.astype(np.float64).reshape(count, grades)


def _accuracy(
    units: Ints, annotators: Ints, steps: Ints, weights: Floats, shape: tuple[int, int, int]
) -> Floats:
    """How often each agrees with the vote of the others; a tie of theirs counts its share."""
    others = _votes(units, annotators, steps, weights, shape)[units]
    positions = np.arange(len(units))
    others[positions, steps] -= weights[annotators]
    most = others.max(axis=1, initial=0.0)
    winning = others >= most[:, None] - EQUAL
    heard = most > EQUAL
    right = np.where(winning[positions, steps], 1 / np.maximum(winning.sum(axis=1), 1), 0.0)
    people = shape[1]
    agreed = np.bincount(annotators[heard], weights=right[heard], minlength=people)
    compared = np.bincount(annotators[heard], minlength=people)
    return (agreed + RIGHT_BEFORE) / (compared + RIGHT_BEFORE + WRONG_BEFORE)


def _winners(votes: Floats) -> Ints:
    most = votes.max(axis=1, keepdims=True)
    winning = votes >= most - EQUAL
    alone = (winning.sum(axis=1) == 1) & (most[:, 0] > EQUAL)
    return np.where(alone, votes.argmax(axis=1), -1)
