"""The next version of a list, written in many short transactions: SQLite has one writer.

While a million judgments were stored in one transaction, a label waited for eleven seconds. Here
the list is marked first (`unfinished`). Then come rows that begin, or end, in the version after its
head, where no reader looks. The last transaction makes the version and takes the mark away.
Meanwhile no one else may commit to the list, who could not know what the next version holds.

Where an import was killed, its mark falls silent: the next import into the list in parts, or the
sweep, deletes what it has written. On PostgreSQL, and for little, all is one transaction.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from typing import Final, Protocol
from uuid import UUID, uuid4

from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from judgments.models import Judgment, JudgmentList
from judgments.storage.short_transactions import SHORT, short_transaction
from judgments.triggers import AppendOnly, without_triggers
from touchstone.errors import NotNow

TASK: Final = "judgments.take_back"
MANY: Final = 50_000  # pairs that one transaction would take about half a second for
SILENCE: Final = timedelta(seconds=60)  # after which who wrote to a list counts as dead


class ListBusy(NotNow):
    """A large import is being written into the list."""

    def __init__(self) -> None:
        super().__init__(
            "list_busy",
            "A large import is being written into this list. Try again when it has ended.",
        )


class Writing(Protocol):
    """How the rows of a list's next version are written.

    judgment_list: as it was when the writing began; it has no other version until it ends.
    """

    @property
    def judgment_list(self) -> JudgmentList: ...

    def slices(self, n: int) -> Iterator[slice]:
        """So many rows, as they are to be written: each in a `part()` of its own."""

    def part(self) -> AbstractContextManager[None]:
        """The transaction of some of the rows. Raises ListBusy if the writing was taken over."""

    def last(self) -> AbstractContextManager[JudgmentList]:
        """The transaction that makes the version, with the list as it is now."""


def lock_list(list_id: int) -> JudgmentList:
    """The list as it is now, locked until the transaction ends, without rows beyond its head.

    Raises ListBusy while its next version is written in parts.
    """
    # no_key: rows that only point to the list can be written meanwhile
    locked = JudgmentList.objects.select_for_update(no_key=True).get(pk=list_id)
    if locked.unfinished is not None:
        raise ListBusy
    return locked


def is_in_parts(pairs: int) -> bool:
    """Whether so many pairs are written in parts here."""
    return connection.vendor == "sqlite" and not connection.in_atomic_block and pairs >= MANY


@contextmanager
def writing(*, list_id: int, pairs: int) -> Iterator[Writing]:
    """Begin to write so many pairs of a list's next version; all or nothing.

    Raises ListBusy while another import writes to it.
    """
    if not is_in_parts(pairs):
        # SQLite would keep in memory every page that changes after a savepoint
        with transaction.atomic(savepoint=False):
            yield _AtOnce(lock_list(list_id))
        return
    token = _claim(list_id)
    try:
        _delete_beyond_head(list_id, token)
        yield _InParts(JudgmentList.objects.get(pk=list_id), token)
    except BaseException:
        # what can't be undone now is undone when the mark is old; or it was done by another
        with suppress(ListBusy, DatabaseError):
            _give_up(list_id, token)
        raise


def check_not_busy(judgment_list: JudgmentList) -> None:
    """Raises ListBusy while another import writes to the list, before much is read for nothing."""
    if JudgmentList.objects.filter(pk=judgment_list.pk).exclude(_is_free()).exists():
        raise ListBusy


def list_abandoned(at: datetime) -> list[int]:
    """The lists in which an import that was killed left rows."""
    marked_qs = JudgmentList.objects.exclude(unfinished=None).filter(unfinished_at__lt=at - SILENCE)
    return sorted(marked_qs.values_list("pk", flat=True))


def take_back(list_id: int) -> bool:
    """Delete what a killed import left in a list; whether there was something.

    Nothing while an import is at work there, or inside a transaction, which would grow long.
    """
    if connection.in_atomic_block or list_id not in list_abandoned(timezone.now()):
        return False
    with suppress(ListBusy):
        _give_up(list_id, _claim(list_id))
        return True
    return False


class _AtOnce:
    def __init__(self, judgment_list: JudgmentList) -> None:
        self.judgment_list = judgment_list

    def slices(self, n: int) -> Iterator[slice]:
        if n:
            yield slice(0, n)

    def part(self) -> AbstractContextManager[None]:
        return nullcontext()

    def last(self) -> AbstractContextManager[JudgmentList]:
        return nullcontext(self.judgment_list)


class _InParts:
    def __init__(self, judgment_list: JudgmentList, token: UUID) -> None:
        self.judgment_list = judgment_list
        self._token = token

    def slices(self, n: int) -> Iterator[slice]:
        return (slice(start, min(start + SHORT, n)) for start in range(0, n, SHORT))

    def part(self) -> AbstractContextManager[None]:
        return _part(self.judgment_list.pk, self._token)

    @contextmanager
    def last(self) -> Iterator[JudgmentList]:
        with transaction.atomic():
            _unmark(self.judgment_list.pk, self._token)
            yield JudgmentList.objects.get(pk=self.judgment_list.pk)


def _is_free() -> Q:
    return Q(unfinished=None) | Q(unfinished_at__lt=timezone.now() - SILENCE)


def _claim(list_id: int) -> UUID:
    """Mark the list as one's own."""
    token = uuid4()
    with transaction.atomic():
        free_qs = JudgmentList.objects.filter(_is_free(), pk=list_id)
        if not free_qs.update(unfinished=token, unfinished_at=timezone.now()):
            raise ListBusy
    return token


@contextmanager
def _part(list_id: int, token: UUID) -> Iterator[None]:
    """A short transaction, also a sign of life: from others, who then write nothing more."""
    with short_transaction():
        own_qs = JudgmentList.objects.filter(pk=list_id, unfinished=token)
        if not own_qs.update(unfinished_at=timezone.now()):
            raise ListBusy
        yield


def _unmark(list_id: int, token: UUID) -> None:
    own_qs = JudgmentList.objects.filter(pk=list_id, unfinished=token)
    if not own_qs.update(unfinished=None, unfinished_at=None):
        raise ListBusy


def _give_up(list_id: int, token: UUID) -> None:
    _delete_beyond_head(list_id, token)
    with transaction.atomic():
        _unmark(list_id, token)


def _delete_beyond_head(list_id: int, token: UUID) -> None:
    """Delete the rows that begin in no version yet; then let those that end in none go on.

    In this order: a pair has one row without an end. The triggers, which allow neither, are away
    for each part, which no one else sees: SQLite has one writer.
    """
    facts = [one for one in _append_only() if one.table == Judgment._meta.db_table]
    head = JudgmentList.objects.values_list("head", flat=True).get(pk=list_id)
    for change, column in (
        ("DELETE FROM judgments_judgment", "since"),
        ("UPDATE judgments_judgment SET until = NULL", "until"),
    ):
        some = f"SELECT id FROM judgments_judgment WHERE list_id = %s AND {column} > %s LIMIT %s"  # noqa: S608
        count = SHORT
        while count == SHORT:
            with _part(list_id, token), connection.cursor() as cursor:
                cursor.execute(f"SELECT COUNT(*) FROM ({some})", [list_id, head, SHORT])  # noqa: S608
                count = int(cursor.fetchone()[0])
                if count:
                    with without_triggers(connection, facts):
                        cursor.execute(f"{change} WHERE id IN ({some})", [list_id, head, SHORT])


def _append_only() -> list[AppendOnly]:
    own: list[AppendOnly] = getattr(apps.get_app_config("judgments"), "append_only", [])
    return own
