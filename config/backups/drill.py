"""A restore that is only a drill: into a scratch database, which is dropped afterwards.

It runs `restore` itself, in a process of its own with a scratch home, so that nothing of this
installation is touched: neither its rows, nor its files, nor its cache.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db import connection
from psycopg import sql

from config.backups.keys import KEYS
from config.backups.refusing import BackupRefused
from config.privacy.ledger import path_of_ledger
from judgments.audit.seals import KEYS as SEAL_KEYS


@dataclass(frozen=True)
class Drilled:
    """What `restore` said. found: as its --json prints. problems: what it wrote to stderr."""

    found: Mapping[str, Any]
    problems: str
    is_clean: bool
    seconds: float


def drill(*, source: Path, identity: Path | None) -> Drilled:
    """Restore a backup aside, with all of its checks.

    Raises BackupRefused where `restore` refuses it.
    """
    begun = time.monotonic()
    words = ["restore", str(source.resolve()), "--json"]
    words += ["--identity", str(identity.resolve())] if identity else []
    with _scratch() as environment:
        done = subprocess.run(  # noqa: S603  (this project's own command)
            [sys.executable, str(settings.BASE_DIR / "manage.py"), *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if not done.stdout:
        raise BackupRefused("backup_not_restored", done.stderr.strip())
    return Drilled(
        found=json.loads(done.stdout),
        problems=done.stderr.strip(),
        is_clean=done.returncode == 0,
        seconds=time.monotonic() - begun,
    )


@contextmanager
def _scratch() -> Iterator[dict[str, str]]:
    """The environment of an empty installation, which is removed at the end."""
    Path(settings.HOME).mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.HOME, prefix=".drill-") as name:
        # what makes an installation stays out: no cache, queue or file is shared
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("TOUCHSTONE_", "REDIS_", "DATABASE_"))
        }
        environment["TOUCHSTONE_HOME"] = name
        environment["TOUCHSTONE_BACKUP_KEYS"] = ",".join(KEYS.read())
        environment["TOUCHSTONE_SEAL_KEYS"] = ",".join(SEAL_KEYS.read())
        if path_of_ledger().exists():
            environment["TOUCHSTONE_ERASURES"] = str(Path(name) / "ledger.jsonl")
            shutil.copy(path_of_ledger(), environment["TOUCHSTONE_ERASURES"])
        if connection.vendor == "sqlite":
            yield environment
            return
        with _schema() as schema:
            environment["DATABASE_URL"] = _url(schema)
            yield environment


@contextmanager
def _schema() -> Iterator[str]:
    """A schema of its own in the database; the role must own the database, as migrations do."""
    name = f"drill_{uuid.uuid4().hex}"
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    try:
        yield name
    finally:
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))


def _url(schema: str) -> str:
    known = connection.settings_dict
    user, password = quote(str(known["USER"]), safe=""), quote(str(known["PASSWORD"]), safe="")
    place = f"{known['HOST']}:{known['PORT'] or 5432}/{quote(str(known['NAME']), safe='')}"
    return f"postgres://{user}:{password}@{place}?options={quote(f'-c search_path={schema}')}"
