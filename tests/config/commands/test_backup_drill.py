"""A drill restores a backup aside and leaves nothing; backups can be encrypted for others' keys."""

import json
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from pyrage.x25519 import Identity

from config.backups.archive import read_archive
from config.backups.refusing import BackupRefused
from tests.config.commands.test_backup import Environment, call, home, outside
from tests.forks import begin_forked


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, make_home: Callable[[Path], Path]
) -> Environment:
    """An empty installation that has been migrated."""
    if request.param == "sqlite":
        return home(make_home(tmp_path / "one"))
    url = request.getfixturevalue("own_migrated_database_url")
    return {**home(tmp_path / "one"), "DATABASE_URL": url}


def left_behind(place: Environment) -> list[str]:
    """Files and schemas of drills."""
    found = [path.name for path in Path(place["TOUCHSTONE_HOME"]).glob(".drill-*")]
    if "DATABASE_URL" in place:
        with psycopg.connect(place["DATABASE_URL"]) as connection:
            rows = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ '^drill_'")
            found += [name for (name,) in rows]
    return found


def test_a_drill_restores_the_backup_aside_and_leaves_nothing(
    place: Environment, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    assert call(place, "-m", "tests.config.commands.installation").returncode == 0
    made = call(place, "manage.py", "backup", str(file), "--json")
    before = json.loads(made.stdout)
    later = call(place, "-c", CREATE)  # which no drill may touch
    assert later.returncode == 0, later.stderr
    done = call(place, "manage.py", "restore_drill", str(file), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("seconds") > 0
    assert found == before
    assert found["rows"]["annotation_label"] == 6
    assert left_behind(place) == []
    assert call(place, "-c", COUNT).stdout == "3\n"  # books, that of Eve, and the later one


CREATE = """
import django
django.setup()
from tests.builders import make_collection
make_collection(slug="later")
"""
COUNT = """
import django
django.setup()
from judgments.models import Collection
print(Collection.objects.count())
"""


def test_a_drill_of_an_altered_backup_says_what_restore_says(
    place: Environment, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    assert call(place, "manage.py", "backup", str(file)).returncode == 0
    content = bytearray(file.read_bytes())
    # a single bit may be one that gzip does not use
    middle = len(content) // 2
    content[middle : middle + 64] = (byte ^ 0xFF for byte in content[middle : middle + 64])
    file.write_bytes(content)
    done = call(place, "manage.py", "restore_drill", str(file))
    assert done.returncode == 2
    keys = (Path(place["TOUCHSTONE_HOME"]) / "backup_keys").read_text().split()
    with pytest.raises(BackupRefused) as refused:
        read_archive(source=file, directory=tmp_path / "out", keys=keys)
    assert done.stderr == f"{refused.value.message}\n"
    assert left_behind(place) == []


def test_an_encrypted_backup_is_read_with_its_key_alone(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    one, other = (home(make_home(tmp_path / name)) for name in ("one", "other"))
    assert call(one, "-m", "tests.config.commands.installation").returncode == 0
    ours, safe, stranger = (Identity.generate() for _ in range(3))
    keys = tmp_path / "key.txt"
    keys.write_text(f"# public key: {safe.to_public()}\n{safe}\n")
    wrong = tmp_path / "wrong.txt"
    wrong.write_text(f"{stranger}\n")
    file = tmp_path / "backup.age"
    recipients = f"{ours.to_public()},{safe.to_public()}"
    made = call(
        {**one, "TOUCHSTONE_BACKUP_RECIPIENTS": recipients}, "manage.py", "backup", str(file)
    )
    assert made.returncode == 0, made.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    content = file.read_bytes()
    assert content.startswith(b"age-encryption.org/v1")
    assert b"manifest" not in content
    keys_of_one = (tmp_path / "one" / "backup_keys").read_text().strip()
    other = {**other, "TOUCHSTONE_BACKUP_KEYS": keys_of_one}
    for words, said in (
        ([], "It is encrypted. Name the file with its key by --identity."),
        (["--identity", str(wrong)], "can't be read"),
        (["--identity", str(tmp_path / "none")], "can't be read"),
        (["--identity", str(file)], "no key of age"),
    ):
        refused = call(other, "manage.py", "restore", str(file), *words)
        assert refused.returncode == 2, refused.stderr
        assert said in refused.stderr
    altered = bytearray(content)
    altered[-100] ^= 1
    (tmp_path / "altered").write_bytes(altered)
    refused = call(
        other, "manage.py", "restore", str(tmp_path / "altered"), "--identity", str(keys)
    )
    assert refused.returncode == 2
    drilled = call(one, "manage.py", "restore_drill", str(file), "--identity", str(keys))
    assert drilled.returncode == 0, drilled.stderr
    restored = call(other, "manage.py", "restore", str(file), "--identity", str(keys))
    assert restored.returncode == 0, restored.stderr


def test_what_is_no_public_key_is_refused_and_leaves_no_file(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    one = home(make_home(tmp_path / "one"))
    one["TOUCHSTONE_BACKUP_RECIPIENTS"] = "age1nonsense"
    made = call(one, "manage.py", "backup", str(tmp_path / "backup"))
    assert made.returncode == 2
    assert "TOUCHSTONE_BACKUP_RECIPIENTS" in made.stderr
    assert not (tmp_path / "backup").exists()


@contextmanager
def someone_labels(place: Environment) -> Iterator[Callable[[], int]]:
    """A process that labels without a pause; gives what waits for its next label."""
    end, start = os.pipe()
    with os.fdopen(end) as lines, os.fdopen(start, "w") as output:
        words = ("-m", "tests.config.commands.labelling")
        worker = begin_forked(words, env={**outside(), **place}, stdout=output)
        output.close()
        try:
            yield lambda: int(lines.readline())
        finally:
            worker.close()


def lines_of(file: Path, table: str) -> int:
    """The rows of a table in a backup of PostgreSQL, each of which is a line."""
    with tarfile.open(file) as tar:
        content = tar.extractfile(f"tables/{table}")
        assert content
        return len(content.readlines())


def test_a_backup_is_one_moment_while_labels_come_in(place: Environment, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    with someone_labels(place) as next_label:
        before = next_label()
        made = call(place, "manage.py", "backup", str(file), "--json")
        assert made.returncode == 0, made.stderr
        counted = json.loads(made.stdout)["rows"]["annotation_label"]
        while (after := next_label()) <= counted:
            pass
    assert before <= counted < after
    if "DATABASE_URL" in place:  # to make all tables again takes seconds
        assert lines_of(file, "annotation_label") == counted
        assert lines_of(file, "annotation_labeltiming") == counted
        return
    drilled = call(place, "manage.py", "restore_drill", str(file), "--json")
    assert drilled.returncode == 0, drilled.stderr
    found = json.loads(drilled.stdout)
    assert found["problems"] == []
    assert found["rows"]["annotation_label"] == counted
    assert found["rows"]["annotation_labeltiming"] == counted
