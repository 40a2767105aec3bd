"""Making a backup, and restoring one: each checks what it did before it says so."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection, connections

from config.backups.archive import Manifest, publish, read_archive, write_archive
from config.backups.databases import (
    MIGRATIONS,
    Snapshot,
    check_restorable,
    copy_database,
    count_rows,
    one_moment,
    put_database,
)
from config.backups.encryption import decrypt, encrypt, is_encrypted
from config.backups.keys import KEYS, signing_keys
from config.backups.refusing import BackupRefused
from config.privacy.erasing import replay_erasures
from config.privacy.ledger import list_erasures
from config.privacy.purging import replay_purges
from config.targets import list_targets
from evaluation.evaluations.verifying import (
    Verified,
    verify_audit,
    verify_list,
    verify_runs,
    verify_texts,
)
from evaluation.tool_differences.verifying import verify_tool_values
from judgments.audit.seals import KEYS as SEAL_KEYS
from judgments.audit.seals import put_newest_aside
from judgments.models import Release, User

# what Django itself writes again after every migrate
DJANGOS_OWN: Final = {MIGRATIONS, "django_content_type", "auth_permission", "sqlite_sequence"}


def make_backup(*, target: Path, at: datetime) -> tuple[Manifest, Verified]:
    """Write all of the installation into one file; what was found when its copy was checked.

    Others may go on working: it holds one moment. Written also where something does not fit,
    for it may be all there is. Raises BackupRefused without a key to sign it with.
    """
    key, *_ = signing_keys()
    if target.exists():
        raise BackupRefused("backup_exists", f"{target} already exists.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".backup-") as name:
            directory = Path(name)
            with one_moment():
                snapshot = copy_database(directory=directory, at=at)
                with _reading(snapshot):
                    result = verify_everything()
            missing = _add_uploads(snapshot, directory)
            archive = directory / "archive"
            write_archive(target=archive, manifest=snapshot.manifest, files=snapshot.files, key=key)
            if settings.BACKUP_RECIPIENTS:
                plain, archive = archive, directory / "encrypted"
                encrypt(source=plain, target=archive, recipients=settings.BACKUP_RECIPIENTS)
            publish(archive, target)
    except OSError as error:
        raise BackupRefused("backup_unwritable", f"{target} can't be written: {error}") from error
    return snapshot.manifest, result + Verified(problems=missing)


def restore_backup(
    *, source: Path, identity: Path | None, allow_unsigned: bool, at: datetime
) -> tuple[Manifest, Verified]:
    """Make an empty installation what the backup holds; what was found when that was checked.

    Whom and what the erasure ledger names is erased and purged again. identity: the file with the
    private key of an encrypted one. allow_unsigned: also where none of the backup keys signed it.
    """
    list_erasures()  # one that can't be read is refused before anything is restored
    place = settings.HOME if connection.vendor == "postgresql" else _database_folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix=".restore-") as name:
        directory = Path(name)
        archive = source
        if is_encrypted(source):
            archive = directory / "archive"
            decrypt(source=source, target=archive, identity=identity)
        manifest = read_archive(
            source=archive,
            directory=directory,
            keys=[] if allow_unsigned else KEYS.read(),
            allow_unsigned=allow_unsigned,
        )
        check_restorable(manifest)
        put_database(manifest=manifest, directory=directory)
        _put_uploads(directory / "uploads")
    problems = tuple(_differences(manifest))
    put_newest_aside(at)
    # before any request is served
    replay_purges(at=at)
    replay_erasures(at=at)
    return manifest, verify_everything() + Verified(problems=problems)


def list_administrators() -> list[str]:
    """The user names of those who may do everything."""
    result = User.objects.filter(is_superuser=True, is_active=True)
    return list(result.order_by("username").values_list("username", flat=True))


def verify_everything() -> Verified:
    """Every list's evaluations and releases, every run's digest, as `verify` does."""
    result = verify_texts()
    if SEAL_KEYS.read():  # another machine may not have them
        result += verify_audit()
    targets = list_targets(None)
    for judgment_list in targets:
        result += verify_list(judgment_list=judgment_list)
        result += verify_tool_values(judgment_list=judgment_list)
    for collection in {target.collection_id: target.collection for target in targets}.values():
        result += verify_runs(collection=collection)
    return result


@contextmanager
def _reading(snapshot: Snapshot) -> Iterator[None]:
    """Let everything that reads the database read SQLite's copy; PostgreSQL is in one moment."""
    copied = snapshot.files.get("database.sqlite3")
    if copied is None:
        yield
        return
    ours = connections["default"]
    copy = ours.copy()
    copy.settings_dict = {**ours.settings_dict, "NAME": str(copied)}
    connections["default"] = copy
    try:
        with copy.cursor() as cursor:
            cursor.execute("PRAGMA integrity_check")
            said = cursor.fetchone()[0]
            if said != "ok":
                raise DatabaseError(f"the copy is damaged: {said}")
        yield
        with copy.cursor() as cursor:  # no files beside it
            cursor.execute("PRAGMA journal_mode=DELETE")
    finally:
        copy.close()
        connections["default"] = ours


def _database_folder() -> Path:
    return Path(str(connection.settings_dict["NAME"])).parent


def _add_uploads(snapshot: Snapshot, directory: Path) -> tuple[str, ...]:
    """The files of jobs that were not done; those of jobs that ended meanwhile are gone."""
    missing = []
    for name in snapshot.uploads:
        aside = directory / Path(name).name
        try:
            with default_storage.open(name) as source, aside.open("wb") as copy:
                shutil.copyfileobj(source, copy)
        except FileNotFoundError:
            missing.append(f"{name} was not kept: its job ended meanwhile; upload it again")
            continue
        snapshot.files[f"uploads/{name}"] = aside
    return tuple(missing)


def _put_uploads(directory: Path) -> None:
    for path in sorted(directory.glob("jobs/*")):
        with path.open("rb") as content:
            default_storage.save(f"jobs/{path.name}", File(content))


def _differences(manifest: Manifest) -> Iterator[str]:
    """What is not as the manifest says it must be."""
    now = count_rows(list(manifest.rows))
    for table, rows in manifest.rows.items():
        if table not in DJANGOS_OWN and now.get(table, rows) != rows:
            yield f"{table} has {now[table]} rows, not {rows}"
    stored = Release.objects.values_list("list__collection__slug", "list__slug", "name", "sha256")
    digests = {"/".join(row[:3]): row[3] for row in stored}
    if digests != manifest.releases:
        yield "the releases have other digests"
