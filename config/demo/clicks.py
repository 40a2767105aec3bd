"""A month of clicks on the demo's rankings: made up, and called simulated wherever it is shown.

Each page shows one question's first ten documents by one of the rankers, drawn at random. A result
is clicked with the probability that its position is examined, which is known, times that a document
of its grade is found attractive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.columns import Coded, EventColumns, add_columns
from touchstone.clicks.interleaving import team_draft, team_draft_credits
from touchstone.clicks.interleaving_log import InterleavingLog
from touchstone.clicks.log import ClickLog, LogBuilder

NAME: Final = "Simulated clicks, one month"
APPLICATION: Final = "simulation"
PAGES: Final = 20_000
DEPTH: Final = 10
EXAMINATION: Final = tuple(round(rank**-0.7, 4) for rank in range(1, DEPTH + 1))
ATTRACTIVE: Final = (0.08, 0.2, 0.4, 0.6, 0.8)  # by grade
UNKNOWN: Final = 0.1  # of a document without a grade
SEED: Final = 11
INTERLEAVING: Final = "Simulated interleaving of two rankers"
INTERLEAVED: Final = 1500  # pages
USERS: Final = 300

Ints = NDArray[np.int64]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Shown:
    """What a ranker shows for a question. text: the question. docids: at least two, best first."""

    text: str
    docids: Sequence[str]


def simulated_clicks(
    shown: Sequence[Shown], weights: Sequence[float], grades: Mapping[Pair, int]
) -> ClickLog:
    """A month of clicks.

    weights: how often each of `shown` is asked for, relative to the others. grades: of (question,
    docid) where known.
    """
    rng = np.random.default_rng(SEED)
    share = np.asarray(weights, np.float64) / sum(weights)
    page = rng.choice(len(shown), size=PAGES, p=share)
    chance = np.zeros((len(shown), DEPTH))
    for row, one in enumerate(shown):
        for position, docid in enumerate(one.docids[:DEPTH]):
            grade = grades.get((one.text, docid))
            attractive = UNKNOWN if grade is None else ATTRACTIVE[grade]
            chance[row, position] = attractive * EXAMINATION[position]
    lengths = np.array([len(one.docids[:DEPTH]) for one in shown])
    own, place = np.nonzero(np.arange(DEPTH) < lengths[page][:, None])
    clicked = np.flatnonzero(rng.random(len(own)) < chance[page[own], place])
    builder = LogBuilder()
    for action, rows in (("impression", slice(None)), ("click", clicked)):
        add_columns(builder, _columns(action, shown, page, own[rows], place[rows]))
    return builder.log(join=False)


def _columns(
    action: str, shown: Sequence[Shown], page: Ints, own: Ints, place: Ints
) -> EventColumns:
    """Events of one action. own: the page of each; place: of its document, from 0."""
    texts, docids = Coded.of([one.text for one in shown]), _docids(shown)
    same = np.zeros(len(own), np.int64)
    return EventColumns(
        action=Coded([action], same),
        query=Coded(texts.values, texts.codes[page[own]]),
        document=Coded(docids.values, docids.codes.reshape(-1, DEPTH)[page[own], place]),
        rank=place + 1,
        application=Coded([APPLICATION], same),
        query_id=Coded([f"page {number}" for number in range(len(page))], own),
        identity=same,
    )


def _docids(shown: Sequence[Shown]) -> Coded:
    """DEPTH entries for each of `shown`."""
    return Coded.of(
        [
            docid
            for one in shown
            for docid in [*one.docids[:DEPTH], *[None] * (DEPTH - len(one.docids[:DEPTH]))]
        ]
    )


def simulated_interleaving(
    first: Mapping[str, Sequence[str]],
    second: Mapping[str, Sequence[str]],
    grades: Mapping[Pair, int],
    *,
    rankers: tuple[str, str],
) -> InterleavingLog:
    """Team-draft pages of two rankers, clicked as the others are.

    first, second: docids by question, best first. rankers: their names.
    """
    rng = np.random.default_rng(SEED)
    texts = sorted(first.keys() & second.keys())
    given, users = [], []
    for page in range(INTERLEAVED):
        text = texts[int(rng.integers(len(texts)))]
        shown = team_draft([first[text], second[text]], length=DEPTH, seed=page)
        known = (grades.get((text, str(docid))) for docid in shown.documents)
        attractive = [UNKNOWN if grade is None else ATTRACTIVE[grade] for grade in known]
        chances = np.array(attractive) * EXAMINATION[: len(attractive)]
        clicked = np.flatnonzero(rng.random(len(chances)) < chances).tolist()
        if clicked:
            given.append(team_draft_credits(shown, clicked, rankers=2))
            users.append(page % USERS)
    return InterleavingLog(
        rankers=rankers,
        credits=np.array(given, np.float64),
        users=np.array(users, np.int64),
        pages=INTERLEAVED,
        without_credit=0,
    )
