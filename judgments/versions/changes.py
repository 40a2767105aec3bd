"""What differs between two versions, as arrays: a page shows fifty of a hundred thousand pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from judgments.models import JudgmentList
from judgments.versions.queries import list_spans
from judgments.versions.temporal import Difference

STILL: Final = 2**62  # the end of a row that holds still
NONE: Final = -1_000  # no grade; grades fit into a byte


@dataclass(frozen=True, slots=True, eq=False)
class Changes(Sequence[Difference]):
    """The pairs whose grades differ, by query and document. rows: int64 (n, 4), as Difference."""

    rows: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Difference: ...

    @overload
    def __getitem__(self, place: slice) -> "list[Difference]": ...

    def __getitem__(self, place: int | slice) -> "Difference | list[Difference]":
        if isinstance(place, slice):
            return [_difference(row) for row in self.rows[place].tolist()]
        return _difference(self.rows[place].tolist())

    def __iter__(self) -> Iterator[Difference]:
        return map(_difference, self.rows.tolist())

    def counts(self) -> dict[str, int]:
        """How many were added, changed and removed."""
        return {kind: int(self._are(kind).sum()) for kind in ("added", "changed", "removed")}

    def of_kind(self, kind: str) -> "Changes":
        """Those added, changed or removed alone."""
        return Changes(self.rows[self._are(kind)])

    def of_query(self, query_id: int) -> "Changes":
        """Those of one query."""
        return Changes(self.rows[self.rows[:, 0] == query_id])

    def _are(self, kind: str) -> npt.NDArray[np.bool_]:
        added, removed = self.rows[:, 2] == NONE, self.rows[:, 3] == NONE
        are: npt.NDArray[np.bool_] = added if kind == "added" else removed
        return ~(added | removed) if kind == "changed" else are


def get_changes(*, judgment_list: JudgmentList, before: int, after: int) -> Changes:
    """The pairs whose grades differ between two versions, in either order; 0 is the empty list.

    What `list_differences` gives, for more pairs than one would look at one by one.
    """
    spans = list_spans(list_id=judgment_list.pk, before=before, after=after)
    rows = np.array(
        [(*row[:4], STILL if row[4] is None else row[4]) for row in spans], np.int64
    ).reshape(-1, 5)
    # document ids have 32 bits (rankings store them so), so a pair fits into one number
    pairs = (rows[:, 0] << 32) | rows[:, 1]
    holding = [(rows[:, 3] <= number) & (number < rows[:, 4]) for number in (before, after)]
    both = np.union1d(pairs[holding[0]], pairs[holding[1]])
    result = np.empty((len(both), 4), np.int64)
    result[:, 0], result[:, 1] = both >> 32, both & 0xFFFFFFFF
    for column, held in zip((2, 3), holding, strict=True):
        result[:, column] = NONE
        result[np.searchsorted(both, pairs[held]), column] = rows[held, 2]
    return Changes(result[result[:, 2] != result[:, 3]])


def kind_of(change: Difference) -> str:
    """Whether a judgment was added, changed or removed."""
    if change.before is None:
        return "added"
    return "removed" if change.after is None else "changed"


def _difference(row: list[int]) -> Difference:
    query_id, document_id, before, after = row
    return Difference(
        query_id, document_id, None if before == NONE else before, None if after == NONE else after
    )
