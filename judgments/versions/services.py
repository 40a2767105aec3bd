"""All that writes judgments: changes with their evidence, and columns of grades without."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db import connection, models, transaction

from judgments.models import Document, Judgment, JudgmentList, JudgmentVersion, Query, User
from judgments.signals import version_committed
from judgments.storage.bulk import (
    FETCHED,
    Column,
    copy_rows,
    insert_rows,
    pairs_list,
    values_list,
)
from judgments.storage.side_texts import keep_text
from judgments.versions.parts import ListBusy, Writing, lock_list, writing
from judgments.versions.takes import admitted, check_takes_people
from judgments.versions.temporal import (
    Current,
    Integers,
    Numbers,
    Pair,
    Plan,
    Wanted,
    find_pairs,
    plan_commit,
)
from touchstone.errors import DomainError

BLOCK: Final = 1 << 17  # pairs that are compared with what holds at once


class CommitRefused(DomainError):
    """The changes can't become a version of this list."""


@dataclass(frozen=True, slots=True)
class Change:
    """What shall hold for one pair from the next version on.

    grade: a code of the list's scale; None takes the judgment away.
    evidence: plain JSON values that say why; None keeps what is there while the grade stays.
    """

    query_id: int
    document_id: int
    grade: int | None
    evidence: Mapping[str, Any] | None = field(default_factory=dict)


def commit_judgments(
    *,
    judgment_list: JudgmentList,
    changes: Iterable[Change],
    by: User | None,
    at: datetime,
    reason: str,
    source: str,
    signals: Sequence[tuple[str, int]] = (),
    confirmations: Iterable[Change] = (),
) -> JudgmentVersion | None:
    """Make the next version of the list; None if nothing would change.

    Raises ListBusy while a large import is being written into the list.

    confirmations: new evidence of grades that stay; for these alone no version is made.

    signals: what the signals meant that the grades were made of, to be kept with the version.

    Takes the list's row lock, so commits follow one another; may run inside the caller's
    transaction, which then holds the lock until it ends. Sends `version_committed` afterwards.
    Grades from where the list takes none are left out (`judgments.versions.takes.admitted`).
    Raises CommitRefused for a pair that comes twice, a grade outside the scale, or a query or
    document of another collection.
    """
    wanted = _wanted(changes)
    with transaction.atomic():
        locked = _lock(judgment_list)
        wanted = admitted(locked.takes, wanted)
        _check_grades(locked, wanted)
        current = read_current(list_id=locked.pk, pairs=wanted)
        _check_collection(locked, wanted.keys() - current.keys())
        plan = plan_commit(wanted, current)
        if plan.is_empty:
            return None
        more = admitted(locked.takes, _wanted(confirmations))
        confirmed = {pair: want for pair, want in more.items() if pair not in wanted}
        if confirmed:
            current |= read_current(list_id=locked.pk, pairs=confirmed)
            plan = plan_commit(wanted | confirmed, current)
        version = make_version(
            locked,
            by=by,
            at=at,
            reason=reason,
            source=source,
            added=plan.added,
            changed=plan.changed,
            removed=plan.removed,
            signals=signals,
        )
        _write(locked.pk, version.number, plan)
        judgment_list.head = version.number
    return version


@dataclass(frozen=True, eq=False)
class PairGrades:
    """Grades of many pairs, grouped by query.

    queries, documents: primary keys, each once, in any order. starts: length queries + 1; the pairs
    of query i are starts[i]:starts[i + 1]. codes: per pair, the position of its document in
    `documents`. grades: per pair.
    """

    queries: Numbers
    starts: Numbers
    documents: Integers
    codes: Integers
    grades: Integers

    def blocks(self) -> Iterator[tuple[Numbers, Integers, Integers]]:
        """The pairs' queries, documents and grades, by query and document, some queries at a time.

        What is made of so few pairs at once takes little memory.
        """
        by_key = np.argsort(self.queries)
        lengths = np.diff(self.starts)
        blocks = np.cumsum(lengths[by_key]) // BLOCK
        for own in np.split(by_key, np.flatnonzero(np.diff(blocks)) + 1):
            queries = np.repeat(self.queries[own], lengths[own])
            spans = [np.arange(*self.starts[query : query + 2]) for query in own.tolist()]
            positions = np.concatenate([np.zeros(0, np.int64), *spans])
            documents = self.documents[self.codes[positions]]
            order = np.lexsort((documents, queries))
            yield queries, documents[order], self.grades[positions[order]]


def commit_grades(
    *,
    judgment_list: JudgmentList,
    pairs: PairGrades,
    by: User | None,
    at: datetime,
    reason: str,
    source: str,
    signals: Sequence[tuple[str, int]] = (),
    finish: Callable[[JudgmentVersion | None], None] = lambda _: None,
) -> JudgmentVersion | None:
    """As `commit_judgments`, for any number of grades of people without evidence.

    A grade that is there already keeps its evidence. Nothing of a pair is a Python object.
    finish: called in the transaction that makes the version; what it raises undoes all.
    Many grades are written in parts on SQLite (`judgments.versions.parts`).
    Raises as `commit_judgments` does, and TakesRefused for a list that takes none of people.
    """
    with writing(list_id=judgment_list.pk, pairs=len(pairs.codes)) as written:
        locked = written.judgment_list
        _check_open(locked)
        check_takes_people(locked)
        _check_codes(locked, set(np.unique(pairs.grades).tolist()))
        plans = []
        for block in pairs.blocks():
            plans.append(_plan(locked, *block))
            with written.part():
                pass  # a sign of life
        added = sum(plan.added for plan in plans)
        changed = sum(len(plan.closed) for plan in plans)
        if added:
            _check_all_in(locked, pairs.queries, pairs.documents)
        for plan, block in zip(plans, pairs.blocks(), strict=True):
            _write_grades(written, plan, *block)
        version = None
        with written.last() as newest:
            _check_open(newest)
            if added or changed:
                version = make_version(
                    newest,
                    by=by,
                    at=at,
                    reason=reason,
                    source=source,
                    added=added,
                    changed=changed,
                    signals=signals,
                )
            finish(version)
    if version is not None:
        judgment_list.head = version.number
    return version


@dataclass(frozen=True, eq=False)
class _GradePlan:
    """What the grades of some pairs change.

    closed: the ids of rows to close. opened: per pair, whether it gets a row. added: how many pairs
    had none.
    """

    closed: Numbers
    opened: npt.NDArray[np.bool_]
    added: int


def _plan(
    judgment_list: JudgmentList, queries: Numbers, documents: Integers, grades: Integers
) -> _GradePlan:
    """Compare grades, by query and document, with those that hold."""
    if ((queries[1:] == queries[:-1]) & (documents[1:] == documents[:-1])).any():
        raise CommitRefused("pair_twice", "Duplicate query-document pair.")
    current = _read_current_arrays(judgment_list, queries)
    places = find_pairs((queries, documents), (current.queries, current.documents))
    is_there = places >= 0
    changed = is_there & (current.grades[places] != grades) if len(current.ids) else is_there
    opened = changed | ~is_there
    closed = current.ids[places[changed]]
    return _GradePlan(closed, opened, int(opened.sum()) - len(closed))


def _write_grades(
    written: Writing, plan: _GradePlan, queries: Numbers, documents: Integers, grades: Integers
) -> None:
    number = written.judgment_list.head + 1
    for some in written.slices(len(plan.closed)):
        with written.part():
            _close(number, plan.closed[some].tolist())
    columns = (queries[plan.opened], documents[plan.opened], grades[plan.opened])
    for some in written.slices(len(columns[0])):
        with written.part():
            rows: dict[str, Column] = {
                "list_id": written.judgment_list.pk,
                "query_id": columns[0][some],
                "document_id": columns[1][some],
                "grade": columns[2][some],
                "since": number,
                "evidence": "{}",
            }
            copy_rows(Judgment, rows, some.stop - some.start)


@dataclass(frozen=True, eq=False)
class _CurrentRows:
    """Rows that hold now, by query and document."""

    ids: Numbers
    queries: Numbers
    documents: Numbers
    grades: Numbers


def _read_current_arrays(judgment_list: JudgmentList, queries: Numbers) -> _CurrentRows:
    """The rows of these queries. queries: in order."""
    parts = [np.zeros((0, 4), np.int64)]
    if judgment_list.head:
        subquery, parameter = values_list(np.unique(queries).tolist(), "bigint")
        with connection.chunked_cursor() as cursor:
            cursor.execute(
                "SELECT id, query_id, document_id, grade FROM judgments_judgment "  # noqa: S608
                + f"WHERE list_id = %s AND until IS NULL AND query_id {subquery} "
                + "ORDER BY query_id, document_id",
                [judgment_list.pk, parameter],
            )
            while rows := cursor.fetchmany(FETCHED):
                parts.append(np.array(rows, np.int64))
    return _CurrentRows(*np.concatenate(parts).T)


def read_current(*, list_id: int, pairs: Iterable[Pair]) -> dict[Pair, Current]:
    """The rows that hold now for the given pairs; under the list's lock, which has no others."""
    table, parameters = pairs_list(pairs)
    rows = (
        "judgments_judgment j WHERE j.list_id = %s "
        "AND j.query_id = pairs.a AND j.document_id = pairs.b AND j.until IS NULL"
    )
    if connection.vendor == "postgresql":
        # looked up pair by pair: without statistics it would read the whole list for a few pairs
        rows = f"LATERAL (SELECT * FROM {rows} OFFSET 0) j"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT j.query_id, j.document_id, j.id, j.grade, j.evidence "
            + f"FROM {table} CROSS JOIN {rows}",
            [*parameters, list_id],
        )
        return {
            (query, document): Current(row, grade, json.loads(evidence))
            for query, document, row, grade, evidence in cursor.fetchall()
        }


def _lock(judgment_list: JudgmentList) -> JudgmentList:
    """`lock_list` for a commit. Raises CommitRefused if it is archived."""
    locked = lock_list(judgment_list.pk)
    _check_open(locked)
    return locked


def _check_open(judgment_list: JudgmentList) -> None:
    if judgment_list.archived_at is not None:
        raise CommitRefused("archived", "This list is archived, so it can’t be changed.")


def _wanted(changes: Iterable[Change]) -> dict[Pair, Wanted]:
    wanted: dict[Pair, Wanted] = {}
    for change in changes:
        pair = (change.query_id, change.document_id)
        if pair in wanted:
            raise CommitRefused("pair_twice", "Duplicate query-document pair.")
        wanted[pair] = Wanted(change.grade, change.evidence)
    return wanted


def _check_grades(judgment_list: JudgmentList, wanted: Mapping[Pair, Wanted]) -> None:
    grades = {want.grade for want in wanted.values()}
    _check_codes(judgment_list, {grade for grade in grades if grade is not None})


def _check_codes(judgment_list: JudgmentList, codes: set[int]) -> None:
    unknown = codes - {grade["code"] for grade in judgment_list.scale}
    if unknown:
        grades = ", ".join(map(str, sorted(unknown)[:5]))
        raise CommitRefused("grade_unknown", f"The list's scale has no grade {grades}.")


def _check_collection(judgment_list: JudgmentList, pairs: Iterable[Pair]) -> None:
    """New pairs must be of the list's collection; those with a row were checked before."""
    new = list(pairs)
    if not new:
        return
    _check_all_in(judgment_list, *(set(ids) for ids in zip(*new, strict=True)))


def _check_all_in(
    judgment_list: JudgmentList, queries: Collection[int], documents: Collection[int]
) -> None:
    own = judgment_list.collection_id
    if not _all_in(Query, own, queries) or not _all_in(Document, own, documents):
        raise CommitRefused(
            "not_in_collection", "A query or a document does not belong to the list's collection."
        )


def _all_in(model: type[models.Model], collection_id: int, ids: Collection[int]) -> bool:
    kind = str(model._meta.pk.rel_db_type(connection))
    rest, own = iter(ids), 0
    with connection.cursor() as cursor:
        while part := [int(one) for one in islice(rest, FETCHED)]:
            subquery, parameter = values_list(part, kind)
            cursor.execute(
                f'SELECT COUNT(*) FROM "{model._meta.db_table}" '  # noqa: S608
                + f"WHERE collection_id = %s AND id {subquery}",
                [collection_id, parameter],
            )
            own += int(cursor.fetchone()[0])
    return own == len(ids)


def make_version(
    judgment_list: JudgmentList,
    *,
    by: User | None,
    at: datetime,
    reason: str,
    source: str,
    added: int = 0,
    changed: int = 0,
    removed: int = 0,
    signals: Sequence[tuple[str, int]] = (),
) -> JudgmentVersion:
    """The list's next version, announced on commit; the caller holds the list's lock.

    Raises ListBusy while rows of it are written in parts.
    """
    number = judgment_list.head + 1
    own_qs = JudgmentList.objects.filter(pk=judgment_list.pk, unfinished=None)
    if not own_qs.update(head=number):
        raise ListBusy
    announce = partial(
        version_committed.send, JudgmentList, list_id=judgment_list.pk, number=number
    )
    transaction.on_commit(announce, robust=True)
    return JudgmentVersion.objects.create(
        list=judgment_list,
        number=number,
        author=by,
        created_at=at,
        source=source,
        reason_text=keep_text(reason),
        added=added,
        changed=changed,
        removed=removed,
        signals=[list(step) for step in signals],
        takes=judgment_list.takes,
        takes_from=judgment_list.takes_from,
    )


def _write(list_id: int, number: int, plan: Plan) -> None:
    _close(number, plan.closed)
    rows = [
        (list_id, query, document, grade, number, json.dumps(evidence, allow_nan=False))
        for query, document, grade, evidence in plan.opened
    ]
    columns = ("list_id", "query_id", "document_id", "grade", "since", "evidence")
    insert_rows(Judgment, columns, rows)


def _close(number: int, row_ids: Sequence[int]) -> None:
    """End rows at a version."""
    if row_ids:
        subquery, parameter = values_list(row_ids, "bigint")
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE judgments_judgment SET until = %s WHERE id {subquery}",  # noqa: S608
                [number, parameter],
            )
