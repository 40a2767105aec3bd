"""The file of a backup: a gzipped tar. First the MAC of its manifest, then the manifest.

The manifest names every other file with its digest, so the MAC covers them all.
"""

import hashlib
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Final

from config.backups.keys import is_signed, manifest_mac
from config.backups.refusing import BackupRefused
from judgments.storage.serialization import Unreadable, from_plain

FORMAT: Final = 2  # 1 had no MAC
FORMATS: Final = (1, FORMAT)
MAC: Final = "manifest.mac"
MANIFEST: Final = "manifest.json"
BLOCK: Final = 1024 * 1024
# nothing else is ever extracted from an archive, trusted or not
NAMES: Final = re.compile(r"database\.sqlite3|(?:tables|uploads/jobs)/[A-Za-z0-9_-]+")
LARGEST_MANIFEST: Final = 64 * 1024 * 1024
LARGEST_MAC: Final = 1024
UNSIGNED: Final = (
    "so its origin is unknown. If you trust where it was stored, restore it with --unsigned: "
    "anyone who could write that file then controls everything in the installation, who its "
    "administrators are and what their passwords are included."
)


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


def write_archive(*, target: Path, manifest: Manifest, files: dict[str, Path], key: str) -> None:
    """Write the backup.

    files: where the content of each name lies. key: signs the manifest. FileExistsError where
    `target` is there.
    """
    manifest.files.update({name: digest(path) for name, path in files.items()})
    text = json.dumps(asdict(manifest), indent=1).encode()
    head = ((MAC, manifest_mac(key, text).encode()), (MANIFEST, text))
    with (
        create_private(target) as output,
        tarfile.open(fileobj=output, mode="w:gz", compresslevel=1) as tar,
    ):
        for name, content in head:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for name, path in sorted(files.items()):
            tar.add(path, name, recursive=False)


def publish(archive: Path, target: Path) -> None:
    """Give a finished file its name: there is never half a backup.

    FileExistsError where `target` is there.
    """
    with archive.open("rb") as file:
        os.fsync(file.fileno())
    target.hardlink_to(archive)  # unlike a rename, it overwrites nothing


def read_archive(
    *, source: Path, directory: Path, keys: Sequence[str], allow_unsigned: bool = False
) -> Manifest:
    """Unpack a backup below `directory`, each file held against its digest.

    keys: one of them must have signed the manifest, which is parsed only then, and nothing of the
    rest read before. allow_unsigned: take it without that, and without a MAC.
    """
    try:
        with tarfile.open(source, mode="r:gz") as tar:
            mac, text = _read_head(tar)
            if not allow_unsigned:
                check_signed(mac, text, keys)
            manifest = _parse_manifest(text)
            left = dict(manifest.files)
            while (member := tar.next()) is not None:
                wanted = left.pop(member.name, None)
                content = tar.extractfile(member) if wanted else None
                if wanted is None or content is None:
                    raise BackupRefused(
                        "backup_unknown", f"{member.name!r} is not in its manifest."
                    )
                if _unpack(content, directory / PurePosixPath(member.name)) != wanted:
                    raise BackupRefused(
                        "backup_damaged", f"{member.name} does not match its digest."
                    )
    except (tarfile.TarError, zlib.error, OSError, EOFError) as error:
        raise BackupRefused("backup_unreadable", f"{source} can't be read: {error}") from error
    if left:
        raise BackupRefused("backup_short", f"{min(left)} is missing.")
    return manifest


def create_private(path: Path) -> IO[bytes]:
    """A new file that only its owner can read: it holds passwords' hashes."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def check_signed(mac: bytes | None, manifest: bytes, keys: Sequence[str]) -> None:
    """Refuse a manifest that none of the keys signed.

    mac: of the manifest, in hexadecimal; None where the backup has none.
    """
    if mac is None:
        said = "It is not signed (older versions did not sign)"
    elif not keys:
        said = "There is no backup key here to check its signature"
    elif not is_signed(mac, manifest, keys):
        said = "It is not signed with any of the backup keys here, or was changed"
    else:
        return
    raise BackupRefused("backup_unsigned", f"{said}, {UNSIGNED}")


def _read_head(tar: tarfile.TarFile) -> tuple[bytes | None, bytes]:
    """The MAC, None where there is none, and the manifest, as bytes."""
    member = tar.next()
    mac = None
    if member is not None and member.name == MAC:
        mac = _content(tar, member, LARGEST_MAC)
        member = tar.next()
    if member is None or member.name != MANIFEST:
        raise BackupRefused("backup_unknown", "This is not a Touchstone backup.")
    return mac, _content(tar, member, LARGEST_MANIFEST)


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, largest: int) -> bytes:
    content = tar.extractfile(member) if member.isfile() and member.size <= largest else None
    if content is None:
        raise BackupRefused("backup_unknown", "This is not a Touchstone backup.")
    return content.read()


def _parse_manifest(text: bytes) -> Manifest:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BackupRefused("backup_unknown", "Its manifest can't be read.") from error
    if isinstance(said, dict) and said.get("format") not in FORMATS:
        raise BackupRefused("backup_newer", "It was made by another version of Touchstone.")
    try:
        manifest = from_plain(Manifest, said)
    except Unreadable as error:
        raise BackupRefused("backup_unknown", "Its manifest can't be read.") from error
    strange = [name for name in manifest.files if not NAMES.fullmatch(name)]
    if strange:
        raise BackupRefused("backup_unknown", f"It contains an unknown entry: {strange[0]!r}.")
    return manifest


def _unpack(content: IO[bytes], path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    result = hashlib.sha256()
    with create_private(path) as file:
        while block := content.read(BLOCK):
            result.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return result.hexdigest()
