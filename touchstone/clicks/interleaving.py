"""Interleaved rankings of two rankers or more: how they are made, and who gets which credit.

Sources: Radlinski, Kurup & Joachims 2008 (team draft); Hofmann, Whiteson & de Rijke 2011
(probabilistic); Radlinski & Craswell 2013 and Schuth et al. 2014 (optimised). Allocations and
credits are those of mpkato/interleaving.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from operator import getitem
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Document = str | int
Shown = tuple[Document, ...]
Rankings = Sequence[Sequence[Document]]
Credit = Literal["inverse", "negative"]

TAU: Final = 3.0  # how steeply the softmax of probabilistic interleaving falls with rank


@dataclass(frozen=True)
class TeamRanking:
    """Documents as shown, and of each the number of the ranker that put it there."""

    documents: Shown
    teams: tuple[int, ...]


def team_draft(rankings: Rankings, *, length: int, seed: int) -> TeamRanking:
    """One team-draft ranking: of the rankers with the fewest picks one picks its best document."""
    rng = np.random.default_rng(seed)
    state = TeamRanking((), ())
    while len(state.documents) < length:
        choices = _drafts(rankings, state)
        if not choices:
            break
        state = choices[int(rng.integers(len(choices)))]
    return state


def team_draft_distribution(rankings: Rankings, *, length: int) -> dict[TeamRanking, float]:
    """Every team-draft ranking, with its probability."""
    result = {TeamRanking((), ()): 1.0}
    for _ in range(length):
        longer: dict[TeamRanking, float] = {}
        for state, chance in result.items():
            choices = _drafts(rankings, state) or [state]
            for choice in choices:
                longer[choice] = longer.get(choice, 0.0) + chance / len(choices)
        result = longer
    return result


def _drafts(rankings: Rankings, state: TeamRanking) -> list[TeamRanking]:
    """The rankings one pick longer, equally probable."""
    left = {
        team: next(document for document in ranking if document not in state.documents)
        for team, ranking in enumerate(rankings)
        if not set(ranking) <= set(state.documents)
    }
    sizes = {team: state.teams.count(team) for team in left}
    fewest = min(sizes.values(), default=0)
    return [
        TeamRanking((*state.documents, left[team]), (*state.teams, team))
        for team, size in sizes.items()
        if size == fewest
    ]


def team_draft_credits(shown: TeamRanking, clicked: Sequence[int], *, rankers: int) -> list[int]:
    """The clicks on each ranker's own documents. clicked: places in the ranking, from 0."""
    return [sum(shown.teams[position] == team for position in clicked) for team in range(rankers)]


def probabilistic_distribution(
    rankings: Rankings, *, length: int, tau: float = TAU, in_turns: bool = False
) -> dict[Shown, float]:
    """Every ranking that probabilistic interleaving shows, with its probability.

    Each place is filled by a ranker drawn at random, from its softmax 1 / rank^tau over what is
    not shown yet. in_turns: of each two places, one is filled by each of two rankers.
    """
    result: dict[Shown, float] = {}
    turns = (
        product(*([((0, 1), (1, 0))] * -(-length // 2)))
        if in_turns
        else product(*([tuple((team,) for team in range(len(rankings)))] * length))
    )
    orders = [tuple(team for turn in order for team in turn)[:length] for order in turns]
    for order in orders:
        for shown, chance in _filled(rankings, order, tau):
            result[shown] = result.get(shown, 0.0) + chance / len(orders)
    return result


def _filled(
    rankings: Rankings, order: Sequence[int], tau: float, shown: Shown = ()
) -> Iterator[tuple[Shown, float]]:
    if len(shown) == len(order):
        yield shown, 1.0
        return
    chances = _softmax(rankings[order[len(shown)]], shown, tau)
    if not chances:
        yield shown, 1.0
    for document, chance in chances.items():
        for whole, rest in _filled(rankings, order, tau, (*shown, document)):
            yield whole, chance * rest


def probabilistic_allocations(
    shown: Sequence[Document], rankings: Rankings, clicked: Sequence[int], *, tau: float = TAU
) -> dict[tuple[int, ...], tuple[list[int], float]]:
    """For each way in which two rankers could have filled the places: credits, probability.

    clicked: places, from 0. The probability is that of the documents, given who picked them.
    """
    chances = _pick_chances(shown, rankings, tau)
    result = {}
    for teams in product((0, 1), repeat=len(shown)):
        credit = [sum(teams[position] == team for position in set(clicked)) for team in (0, 1)]
        result[teams] = credit, prod(map(getitem, chances, teams))
    return result


def probabilistic_credits(
    shown: Sequence[Document], rankings: Rankings, clicked: Sequence[int], *, tau: float = TAU
) -> tuple[float, float]:
    """How probable it is that each of two rankers got more clicks: sums over all allocations.

    Not normalised, as in mpkato/interleaving; the greater one wins. The time is linear in the
    places and in the clicks, since picks are independent given what is shown.
    """
    lead = {0: 1.0}
    for position, (first, second) in enumerate(_pick_chances(shown, rankings, tau)):
        step = int(position in clicked)
        longer: dict[int, float] = {}
        for ahead, chance in lead.items():
            longer[ahead + step] = longer.get(ahead + step, 0.0) + chance * first
            longer[ahead - step] = longer.get(ahead - step, 0.0) + chance * second
        lead = longer
    first_wins = sum(chance for difference, chance in lead.items() if difference > 0)
    second_wins = sum(chance for difference, chance in lead.items() if difference < 0)
    return first_wins, second_wins


def _pick_chances(
    shown: Sequence[Document], rankings: Rankings, tau: float
) -> list[tuple[float, ...]]:
    """Of each place, the chance that each ranker would have picked what it shows."""
    return [
        tuple(
            _softmax(ranking, tuple(shown[:position]), tau).get(document, 0.0)
            for ranking in rankings
        )
        for position, document in enumerate(shown)
    ]


def _softmax(ranking: Sequence[Document], shown: Shown, tau: float) -> dict[Document, float]:
    weights: dict[Document, float] = {
        document: float(rank) ** -tau
        for rank, document in enumerate(ranking, start=1)
        if document not in shown
    }
    total = sum(weights.values())
    return {document: weight / total for document, weight in weights.items()}


@dataclass(frozen=True)
class OptimizedRankings:
    """rankings: what may be shown. probabilities: (rankings,), how often each is to be.

    credits: (rankings, length, rankers), what a click at each place gives to each ranker.
    """

    rankings: tuple[Shown, ...]
    probabilities: Floats
    credits: Floats


def optimized_interleaving(
    rankings: Rankings, *, length: int, credit: Credit = "inverse"
) -> OptimizedRankings:
    """The most sensitive distribution over prefix-constrained rankings that is unbiased.

    Unbiased: a person who clicks at random, down to any place, gives all rankers the same expected
    credit. Sensitive: the expected variance of credits is smallest, where place k is clicked with
    the probability 1 / k.
    Raises ValueError where no distribution is unbiased.
    """
    # a fifth of a second, and for this function alone
    from scipy.optimize import linprog  # noqa: PLC0415

    shown = prefix_rankings(rankings, length=length)
    given = click_credits(shown, rankings, credit=credit)
    fair = np.diff(np.cumsum(given, axis=1), axis=2).transpose(1, 2, 0).reshape(-1, len(shown))
    result = linprog(
        insensitivity(given),
        A_eq=np.vstack([np.ones(len(shown)), fair]),
        b_eq=np.array([1.0] + [0.0] * len(fair)),
        bounds=(0, 1),
    )
    if not result.success:
        raise ValueError("no distribution over these rankings is unbiased")
    return OptimizedRankings(tuple(shown), result.x / result.x.sum(), given)


def prefix_rankings(rankings: Rankings, *, length: int) -> list[Shown]:
    """Every ranking in which each document is the best one left of some ranker; sorted by picks."""
    result: dict[Shown, None] = {(): None}
    for _ in range(length):
        longer: dict[Shown, None] = {}
        for shown in result:
            best = [
                next((document for document in ranking if document not in shown), None)
                for ranking in rankings
            ]
            picks = [document for document in best if document is not None]
            longer |= {(*shown, document): None for document in picks} or {shown: None}
        result = longer
    return list(result)


def click_credits(
    shown: Sequence[Shown], rankings: Rankings, *, credit: Credit = "inverse"
) -> Floats:
    """(rankings shown, places, rankers): 1 / rank or −rank that a ranker gives to a document.

    A document that a ranker does not have counts as one below its last.
    """
    length = max(map(len, shown))
    ranks = np.full((len(shown), length, len(rankings)), np.inf)
    for row, documents in enumerate(shown):
        for position, document in enumerate(documents):
            for ranker, ranking in enumerate(rankings):
                known = list(ranking)
                own = known.index(document) if document in known else len(known)
                ranks[row, position, ranker] = own + 1
    return 1 / ranks if credit == "inverse" else np.where(np.isfinite(ranks), -ranks, 0.0)


def insensitivity(given: Floats) -> Floats:
    """(rankings,), Σ over rankers of (expected credit − its mean over rankers)².

    given: as from `click_credits`. Place k is clicked with the probability 1 / k.
    """
    chances = 1 / np.arange(1, given.shape[1] + 1)
    expected = np.einsum("k,rkx->rx", chances, given)
    result: Floats = ((expected - expected.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return result


def preferences(scores: Sequence[float] | Mapping[int, float]) -> set[tuple[int, int]]:
    """(winner, loser) of each two rankers whose credits differ."""
    values = dict(scores) if isinstance(scores, Mapping) else dict(enumerate(scores))
    return {(one, other) for one, other in product(values, repeat=2) if values[one] > values[other]}
