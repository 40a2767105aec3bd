"""The query records of a log: which text had which query id, and when."""

from array import array

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class QueryRecords:
    """(query id, time, text, application) of each record, as integers."""

    def __init__(self) -> None:
        self._values = array("q")
        self._sorted: Ints | None = None

    def add(self, query_id: int, text: int, time: int, application: int) -> None:
        """Add one record. time: in milliseconds."""
        self._values.extend((query_id, time, text, application))
        self._sorted = None

    def applications(self) -> tuple[Ints, Ints]:
        """Of the records whose query id is new, and of those that repeat one."""
        records = self._records()
        is_new = np.zeros(len(records), dtype=bool)
        is_new[np.unique(records[:, 0], return_index=True)[1]] = True
        return records[is_new, 3], records[~is_new, 3]

    def texts(self, query_ids: Ints, times: Ints) -> Ints:
        """The text that each query id had at that time, (n,); −1 for an unknown id.

        Of several records with the id the latest one counts that is not later than the time, or
        else the first: while someone types, a page may send several texts under one id.
        """
        if self._sorted is None:
            records = self._records()
            self._sorted = records[np.lexsort((records[:, 1], records[:, 0]))]
        records = self._sorted
        if not len(records) or not len(query_ids):
            return np.full(len(query_ids), -1, dtype=np.int64)
        ids, first = np.unique(records[:, 0], return_index=True)
        moments = np.unique(records[:, 1])
        position = np.minimum(np.searchsorted(ids, query_ids), len(ids) - 1)
        # one number that orders records by id, then by time
        width = len(moments) + 1
        order = np.searchsorted(ids, records[:, 0]) * width
        order += np.searchsorted(moments, records[:, 1]) + 1
        latest = position * width + np.searchsorted(moments, times, side="right")
        row = np.maximum(np.searchsorted(order, latest, side="right") - 1, first[position])
        return np.where(ids[position] == query_ids, records[row, 2], -1)

    def _records(self) -> Ints:
        # a copy: while an array's memory is looked at, it can't grow
        return np.array(self._values, dtype=np.int64).reshape(-1, 4)
