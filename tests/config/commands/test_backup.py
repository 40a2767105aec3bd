"""A backup holds everything, says when it is damaged, and becomes an installation again."""

import hashlib
import io
import json
import os
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from django.db import connection
from psycopg.errors import UndefinedColumn

from config.backups import archive
from config.backups.archive import MAC, Manifest, read_archive, write_archive
from config.backups.databases import check_sqlite, copy_statement, list_columns
from config.backups.keys import KEYS, manifest_mac, signing_keys
from config.backups.refusing import BackupRefused
from tests.forks import run_forked
from tests.services import own_postgres_database

Environment = dict[str, str]
KEY = "a-key-of-the-tests-" + "k" * 32


def outside() -> Environment:
    """The environment of the tests, without what makes an installation."""
    ours = ("TOUCHSTONE_", "REDIS_", "DATABASE_")
    return {key: value for key, value in os.environ.items() if not key.startswith(ours)}


def call(environment: Environment, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS` with this environment, and nothing of the tests' own."""
    return run_forked(words, env={**outside(), **environment})


def check_there_and_back(one: Environment, other: Environment, file: Path) -> None:
    built = call(one, "-m", "tests.config.commands.installation")
    assert built.returncode == 0, built.stderr
    made = call(one, "manage.py", "backup", str(file), "--json")
    assert made.returncode == 0, made.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    keys = Path(one["TOUCHSTONE_HOME"]) / "backup_keys"
    assert keys.stat().st_mode & 0o777 == 0o600
    refused = call(other, "manage.py", "restore", str(file))
    assert refused.returncode == 2
    assert "--unsigned" in refused.stderr
    other = {**other, "TOUCHSTONE_BACKUP_KEYS": keys.read_text().strip()}
    restored = call(other, "manage.py", "restore", str(file), "--json")
    assert restored.returncode == 0, restored.stderr
    assert "administrators" not in restored.stderr
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
        manifest=manifest,
        files={"database.sqlite3": content},
        key=KEY,
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
    read_archive(source=backup, directory=tmp_path / "out", keys=["x" * 40, KEY])
    assert (tmp_path / "out" / "database.sqlite3").read_bytes() == b"rows"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda members: members.update({"database.sqlite3": b"rowz"}),
            "does not match its digest",
        ),
        (lambda members: members.pop("database.sqlite3"), "is missing"),
        (lambda members: members.update({"../evil": b""}), "not in its manifest"),
        (lambda members: members.pop("manifest.json"), "not a Touchstone backup"),
        (lambda members: members.update({"manifest.json": b"[1]"}), "can't be read"),
        (
            lambda members: members.update(
                {"manifest.json": members["manifest.json"].replace(b"database.sqlite3", b"../evil")}
            ),
            "an unknown entry",
        ),
        (
            lambda members: members.update(
                {"manifest.json": members["manifest.json"].replace(b'"format": 2', b'"format": 9')}
            ),
            "another version",
        ),
    ],
)
def test_a_backup_that_was_changed_is_refused(
    backup: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], said: str
) -> None:
    file = rewritten(backup, change)
    with pytest.raises(BackupRefused, match=said):
        read_archive(source=file, directory=tmp_path / "out", keys=[KEY], allow_unsigned=True)
    assert not (tmp_path / "evil").exists()


def test_a_backup_that_broke_off_is_refused(backup: Path, tmp_path: Path) -> None:
    backup.write_bytes(backup.read_bytes()[:200])
    with pytest.raises(BackupRefused):
        read_archive(source=backup, directory=tmp_path / "out", keys=[KEY])


def forge(members: dict[str, bytes]) -> None:
    """Other content, its digest computed again: all that can be done without the key."""
    manifest = json.loads(members["manifest.json"])
    members["database.sqlite3"] = b"other rows"
    manifest["files"]["database.sqlite3"] = hashlib.sha256(b"other rows").hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()


def drop_mac(members: dict[str, bytes]) -> None:
    """As backups were before they had a MAC."""
    del members[MAC]
    members["manifest.json"] = members["manifest.json"].replace(b'"format": 2', b'"format": 1')


def forge_and_drop_mac(members: dict[str, bytes]) -> None:
    forge(members)
    drop_mac(members)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (forge, "It is not signed with any"),
        (drop_mac, "older versions did not sign"),
        (forge_and_drop_mac, "older versions did not sign"),
        (lambda members: members.update({MAC: b""}), "It is not signed with any"),
        (lambda members: members.update({MAC: "é".encode() * 32}), "It is not signed with any"),
        (
            lambda members: members.update({"manifest.json": b"[" * 100_000}),
            "It is not signed with any",
        ),
    ],
)
def test_a_backup_without_a_valid_mac_is_refused_before_its_manifest_is_read(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change, said: str
) -> None:
    file = rewritten(backup, change)
    with monkeypatch.context() as patch:
        patch.setattr(json, "loads", lambda _: pytest.fail("the manifest was read"))
        with pytest.raises(BackupRefused, match=said) as refused:
            read_archive(source=file, directory=tmp_path / "out", keys=[KEY])
    assert refused.value.code == "backup_unsigned"
    assert "--unsigned" in refused.value.message
    assert "administrators" in refused.value.message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("change", [forge, drop_mac])
def test_without_the_check_of_the_mac_a_forged_backup_is_taken(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change
) -> None:
    """The sabotage: digests that were computed again prove nothing."""
    monkeypatch.setattr(archive, "check_signed", lambda *_: None)
    read_archive(source=rewritten(backup, change), directory=tmp_path / "out", keys=[KEY])
    assert (tmp_path / "out" / "database.sqlite3").exists()


def test_an_old_backup_without_a_mac_is_restored_where_that_is_asked_for(
    backup: Path, tmp_path: Path
) -> None:
    file = rewritten(backup, drop_mac)
    read_archive(source=file, directory=tmp_path / "out", keys=[], allow_unsigned=True)
    assert (tmp_path / "out" / "database.sqlite3").read_bytes() == b"rows"


@pytest.mark.parametrize(
    ("keys", "is_taken"), [([KEY], True), (["n" * 40, KEY], True), (["n" * 40], False), ([], False)]
)
def test_a_backup_is_taken_under_every_key_of_the_list(
    backup: Path, tmp_path: Path, keys: list[str], is_taken: bool
) -> None:
    taken = nullcontext() if is_taken else pytest.raises(BackupRefused, match="unsigned")
    with taken:
        read_archive(source=backup, directory=tmp_path / "out", keys=keys)


@pytest.mark.parametrize(
    "change",
    [
        {"rows": {"judgments_user": {"x": 1}}},
        {"columns": {"judgments_user": "id"}},
        {"migrations": [[["judgments"], "0001"]]},
        {"files": {"database.sqlite3": 7}},
        {"more": 1},
        {"made_at": None},
    ],
)
def test_a_manifest_of_another_shape_is_refused(backup: Path, tmp_path: Path, change) -> None:
    def put(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["manifest.json"]) | change
        members["manifest.json"] = json.dumps(manifest).encode()

    with pytest.raises(BackupRefused, match="can't be read"):
        read_archive(
            source=rewritten(backup, put), directory=tmp_path, keys=[], allow_unsigned=True
        )


def test_the_first_key_signs_and_no_key_is_in_the_backup(backup: Path) -> None:
    with tarfile.open(backup) as tar:
        members = {one.name: (tar.extractfile(one) or io.BytesIO()).read() for one in tar}
    assert next(iter(members)) == MAC
    assert members[MAC].decode() == manifest_mac(KEY, members["manifest.json"])
    assert not any(KEY.encode() in content for content in members.values())


def test_the_key_is_made_at_the_first_backup_for_its_owner_alone(settings, tmp_path: Path) -> None:
    settings.HOME, settings.BACKUP_KEYS = tmp_path, []
    assert KEYS.read() == []
    (key,) = signing_keys()
    path = tmp_path / "backup_keys"
    assert path.stat().st_mode & 0o777 == 0o600
    assert key not in (settings.SECRET_KEY, "")
    assert signing_keys() == KEYS.read() == [key]
    path.write_text(f"{'n' * 40}\n{key}\n")  # a new key, put first
    assert signing_keys() == ["n" * 40, key]
    path.chmod(0o640)
    with pytest.raises(BackupRefused, match="chmod 600"):
        KEYS.read()
    path.chmod(0o600)
    path.write_text("short\n")
    with pytest.raises(BackupRefused, match="fewer than 32"):
        signing_keys()
    settings.BACKUP_KEYS = [KEY]
    assert signing_keys() == [KEY]


def test_production_makes_no_key_of_its_own(settings, tmp_path: Path) -> None:
    settings.HOME, settings.BACKUP_KEYS, settings.PRODUCTION = tmp_path, [], True
    with pytest.raises(BackupRefused, match="TOUCHSTONE_BACKUP_KEYS"):
        signing_keys()
    assert list(tmp_path.iterdir()) == []


def test_the_secret_key_and_short_keys_are_no_backup_keys(tmp_path: Path) -> None:
    secret = "s" * 60
    for keys, said in ((f"{KEY},{secret}", "must not hold"), ("short", "at least 32")):
        environment = {"TOUCHSTONE_SECRET_KEY": secret, "TOUCHSTONE_BACKUP_KEYS": keys}
        started = call(home(tmp_path) | environment, "-c", "import config.settings")
        assert started.returncode == 1
        assert said in started.stderr


def test_triggers_and_views_of_a_sqlite_backup_are_not_restored(tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    with closing(sqlite3.connect(copy, isolation_level=None)) as database:
        database.execute("CREATE TABLE judgments_user (id, is_superuser)")
        database.execute(
            "CREATE TRIGGER evil AFTER INSERT ON judgments_user BEGIN "
            "UPDATE judgments_user SET is_superuser = 1; END"
        )
    check_sqlite(copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as database:
        database.execute("INSERT INTO judgments_user VALUES (1, 0)")
        assert database.execute("SELECT * FROM judgments_user").fetchall() == [(1, 0)]
        database.execute("CREATE VIEW evil AS SELECT 1")
    with pytest.raises(BackupRefused, match="view"):
        check_sqlite(copy)
    copy.write_bytes(b"no database" * 100)
    with pytest.raises(BackupRefused, match="can't be read"):
        check_sqlite(copy)


@pytest.mark.parametrize(
    "wanted", [["id", "grade", "id"], ["id"], ["id", "grade", 'x"'], ['"id"', "grade"], []]
)
def test_columns_that_are_not_the_tables_are_refused(wanted: list[str]) -> None:
    assert list_columns("t", ["id", "grade"], ["grade", "id"]) == ["grade", "id"]
    with pytest.raises(BackupRefused, match="columns of t"):
        list_columns("t", ["id", "grade"], wanted)


@pytest.fixture
def evil() -> Iterator[Path]:
    """A file that the server of the database could write."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name) / "it-ran"


def evil_column(evil: Path) -> str:
    """What Django's quote_name lets pass, because it is quoted already."""
    return f'"id") FROM PROGRAM \'touch {evil}\' --"'


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_column_can_not_leave_its_quotes(evil: Path) -> None:
    statement = copy_statement("judgments_user", [evil_column(evil)], "FROM STDIN")
    with pytest.raises(UndefinedColumn), connection.cursor() as cursor, cursor.copy(statement):
        pass
    assert not evil.exists()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_djangos_quoting_put_back_runs_a_program_on_the_server(evil: Path) -> None:
    """The sabotage: what the test above would see."""
    name = connection.ops.quote_name(evil_column(evil))
    with pytest.raises(Exception, match=r".*"), connection.cursor() as cursor:  # noqa: SIM117
        with cursor.copy(f"COPY judgments_user ({name}) FROM STDIN"):
            pass
    assert evil.exists()


def make_administrator(members: dict[str, bytes], evil: Path) -> None:
    """Ben becomes an administrator, a column becomes a program; every digest fits."""
    manifest = json.loads(members["manifest.json"])
    manifest["columns"]["judgments_user"][0] = evil_column(evil)
    lines = members["tables/judgments_user"].replace(b"\tf\t", b"\tt\t")
    members["tables/judgments_user"] = lines
    manifest["files"]["tables/judgments_user"] = hashlib.sha256(lines).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()


@pytest.mark.postgres
def test_a_tampered_backup_of_postgresql_is_refused_and_changes_nothing(
    tmp_path: Path, own_migrated_database_url: str, evil: Path
) -> None:
    file = tmp_path / "backup.tar.gz"
    one = {**home(tmp_path / "one"), "DATABASE_URL": own_migrated_database_url}
    made = call(one, "manage.py", "backup", str(file))
    assert made.returncode == 0, made.stderr
    rewritten(file, lambda members: make_administrator(members, evil))
    for switches, said in (((), "It is not signed with any"), (("--unsigned",), "columns of")):
        restored = call(one, "manage.py", "restore", str(file), *switches)
        assert restored.returncode == 2, restored.stdout
        assert said in restored.stderr
        assert not evil.exists()


def test_an_unsigned_restore_names_the_administrators(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    one = home(make_home(tmp_path / "one"))
    script = (
        "import django; django.setup(); from django.core.management import call_command; "
        "from judgments.models import User; call_command('migrate', verbosity=0); "
        "User.objects.create_superuser('mallory')"
    )
    assert call(one | {"DJANGO_SETTINGS_MODULE": "config.settings"}, "-c", script).returncode == 0
    file = tmp_path / "backup.tar.gz"
    assert call(one, "manage.py", "backup", str(file)).returncode == 0
    restored = call(home(tmp_path / "other"), "manage.py", "restore", str(file), "--unsigned")
    assert restored.returncode == 0, restored.stderr
    assert "administrators: mallory" in restored.stderr
