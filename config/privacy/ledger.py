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
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def path_of_ledger() -> Path:
    """The file, of TOUCHSTONE_ERASURES or in the home."""
    return Path(settings.ERASURES)
