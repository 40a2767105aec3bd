"""An upgrade can be taken back, and made again, without losing anything that people made."""

import gzip
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from config.backups.databases import list_todays
from config.backups.refusing import BackupRefused
from tests.config.commands.test_backup import call, home

PROGRAM = ("-m", "tests.config.commands.back_and_forth")


@pytest.mark.long
def test_each_app_goes_back_by_a_migration_and_forward_again_on_sqlite(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    done = call(home(make_home(tmp_path / "home")), *PROGRAM)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.postgres
def test_each_app_goes_back_by_a_migration_and_forward_again_on_postgresql(
    tmp_path: Path, own_migrated_database_url: str
) -> None:
    done = call(home(tmp_path) | {"DATABASE_URL": own_migrated_database_url}, *PROGRAM)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


# What is in an installation of the last version before the newest squash: made there
# by `python -m tests.config.commands.installation`, written out by `sqlite3.Connection.iterdump`.
RECORDED = Path(__file__).parents[1] / "recorded" / "before_the_squash.sql.gz"


def shape_of(path: Path) -> set[tuple[str, ...]]:
    """The names of all indexes and triggers of the database in this folder, and all columns."""
    with closing(sqlite3.connect(path / "touchstone.sqlite3")) as database:
        columns = database.execute(
            'SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk '
            "FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'"
        ).fetchall()
        others = database.execute("SELECT type, name FROM sqlite_master WHERE type != 'table'")
        return {tuple(map(str, row)) for row in [*columns, *others.fetchall()]}


def test_a_database_from_before_the_squash_comes_along_and_is_like_a_new_one(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    old, new = tmp_path / "old", make_home(tmp_path / "new")
    old.mkdir()
    with closing(sqlite3.connect(old / "touchstone.sqlite3")) as database:
        database.executescript(gzip.decompress(RECORDED.read_bytes()).decode())
    done = call(home(old), "manage.py", "migrate", "--no-color", "-v", "0")
    assert (done.returncode, done.stderr) == (0, "")
    assert shape_of(old) == shape_of(new)
    checked = call(home(old), "manage.py", "verify", "--all", "--json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    exported = call(home(old), "manage.py", "export_qrels", "books/main", "--version", "spring")
    assert exported.stdout == "q1 0 d1 3\nq1 0 d2 3\nq1 0 d3 3\n"


@pytest.mark.django_db
def test_a_backup_from_before_the_squash_is_restored_by_what_replaces_its_migrations() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(gzip.decompress(RECORDED.read_bytes()).decode())
        applied = database.execute("SELECT app, name FROM django_migrations ORDER BY id").fetchall()
    names = [key for key in list_todays(applied) if key[0] in ("judgments", "annotation")]
    assert sorted(names) == [
        ("annotation", "0001_squashed_0021_judge_batches"),
        ("annotation", "0022_retention"),
        ("judgments", "0001_squashed_0036_purged_collections"),
        ("judgments", "0037_unchecked_judgments"),
        ("judgments", "0038_unfinished_lists"),
    ]
    with pytest.raises(BackupRefused, match=r"before judgments\.0036_purged_collections"):
        list_todays([one for one in applied if one[1] != "0036_purged_collections"])
    with pytest.raises(BackupRefused, match=r"newer version: judgments\.0999_more"):
        list_todays([*applied, ("judgments", "0999_more")])
