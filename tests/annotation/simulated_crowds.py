"""Campaigns that differ from each other in all that makes it hard to say who labels badly.

Scales of 2 to 5 grades, few people or many, few gold checks or none, people of every skill, most of
whom may lean to one side, pairs that mislead nearly everyone, quick people who are right, people
who change, and spammers. Everyone's true accuracy is known exactly.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.quality.profiles import Checks, Labels

SPAM: Final = ("one grade", "guesses", "guesses by prevalence", "hasty")
ENOUGH_CHECKS: Final = 20
SECONDS_APART: Final = 30.0


@dataclass(frozen=True)
class Crowd:
    """people: what each of them is. accuracy: (people,), how often each is right, in truth.

    truth: (pairs,), the right step.
    """

    people: tuple[str, ...]
    accuracy: np.ndarray
    labels: Labels
    checks: Checks
    truth: np.ndarray


def simulate_crowd(seed: int) -> Crowd:
    """A campaign; its traits are drawn by the seed."""
    rng = np.random.default_rng(seed)
    grades, pairs = int(rng.choice((2, 3, 5))), int(rng.integers(150, 500))
    overlap = int(rng.choice((2, 3, 5)))
    prevalence = rng.dirichlet(np.full(grades, 4.0))
    misleading = float(rng.choice((0.0, 0.05, 0.15)))
    people = _people(rng)
    before, after, seconds = _habits(people, grades, prevalence, rng)
    shown, truth = _pairs(pairs, grades, prevalence, misleading, rng)
    labels, has_turned = _labels(shown, len(people), overlap, grades, rng)
    given = _given((before, after), labels.annotators, shown[labels.units], has_turned, rng)
    factor = rng.lognormal(0.0, 0.5, len(given))
    labels = Labels(
        labels.units, labels.annotators, given, seconds[labels.annotators] * factor,
        labels.times, labels.shape,
    )  # fmt: skip
    checks = _checks((before, after), labels, prevalence, misleading, rng)
    # as on the average pair: seen as it is, or as it misleads
    joint = np.diag((1 - misleading) * prevalence)
    joint += misleading * _wrong(grades) * prevalence[:, None]  # rows: truth, columns: as shown
    accuracy = 0.5 * np.einsum("ts,ist->i", joint, before + after)
    return Crowd(people, accuracy, labels, checks, truth)


def _people(rng: np.random.Generator) -> tuple[str, ...]:
    count = int(rng.integers(6, 26))
    lean = rng.choice((0.0, 0.3, 0.7))
    kinds = ["leaning" if rng.random() < lean else "straight" for _ in range(count)]
    kinds += ["quick"] * int(rng.integers(0, 2)) + ["drifting"] * int(rng.integers(0, 2))
    spam = rng.integers(1, max(2, count // 5) + 1)
    return (*kinds, *(str(kind) for kind in rng.choice(SPAM, spam)))


def _habits(
    people: tuple[str, ...], grades: int, prevalence: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confusion matrices (people, shown, given) before and after half time; usual seconds."""
    side, typical, varied = rng.choice((-1, 1)), rng.uniform(0.65, 0.9), rng.uniform(15, 60)
    before, after = [], []
    seconds = rng.lognormal(2.3, 0.25, len(people))
    for place, kind in enumerate(people):
        right = rng.beta(varied * typical, varied * (1 - typical))
        first = _confusion(grades, right)
        if kind == "leaning":
            first = first @ _shift(grades, side, 0.5)
        elif kind == "one grade":
            first = np.full((grades, grades), 0.02 / grades)
            first[:, rng.integers(grades)] += 0.98
        elif kind in ("guesses", "hasty"):
            first = np.full((grades, grades), 1 / grades)
        elif kind == "guesses by prevalence":
            first = np.tile(prevalence, (grades, 1))
        if kind in ("hasty", "quick"):
            seconds[place] *= 0.2
        before.append(first)
        after.append(first @ _shift(grades, side, 0.6) if kind == "drifting" else first)
    return np.stack(before), np.stack(after), seconds


def _confusion(grades: int, right: float) -> np.ndarray:
    """Right so often; errors are the rarer the further away."""
    steps = np.arange(grades)
    far = np.exp(-1.2 * np.abs(steps[:, None] - steps)) * (steps[:, None] != steps)
    return right * np.eye(grades) + (1 - right) * far / far.sum(axis=1, keepdims=True)


def _shift(grades: int, side: int, share: float) -> np.ndarray:
    """Moves such a share of given grades by a step, as far as the scale goes."""
    moved = np.eye(grades)[np.clip(np.arange(grades) + side, 0, grades - 1)]
    return (1 - share) * np.eye(grades) + share * moved


def _wrong(grades: int) -> np.ndarray:
    """What a misleading pair looks like: rows its grade, columns the grade beside it."""
    steps = np.arange(grades)
    return np.eye(grades)[np.where(steps + 1 < grades, steps + 1, steps - 1)]


def _pairs(
    count: int, grades: int, prevalence: np.ndarray, misleading: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """As what each pair shows itself, and its right grade."""
    truth = rng.choice(grades, count, p=prevalence)
    looks = _wrong(grades).argmax(axis=1)[truth]
    return np.where(rng.random(count) < misleading, looks, truth), truth


def _labels(
    shown: np.ndarray, people: int, overlap: int, grades: int, rng: np.random.Generator
) -> tuple[Labels, np.ndarray]:
    """Who labels what when; some people label far more than others."""
    pairs = len(shown)
    eager = np.log(rng.lognormal(0.0, 0.6, people))
    keys = eager + rng.gumbel(size=(pairs, people))
    annotators = np.argsort(-keys, axis=1)[:, :overlap].ravel()
    units = np.repeat(np.arange(pairs), overlap)
    times = rng.permutation(len(units)) * SECONDS_APART
    none = np.zeros(len(units), dtype=np.int64)
    labels = Labels(
        units, annotators, none, none.astype(float), times.astype(float), (pairs, people, grades)
    )
    return labels, times > times.max() / 2


def _given(
    habits: tuple[np.ndarray, np.ndarray],
    people: np.ndarray,
    shown: np.ndarray,
    has_turned: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    before, after = habits
    rows = np.where(has_turned[:, None], after[people, shown], before[people, shown])
    reach = rows.cumsum(axis=1)
    return (rng.random(len(rows))[:, None] * reach[:, -1:] > reach).sum(axis=1)


def _checks(
    habits: tuple[np.ndarray, np.ndarray],
    labels: Labels,
    prevalence: np.ndarray,
    misleading: float,
    rng: np.random.Generator,
) -> Checks:
    """Gold like the other pairs: none, few checks each, or ENOUGH_CHECKS and more."""
    people, grades = labels.shape[1], len(prevalence)
    least, most = [(0, 0), (1, 10), (ENOUGH_CHECKS, 30), (ENOUGH_CHECKS, 60)][rng.integers(4)]
    annotators = np.repeat(np.arange(people), rng.integers(least, most + 1, people))
    shown, truth = _pairs(len(annotators), grades, prevalence, misleading, rng)
    times = rng.uniform(0.0, labels.times.max(), len(annotators))
    order = np.argsort(times)
    annotators, shown, truth, times = annotators[order], shown[order], truth[order], times[order]
    given = _given(habits, annotators, shown, times > labels.times.max() / 2, rng)
    return Checks(annotators, given - truth, given, times)
