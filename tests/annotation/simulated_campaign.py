"""A campaign of made-up people whose faults are known: what a report must find, and must not.

`python -m tests.annotation.simulated_campaign --seeds 200 --data ../shared/data` prints how often
people who are at or above the median are named, in this campaign, in many that differ (see
simulated_crowds) and on labels of real crowds (see real_crowds), and how often spammers are.
"""

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotation.quality.findings import Assessment, assess
from annotation.quality.profiles import Checks, Labels, Profile, profiles
from touchstone.agreement.dawid_skene import dawid_skene

GRADES = 5
PREVALENCE = (0.35, 0.25, 0.15, 0.15, 0.10)
SECONDS_APART = 30.0
PLANTED = ("hasty", "generous", "always 2", "drifting")
# any of these findings names the fault; the first is the one that a report leads with
NAMES = {
    "careful": (),
    "hasty": ("hasty",),
    "generous": ("generous",),
    "always 2": ("one_grade",),
    "drifting": ("drifting",),
}
# how often each kind is right, of pairs of that prevalence: 20,000 labels each
ACCURACY = {"careful": 0.85, "hasty": 0.45, "generous": 0.28, "always 2": 0.15, "drifting": 0.56}


@dataclass(frozen=True)
class Simulated:
    people: tuple[str, ...]
    labels: Labels
    checks: Checks
    truth: np.ndarray
    turned_at: float  # when the drifting one begins to be generous


def simulate(
    *,
    seed: int,
    pairs: int = 400,
    overlap: int = 3,
    careful: int = 6,
    planted: tuple[str, ...] = PLANTED,
    gold: int = 0,
) -> Simulated:
    """Labels of careful people and of the planted ones, each pair labelled by `overlap`.

    gold: how many checks everyone has had, at any time, of all grades equally.
    """
    rng = np.random.default_rng(seed)
    people = ("careful",) * careful + planted
    truth = rng.choice(GRADES, pairs, p=PREVALENCE)
    units = np.repeat(np.arange(pairs), overlap)
    annotators = np.concatenate([rng.permutation(len(people))[:overlap] for _ in range(pairs)])
    times = (rng.permutation(len(units)) * SECONDS_APART).astype(np.float64)
    turned_at = float(times.max() / 2)
    steps, seconds = np.empty(len(units), dtype=np.int64), np.empty(len(units))
    for at, (unit, person, time) in enumerate(zip(units, annotators, times, strict=True)):
        steps[at], seconds[at] = label_like(
            people[person], truth=int(truth[unit]), has_turned=time >= turned_at, rng=rng
        )
    labels = Labels(units, annotators, steps, seconds, times, (pairs, len(people), GRADES))
    return Simulated(people, labels, _check(people, gold, labels, turned_at, rng), truth, turned_at)


def _check(
    people: tuple[str, ...], count: int, labels: Labels, turned_at: float, rng: np.random.Generator
) -> Checks:
    annotators = np.tile(np.arange(len(people)), count)
    times = np.sort(rng.uniform(0.0, labels.times.max(), len(annotators)))
    truth = rng.integers(GRADES, size=len(annotators))
    steps = [
        label_like(people[person], truth=int(right), has_turned=time >= turned_at, rng=rng)[0]
        for person, right, time in zip(annotators, truth, times, strict=True)
    ]
    given = np.array(steps, dtype=np.int64)
    return Checks(annotators, given - truth, given, times)


def label_like(
    kind: str, *, truth: int, has_turned: bool, rng: np.random.Generator
) -> tuple[int, float]:
    """A grade (0 to 4) and the seconds that someone of this kind takes for it."""
    if kind == "always 2":
        return 2, rng.lognormal(1.5, 0.4)
    if kind == "hasty":
        guess = rng.integers(GRADES) if rng.random() < 0.4 else _nearly(truth, 0.5, rng)
        return int(guess), rng.lognormal(0.8, 0.4)
    step = _nearly(truth, 0.8, rng)
    if kind == "generous" or (kind == "drifting" and has_turned):
        step += rng.random() < 0.8
    return int(min(step, GRADES - 1)), rng.lognormal(2.3, 0.5)


def _nearly(truth: int, right: float, rng: np.random.Generator) -> int:
    if rng.random() < right:
        return truth
    wrong = truth + rng.choice((-1, 1)) if rng.random() < 0.8 else rng.integers(GRADES)
    return int(np.clip(wrong, 0, GRADES - 1))


def profiles_of(labels: Labels, checks: Checks) -> tuple[Profile, ...]:
    model = dawid_skene(labels.units, labels.annotators, labels.steps, shape=labels.shape)
    return profiles(labels, model, checks)


def assess_all(labels: Labels, checks: Checks) -> tuple[Assessment, ...]:
    """Everyone's assessment, as a report has it."""
    return assess(profiles_of(labels, checks))[0]


def count_named(
    seeds: range, *, pairs: int = 400, gold: int = 0
) -> tuple[Counter[str], Counter[str]]:
    """How many people of each kind there were, and how many of them were named for it.

    A careful person counts as named when anything at all is found about them.
    """
    people: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for seed in seeds:
        simulated = simulate(seed=seed, pairs=pairs, gold=gold)
        found_of_all = assess_all(simulated.labels, simulated.checks)
        for kind, one in zip(simulated.people, found_of_all, strict=True):
            found = {finding.kind for finding in one.findings}
            people[kind] += 1
            named[kind] += bool(found if kind == "careful" else found & set(NAMES[kind]))
    return people, named


def main() -> None:
    """Print all of it."""
    from tests.annotation.false_alarms import print_report  # it imports this module

    parser = argparse.ArgumentParser(description="How often a report names whom it must not.")
    parser.add_argument("--seeds", type=int, default=200, help="simulated campaigns of each sort")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--splits", type=int, default=200, help="of the real crowds' gold")
    parser.add_argument("--data", type=Path, help="the public collections; none: no real crowds")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    print_report(seeds=seeds, splits=asked.splits, data=asked.data)


if __name__ == "__main__":
    main()
