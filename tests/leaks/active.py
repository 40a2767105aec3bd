"""An adversary who looks for gold by all means that an account has; every strategy's score."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from tests.leaks import sessions
from tests.leaks.accounts import Account
from tests.leaks.scoring import Score, Seen, score
from tests.leaks.sessions import Findings, Session
from tests.leaks.worlds import PAIRS, Plan, World, taken_back

PERCENTS = (5, 10, 20)
ORDERS = ("query", "shuffled")
HALVES = (0, 1)
AIM = 1.15  # a little more than is wanted: how much gold comes is chance
ROUND = 600  # gold pairs for each strategy, in a round of campaigns
AUC_ROOM, AT_GOLD = 0.02, 5_000  # how far from 0.5 an AUC may be, with so much gold
ALPHA = 0.01  # for all strategies together

Drive = Callable[[Session], Findings]


@dataclass(frozen=True)
class Kind:
    """A kind of session. share: of a campaign's pairs, what one account is offered; None: as many
    as may be leased at a time."""

    drive: Drive
    share: float | None
    strategies: tuple[str, ...]
    orders: tuple[str, ...] = ORDERS


# Fixed before anything is run: a strategy that a session finds and that is not here is an error.
KINDS = (
    Kind(
        sessions.probe,
        1.0,
        (
            "other counts",
            "growing counts",
            "lengths of answers",
            "place in the query",
            "place at the end",
            "ids",
            "sizes",
            "order across releases",
            "releasing some",
            "letting leases expire",
        ),
    ),
    Kind(sessions.skip, 1.0, ("skip and return",), ("query",)),
    Kind(
        sessions.label,
        1.0,
        (
            "progress counts",
            "receipts",
            "receipts of repeated labels",
            "own history",
            "labelled in the query",
        ),
    ),
    Kind(
        sessions.wait,
        None,
        (
            "waiting until 50% are filled",
            "waiting until 90% are filled",
            "polling for pairs that vanish together",
            "pairs that appear later",
            "late labels",
            "progress after late labels",
        ),
    ),
    Kind(
        sessions.retract,
        None,
        ("labels without a grade", "corrections", "retracting, then asking again"),
    ),
    Kind(sessions.join_late, 0.19, ("joining when 90% are filled",)),
)
# Of a person who goes on to the end, what comes last was replaced before, and so is no gold.
NOT_HIDDEN = "place at the end"
STRATEGIES = tuple(name for kind in KINDS for name in kind.strategies)

Gathered = dict[str, list[Seen]]


@dataclass(frozen=True)
class Verdict:
    """A strategy's score, and whether it tells nothing. room: how far from 0.5 its AUC may be."""

    strategy: str
    score: Score
    room: float
    least_p: float

    @property
    def is_blind(self) -> bool:
        """Whether it tells nothing, or no more than what can't be hidden."""
        return self.strategy == NOT_HIDDEN or (
            abs(self.score.auc - 0.5) <= self.room and self.score.p >= self.least_p
        )

    def __str__(self) -> str:
        own = self.score
        return (
            f"{self.strategy:<40} {own.gold:>6,} {own.rate:>7.3f} {own.auc:>7.4f} "
            f"{own.precision:>9.3f} {own.recall:>7.3f} {own.by_lot:>7.3f} {own.p:>10.2g}  "
            f"{self._word}"
        )

    @property
    def _word(self) -> str:
        if self.strategy == NOT_HIDDEN:
            return "can't be hidden"
        return "blind" if self.is_blind else "LEAKS"


HEAD = (
    f"{'strategy':<40} {'gold':>6} {'rate':>7} {'AUC':>7} {'precision':>9} {'recall':>7} "
    f"{'by lot':>7} {'p':>10}  verdict"
)


def attack(
    *,
    gold: int,
    seed: int,
    strategies: Sequence[str] = STRATEGIES,
    percents: Sequence[int] = PERCENTS,
    orders: Sequence[str] = ORDERS,
    effort: int = 1,
    report: Callable[[str], object] = lambda _: None,
) -> list[Verdict]:
    """Every strategy's verdict. gold: pairs for each, the same number at each percent.

    A run of chance alone fails a strategy by its p in less than `ALPHA` of all runs. Its AUC may
    be 0.02 from 0.5 with 5,000 gold pairs; with fewer its standard error is larger, as the root
    of their number is smaller, and so is the room.
    """
    gathered: Gathered = defaultdict(list)
    number = 0
    while True:
        lacking = {
            percent: _lacking(gathered, strategies, percent, gold / len(percents))
            for percent in percents
        }
        if not any(lacking.values()):
            break
        for percent in percents:
            wanted = min(ROUND / len(percents), AIM * max(lacking[percent].values(), default=0))
            for plan in _plans(percent, orders, number, seed, wanted) if wanted else ():
                _drive(gathered, plan, set(lacking[percent]), effort)
        number += 1
        report(f"round {number}: {_least(gathered, strategies):,} gold pairs for each strategy")
    room = AUC_ROOM * max(1.0, sqrt(AT_GOLD / gold))
    return [
        Verdict(name, score(gathered[name], seed=seed), room, ALPHA / len(STRATEGIES))
        for name in strategies
    ]


def _plans(
    percent: int, orders: Sequence[str], number: int, seed: int, gold: float
) -> Iterator[Plan]:
    """Campaigns whose pairs hold so much gold for each strategy."""
    each = gold / len(orders) / len(HALVES)
    queries = max(4, ceil(each / (PAIRS * percent / 100)))
    for order in orders:
        for half in HALVES:
            index = ORDERS.index(order) * len(HALVES) + half
            name = ((seed * 1_000 + number) * 100 + percent) * 10 + index
            yield Plan(percent=percent, order=order, half=half, queries=queries, seed=name)


def _drive(gathered: Gathered, plan: Plan, wanted: set[str], effort: int) -> None:
    """All sessions of a campaign that serve a strategy which is wanted."""
    with taken_back():
        world = World(plan)
        for kind in KINDS:
            if plan.order not in kind.orders or wanted.isdisjoint(kind.strategies):
                continue
            for index in range(_accounts(kind, plan)):
                name = world.make_account_name()
                rng = random.Random(f"{plan.seed} {kind.drive.__name__} {index}")
                with taken_back():
                    account = Account(world.campaign, name)
                    found = kind.drive(Session(world, account, effort, rng))
                    _gather(gathered, world, account, found, wanted)


def _accounts(kind: Kind, plan: Plan) -> int:
    share = kind.share or min(1.0, sessions.MOST / (plan.queries * PAIRS))
    return ceil(len(ORDERS) / len(kind.orders) / share)


def _gather(
    gathered: Gathered, world: World, account: Account, found: Findings, wanted: set[str]
) -> None:
    assert found.features.keys() <= set(STRATEGIES), found.features.keys()
    are_gold = world.are_gold(list(account.offered.values()))
    is_gold = {name: are_gold[seat] for name, seat in account.offered.items()}
    came_last = world.list_returned(list(account.offered.values()))
    for strategy, features in found.features.items():
        if strategy not in wanted:
            continue
        names = [
            name
            for name in sorted(features)
            if strategy == NOT_HIDDEN or account.offered[name] not in came_last
        ]
        if not names:
            continue
        gathered[strategy].append(
            Seen(
                half=world.plan.half,
                percent=world.plan.percent,
                features=np.array([features[name] for name in names]),
                is_gold=np.array([is_gold[name] for name in names]),
                weights=np.array([found.weight(strategy, name) for name in names]),
            )
        )


def _lacking(
    gathered: Gathered, strategies: Sequence[str], percent: int, gold: float
) -> dict[str, float]:
    """The strategies that need more gold pairs at a percent, with how many."""
    counts = _count_gold(gathered, percent)
    missing = {name: gold - counts.get(name, 0) for name in strategies}
    return {name: number for name, number in missing.items() if number > 0}


def _count_gold(gathered: Gathered, percent: int) -> Mapping[str, int]:
    return {
        name: sum(int(one.is_gold.sum()) for one in seen if one.percent == percent)
        for name, seen in gathered.items()
    }


def _least(gathered: Gathered, strategies: Sequence[str]) -> int:
    counts = [sum(int(one.is_gold.sum()) for one in gathered.get(name, ())) for name in strategies]
    return min(counts)
