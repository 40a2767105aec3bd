"""The file of a backup: a gzipped tar, its manifest first, the rest named there by digest."""

import hashlib
import io
import json
import os
import re
import tarfile
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from judgments.errors import DomainError

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
BLOCK: Final = 1024 * 1024
# nothing else is ever taken out of an archive, whoever made it
NAMES: Final = re.compile(r"database\.sqlite3|(?:tables|uploads/jobs)/[A-Za-z0-9_-]+")
LARGEST_MANIFEST: Final = 64 * 1024 * 1024


class BackupRefused(DomainError):
    """This can't be written, or can't be restored here."""


@dataclass(frozen=True)
class Manifest:
    """What a backup holds.

    engine: `sqlite` or `postgresql`. migrations: [app, name], in the order they were applied.
    rows: of each table. columns: of each table, in the order of its file; PostgreSQL alone.
    releases: each one's digest, by collection/list/name. files: each one's SHA-256.
    """

    made_at: str
    engine: str
    migrations: list[list[str]]
    rows: dict[str, int]
    releases: dict[str, str]
    columns: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT


def digest(path: Path) -> str:
    """The SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_archive(*, target: Path, aside: Path, manifest: Manifest, files: dict[str, Path]) -> None:
    """Write the backup to `aside`, then give it its name: there is never half a backup.

    files: where the content of each name lies. FileExistsError where `target` is there.
    """
    manifest.files.update({name: digest(path) for name, path in files.items()})
    text = json.dumps(asdict(manifest), indent=1).encode()
    with _create(aside) as output:
        with tarfile.open(fileobj=output, mode="w:gz", compresslevel=1) as tar:
            head = tarfile.TarInfo(MANIFEST)
            head.size = len(text)
            tar.addfile(head, io.BytesIO(text))
            for name, path in sorted(files.items()):
                tar.add(path, name, recursive=False)
        output.flush()
        os.fsync(output.fileno())
    target.hardlink_to(aside)  # unlike a rename, it overwrites nothing


def read_archive(*, source: Path, directory: Path) -> Manifest:
    """Unpack a backup below `directory`, each file held against its digest."""
    try:
        with tarfile.open(source, mode="r:gz") as tar:
            manifest = _read_manifest(tar)
            left = dict(manifest.files)
            while (member := tar.next()) is not None:
                wanted = left.pop(member.name, None)
                content = tar.extractfile(member) if wanted else None
                if wanted is None or content is None:
                    raise BackupRefused(
                        "backup_unknown", f"{member.name!r} is not in its manifest."
                    )
                if _unpack(content, directory / PurePosixPath(member.name)) != wanted:
                    raise BackupRefused("backup_damaged", f"{member.name} has another digest.")
    except (tarfile.TarError, OSError, EOFError) as error:
        raise BackupRefused("backup_unreadable", f"{source} can't be read: {error}") from error
    if left:
        raise BackupRefused("backup_short", f"{min(left)} is missing.")
    return manifest


def _create(path: Path) -> IO[bytes]:
    """A new file that only its owner can read: it holds passwords' hashes."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _read_manifest(tar: tarfile.TarFile) -> Manifest:
    first = tar.next()
    content = tar.extractfile(first) if first and first.name == MANIFEST else None
    if first is None or content is None or first.size > LARGEST_MANIFEST:
        raise BackupRefused("backup_unknown", "It is no backup of Touchstone.")
    try:
        said: dict[str, Any] = json.loads(content.read())
        manifest = Manifest(**said)
    except (ValueError, TypeError) as error:
        raise BackupRefused("backup_unknown", "Its manifest can't be read.") from error
    if manifest.format != FORMAT:
        raise BackupRefused("backup_newer", "It was made by another version of Touchstone.")
    strange = [name for name in manifest.files if not NAMES.fullmatch(name)]
    if strange:
        raise BackupRefused("backup_unknown", f"It holds something unknown: {strange[0]!r}.")
    return manifest


def _unpack(content: IO[bytes], path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    found = hashlib.sha256()
    with _create(path) as file:
        while block := content.read(BLOCK):
            found.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return found.hexdigest()
