"""How often the intervals of corrected means contain the truth, by simulation.

    python -m tests.touchstone.statistics.coverage [repetitions, 10,000 unless given]

prints the table of docs/estimates.md. The judge is good (noise of 0.08), noisy (0.35), biased
(0.2 + 0.8 Y, noise of 0.15) or useless (unrelated to Y). Values are Beta(2, 1.5), or heavy at 0
and 1 (35 % each, the rest uniform). A sample is of 500 queries, drawn afresh each time; a list is
one of 300, of which people judge other queries each time.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from touchstone.sampling.designs import inclusion_probabilities
from touchstone.sampling.estimation import sequential_poisson_variance
from touchstone.statistics.corrected import (
    CorrectedMean,
    corrected_list_mean,
    corrected_sample_mean,
    corrected_strata_mean,
    corrected_unequal_mean,
    people_mean,
)
from touchstone.statistics.three_means import PeoplesQueries, has_long_enough_interval

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Shape = tuple[int, int]

SAMPLE, LIST = 500, 300
AT_ONCE = 1_000  # repetitions
JUDGES: dict[str, Callable[[Floats, np.random.Generator], Floats]] = {
    "good": lambda y, rng: np.clip(y + rng.normal(0, 0.08, y.shape), 0, 1),
    "noisy": lambda y, rng: np.clip(y + rng.normal(0, 0.35, y.shape), 0, 1),
    "biased": lambda y, rng: np.clip(0.8 * y + 0.2 + rng.normal(0, 0.15, y.shape), 0, 1),
    "useless": lambda y, rng: rng.random(y.shape),
}
MEANS = {"Beta": 4 / 7, "0/1-heavy": 0.5}


@dataclass(frozen=True)
class Cell:
    """What is simulated. kind: sample, list, strata or unequal. what: mean or difference."""

    kind: str
    what: str
    values: str
    n: int
    judge: str


@dataclass(frozen=True)
class Coverage:
    """The share of intervals that contain the truth; mean half widths, corrected and by people.

    marked: the share of intervals that pages mark as short. share_unmarked: of the others that
    contain the truth; NaN where there are none.
    """

    share: float
    half: float
    half_by_people: float
    marked: float
    share_unmarked: float


def cells() -> list[Cell]:
    """All of them."""
    plain = product(("sample", "list"), ("mean", "difference"), MEANS, (20, 50, 200), JUDGES)
    kinds = ("strata", "sharp strata", "unequal", "very unequal")
    by_design = product(kinds, ("mean", "difference"), MEANS, (60,), JUDGES)
    return [Cell(*one) for one in (*plain, *by_design)]


def simulate(cell: Cell, repetitions: int, *, seed: int = 1) -> Coverage:
    """Draw that often, and count."""
    rng = np.random.default_rng([seed, *map(ord, "".join(map(str, vars(cell).values())))])
    run = RUNS[cell.kind]
    inside, widths, by_people, unmarked = [], [], [], []
    for truth, found, people, is_long in run(cell, repetitions, rng):
        inside.append((found.low <= truth) & (truth <= found.high))
        unmarked.append(is_long)
        widths.append((found.high - found.low) / 2)
        by_people.append((people.high - people.low) / 2)
    holds, shown = np.concatenate(inside), np.concatenate(unmarked)
    return Coverage(
        float(holds.mean()),
        float(np.concatenate(widths).mean()),
        float(np.concatenate(by_people).mean()),
        float((~shown).mean()),
        float(holds[shown].mean()) if shown.any() else float("nan"),
    )


# the truth, corrected means, people's means, and whether each interval is not marked as short
Flags = npt.NDArray[np.bool_]
Found = Iterator[tuple[float, CorrectedMean, CorrectedMean, Flags]]


def _unmarked(human: Floats, judge: Floats, size: int, strata: Codes | None = None) -> Flags:
    """human, judge: (repetitions, n), of people's queries out of a list or sample of this size."""
    n = human.shape[-1]
    rows = np.arange(n)
    codes = np.zeros(n, np.int64) if strata is None else strata
    # what the mark depends on: people's values, the machine's of the same queries, and the strata
    every = np.concatenate([codes, np.zeros(size - n, np.int64)])
    drawn = PeoplesQueries("list", rows, every, np.ones(codes.max() + 1))
    rest = np.zeros(size - n)
    return np.array(
        [
            has_long_enough_interval(y, np.concatenate([f, rest]), drawn)
            for y, f in zip(human, judge, strict=True)
        ]
    )


def _samples(cell: Cell, repetitions: int, rng: np.random.Generator) -> Found:
    n = cell.n
    for _ in range(repetitions // AT_ONCE):
        y, f, truth = _draw(cell, (AT_ONCE, SAMPLE), rng)
        found = corrected_sample_mean(y[:, :n], f[:, :n], f[:, n:])
        yield truth, found, people_mean(y[:, :n]), _unmarked(y[:, :n], f[:, :n], SAMPLE)


def _lists(cell: Cell, repetitions: int, rng: np.random.Generator) -> Found:
    (y,), (f,), _ = _draw(cell, (1, LIST), rng)
    for _ in range(repetitions // AT_ONCE):
        rows = rng.random((AT_ONCE, LIST)).argpartition(cell.n, axis=1)[:, : cell.n]
        every = np.broadcast_to(f, (AT_ONCE, LIST))
        found = corrected_list_mean(y[rows], f[rows], every)
        people = people_mean(y[rows], size=LIST)
        yield float(y.mean()), found, people, _unmarked(y[rows], f[rows], LIST)


def _strata(cell: Cell, repetitions: int, rng: np.random.Generator) -> Found:
    """Parts of the list, of 50, 100 and 150 queries, from hard to easy, 20 judged of each.

    Sharp ones are nearly sorted by Y: in some, values are 0 or 1 with few exceptions.
    """
    y, f, _ = _draw(cell, (1, LIST), rng)
    order = np.argsort(y[0] + rng.normal(0, 0.3 if cell.kind == "sharp strata" else 1, LIST))
    groups = np.split(order, [50, 150])
    for _ in range(repetitions // AT_ONCE):
        parts, people, places = [], [], []
        for group in groups:
            own = rng.random((AT_ONCE, len(group))).argpartition(20, axis=1)[:, :20]
            every = np.broadcast_to(f[0][group], (AT_ONCE, len(group)))
            parts.append(corrected_list_mean(y[0][group[own]], f[0][group[own]], every))
            people.append(people_mean(y[0][group[own]], size=len(group)))
            places.append(group[own])
        weights = [len(group) / LIST for group in groups]
        found = corrected_strata_mean(parts, weights)
        rows = np.concatenate(places, axis=1)
        is_long = _unmarked(y[0][rows], f[0][rows], LIST, np.repeat([0, 1, 2], 20))
        yield float(y.mean()), found, corrected_strata_mean(people, weights), is_long


def _unequal(cell: Cell, repetitions: int, rng: np.random.Generator) -> Found:
    """Sequential Poisson samples of the list, by sizes from 1 to 5, or to 30."""
    y, f, _ = _draw(cell, (1, LIST), rng)
    nothing, largest = np.zeros(LIST), 30 if cell.kind == "very unequal" else 5
    pi = inclusion_probabilities(largest ** rng.random(LIST), cell.n)
    found, people, is_long = list[CorrectedMean](), list[CorrectedMean](), list[bool]()
    strata, shares = np.zeros(LIST, np.int64), np.ones(1)
    for _ in range(repetitions):
        keys = np.where(pi < 1, rng.random(LIST) / pi, 0)
        own = keys.argpartition(cell.n)[: cell.n]
        chances = pi[own]

        def variance(values: Floats, chances: Floats = chances) -> float:
            return sequential_poisson_variance(values, chances)

        for some, judge in ((found, f[0]), (people, nothing)):
            some.append(corrected_unequal_mean(y[0][own], judge[own], chances, judge, variance))
        drawn = PeoplesQueries("list", own, strata, shares, chances)
        is_long.append(has_long_enough_interval(y[0][own], f[0], drawn))
    yield float(y.mean()), _joined(found), _joined(people), np.array(is_long)


RUNS: dict[str, Callable[[Cell, int, np.random.Generator], Found]] = {
    "sample": _samples,
    "list": _lists,
    "strata": _strata,
    "sharp strata": _strata,
    "unequal": _unequal,
    "very unequal": _unequal,
}


def _joined(found: list[CorrectedMean]) -> CorrectedMean:
    return CorrectedMean(*(np.array([vars(one)[name] for one in found]) for name in vars(found[0])))


def _draw(cell: Cell, shape: Shape, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """Y, F and the mean of Y in the population."""
    first, mean = _values(cell.values, shape, rng), MEANS[cell.values]
    judge = JUDGES[cell.judge]
    if cell.what == "mean":
        return first, judge(first, rng), mean
    is_like = rng.random(shape) < 0.5
    second = np.where(is_like, 0.9 * first, rng.beta(2, 2, shape))
    return first - second, judge(first, rng) - judge(second, rng), mean - 0.45 * mean - 0.25


def _values(name: str, shape: Shape, rng: np.random.Generator) -> Floats:
    if name == "Beta":
        return rng.beta(2, 1.5, shape)
    kind = rng.random(shape)
    return np.where(kind < 0.35, 0.0, np.where(kind < 0.7, 1.0, rng.random(shape)))


def main(repetitions: int) -> None:
    """Print the table, the cells outside 93-97 %, and those where intervals are marked as short.

    The lines of the two lists say how often all intervals contain the truth, how many are marked,
    and how often the others contain it.
    """
    outside, marked = [], []
    print(f"| design | of | values | n | {' | '.join(JUDGES)} | people only |")
    print("|---|---|---|--:|" + "--:|" * (len(JUDGES) + 1))
    for *row, n in dict.fromkeys((c.kind, c.what, c.values, c.n) for c in cells()):
        shown, by_people = [], 0.0
        for judge in JUDGES:
            kind, what, values = row
            cell = Cell(kind, what, values, n, judge)
            found = simulate(cell, repetitions)
            shown.append(f"{found.share:.1%} (±{found.half:.3f})".replace("%", " %"))
            by_people = found.half_by_people
            if not 0.93 <= found.share <= 0.97:
                outside.append((cell, found))
            if found.marked:
                marked.append((cell, found))
        print(f"| {' | '.join(row)} | {n} | {' | '.join(shown)} | ±{by_people:.3f} |", flush=True)
    for title, some in (("outside 93-97 %", outside), ("marked as short", marked)):
        print(f"\n{title}:")
        for cell, found in some:
            name = " ".join(map(str, vars(cell).values()))
            numbers = (found.share, found.marked, found.share_unmarked)
            print(f"{name}: {numbers[0]:.1%}, marked {numbers[1]:.1%}, others {numbers[2]:.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
