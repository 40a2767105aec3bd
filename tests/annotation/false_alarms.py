"""How often a report names people whom the truth puts at or above the median person."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from annotation.quality.findings import Assessment
from tests.annotation.real_crowds import FILES, count_splits
from tests.annotation.simulated_campaign import ACCURACY, assess_all, simulate
from tests.annotation.simulated_crowds import ENOUGH_CHECKS, SPAM, simulate_crowd
from touchstone.statistics.wilson import wilson_interval

SPAMMERS = (*SPAM, "always 2")
ROUNDING = 1e-9


@dataclass
class Tally:
    """people, named: of each kind, those with ENOUGH_CHECKS apart: (kind, whether enough).

    good: people at or above the median person of their campaign; alarms: those of them who are
    named, by what for. covered: people whose true accuracy is in its interval, of told.
    """

    people: Counter[tuple[str, bool]] = field(default_factory=Counter)
    named: Counter[tuple[str, bool]] = field(default_factory=Counter)
    good: int = 0
    alarms: Counter[str] = field(default_factory=Counter)
    false_alarms: int = 0
    covered: int = 0
    told: int = 0

    def add(
        self, kinds: Sequence[str], accuracy: np.ndarray, assessments: Sequence[Assessment]
    ) -> None:
        """Count a campaign; kinds, accuracy: of its people, in truth."""
        middle = float(np.median(accuracy)) - ROUNDING
        for kind, truth, one in zip(kinds, accuracy, assessments, strict=True):
            key, is_named = (kind, one.checked >= ENOUGH_CHECKS), bool(one.findings)
            self.people[key] += 1
            self.named[key] += is_named
            self.good += truth >= middle
            if one.is_known:
                self.told += 1
                self.covered += one.low <= truth <= one.high
            if is_named and truth >= middle:
                self.false_alarms += 1
                self.alarms.update(finding.kind for finding in one.findings)

    @property
    def upper_bound(self) -> float:
        """Of the rate of false alarms: the upper end of its 95 % interval."""
        interval = wilson_interval(self.false_alarms, self.good)
        assert interval is not None
        return interval[1]

    def spammers(self) -> tuple[int, int]:
        """Spammers with ENOUGH_CHECKS who are named, and all of them."""
        keys = [(kind, True) for kind in SPAMMERS]
        return sum(self.named[key] for key in keys), sum(self.people[key] for key in keys)


def tally_same(seeds: range, *, gold: int) -> Tally:
    """Campaigns of six careful people and four planted ones."""
    tally = Tally()
    for seed in seeds:
        made = simulate(seed=seed, gold=gold)
        accuracy = np.array([ACCURACY[kind] for kind in made.people])
        tally.add(made.people, accuracy, assess_all(made.labels, made.checks))
    return tally


def tally_varied(seeds: range) -> Tally:
    """Campaigns that all differ."""
    tally = Tally()
    for seed in seeds:
        made = simulate_crowd(seed)
        tally.add(made.people, made.accuracy, assess_all(made.labels, made.checks))
    return tally


def print_report(*, seeds: range, splits: int, data: Path | None) -> None:
    """Print the figures of the long form."""
    _print(f"{len(seeds)} campaigns that differ", tally_varied(seeds))
    for gold in (0, 24):
        _print(f"{len(seeds)} campaigns alike, {gold} checks", tally_same(seeds, gold=gold))
    for file in FILES if data else ():
        assert data is not None
        for line in count_splits(data, file, splits=splits).lines():
            print(line, flush=True)  # noqa: T201


def _print(title: str, tally: Tally) -> None:
    named, spammers = tally.spammers()
    rate = tally.false_alarms / tally.good
    lines = [
        f"{title}: {tally.false_alarms} of {tally.good} at or above the median named",
        f"  {rate:.2%}, upper 95 % bound {tally.upper_bound:.2%}, for {dict(tally.alarms)}",
        f"  spammers with {ENOUGH_CHECKS} checks or more: {named} of {spammers} named",
        f"  truth inside the interval: {tally.covered} of {tally.told}",
        *_list_kinds(tally),
    ]
    print("\n".join(lines), flush=True)  # noqa: T201


def _list_kinds(tally: Tally) -> Iterable[str]:
    for kind, enough in sorted(tally.people):
        checks = f"{ENOUGH_CHECKS} checks or more" if enough else "fewer checks"
        count, named = tally.people[kind, enough], tally.named[kind, enough]
        yield f"  {kind}, {checks}: {named} of {count} named"
