"""Click logs of the usual world. Keyword-only, fixed seeds."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from judgments.clicks.interleaving import store_interleaving
from judgments.clicks.services import Reading, import_clicks
from judgments.models import ClickLog, InterleavingExperiment
from tests.builders import NOW, World
from touchstone.clicks.interleaving_log import InterleavingLog

HEADER = "action,query,document,rank,query_id,client_id,timestamp"
EXAMINATION = (1.0, 0.6, 0.4)


def page_rows(
    number: int, query: str, documents: Sequence[str], clicked: Sequence[int] = ()
) -> list[str]:
    """One result page's events. clicked: positions from 1."""
    shown = [("impression", place) for place in range(1, len(documents) + 1)]
    return [
        f'{action},"{query}",{documents[place - 1]},{place},p{number},client{number},{number}'
        for action, place in [*shown, *(("click", place) for place in clicked)]
    ]


def simulated_rows(world: World, *, pages: int = 3000, seed: int = 3) -> list[str]:
    """Pages of three documents in random order, clicked with known probabilities."""
    rng = np.random.default_rng(seed)
    rows: list[str] = []
    attractive = rng.uniform(0.2, 0.9, size=(len(world.queries), len(world.documents)))
    for number in range(pages):
        query = int(rng.integers(len(world.queries)))
        shown = rng.permutation(len(world.documents))[:3]
        chances = attractive[query, shown] * EXAMINATION
        clicked = (np.flatnonzero(rng.random(3) < chances) + 1).tolist()
        docids = [world.documents[place].docid for place in shown]
        rows += page_rows(number, world.queries[query].text, docids, clicked)
    return rows


def make_clicks(
    *, world: World, rows: Sequence[str] | None = None, name: str = "May", **reading: Any
) -> ClickLog:
    """A log of these rows below the usual header; else of two pages of the first query."""
    if rows is None:
        text = world.queries[0].text
        rows = [*page_rows(1, text, ["d1", "d2"], [2]), *page_rows(2, text, ["d2", "x9"])]
    file = io.BytesIO("\n".join([HEADER, *rows]).encode())
    return import_clicks(
        collection=world.collection,
        name=name,
        files=[(file, "clicks.csv")],
        reading=Reading(**reading),
        by=world.ada,
        at=NOW,
    )


def make_interleaving(
    *, world: World, name: str = "May", rankers: tuple[str, str] = ("a", "b")
) -> InterleavingExperiment:
    """An experiment of two pages by one user each."""
    log = InterleavingLog(
        rankers=rankers,
        credits=np.array([[1.0, 0.0], [0.0, 1.0]]),
        users=np.array([0, 1]),
        pages=3,
        without_credit=0,
    )
    return store_interleaving(collection=world.collection, name=name, log=log, by=world.ada, at=NOW)
