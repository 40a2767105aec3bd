"""A click log, read once: evidence for each (query, document, rank), and a ledger of all records.

Events are turned into integers as they are read and counted in blocks, so that what stays in
memory are the different texts and ids, the counted evidence and 8 bytes an event, by which
duplicates are found.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.duplicates import SeenKeys
from touchstone.clicks.evidence import Evidence, EvidenceBuilder, Key, of_events
from touchstone.clicks.ledger import ApplicationLedger, Ledger, Outcome
from touchstone.clicks.query_records import QueryRecords

Ints = NDArray[np.int64]

# The columns of an event. IS_CLICK: 0 or 1. QUERY: −1 without a text. QUERY_ID, IDENTITY: hashes,
# 0 where there is none; TIME: milliseconds, only where a text must be looked up.
IS_CLICK, APPLICATION, QUERY, DOCUMENT, RANK, QUERY_ID, IDENTITY, TIME = range(8)
WIDTH: Final = 8


@dataclass(frozen=True)
class ClickLog:
    """A log's evidence and where it comes from.

    applications, queries, documents: the names that the evidence's codes stand for.
    events: the usable events, (n, 8), in the order of the log; None unless they were to be kept.
    """

    ledger: Ledger
    evidence: Evidence
    applications: tuple[str, ...]
    queries: tuple[str, ...]
    documents: tuple[str, ...]
    events: Ints | None

    def of_application(self, name: str) -> "ClickLog":
        """What one application's events are evidence of; the codes stay.

        Raises ValueError for a name that the log does not have.
        """
        code = self.applications.index(name)
        own = tuple(one for one in self.ledger.applications if one.name == name)
        events = self.events
        return replace(
            self,
            ledger=Ledger(own),
            evidence=self.evidence.select(self.evidence.application == code),
            events=None if events is None else events[events[:, APPLICATION] == code],
        )


class EventSink(Protocol):
    """What usable events can be handed to."""

    def append(self, events: Ints, /) -> None:
        """Take some, int64 (n, 8)."""


class LogBuilder:
    """Takes the records of one log, of any number of files.

    applications, queries, documents: names and their codes; readers add to them.
    keeps_events: also keep each usable event (64 bytes), for the result pages of `sessions`.
    sink: takes the usable events instead, as they come.
    """

    def __init__(self, *, keeps_events: bool = False, sink: EventSink | None = None) -> None:
        self.applications: dict[str, int] = {}
        self.queries: dict[str, int] = {}
        self.documents: dict[str, int] = {}
        self.query_records = QueryRecords()
        self._evidence = EvidenceBuilder()
        self._seen = SeenKeys()
        self._without_text: list[Ints] = []
        self._counts: Counter[tuple[int, Outcome]] = Counter()
        self._actions: Counter[tuple[int, str]] = Counter()
        self._events: list[Ints] | None = [] if keeps_events else None
        self._sink = sink

    def count(self, application: int, outcome: Outcome, by: int = 1) -> None:
        """Records of a class that do not come by `add`."""
        self._counts[application, outcome] += by

    def count_action(self, application: int, action: str, by: int = 1) -> None:
        """Events with this action name, whatever becomes of them."""
        self._actions[application, action] += by

    def add(self, events: Ints) -> None:
        """Impressions and clicks, int64 (n, 8), with the columns named above."""
        events = self._without_duplicates(events)
        has_text = events[:, QUERY] >= 0
        if not has_text.all():
            self._without_text.append(events[~has_text])
            events = events[has_text]
        self._use(events)
        self.count_all(events[events[:, IS_CLICK] == 0, APPLICATION], Outcome.IMPRESSION)

    def log(self, *, join: bool) -> ClickLog:
        """All that was added; to be called once.

        join: look up the texts of events without one by their query id.
        """
        none = np.empty((0, WIDTH), dtype=np.int64)
        joined = self._joined(np.concatenate([none, *self._without_text]), join=join)
        self._without_text = []
        self._seen = SeenKeys()  # 8 bytes an event, no longer needed
        self._use(joined)
        evidence = self._evidence.table()
        self._count_clicks(evidence, joined[joined[:, IS_CLICK] == 1])
        new, repeated = self.query_records.applications()
        self.count_all(new, Outcome.QUERY)
        self.count_all(repeated, Outcome.QUERY_REPEATED)
        return ClickLog(
            ledger=self._ledger(evidence),
            evidence=evidence,
            applications=tuple(self.applications),
            queries=tuple(self.queries),
            documents=tuple(self.documents),
            events=None if self._events is None else np.concatenate([none, *self._events]),
        )

    def _without_duplicates(self, events: Ints) -> Ints:
        """The events whose identity is new; those that have none can't be duplicates."""
        identified = np.flatnonzero(events[:, IDENTITY])
        is_new = self._seen.add(events[identified, IDENTITY])
        if is_new.all():
            return events
        repeated = identified[~is_new]
        self.count_all(events[repeated, APPLICATION], Outcome.DUPLICATE)
        return np.delete(events, repeated, axis=0)

    def _use(self, events: Ints) -> None:
        self._evidence.add(of_events(_key(events), events[:, IS_CLICK] == 1))
        if self._events is not None:
            self._events.append(events)
        if self._sink is not None:
            self._sink.append(events)

    def _joined(self, events: Ints, *, join: bool) -> Ints:
        """Of events without a text those that now have one."""
        has_id = events[:, QUERY_ID] != 0
        self.count_all(events[~has_id, APPLICATION], Outcome.NO_QUERY)
        events = events[has_id]
        texts = self.query_records.texts(events[:, QUERY_ID], events[:, TIME])
        self.count_all(events[texts < 0, APPLICATION], Outcome.QUERY_UNKNOWN)
        events, texts = events[texts >= 0], texts[texts >= 0]
        if not join:
            self.count_all(events[:, APPLICATION], Outcome.JOINABLE)
            return events[:0]
        events[:, QUERY] = texts
        self.count_all(events[events[:, IS_CLICK] == 0, APPLICATION], Outcome.IMPRESSION_JOINED)
        return events

    def _count_clicks(self, evidence: Evidence, joined: Ints) -> None:
        """Count the clicks, apart where nothing was logged as shown. joined: those among them."""
        rows = evidence.rows_of(_key(joined))
        by_join = np.bincount(rows, minlength=len(evidence))
        was_shown = evidence.impressions > 0
        for mask, plain, other in (
            (was_shown, Outcome.CLICK, Outcome.CLICK_JOINED),
            (
                ~was_shown,
                Outcome.CLICK_WITHOUT_IMPRESSION,
                Outcome.CLICK_JOINED_WITHOUT_IMPRESSION,
            ),
        ):
            owners = evidence.application[mask]
            self.count_all(np.repeat(owners, by_join[mask]), other)
            self.count_all(np.repeat(owners, (evidence.clicks - by_join)[mask]), plain)

    def count_all(self, applications: Ints, outcome: Outcome) -> None:
        """Records of a class that do not come by `add`. applications: (n,), the code of each."""
        codes, counts = np.unique(applications, return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            self._counts[code, outcome] += count

    def _ledger(self, evidence: Evidence) -> Ledger:
        applications = []
        for name, code in self.applications.items():
            own = evidence.rank[evidence.application == code]
            applications.append(
                ApplicationLedger(
                    name=name,
                    outcomes={
                        outcome: self._counts[code, outcome]
                        for outcome in Outcome
                        if self._counts[code, outcome]
                    },
                    actions={
                        action: count
                        for (owner, action), count in self._actions.items()
                        if owner == code
                    },
                    smallest_rank=int(own.min()) if len(own) else None,
                )
            )
        return Ledger(tuple(applications))


def _key(events: Ints) -> Key:
    return (events[:, APPLICATION], events[:, QUERY], events[:, DOCUMENT], events[:, RANK])
