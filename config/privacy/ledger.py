"""The erasure ledger: who was erased, as opaque ids, outside the database and its backups.

A backup that was made before an erasure holds what was erased; `restore` reads here what has to
go again before anything is served.
"""

import json
import os
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.conf import settings


def add_erasure(person: UUID, at: datetime) -> None:
    """Add a person's public id to the ledger, for good: on the disk when this returns."""
    path = path_of_ledger()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = json.dumps({"person": str(person), "at": at.isoformat()}) + "\n"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def list_erasures() -> list[UUID] | None:
    """The public ids in the ledger, once each, in their order; None where there is no ledger."""
    path = path_of_ledger()
    if not path.exists():
        return None
    lines = path.read_text().splitlines()
    return list(dict.fromkeys(UUID(json.loads(line)["person"]) for line in lines if line.strip()))


def path_of_ledger() -> Path:
    """The file, of TOUCHSTONE_ERASURES or in the home."""
    return Path(settings.ERASURES)
