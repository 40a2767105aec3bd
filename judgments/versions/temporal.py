"""What a commit does to the rows of a list, and what lies between two versions: pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from touchstone.measures.traits import Traits

Pair = tuple[int, int]
Numbers = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer[Any]]
Evidence = Mapping[str, Any]


class Current(NamedTuple):
    """The row that holds now for a pair."""

    row_id: int
    grade: int
    evidence: Evidence


class Wanted(NamedTuple):
    """What shall hold for a pair. grade: None for no judgment.

    evidence: None keeps what is there while the grade stays the same.
    """

    grade: int | None
    evidence: Evidence | None


@dataclass(frozen=True)
class Plan:
    """The rows to close, the rows to insert, and what that means.

    opened: (query, document, grade, evidence) of each new row.
    """

    closed: list[int] = field(default_factory=list)
    opened: list[tuple[int, int, int, Evidence]] = field(default_factory=list)
    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def is_empty(self) -> bool:
        return not self.closed and not self.opened


def plan_commit(wanted: Mapping[Pair, Wanted], current: Mapping[Pair, Current]) -> Plan:
    """The fewest rows that turn `current` into `wanted`.

    A pair that is already as wanted gets no row. The same grade on new evidence gets one, and
    counts as nothing added, changed or removed, because no grade moved.
    """
    closed: list[int] = []
    opened: list[tuple[int, int, int, Evidence]] = []
    added = changed = removed = 0
    for pair, want in wanted.items():
        now = current.get(pair)
        if _holds(want, now):
            continue
        if now is not None:
            closed.append(now.row_id)
        if want.grade is None:
            removed += 1
            continue
        opened.append((*pair, want.grade, want.evidence or {}))
        added += now is None
        changed += now is not None and now.grade != want.grade
    return Plan(closed, opened, added, changed, removed)


def find_pairs(pairs: tuple[Integers, Integers], among: tuple[Integers, Integers]) -> Numbers:
    """Where each pair is among others, from 0; −1 where it is not.

    Both are arrays of queries and of documents, by query and then by document, each pair once.
    """
    if not len(pairs[0]) or not len(among[0]):
        return np.full(len(pairs[0]), -1, np.int64)
    # numbered by their order, so that a pair is one number however large the ids are
    queries = np.unique(among[0])
    documents = np.unique(among[1])
    known = queries.searchsorted(among[0]) * len(documents) + documents.searchsorted(among[1])
    places = [
        ids.searchsorted(own).clip(max=len(ids) - 1)
        for ids, own in zip((queries, documents), pairs, strict=True)
    ]
    is_known = (queries[places[0]] == pairs[0]) & (documents[places[1]] == pairs[1])
    wanted = places[0] * len(documents) + places[1]
    found = known.searchsorted(wanted).clip(max=len(known) - 1)
    return np.where(is_known & (known[found] == wanted), found, -1)


def _holds(want: Wanted, now: Current | None) -> bool:
    if now is None or want.grade is None:
        return now is None and want.grade is None
    return now.grade == want.grade and want.evidence in (None, now.evidence)


class Span(NamedTuple):
    """A row of the temporal table: a grade and the versions it holds in."""

    query_id: int
    document_id: int
    grade: int
    since: int
    until: int | None

    def holds_at(self, version: int) -> bool:
        return self.since <= version and (self.until is None or version < self.until)


class TraitChange(NamedTuple):
    """A query whose traits are not the same in two versions."""

    query_id: int
    before: Traits
    after: Traits


class Difference(NamedTuple):
    """A pair whose grade is not the same in two versions; None where it has none."""

    query_id: int
    document_id: int
    before: int | None
    after: int | None


def differences(spans: Iterable[Span], *, before: int, after: int) -> list[Difference]:
    """The pairs whose grades differ between two versions, by query and document.

    spans: at least every row that begins or ends between the two; others change nothing.
    before, after: version numbers, in either order; 0 is the empty list.
    """
    old: dict[Pair, int] = {}
    new: dict[Pair, int] = {}
    for span in spans:
        pair = (span.query_id, span.document_id)
        if span.holds_at(before):
            old[pair] = span.grade
        if span.holds_at(after):
            new[pair] = span.grade
    return [
        Difference(*pair, old.get(pair), new.get(pair))
        for pair in sorted(old.keys() | new.keys())
        if old.get(pair) != new.get(pair)
    ]


def apply(grades: Mapping[Pair, int], changes: Iterable[Difference]) -> dict[Pair, int]:
    """The grades of a version after the differences to another one."""
    result = dict(grades)
    for change in changes:
        pair = (change.query_id, change.document_id)
        if change.after is None:
            result.pop(pair, None)
        else:
            result[pair] = change.after
    return result
