"""Labels of real crowds with known answers for some pairs: half of these are the report's gold, the
other half is the truth that the report is measured by.

TREC 2011 crowdsourcing track, see crowd-trec2011-vuurens among the public collections.
"""

import bz2
import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from annotation.quality.findings import Assessment, assess
from annotation.quality.profiles import Checks, Labels, profiles
from touchstone.agreement.calibration import GoldLabels, calibrate, checked_gold
from touchstone.agreement.dawid_skene import DawidSkene, dawid_skene
from touchstone.statistics.wilson import wilson_interval

FOLDER: Final = "crowd-trec2011-vuurens"
ANSWERS: Final = "task1_unlabeled_g_truth_cons_public.txt.bz2"
FILES: Final = {"votes": (1, 2, 3), "otherparticipantsvotes": (0, 1, 2)}  # pair, worker, label
LEAST: Final = 10  # labels of pairs with a known answer that someone's true accuracy is told by
RESAMPLES: Final = 2_000


@dataclass(frozen=True)
class RealCrowd:
    """units, annotators, steps: of each label, the first where someone gave several. gold: the
    right step of each unit, -1 where it is not known."""

    units: np.ndarray
    annotators: np.ndarray
    steps: np.ndarray
    gold: np.ndarray
    people: int


def read_crowd(data: Path, file: str) -> RealCrowd:
    """The labels of a file, with answers as relevant or not."""
    folder, columns = data / FOLDER / "raw", FILES[file]
    answers: dict[str, int] = {}
    with bz2.open(folder / ANSWERS, "rt") as lines:
        next(lines)
        for line in lines:
            _, topic, document, answer = line.split("\t")[:4]
            if int(answer) >= 0:
                answers[f"{topic}_{document}"] = int(int(answer) > 0)
    first: dict[tuple[str, str], int] = {}
    with gzip.open(folder / f"{file}.gz", "rt") as lines:
        for line in lines:
            row = [cell.strip() for cell in line.split("\t")]
            pair, worker, label = (row[column] for column in columns)
            first.setdefault((pair, worker), int(label))
    pairs, units = np.unique([pair for pair, _ in first], return_inverse=True)
    workers, annotators = np.unique([worker for _, worker in first], return_inverse=True)
    return RealCrowd(
        units,
        annotators,
        np.array(list(first.values())),
        np.array([answers.get(pair, -1) for pair in pairs]),
        len(workers),
    )


@dataclass(frozen=True)
class Split:
    """A report on half of the gold. accuracy: of each person on the other half, of told labels.

    claimed: the model's mean confidence; calibrated: how often grades are right by the report's
    half, with its interval; right: in truth, on the other half.
    """

    assessments: tuple[Assessment, ...]
    accuracy: np.ndarray
    told: np.ndarray
    claimed: float
    calibrated: tuple[float, float, float]
    right: float


def split(crowd: RealCrowd, seed: int) -> Split:
    """Half of the gold pairs, drawn by the seed, are gold checks; the rest stay in the overlap."""
    rng = np.random.default_rng(seed)
    known = rng.permutation(np.flatnonzero(crowd.gold >= 0))
    is_gold = np.isin(crowd.units, known[: len(known) // 2])
    kept, units = np.unique(crowd.units[~is_gold], return_inverse=True)
    shape = (len(kept), crowd.people, 2)
    people, steps = crowd.annotators[~is_gold], crowd.steps[~is_gold]
    labels = Labels(units, people, steps, np.full(len(units), np.nan), np.zeros(len(units)), shape)
    gold, gold_people, gold_steps = (
        part[is_gold] for part in (crowd.units, crowd.annotators, crowd.steps)
    )
    answers = crowd.gold[gold]
    checks = Checks(gold_people, gold_steps - answers, gold_steps, np.zeros(len(gold)))
    model = dawid_skene(units, people, steps, shape=shape)
    truth = crowd.gold[kept]
    is_told = truth[units] >= 0
    told = np.bincount(people[is_told], minlength=crowd.people)
    right = np.bincount(people[is_told], (steps == truth[units])[is_told], crowd.people)
    grades = model.posterior.argmax(axis=1)
    return Split(
        assess(profiles(labels, model, checks))[0],
        right / np.maximum(told, 1),
        told,
        float(model.posterior.max(axis=1).mean()),
        _calibrated(model, GoldLabels(gold, gold_people, gold_steps, answers, answers), labels),
        float((grades == truth)[truth >= 0].mean()),
    )


def _calibrated(model: DawidSkene, gold: GoldLabels, labels: Labels) -> tuple[float, float, float]:
    sizes = np.bincount(labels.units)
    shares = np.bincount(labels.annotators, minlength=labels.shape[1])
    found = calibrate(checked_gold(model, gold, sizes=sizes, shares=shares), "gold")
    assert found is not None
    return found.accuracy(model.posterior.max(axis=1))


@dataclass
class Splits:
    """What all splits come to. good, alarms: of each person, how often the truth put them at or
    above the median, and how often they were named then. right, told: labels with a known answer
    of people named, and of all others."""

    file: str
    good: np.ndarray
    alarms: np.ndarray
    count: int = 0
    named: int = 0
    right: dict[bool, float] = field(default_factory=lambda: {True: 0.0, False: 0.0})
    told: dict[bool, float] = field(default_factory=lambda: {True: 0.0, False: 0.0})
    claims: list[tuple[float, float, float, float, float]] = field(default_factory=list)

    def add(self, one: Split) -> None:
        is_named = np.array([bool(person.findings) for person in one.assessments])
        enough = one.told >= LEAST
        good = enough & (one.accuracy >= np.median(one.accuracy[enough]))
        self.good += good
        self.alarms += good & is_named
        self.count += 1
        self.named += int((is_named & enough).sum())
        for named in (True, False):
            own = enough & (is_named == named)
            self.right[named] += float((one.accuracy * one.told)[own].sum())
            self.told[named] += float(one.told[own].sum())
        self.claims.append((one.claimed, *one.calibrated, one.right))

    @property
    def rate(self) -> float:
        return float(self.alarms.sum() / self.good.sum())

    def interval(self) -> tuple[float, float]:
        """Of the rate, people drawn with replacement: the splits are of the same people. Where
        no one was ever named, Wilson's for as many people as were ever at or above the median."""
        if not self.alarms.any():
            found = wilson_interval(0, int((self.good > 0).sum()))
            assert found is not None
            return found
        rng = np.random.default_rng(0)
        drawn = rng.integers(len(self.good), size=(RESAMPLES, len(self.good)))
        rates = self.alarms[drawn].sum(axis=1) / self.good[drawn].sum(axis=1)
        low, high = np.quantile(rates, [0.025, 0.975])
        return float(low), float(high)

    def lines(self) -> Iterator[str]:
        low, high = self.interval()
        yield (
            f"{self.file}, {self.count} splits: {int(self.alarms.sum())} of {int(self.good.sum())} "
            f"at or above the median named, {self.rate:.2%} ({low:.2%} to {high:.2%})"
        )
        yield (
            f"  {self.named / self.count:.2f} named a split; right on the other half: "
            f"{self._share(named=True)}, of those not named {self._share(named=False)}"
        )
        claimed, value, low, high, right = np.mean(self.claims, axis=0)
        inside = np.mean([claim[2] <= claim[4] <= claim[3] for claim in self.claims])
        yield (
            f"  model confidence {claimed:.1%}, calibrated {value:.1%} ({low:.1%} to {high:.1%}), "
            f"right on the other half {right:.1%}, in the interval in {inside:.0%} of the splits"
        )

    def _share(self, *, named: bool) -> str:
        return f"{self.right[named] / self.told[named]:.1%}" if self.told[named] else "nobody"


def count_splits(data: Path, file: str, *, splits: int) -> Splits:
    """All splits of a file."""
    crowd = read_crowd(data, file)
    found = Splits(file, np.zeros(crowd.people), np.zeros(crowd.people))
    for seed in range(splits):
        found.add(split(crowd, seed))
    return found
