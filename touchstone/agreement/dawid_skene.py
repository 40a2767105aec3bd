"""What each pair's grade most probably is, and how each annotator errs, from labels alone.

The model: a pair has a grade, drawn by prevalence; an annotator who sees a pair of grade c gives
grade l with a probability of their own, matrix[annotator, c, l]. Both are found together by
expectation maximisation. Someone who always says the same tells nothing and so weighs nothing;
someone who is always one grade too high is read one grade lower.

Source: Dawid & Skene, Maximum Likelihood Estimation of Observer Error-Rates Using the EM
Algorithm, Applied Statistics 28(1), 1979. Dirichlet priors (maximum a posteriori) keep an
annotator with few labels near someone who is mostly right; without them (NO_PRIORS) it is the
paper's maximum likelihood.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_ROUNDS: Final = 500
TOLERANCE: Final = 1e-6
SMALLEST: Final = 1e-300  # a probability whose logarithm is still finite


@dataclass(frozen=True)
class Priors:
    """Labels that are added to those that were seen.

    right: on the diagonal of each row of each annotator's matrix; wrong: on every other cell;
    each_grade: pairs of each grade, for the prevalence.
    """

    right: float = 2.0
    wrong: float = 0.25
    each_grade: float = 1.0


PRIORS: Final = Priors()
NO_PRIORS: Final = Priors(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class DawidSkene:
    """The fitted model.

    posterior: (units, grades), each row sums to 1. prevalence: (grades,).
    matrices: (annotators, grades, grades): rows the true grade, columns the given one.
    rounds: of expectation maximisation; converged: whether no posterior moved by more than the
    tolerance in the last of them. fit: the log posterior density, up to a constant; it never
    falls from round to round.
    """

    posterior: Floats
    prevalence: Floats
    matrices: Floats
    rounds: int
    converged: bool
    fit: float


def dawid_skene(
    units: Ints,
    annotators: Ints,
    steps: Ints,
    *,
    shape: tuple[int, int, int],
    priors: Priors = PRIORS,
    most_rounds: int = MOST_ROUNDS,
    tolerance: float = TOLERANCE,
) -> DawidSkene:
    """Fit the model to labels; the same labels in any order give the same answer.

    units, annotators, steps: dense integers from 0, one of each per label; an annotator may have
    labelled a unit more than once. shape: how many units, annotators and grades there are.
    A unit without a label gets the prevalence. It begins with each unit's share of labels
    (equation 3.1 of the paper), so nothing is random.
    Raises ValueError without any label.
    """
    if not len(units):
        raise ValueError("there are no labels")
    seen = _Labels(units, annotators, steps, shape)
    posterior = seen.shares()
    rounds, converged = 0, False
    while not converged and rounds < most_rounds:
        rounds += 1
        prevalence, matrices = seen.maximise(posterior, priors)
        before, (posterior, evidence) = posterior, seen.expect(prevalence, matrices)
        converged = bool(np.abs(posterior - before).max() < tolerance)
    fit = evidence + _log_prior(prevalence, matrices, priors)
    return DawidSkene(posterior, prevalence, matrices, rounds, converged, fit)


def without_own(result: DawidSkene, units: Ints, annotators: Ints, steps: Ints) -> Floats:
    """For each label what the other labels of its unit say (labels, grades).

    The posterior with that one label taken out: what it is fair to compare the label with.
    """
    said = np.log(np.maximum(result.posterior, SMALLEST))[units]
    own = np.log(np.maximum(result.matrices, SMALLEST)).transpose(0, 2, 1)[annotators, steps]
    return _normal(said - own)[0]


def apply_model(
    prevalence: Floats, matrices: Floats, units: Ints, annotators: Ints, steps: Ints
) -> DawidSkene:
    """A model that was fitted before, with the posteriors that it gives to these labels.

    units: dense integers from 0. annotators: places in the matrices.
    """
    shape = (int(units.max(initial=-1)) + 1, len(matrices), len(prevalence))
    posterior, evidence = _Labels(units, annotators, steps, shape).expect(prevalence, matrices)
    return DawidSkene(posterior, prevalence, matrices, 0, True, evidence)


class _Labels:
    """Labels in a fixed order, so that sums do not depend on the order they came in."""

    def __init__(
        self, units: Ints, annotators: Ints, steps: Ints, shape: tuple[int, int, int]
    ) -> None:
        self.shape = shape
        order = np.lexsort((steps, annotators, units))
        self.units, self.annotators = units[order], annotators[order]
        self.steps = steps[order]
        # reduceat wants the first label of each unit that has one
        self.labelled, self.starts = np.unique(self.units, return_index=True)
        self.cells = self.annotators * shape[2] + self.steps

    def shares(self) -> Floats:
        count, _, grades = self.shape
        flat = np.bincount(self.units * grades + self.steps, minlength=count * grades)
        counts = flat.reshape(count, grades).astype(np.float64)
        totals = counts.sum(axis=1, keepdims=True)
        return np.where(totals > 0, counts / np.maximum(totals, 1), 1 / grades)

    def maximise(self, posterior: Floats, priors: Priors) -> tuple[Floats, Floats]:
        """The prevalence and the matrices that the posteriors imply."""
        _, people, grades = self.shape
        each = posterior[self.units]
        given = [
            np.bincount(self.cells, weights=each[:, grade], minlength=people * grades)
            for grade in range(grades)
        ]
        seen = np.stack(given).reshape(grades, people, grades).transpose(1, 0, 2)
        counts: Floats = seen + _pseudo_counts(grades, priors)
        totals = counts.sum(axis=2, keepdims=True)
        matrices = np.where(totals > 0, counts / np.maximum(totals, SMALLEST), 1 / grades)
        shares = posterior[self.labelled].sum(axis=0) + priors.each_grade
        return shares / shares.sum(), matrices

    def expect(self, prevalence: Floats, matrices: Floats) -> tuple[Floats, float]:
        """The posteriors that prevalence and matrices imply, and the log likelihood."""
        logs = np.log(np.maximum(matrices, SMALLEST)).transpose(0, 2, 1)
        said = np.add.reduceat(logs[self.annotators, self.steps], self.starts, axis=0)
        base = np.log(np.maximum(prevalence, SMALLEST))
        posterior = np.tile(prevalence, (self.shape[0], 1))
        posterior[self.labelled], evidence = _normal(base + said)
        return posterior, evidence


def _normal(logs: Floats) -> tuple[Floats, float]:
    """Rows of log weights as probabilities, and the sum of the rows' log totals."""
    most = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - most)
    totals = weights.sum(axis=1, keepdims=True)
    return weights / totals, float((most + np.log(totals)).sum())


def _pseudo_counts(grades: int, priors: Priors) -> Floats:
    counts = np.full((grades, grades), priors.wrong)
    np.fill_diagonal(counts, priors.right)
    return counts


def _log_prior(prevalence: Floats, matrices: Floats, priors: Priors) -> float:
    logs = np.log(np.maximum(matrices, SMALLEST))
    of_matrices = (logs * _pseudo_counts(matrices.shape[1], priors)).sum()
    of_grades = priors.each_grade * np.log(np.maximum(prevalence, SMALLEST)).sum()
    return float(of_matrices + of_grades)
