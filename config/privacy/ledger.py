"""The erasure ledger: who was erased, and which collections were purged, as opaque ids.

It lies outside the database and its backups. A backup that was made before holds what was erased;
`restore` reads here what has to go again before anything is served.
"""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from touchstone.errors import DomainError


class LedgerUnreadable(DomainError):
    """A line of the ledger is damaged, so no one knows what it erased."""


def add_erasure(person: UUID, at: datetime) -> None:
    """Add a person's public id to the ledger, for good: on the disk when this returns."""
    _add({"person": str(person)}, at)


def add_purge(collection: int, created_at: datetime, at: datetime) -> None:
    """Add a collection to the ledger, by its number and when it was created; as above."""
    _add({"collection": collection, "created_at": created_at.astimezone(UTC).isoformat()}, at)


def _add(what: Mapping[str, Any], at: datetime) -> None:
    path = path_of_ledger()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = json.dumps({**what, "at": at.isoformat()}) + "\n"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def list_erasures() -> list[UUID] | None:
    """The public ids in the ledger, once each, in their order; None where there is no ledger."""
    lines = _read()
    if lines is None:
        return None
    return list(dict.fromkeys(UUID(line["person"]) for line in lines if "person" in line))


def list_purges() -> list[tuple[int, datetime]]:
    """The purged collections in the ledger, once each: number, and when each was created."""
    found = [
        (int(line["collection"]), datetime.fromisoformat(line["created_at"]))
        for line in _read() or []
        if "collection" in line
    ]
    return list(dict.fromkeys(found))


def _read() -> list[dict[str, Any]] | None:
    path = path_of_ledger()
    if not path.exists():
        return None
    lines = enumerate(path.read_text().splitlines(), 1)
    return [_line(path, number, line) for number, line in lines if line.strip()]


def _line(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        result = json.loads(line)
        if "person" in result:
            UUID(result["person"])
        else:
            int(result["collection"]), datetime.fromisoformat(result["created_at"])
    except (ValueError, KeyError, TypeError) as error:
        message = f"{path}:{number}: not a line of the erasure ledger."
        raise LedgerUnreadable("ledger_unreadable", message) from error
    return dict(result)


def path_of_ledger() -> Path:
    """The file, of TOUCHSTONE_ERASURES or in the home."""
    return Path(settings.ERASURES)
