"""What the seals say of the audit log as it is now."""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from judgments.audit.seals import FACTS, KEYS, Newest, digest_of, find_newest, mac_of
from judgments.models import AuditEntry, AuditSeal


@dataclass(frozen=True)
class SealedLog:
    """seals, entries: how many were checked. tail: the ids of the entries that are not sealed."""

    seals: int
    entries: int
    tail: tuple[int, ...]
    problems: tuple[str, ...]


def verify_seals(*, newest: Newest | None = None) -> SealedLog:
    """Hold every sealed entry against its seal, and every seal against the one before it.

    newest: what is known of the newest seal from outside the database, read before this is called.
    """
    checked = _Checked()
    problems = list(checked.list_problems(newest))
    tail_qs = AuditEntry.objects.filter(seal=None).order_by("pk").values_list("pk", flat=True)
    return SealedLog(checked.seals, checked.entries, tuple(tail_qs), tuple(problems))


class _Checked:
    def __init__(self) -> None:
        self.seals = self.entries = 0
        self._keys = KEYS.read()

    def list_problems(self, newest: Newest | None) -> Iterator[str]:
        top = find_newest()  # what is sealed meanwhile is not checked
        if top and not self._keys:
            yield f"the seals of the audit log can't be checked without {KEYS.variable}"
            return
        stored = _Stored(top)
        is_newest_there = newest is None
        last, before = 0, ""
        for seal in AuditSeal.objects.filter(number__lte=top).order_by("number").iterator():
            for number in range(last + 1, seal.number):
                yield f"audit seal {number}: it is missing"
            is_next = seal.number == last + 1
            if is_next and not self._is_ours(seal, before):
                yield f"audit seal {seal.number}: it was not made with a key of this installation"
            yield from self._entry_problems(seal, stored.of(seal.number))
            last, before = seal.number, seal.mac
            is_newest_there |= newest is not None and (newest.number, newest.mac) == (last, before)
        for number in stored.rest():
            yield f"audit seal {number}: entries name it, but it is missing"
        if newest and not is_newest_there:
            yield (
                f"audit seal {newest.number} of {newest.sealed_at}: it is missing; "
                f"the newest in the database is {last}"
            )

    def _is_ours(self, seal: AuditSeal, before: str) -> bool:
        return any(hmac.compare_digest(mac_of(key, seal, before), seal.mac) for key in self._keys)

    def _entry_problems(self, seal: AuditSeal, stored: dict[int, str]) -> Iterator[str]:
        self.seals += 1
        for line in seal.entries.splitlines():
            name, _, digest = line.partition(" ")
            found = stored.pop(int(name), None)
            self.entries += 1
            if found is None:
                yield f"audit entry {name} of seal {seal.number}: it is missing"
            elif found != digest:
                yield f"audit entry {name}: it was changed after seal {seal.number}"
        for pk in stored:
            yield f"audit entry {pk}: it was put into seal {seal.number} afterwards"


class _Stored:
    """The entries as they are, by the number of their seal, which is asked for in order."""

    def __init__(self, newest: int) -> None:
        sealed_qs = AuditEntry.objects.filter(seal__lte=newest).order_by("seal_id", "pk")
        rows = sealed_qs.values_list("seal_id", *FACTS).iterator(chunk_size=5_000)
        self._batches = groupby(rows, key=itemgetter(0))
        self._next = self._read()

    def of(self, number: int) -> dict[int, str]:
        """The digest of each entry of this seal, as it is now."""
        if self._next is None or self._next[0] != number:
            return {}
        result = self._next[1]
        self._next = self._read()
        return result

    def rest(self) -> Iterator[int]:
        """The numbers that were not asked for."""
        while self._next:
            yield self._next[0]
            self._next = self._read()

    def _read(self) -> tuple[int, dict[int, str]] | None:
        number, rows = next(self._batches, (None, iter(())))
        return None if number is None else (number, {row[1]: digest_of(row[1:]) for row in rows})
