"""Two accounts that compare notes: what no order of pairs can hide, measured for the docs.

Two people label one campaign beside others, to its end, and hold against each other what they were
offered, by its text. The fit and the score are those of a single account's strategies.
"""

import random
from collections.abc import Sequence

import numpy as np

from tests.leaks.accounts import Account, ShownPair
from tests.leaks.active import HALVES, ORDERS, PERCENTS
from tests.leaks.scoring import Score, Seen, score
from tests.leaks.sessions import Session
from tests.leaks.worlds import Plan, World, taken_back

Text = tuple[str, str, str]


def compare_notes(
    *,
    seed: int,
    campaigns: int,
    queries: int,
    are_alone: bool,
    percents: Sequence[int] = PERCENTS,
) -> Score:
    """The score of two accounts that union and intersect what each was offered.

    campaigns: for each percent, order and half. queries: in each. are_alone: no one else labels;
    otherwise others are together as fast as the two.
    """
    seen = []
    for number in range(campaigns):
        for percent in percents:
            for order in ORDERS:
                for half in HALVES:
                    name = ((seed * 100 + number) * 100 + percent) * 10 + half
                    plan = Plan(percent, order, half, queries, seed=name)
                    with taken_back():
                        seen += _label_together(World(plan), are_alone)
    return score(seen, seed=seed)


def _label_together(world: World, are_alone: bool) -> list[Seen]:
    """Label in turns until nothing is left."""
    accounts = [Account(world.campaign, world.make_account_name()) for _ in range(2)]
    shown: list[dict[Text, tuple[str, int]]] = [{}, {}]
    seats = world.plan.overlap * world.campaign.pairs.count()
    share, is_open = 0.0, True
    rng = random.Random(f"notes {world.plan.seed}")
    while is_open:
        is_open = False
        for account, own in zip(accounts, shown, strict=True):
            answer = account.next()
            is_open |= bool(answer.pairs)
            for pair in answer.pairs:
                own.setdefault(_text(pair), (pair["assignment"], len(own)))
            Session(world, account, 1, rng).finish(answer)
            share += len(answer.pairs) / seats
        world.fill(0 if are_alone else share)
    return [_seen(world, shown[me], shown[1 - me]) for me in range(2)]


def _text(pair: ShownPair) -> Text:
    return pair["query"]["text"], pair["document"]["title"], pair["document"]["text"]


def _seen(
    world: World, own: dict[Text, tuple[str, int]], others: dict[Text, tuple[str, int]]
) -> Seen:
    """Of each pair whether the other was offered it, and how much of its query both were."""
    mine = [text[0] for text in own]
    theirs = [text[0] for text in others]
    both = [text[0] for text in own if text in others]
    features = [
        (text in others, theirs.count(text[0]), both.count(text[0]), mine.count(text[0]), place)
        for text, (_, place) in own.items()
    ]
    assignments = [assignment for assignment, _ in own.values()]
    are_gold = world.are_gold(assignments)
    return Seen(
        half=world.plan.half,
        percent=world.plan.percent,
        features=np.array(features, dtype=float),
        is_gold=np.array([are_gold[one] for one in assignments]),
        weights=np.ones(len(own)),
    )
