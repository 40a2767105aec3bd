"""The queries with the lowest values, with their documents: what to look at of an evaluation."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from touchstone.bulk.counts import shown
from touchstone.bulk.kernel import QueryRows, query_values
from touchstone.bulk.low_queries import LowDocument, Lowest, LowQuery
from touchstone.bulk.plan import Plan

MOST_DOCUMENTS: Final = 10


def lowest_queries(plan: Plan, table: pa.Table, *, most: int, prefix: str = "") -> Sequence[Lowest]:
    """For each measure, the `most` queries with the lowest values, lowest first.

    table: as `evaluate_rows` takes it. prefix: of the segments whose queries are looked at; their
    names come without it. Of equal values those come first whose names do.
    Raises as `evaluate_rows`.
    """
    rows = QueryRows.of(table)
    if not len(rows.names):
        return [Lowest(asked.name, 0, ()) for asked in plan.asked]
    values, segments = query_values(plan, rows)
    is_meant = np.array([name.startswith(prefix) for name in segments])
    names = [str(name) for name in rows.names.to_pylist()]
    by_name = np.argsort(np.argsort(np.array(names, object)))
    result = []
    for column, asked in enumerate(plan.asked):
        own = np.flatnonzero(values.counted[:, column] & is_meant)
        found = own[np.lexsort((by_name[own], values.values[own, column]))[:most]]
        low = [
            LowQuery(
                shown(names[query]),
                shown(segments[query].removeprefix(prefix)),
                float(values.values[query, column]),
                *_documents(rows, int(query)),
            )
            for query in found
        ]
        result.append(Lowest(asked.name, len(own), tuple(low)))
    return result


def _documents(rows: QueryRows, query: int) -> tuple[int, tuple[LowDocument, ...]]:
    """How many documents are ranked, and the first, in the order of all of Touchstone."""
    own = rows.table.filter(pa.array(rows.queries == query))
    grades: dict[str, float] = {}
    ranked: list[tuple[float, str]] = []
    for one in own.select(["document", "score", "grade"]).to_pylist():
        document = str(one["document"])
        if one["grade"] is not None:
            grades[document] = one["grade"]
        if one["score"] is not None:
            ranked.append((float(np.float32(one["score"])), document))
    ranked.sort(key=lambda pair: (pair[0], pair[1].encode()), reverse=True)
    first = tuple(
        LowDocument(document, grades.get(document)) for _, document in ranked[:MOST_DOCUMENTS]
    )
    return len(ranked), first
