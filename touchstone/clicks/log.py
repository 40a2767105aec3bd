"""A click log, read once: evidence for each (query, document, rank), and a ledger of all records.

Events are turned into integers as they are read, and wait in a store until all query records are
known. Then each part of the store is classified and counted by itself, so what stays in memory are
the different texts and ids, and the counted evidence.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

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
    TIME,
    WIDTH,
    EventStore,
    MemoryEvents,
)
from touchstone.clicks.evidence import Evidence, EvidenceBuilder, Key
from touchstone.clicks.ledger import ApplicationLedger, Ledger, Outcome
from touchstone.clicks.query_records import QueryRecords

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ClickLog:
    """A log's evidence and where it comes from.

    applications, queries, documents: the names that the evidence's codes stand for.
    events: the usable events of all applications, (n, 8), in the parts of their store.
    """

    ledger: Ledger
    evidence: Evidence
    applications: tuple[str, ...]
    queries: tuple[str, ...]
    documents: tuple[str, ...]
    events: Iterable[Ints]

    def of_application(self, name: str) -> "ClickLog":
        """What one application's events are evidence of; the codes and the events stay.

        Raises ValueError for a name that the log does not have.
        """
        code = self.applications.index(name)
        own = tuple(one for one in self.ledger.applications if one.name == name)
        evidence = self.evidence.select(self.evidence.application == code)
        return replace(self, ledger=Ledger(own), evidence=evidence)


@dataclass(frozen=True)
class UsableEvents:
    """The events of a store that are evidence, looked up and told from duplicates as they are read.

    join: look up the texts of events without one by their query id.
    """

    store: EventStore
    records: QueryRecords
    join: bool

    def __iter__(self) -> Iterator[Ints]:
        """In the store's parts."""
        for events, outcome in self.classified():
            yield events[outcome >= Outcome.IMPRESSION]

    def classified(self) -> Iterator[tuple[Ints, Ints]]:
        """Each part with the texts that were looked up, and the Outcome of each event.

        Clicks without an impression are not classified further.
        """
        for part in self.store:
            events = part.copy()
            outcome = np.where(events[:, IS_CLICK] == 1, Outcome.CLICK, Outcome.IMPRESSION)
            without_text = np.flatnonzero(events[:, QUERY] < 0)
            if len(without_text):
                texts, classes = self._looked_up(events[without_text])
                events[without_text, QUERY] = texts
                outcome[without_text] = classes
            outcome[_repeated(events[:, IDENTITY])] = Outcome.DUPLICATE
            yield events, outcome

    def _looked_up(self, events: Ints) -> tuple[Ints, Ints]:
        """The text of each event, −1 where it is unknown, and its Outcome."""
        ids, is_click = events[:, QUERY_ID], events[:, IS_CLICK] == 1
        texts = np.where(ids != 0, self.records.texts(ids, events[:, TIME]), -1)
        joined = np.where(is_click, Outcome.CLICK_JOINED, Outcome.IMPRESSION_JOINED)
        classes = np.select(
            [ids == 0, texts < 0],
            [Outcome.NO_QUERY, Outcome.QUERY_UNKNOWN],
            joined if self.join else Outcome.JOINABLE,
        )
        return texts, classes


def _repeated(identity: Ints) -> Ints:
    """The places of events whose identity an earlier one has; 0 is none."""
    identified = np.flatnonzero(identity)
    first = np.unique(identity[identified], return_index=True)[1]
    return np.delete(identified, first)


class LogBuilder:
    """Takes the records of one log, of any number of files.

    applications, queries, documents: names and their codes; readers add to them.
    store: where events wait; in memory unless given.
    """

    def __init__(self, store: EventStore | None = None) -> None:
        self.applications: dict[str, int] = {}
        self.queries: dict[str, int] = {}
        self.documents: dict[str, int] = {}
        self.query_records = QueryRecords()
        self._store: EventStore = MemoryEvents() if store is None else store
        self._depth = 0
        self._counts: Counter[tuple[int, Outcome]] = Counter()
        self._actions: Counter[tuple[int, str]] = Counter()

    def count(self, application: int, outcome: Outcome, by: int = 1) -> None:
        """Records of a class that do not come by `add`."""
        self._counts[application, outcome] += by

    def count_action(self, application: int, action: str, by: int = 1) -> None:
        """Events with this action name, whatever becomes of them."""
        self._actions[application, action] += by

    def add(self, events: Ints) -> None:
        """Impressions and clicks, int64 (n, 8), with the columns of `events`."""
        self._depth = max(self._depth, int(events[:, RANK].max(initial=0)))
        self._store.append(events)

    def log(self, *, join: bool) -> ClickLog:
        """All that was added; to be called once.

        join: look up the texts of events without one by their query id.
        """
        applications, queries, documents = self.applications, self.queries, self.documents
        builder = EvidenceBuilder(
            (len(applications), len(queries), len(documents), self._depth + 1)
        )
        events = UsableEvents(self._store, self.query_records, join)
        joined = [np.empty((0, WIDTH), np.int64)]
        for part, outcome in events.classified():
            for one in np.unique(outcome).tolist():
                if one not in (Outcome.CLICK, Outcome.CLICK_JOINED):
                    self.count_all(part[outcome == one, APPLICATION], Outcome(one))
            joined.append(part[outcome == Outcome.CLICK_JOINED])
            usable = part[outcome >= Outcome.IMPRESSION]
            clicks = usable[:, IS_CLICK]
            builder.add(_key(usable), 1 - clicks, clicks)
        evidence = builder.table()
        self._count_clicks(evidence, np.concatenate(joined))
        new, repeated = self.query_records.applications()
        self.count_all(new, Outcome.QUERY)
        self.count_all(repeated, Outcome.QUERY_REPEATED)
        return ClickLog(
            ledger=self._ledger(evidence),
            evidence=evidence,
            applications=tuple(applications),
            queries=tuple(queries),
            documents=tuple(documents),
            events=events,
        )

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
