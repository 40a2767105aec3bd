"""All judgments of a version, which a process remembers from one evaluation to the next.

To read them row by row takes far longer than to evaluate them. Versions are immutable, so what was
read stays true, and what differs in another version of the list is little.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import F, Sum

from judgments.models import JudgmentVersion
from judgments.versions.queries import (
    GradeCounts,
    Judged,
    count_grades,
    get_judged,
    list_differences,
)
from judgments.versions.temporal import Difference

MOST: Final = 4_000_000  # judgments that a process remembers, at 13 bytes each
_FEW: Final = 10  # times as many judgments as differences: then those alone are read

Keys = npt.NDArray[np.int64]
Number = TypeVar("Number", bound="np.integer[Any]")


class _Remembered(NamedTuple):
    """row: of the version, which no other version ever has."""

    number: int
    row: tuple[int, str]
    judged: Judged


_remembered: OrderedDict[int, _Remembered] = OrderedDict()
_lock: Final = Lock()


def get_all_judged(*, list_id: int, version: int) -> Judged:
    """`get_judged` of all queries. Nothing is remembered of what may yet be rolled back."""
    if connection.in_atomic_block:
        return get_judged(list_id=list_id, version=version)
    known = _remembered.get(list_id)
    rows = _rows(list_id, {version, known.number if known else version})
    if version not in rows:
        return get_judged(list_id=list_id, version=version)
    if known is None or rows.get(known.number) != known.row:
        judged = get_judged(list_id=list_id, version=version)
    elif known.number == version:
        judged = known.judged
    else:
        judged = _from(known, list_id, version)
    _remember(list_id, _Remembered(version, rows[version], judged))
    return judged


def count_all_grades(*, list_id: int, version: int, codes: Sequence[int]) -> GradeCounts:
    """`count_grades`, which takes seconds of millions of rows, from memory where they are known."""
    known = _remembered.get(list_id)
    if (
        connection.in_atomic_block
        or known is None
        or known.number != version
        or _rows(list_id, {version}).get(version) != known.row
    ):
        return count_grades(list_id=list_id, version=version, codes=codes)
    grades = known.judged.grades
    return GradeCounts(
        queries=int(np.count_nonzero(np.diff(known.judged.query_ids, prepend=0))),
        judgments=len(grades),
        of_codes=tuple(int(np.count_nonzero(grades == code)) for code in codes),
    )


def _rows(list_id: int, numbers: set[int]) -> dict[int, tuple[int, str]]:
    """What tells these versions from any other of the same number, before a restore for example."""
    result = JudgmentVersion.objects.filter(list=list_id, number__in=numbers)
    return {
        number: (pk, made.isoformat())
        for number, pk, made in result.values_list("number", "pk", "created_at")
    }


def _from(known: _Remembered, list_id: int, version: int) -> Judged:
    low, high = sorted((known.number, version))
    between = JudgmentVersion.objects.filter(list=list_id, number__gt=low, number__lte=high)
    changes = between.aggregate(n=Sum(F("added") + F("changed") + F("removed")))["n"] or 0
    if changes * _FEW > len(known.judged):
        return get_judged(list_id=list_id, version=version)
    return moved(
        known.judged, list_differences(list_id=list_id, before=known.number, after=version)
    )


def moved(judged: Judged, differences: list[Difference]) -> Judged:
    """The judgments after some differences, which are ordered by query and document."""
    if not differences:
        return judged
    keys = _keys(judged.query_ids, judged.document_ids)
    gone = np.searchsorted(keys, _keys_of([d for d in differences if d.before is not None]))
    new = [d for d in differences if d.after is not None]
    places = np.searchsorted(np.delete(keys, gone), _keys_of(new))

    def column(values: npt.NDArray[Number], own: list[int]) -> npt.NDArray[Number]:
        return np.insert(np.delete(values, gone), places, np.array(own, values.dtype))

    return Judged(
        query_ids=column(judged.query_ids, [d.query_id for d in new]),
        document_ids=column(judged.document_ids, [d.document_id for d in new]),
        grades=column(judged.grades, [d.after for d in new if d.after is not None]),
    )


def _keys(query_ids: npt.NDArray[np.int64], document_ids: npt.NDArray[np.integer]) -> Keys:
    """Pairs as numbers in the order of the pairs: documents have 31 bits, as rankings keep them."""
    keys: Keys = (query_ids << 31) + document_ids
    return keys


def _keys_of(differences: list[Difference]) -> Keys:
    return _keys(
        np.array([d.query_id for d in differences], np.int64),
        np.array([d.document_id for d in differences], np.int64),
    )


def _remember(list_id: int, own: _Remembered) -> None:
    """Forgets the lists that no one asked for longest, where all together are too many."""
    with _lock:
        _remembered.pop(list_id, None)
        if len(own.judged) > MOST:
            return
        _remembered[list_id] = own
        while sum(len(one.judged) for one in _remembered.values()) > MOST:
            _remembered.popitem(last=False)
