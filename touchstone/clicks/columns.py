"""Events that come as columns: from a CSV file, or from any reader of a columnar format.

A column of texts comes as its different values and, for each event, the place of its value in
them, as dictionary-encoded columns of Parquet and Arrow do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.events import (
    APPLICATION,
    DOCUMENT,
    IDENTITY,
    IS_CLICK,
    QUERY,
    QUERY_ID,
    RANK,
    WIDTH,
)
from touchstone.clicks.ledger import MOST_RANK, Outcome
from touchstone.clicks.log import LogBuilder
from touchstone.clicks.ubi import USUAL_ACTIONS, Actions

Ints = NDArray[np.int64]

NO_RANK: Final = -1


@dataclass(frozen=True)
class Coded:
    """A column of texts. values: the different ones; codes: (n,), places in them, −1 for none."""

    values: Sequence[str]
    codes: Ints

    @classmethod
    def of(cls, texts: Sequence[str | None]) -> "Coded":
        """The column with these texts; None and "" are none."""
        positions: dict[str, int] = {}
        codes = [positions.setdefault(text, len(positions)) if text else -1 for text in texts]
        return cls(tuple(positions), np.array(codes, dtype=np.int64))

    def mapped(self, names: dict[str, int]) -> Ints:
        """The codes in another list of names, which gets those that are new to it."""
        own = [names.setdefault(value, len(names)) for value in self.values]
        return np.array([*own, -1], dtype=np.int64)[self.codes]

    def hashes(self) -> Ints:
        """A hash of each event's text; 0 for none."""
        return np.array([*map(hash, self.values), 0], dtype=np.int64)[self.codes]


@dataclass(frozen=True)
class EventColumns:
    """Events, one entry each. rank: int64, NO_RANK for none.

    identity: int64, hashes that are the same only for the same event, such as of an event id or of
    a client and a time; an event without one, 0, is never a duplicate.
    """

    action: Coded
    query: Coded
    document: Coded
    rank: Ints
    application: Coded
    query_id: Coded
    identity: Ints


def add_columns(
    builder: LogBuilder, columns: EventColumns, *, actions: Actions = USUAL_ACTIONS
) -> None:
    """Add events to a builder. Raises ValueError for columns of different lengths."""
    names = ("action", "query", "document", "application", "query_id")
    lengths = {len(getattr(columns, name).codes) for name in names}
    if lengths | {len(columns.identity)} != {len(columns.rank)}:
        raise ValueError("one entry per event in each column")
    applications = columns.application.mapped(builder.applications)
    if (applications < 0).any():
        code = builder.applications.setdefault("", len(builder.applications))
        applications = np.where(applications < 0, code, applications)
    _count_actions(builder, columns.action, applications)
    kinds = _kinds(columns.action, actions)
    events = np.zeros((len(kinds), WIDTH), dtype=np.int64)
    events[:, IS_CLICK] = kinds
    events[:, APPLICATION] = applications
    events[:, QUERY] = columns.query.mapped(builder.queries)
    events[:, DOCUMENT] = columns.document.mapped(builder.documents)
    events[:, RANK] = columns.rank
    events[:, QUERY_ID] = columns.query_id.hashes()
    events[:, IDENTITY] = np.where(columns.identity, columns.identity * 2 + kinds, 0)
    is_evidence = np.ones(len(kinds), dtype=bool)
    for outcome, mask in (
        (Outcome.OTHER_ACTION, kinds < 0),
        (Outcome.NO_DOCUMENT, events[:, DOCUMENT] < 0),
        (Outcome.NO_RANK, columns.rank < 0),
        (Outcome.RANK_TOO_LARGE, columns.rank > MOST_RANK),
    ):
        builder.count_all(applications[is_evidence & mask], outcome)
        is_evidence &= ~mask
    builder.add(events[is_evidence])


def _kinds(action: Coded, actions: Actions) -> Ints:
    """0 for an impression, 1 for a click, −1 for anything else."""
    known = dict.fromkeys(actions.impressions, 0) | dict.fromkeys(actions.clicks, 1)
    kinds = [known.get(value, -1) for value in action.values]
    return np.array([*kinds, -1], dtype=np.int64)[action.codes]


def _count_actions(builder: LogBuilder, action: Coded, applications: Ints) -> None:
    values = [*action.values, ""]
    counts = np.bincount(applications * len(values) + action.codes % len(values))
    for both in np.flatnonzero(counts).tolist():
        application, code = divmod(both, len(values))
        builder.count_action(application, values[code], int(counts[both]))
