"""Secrets that are made once and kept in a file that only its owner can read."""

import secrets
from contextlib import suppress
from pathlib import Path


def make_secret_file(path: Path) -> None:
    """Write a new secret of 64 random bytes, unless the file is there; the first writer wins."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists():
        return
    # written aside and then named, so that half a secret is never read
    aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    aside.touch(mode=0o600, exist_ok=False)
    aside.write_text(secrets.token_urlsafe(64))
    with suppress(FileExistsError):
        path.hardlink_to(aside)
    aside.unlink()


def add_secret_line(path: Path) -> None:
    """Write a new secret of 64 random bytes before the lines of the file, in one step."""
    old = path.read_text() if path.exists() else ""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    aside.touch(mode=0o600, exist_ok=False)
    aside.write_text(f"{secrets.token_urlsafe(64)}\n{old}")
    aside.replace(path)
