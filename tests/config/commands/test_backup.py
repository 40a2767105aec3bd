"""A backup holds everything, says when it is damaged, and becomes an installation again."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from config.backups.archive import BackupRefused, Manifest, read_archive, write_archive
from tests.deployment import ROOT
from tests.services import own_postgres_database

Environment = dict[str, str]


def call(environment: Environment, *words: str) -> subprocess.CompletedProcess[str]:
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("TOUCHSTONE_", "REDIS_"))}
    outside.pop("DATABASE_URL", None)
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**outside, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )


def check_there_and_back(one: Environment, other: Environment, file: Path) -> None:
    built = call(one, "-m", "tests.config.commands.installation")
    assert built.returncode == 0, built.stderr
    made = call(one, "manage.py", "backup", str(file), "--json")
    assert made.returncode == 0, made.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    restored = call(other, "manage.py", "restore", str(file), "--json")
    assert restored.returncode == 0, restored.stderr
    before, after = json.loads(made.stdout), json.loads(restored.stdout)
    assert before == after
    assert before["rows"]["annotation_label"] == 6
    assert list(before["digests"]) == ["books/main/spring"]
    assert (before["evaluations"], before["releases"], before["runs"]) == (1, 1, 1)
    # the job that waited is done there, from the file that came with it; it writes new rows, so
    # numbers go on where they were
    worked = call(other, "manage.py", "reconcile")
    assert "1 jobs done" in worked.stdout, worked.stderr
    again = call(other, "manage.py", "restore", str(file))
    assert again.returncode == 2
    assert "Restore into an empty one" in again.stderr


def home(path: Path) -> Environment:
    return {"TOUCHSTONE_HOME": str(path)}


def test_a_backup_of_sqlite_becomes_the_same_installation_again(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    file = tmp_path / "backup.tar.gz"
    check_there_and_back(home(make_home(tmp_path / "one")), home(tmp_path / "other"), file)


@pytest.mark.postgres
def test_a_backup_of_postgresql_becomes_the_same_installation_again(
    tmp_path: Path, own_migrated_database_url: str
) -> None:
    with own_postgres_database(own_migrated_database_url) as second:
        check_there_and_back(
            {**home(tmp_path / "one"), "DATABASE_URL": own_migrated_database_url},
            {**home(tmp_path / "other"), "DATABASE_URL": second},
            tmp_path / "backup.tar.gz",
        )


def test_a_release_has_its_digest_in_an_empty_installation_too(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    one, other = (home(make_home(tmp_path / name)) for name in ("one", "other"))
    assert call(one, "-m", "tests.config.commands.installation").returncode == 0
    made = call(one, "manage.py", "backup", str(tmp_path / "backup.tar.gz"), "--json")
    exported = call(one, "manage.py", "export_qrels", "books/main", "--version", "spring")
    assert exported.returncode == 0, exported.stderr
    file = tmp_path / "spring.qrels"
    file.write_text(exported.stdout)
    taken = call(other, "manage.py", "import_qrels", "books/main", str(file), "--create")
    assert taken.returncode == 0, taken.stderr
    again = call(other, "manage.py", "export_qrels", "books/main").stdout
    digest = hashlib.sha256(again.encode()).hexdigest()
    assert json.loads(made.stdout)["digests"] == {"books/main/spring": digest}
    assert len(again.splitlines()) == 3


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup as far as its file goes."""
    content = tmp_path / "content"
    content.write_bytes(b"rows")
    manifest = Manifest(made_at="", engine="sqlite", migrations=[], rows={}, releases={})
    target = tmp_path / "backup.tar.gz"
    write_archive(
        target=target,
        aside=tmp_path / "aside",
        manifest=manifest,
        files={"database.sqlite3": content},
    )
    return target


def rewritten(backup: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The backup with its members changed."""
    with tarfile.open(backup) as tar:
        members = {one.name: (tar.extractfile(one) or io.BytesIO()).read() for one in tar}
    change(members)
    backup.unlink()
    with tarfile.open(backup, "w:gz") as tar:
        for name, content in members.items():
            head = tarfile.TarInfo(name)
            head.size = len(content)
            tar.addfile(head, io.BytesIO(content))
    return backup


def test_a_file_comes_back_as_it_was(backup: Path, tmp_path: Path) -> None:
    read_archive(source=backup, directory=tmp_path / "out")
    assert (tmp_path / "out" / "database.sqlite3").read_bytes() == b"rows"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda members: members.update({"database.sqlite3": b"rowz"}), "another digest"),
        (lambda members: members.pop("database.sqlite3"), "is missing"),
        (lambda members: members.update({"../evil": b""}), "not in its manifest"),
        (lambda members: members.pop("manifest.json"), "no backup"),
        (lambda members: members.update({"manifest.json": b"[1]"}), "can't be read"),
        (
            lambda members: members.update(
                {"manifest.json": members["manifest.json"].replace(b"database.sqlite3", b"../evil")}
            ),
            "something unknown",
        ),
        (
            lambda members: members.update(
                {"manifest.json": members["manifest.json"].replace(b'"format": 1', b'"format": 9')}
            ),
            "another version",
        ),
    ],
)
def test_a_backup_that_was_changed_is_refused(
    backup: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], said: str
) -> None:
    with pytest.raises(BackupRefused, match=said):
        read_archive(source=rewritten(backup, change), directory=tmp_path / "out")
    assert not (tmp_path / "evil").exists()


def test_a_backup_that_broke_off_is_refused(backup: Path, tmp_path: Path) -> None:
    backup.write_bytes(backup.read_bytes()[:200])
    with pytest.raises(BackupRefused):
        read_archive(source=backup, directory=tmp_path / "out")
