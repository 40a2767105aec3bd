"""Result pages: what one request showed, in its order, and what was clicked on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.events import APPLICATION, DOCUMENT, IS_CLICK, QUERY, QUERY_ID, RANK
from touchstone.clicks.evidence import Evidence, counted
from touchstone.clicks.log import ClickLog
from touchstone.errors import DomainError

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MIX: Final = np.uint64(0x9E3779B97F4A7C15)
FEWEST_RESULTS: Final = 2
MOST_RESULTS: Final = 10


class SessionsError(DomainError):
    """A log has no result pages that a model could learn from."""

    def __init__(self, message: str) -> None:
        super().__init__("no_sessions", message)


@dataclass(frozen=True)
class Sessions:
    """Result pages, one row for each result, a page's rows together and in their order.

    session: (rows,), ascending from 0. position: (rows,), 1, 2, … on each page. query, document:
    (rows,), codes. click: (rows,), whether it was clicked at least once.
    """

    session: Ints
    position: Ints
    query: Ints
    document: Ints
    click: Bools

    def __len__(self) -> int:
        """The number of pages."""
        return int(self.session[-1]) + 1 if len(self.session) else 0

    @property
    def depth(self) -> int:
        """The results of the longest page."""
        return int(self.position.max(initial=0))

    @property
    def lengths(self) -> Ints:
        """The results of each page."""
        return np.bincount(self.session).astype(np.int64)

    @property
    def pair(self) -> Ints:
        """(rows,), a number for each (query, document); the same in other sessions of the log."""
        return (self.query << 32) | self.document

    @property
    def evidence(self) -> Evidence:
        """The pages counted: ranks from 1, impressions are pages, clicks are pages with a click."""
        return counted(
            (np.zeros_like(self.query), self.query, self.document, self.position),
            np.ones_like(self.query),
            self.click.astype(np.int64),
        )

    @classmethod
    def joined(cls, parts: Sequence["Sessions"]) -> "Sessions":
        """All pages of some sessions, in an order that follows from what is on them alone.

        So it does not depend on the parts, and a seed draws the same pages each time.
        """
        columns = [
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("position", "query", "document", "click")
        ]
        lengths = np.concatenate([part.lengths for part in parts])
        if not len(lengths):
            return parts[0]
        starts = np.cumsum(lengths) - lengths
        rows = np.zeros(len(columns[0]), np.uint64)
        for column in columns:
            rows = (rows ^ (rows >> np.uint64(31)) ^ column.astype(np.uint64)) * MIX
        order = np.argsort(np.bitwise_xor.reduceat(rows, starts), kind="stable")
        lengths = lengths[order]
        session = np.repeat(np.arange(len(lengths)), lengths)
        offset = np.arange(len(session)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        position, query, document, click = (
            column[starts[order][session] + offset] for column in columns
        )
        return cls(session, position, query, document, click)

    def select(self, pages: Bools) -> "Sessions":
        """Some of the pages. pages: (sessions,)."""
        keep = pages[self.session]
        number = np.cumsum(pages) - 1
        return Sessions(
            number[self.session[keep]],
            self.position[keep],
            self.query[keep],
            self.document[keep],
            self.click[keep],
        )


@dataclass(frozen=True)
class FoundSessions:
    """An application's result pages. rank_base: the rank of a first result.

    dropped: how many pages were left out, by the reason.
    """

    sessions: Sessions
    application: str
    rank_base: int
    dropped: Mapping[str, int]


def find_sessions(
    log: ClickLog,
    *,
    rank_base: int | None = None,
    fewest: int = FEWEST_RESULTS,
    most: int = MOST_RESULTS,
) -> FoundSessions:
    """The result pages of the application that has most of them: positions are of one page layout.

    A page is what was shown under one query id: its impressions at the ranks base, base + 1, …
    without a gap, of each rank the first, from `fewest` to `most` of them. A click counts at its
    own rank and document. rank_base: of applications whose smallest rank is neither 0 nor 1.
    Raises SessionsError where there are none.
    """
    all_events = np.concatenate(list(log.events))
    result = []
    for one in log.ledger.applications:
        base = rank_base if rank_base is not None else one.rank_base
        if base is None:
            continue
        code = log.applications.index(one.name)
        events = all_events[all_events[:, APPLICATION] == code]
        sessions, dropped = pages(events, base, fewest=fewest, most=most)
        result.append(FoundSessions(sessions, one.name, base, dropped))
    best = max(result, key=lambda one: len(one.sessions), default=None)
    if best is None or not len(best.sessions):
        raise SessionsError(_why_none(log, result, is_base_known=rank_base is not None))
    return best


def pages(events: Ints, base: int, *, fewest: int, most: int) -> tuple[Sessions, dict[str, int]]:
    """One application's pages, in the order of the log, and how many are dropped.

    events: (n, 8), as a log keeps them. base: the rank of a first result.
    """
    events = events[events[:, QUERY_ID] != 0]
    shown = events[events[:, IS_CLICK] == 0]
    order = np.lexsort((shown[:, RANK], shown[:, QUERY_ID]))
    changes = np.diff(shown[order][:, [QUERY_ID, RANK]], axis=0).any(axis=1)
    rows = shown[order[np.concatenate([[True], changes])]] if len(order) else shown
    ids, starts, lengths = np.unique(rows[:, QUERY_ID], return_index=True, return_counts=True)
    position = np.arange(len(rows)) - np.repeat(starts, lengths)
    gaps = np.zeros(len(ids), dtype=bool)
    gaps[np.repeat(np.arange(len(ids)), lengths)[rows[:, RANK] - base != position]] = True
    too_short, too_long = lengths < fewest, lengths > most
    keep = ~gaps & ~too_short & ~too_long
    dropped = {
        "gap": int(gaps.sum()),
        "too_short": int((too_short & ~gaps).sum()),
        "too_long": int((too_long & ~gaps).sum()),
    }
    kept = np.repeat(keep, lengths)
    rows, position, ids, lengths = rows[kept], position[kept], ids[keep], lengths[keep]
    # a page stands where its first impression does in the log, and has the text of that one
    names, first = np.unique(shown[:, QUERY_ID], return_index=True)
    first = first[np.searchsorted(names, ids)]
    by_log = np.argsort(np.repeat(first, lengths), kind="stable")
    rows, position = rows[by_log], position[by_log]
    order = np.argsort(first)
    first, lengths = first[order], lengths[order]
    starts = np.cumsum(lengths) - lengths
    session = np.repeat(np.arange(len(first)), lengths)
    click = np.zeros(len(rows), dtype=bool)
    if len(ids):
        clicks = events[events[:, IS_CLICK] == 1]
        result = np.minimum(np.searchsorted(ids, clicks[:, QUERY_ID]), len(ids) - 1)
        page = np.argsort(order)[result]
        offset = clicks[:, RANK] - base
        inside = (ids[result] == clicks[:, QUERY_ID]) & (offset >= 0) & (offset < lengths[page])
        row = (starts[page] + offset)[inside]
        same = rows[row, DOCUMENT] == clicks[inside, DOCUMENT]
        click[row[same]] = True
    query = shown[first, QUERY][session]
    return Sessions(session, position + 1, query, rows[:, DOCUMENT], click), dropped


def _why_none(log: ClickLog, result: list[FoundSessions], *, is_base_known: bool) -> str:
    unknown = [
        one.name or "(no name)"
        for one in log.ledger.applications
        if one.smallest_rank is not None and one.rank_base is None
    ]
    if unknown and not is_base_known:
        return (
            f"No result pages: the smallest rank of {', '.join(unknown)} is neither 0 nor 1; "
            "set --rank-base."
        )
    dropped = sum(sum(one.dropped.values()) for one in result)
    return (
        "No result pages: impressions must have a query_id, and ranks without a gap"
        f"{f' ({dropped:,} pages have too few, too many or a gap)' if dropped else ''}."
    )
