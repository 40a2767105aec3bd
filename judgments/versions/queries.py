"""Reading a list's temporal rows: a version's grades, and what lies between two versions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import F, Q

from judgments.storage.bulk import rows_list
from judgments.versions.temporal import Difference, Span, differences


def at_head() -> Q:
    """Of judgments: they hold at their list's head."""
    head = F("list__head")
    return Q(Q(until=None) | Q(until__gt=head), since__lte=head)


def up_to_head() -> Q:
    """Of judgments: they began in a version that is made. Those that hold may have an `until` in
    the next one."""
    return Q(since__lte=F("list__head"))


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A version's grades, sorted by query and document; three arrays of one length."""

    query_ids: npt.NDArray[np.int64]
    document_ids: npt.NDArray[np.int32]
    grades: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.grades)

    @classmethod
    def of(cls, grades: Mapping[tuple[int, int], int]) -> Self:
        """The grades by (query, document)."""
        rows = sorted((*pair, grade) for pair, grade in grades.items())
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        return cls(
            query_ids=np.ascontiguousarray(table[:, 0]),
            document_ids=table[:, 1].astype(np.int32),
            grades=table[:, 2].astype(np.int8),
        )

    def pairs(self) -> dict[tuple[int, int], int]:
        """The grades by (query, document)."""
        pairs = zip(self.query_ids.tolist(), self.document_ids.tolist(), strict=True)
        return dict(zip(pairs, self.grades.tolist(), strict=True))


def get_judged(*, list_id: int, version: int, query_ids: Iterable[int] | None = None) -> Judged:
    """The grades that hold at a version, of all queries or of those given (their pks)."""
    # `+`: SQLite would walk all rows of the list by `since`, however few queries are asked for
    asked, parameters = ("", []) if query_ids is None else rows_list(query_ids)
    postgresql = connection.vendor == "postgresql"
    # a document's 32 bits and its grade as one number
    packed = "(CAST(j.document_id AS bigint) * 256 + j.grade + 128)"
    joined = f"STRING_AGG({packed}::text, ' ')" if postgresql else f"GROUP_CONCAT({packed}, ' ')"
    # one row a query, its numbers as a text: a row for each takes twice as long to read
    sql = (
        f"SELECT j.query_id, COUNT(*), {joined} "
        + f"FROM {asked and asked + ' CROSS JOIN '} judgments_judgment j "
        + "WHERE j.list_id = %s AND +j.since <= %s AND (j.until IS NULL OR j.until > %s)"
        + (asked and " AND j.query_id = asked.id")
        + " GROUP BY j.query_id"
    )
    parameters = [*parameters, list_id, version, version]
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows = sorted(cursor.fetchall())
    queries, counts = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2).T
    numbers = np.fromstring(" ".join(row[2] for row in rows), np.int64, sep=" ")
    # within a query the database mostly has them in order, which a stable sort makes use of
    keys = np.repeat(np.arange(len(rows)) << 32, counts) | numbers >> 8
    order = np.argsort(keys, kind="stable")
    numbers = numbers[order]
    return Judged(
        np.repeat(queries, counts),
        (numbers >> 8).astype(np.int32),
        ((numbers & 255) - 128).astype(np.int8),
    )


@dataclass(frozen=True)
class GradeCounts:
    """queries: that have a judgment. judgments: all of them. of_codes: of each grade asked for."""

    queries: int
    judgments: int
    of_codes: tuple[int, ...]


def count_grades(*, list_id: int, version: int, codes: Sequence[int]) -> GradeCounts:
    """How many judgments hold at a version, without reading them."""
    counts = ", COUNT(CASE WHEN grade = %s THEN 1 END)" * len(codes)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT COUNT(DISTINCT query_id), COUNT(*){counts} FROM judgments_judgment "  # noqa: S608
            + "WHERE list_id = %s AND +since <= %s AND (until IS NULL OR until > %s)",
            [*codes, list_id, version, version],
        )
        queries, judgments, *of_codes = cursor.fetchone()
    return GradeCounts(queries, judgments, tuple(of_codes))


def count_outside_collection(*, list_id: int) -> int:
    """How many rows of a list name a query or a document that its collection does not have."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM judgments_judgment j "
            "JOIN judgments_judgmentlist l ON l.id = j.list_id "
            "LEFT JOIN judgments_query q ON q.id = j.query_id "
            "AND q.collection_id = l.collection_id "
            "LEFT JOIN judgments_document d ON d.id = j.document_id "
            "AND d.collection_id = l.collection_id "
            "WHERE j.list_id = %s AND (q.id IS NULL OR d.id IS NULL)",
            [list_id],
        )
        return int(cursor.fetchone()[0])


def list_judged_queries(*, list_id: int, version: int) -> list[int]:
    """The pks of the queries with a grade at a version, ascending."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT query_id FROM judgments_judgment "
            "WHERE list_id = %s AND +since <= %s AND (until IS NULL OR until > %s)",
            [list_id, version, version],
        )
        return sorted(query_id for (query_id,) in cursor.fetchall())


def list_touched_queries(*, list_id: int, after: int, until: int) -> list[int]:
    """The pks of the queries with a row that begins or ends in a version in (after, until]."""
    with connection.cursor() as cursor:
        # sorted here: asked to, SQLite walks the whole list in the order of its queries
        cursor.execute(
            "SELECT query_id FROM judgments_judgment "
            "WHERE list_id = %s AND since > %s AND since <= %s "
            "UNION SELECT query_id FROM judgments_judgment "
            "WHERE list_id = %s AND until > %s AND until <= %s",
            [list_id, after, until] * 2,
        )
        return sorted(query_id for (query_id,) in cursor.fetchall())


def list_differences(*, list_id: int, before: int, after: int) -> list[Difference]:
    """The pairs whose grades differ between two versions, in either order; 0 is the empty list."""
    spans = (Span(*row) for row in list_spans(list_id=list_id, before=before, after=after))
    return differences(spans, before=before, after=after)


def list_spans(
    *, list_id: int, before: int, after: int
) -> list[tuple[int, int, int, int, int | None]]:
    """The rows that begin or end between two versions, as `Span` has them; in no order."""
    low, high = sorted((before, after))
    columns = "SELECT query_id, document_id, grade, since, until FROM judgments_judgment "
    with connection.cursor() as cursor:
        cursor.execute(
            columns
            + "WHERE list_id = %s AND since > %s AND since <= %s "
            + f"UNION {columns} WHERE list_id = %s AND until > %s AND until <= %s",
            [list_id, low, high] * 2,
        )
        return list(cursor.fetchall())
