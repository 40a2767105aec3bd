"""The application's role does all of its work, and can't undo what the database keeps.

On a PostgreSQL of its own, for roles belong to a server: config/postgresql/roles.sql makes them as
docker-compose.yml does, with psql, as the superuser.
"""

import functools
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.apps import apps
from psycopg import sql

from tests.deployment import ROOT
from tests.forks import run_forked
from tests.services import (
    fill_postgres_database,
    find_psql,
    own_postgres_database,
    private_postgres,
)

pytestmark = pytest.mark.postgres

APP, OWNER = "touchstone_app", "touchstone_owner"
PASSWORDS = {"POSTGRES_OWNER_PASSWORD": "it's the owner's", "POSTGRES_APP_PASSWORD": 'an "app'}
APPEND_ONLY = [
    table
    for app in apps.get_app_configs()
    for table in getattr(app, "append_only", [])
    if not table.deletable
]
REFUSED = [
    "ALTER TABLE annotation_label DISABLE TRIGGER annotation_label_update",
    "ALTER TABLE annotation_label DISABLE TRIGGER ALL",
    "DROP TRIGGER annotation_label_update ON annotation_label",
    "DROP FUNCTION touchstone_append_only() CASCADE",
    "ALTER FUNCTION touchstone_append_only() OWNER TO touchstone_app",
    "CREATE FUNCTION mine() RETURNS void AS $$ $$ LANGUAGE sql",
    "ALTER TABLE annotation_label ADD COLUMN more int",
    "ALTER TABLE annotation_label OWNER TO touchstone_app",
    "CREATE RULE nothing AS ON UPDATE TO annotation_label DO INSTEAD NOTHING",
    "DROP TABLE annotation_label CASCADE",
    "CREATE TABLE mine (id int)",
    "CREATE TEMPORARY TABLE annotation_label (id int)",
    "CREATE SCHEMA mine",
    "SET session_replication_role = replica",
    "SET ROLE touchstone_owner",
    "SET SESSION AUTHORIZATION touchstone_owner",
    "ALTER ROLE touchstone_app SUPERUSER",
    "GRANT touchstone_owner TO touchstone_app",
    "CREATE ROLE mine SUPERUSER",
    "COPY annotation_label TO '/tmp/never'",
    "COPY annotation_label FROM PROGRAM 'true'",
    "SELECT pg_read_file('PG_VERSION')",
    *(f"TRUNCATE {table.table} CASCADE" for table in APPEND_ONLY),
]


# books is archived for long enough, and films stays
FILMS_AND_ARCHIVED_BOOKS = """
from evaluation.evaluations.refreshing import refresh_evaluations
from tests.builders import NOW, commit, make_world
from tests.config.privacy.test_purging import name_xanadu
from tests.evaluation.builders import make_run
name_xanadu()
films = make_world(slug="films")
make_run(collection=films.collection, rankings={"q1": ["d1", "d2"]})
commit(judgment_list=films.judgments, grades={(films.queries[0], films.documents[0]): 3})
refresh_evaluations(list_id=films.judgments.pk, at=NOW)
"""


def as_role(url: str, role: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{role}@{parts.hostname}:{parts.port}"))


def make_roles(url: str) -> None:
    """What PostgreSQL's image does with a script in /docker-entrypoint-initdb.d."""
    parts = urlsplit(url)
    server = ("--host", str(parts.hostname), "--port", str(parts.port))
    subprocess.run(
        (
            *(find_psql(), "--no-psqlrc", "--quiet", "--no-password", *server),
            *("--username", "touchstone", "--dbname", parts.path.strip("/")),
            *("--file", ROOT / "config" / "postgresql" / "roles.sql"),
        ),
        env={"PATH": os.environ["PATH"], **PASSWORDS},
        check=True,
        capture_output=True,
    )


def run(url: str, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("TOUCHSTONE_", "REDIS_"))}
    return run_forked(words, env={**outside, "DATABASE_URL": url, "TOUCHSTONE_HOME": str(home)})


def do(url: str, home: Path, *words: str) -> str:
    """Run it; what it prints."""
    done = run(url, home, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def handed_over(migrated: str) -> Iterator[str]:
    """The database of an installation from before there were roles, and then the roles."""
    with private_postgres() as url:
        with own_postgres_database(os.environ["DATABASE_URL"], like=migrated) as like:
            fill_postgres_database(url, like=like)
        make_roles(url)
        make_roles(url)
        yield url


@pytest.fixture
def execute(handed_over: str) -> Iterator[Callable[[str, str], None]]:
    """Runs a statement as a role, and takes it back."""
    with ExitStack() as stack:

        @functools.cache
        def connect(role: str) -> psycopg.Connection:
            return stack.enter_context(psycopg.connect(as_role(handed_over, role)))

        def one(role: str, statement: str) -> None:
            try:
                connect(role).execute(statement)
            finally:
                connect(role).rollback()

        yield one


def test_the_whole_application_works_as_a_role_that_only_reads_and_writes_rows(
    handed_over: str, tmp_path: Path
) -> None:
    """But for what the role that owns the tables does: it purges a collection, and restores a
    backup into a new installation. The backup has that collection, and both roles' homes share the
    ledger, by which it is purged again.
    """
    app, owner = as_role(handed_over, APP), as_role(handed_over, OWNER)
    do(app, tmp_path, "-m", "tests.real_services.as_application")
    with psycopg.connect(app) as connection:
        analysed = connection.execute(
            "SELECT reltuples FROM pg_class WHERE relname = 'annotation_label'"
        ).fetchone()
        assert analysed is not None
        assert analysed[0] > 0
        for statement in ("UPDATE annotation_label SET grade = 0", "DELETE FROM annotation_label"):
            with pytest.raises(psycopg.errors.IntegrityError, match="append-only"):
                connection.execute(statement)
            connection.rollback()
    do(app, tmp_path, "manage.py", "shell", "-c", FILMS_AND_ARCHIVED_BOOKS)
    backup = str(tmp_path / "backup.tar.gz")
    do(app, tmp_path, "manage.py", "backup", backup)
    purge = ("manage.py", "purge_collection", "books", "--confirm", "books")
    refused = run(app, tmp_path, *purge)
    assert refused.returncode == 2
    assert "the role that owns the tables" in refused.stderr
    assert "annotation_label" in do(owner, tmp_path, *purge, "--dry-run")
    do(owner, tmp_path, *purge)
    check_nothing_left(handed_over)
    do(app, tmp_path, "manage.py", "verify", "--all")
    with own_postgres_database(handed_over) as url:
        make_roles(url)
        do(as_role(url, OWNER), tmp_path, "manage.py", "restore", backup)
        check_nothing_left(url)
        verified = json.loads(
            do(as_role(url, APP), tmp_path, "manage.py", "verify", "--all", "--json")
        )
    assert verified["evaluations"] > 0, verified


def check_nothing_left(url: str) -> None:
    """No word of the purged collection in any table, no trigger set aside, no index left over."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        ).fetchall()
        said = [
            connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))).fetchall()
            for (name,) in tables
        ]
        left = connection.execute(
            "SELECT relname::text FROM pg_class WHERE relname LIKE 'purge_%' "
            "UNION SELECT tgname::text FROM pg_trigger WHERE tgenabled = 'D'"
        )
        assert left.fetchall() == []
    assert len(tables) > 90
    assert "Xanadu" not in repr(said)


def test_the_application_can_not_undo_what_the_database_keeps(
    execute: Callable[[str, str], None],
) -> None:
    passed = []
    for statement in REFUSED:
        with suppress(psycopg.errors.InsufficientPrivilege):
            execute(APP, statement)
            passed.append(statement)
    assert passed == []


def test_a_role_that_owns_the_tables_can_undo_it(execute: Callable[[str, str], None]) -> None:
    """The sabotage: the same, refused to the application alone."""
    for statement in (REFUSED[0], *REFUSED[2:4]):
        execute(OWNER, statement)


def test_the_application_may_tell_how_much_came_in_and_nothing_of_other_tables(
    execute: Callable[[str, str], None],
) -> None:
    execute(APP, "SELECT touchstone_analyze('{annotation_label}')")
    execute(APP, "SELECT touchstone_analyze('{pg_authid}')")
    with pytest.raises(psycopg.errors.Error):
        execute(APP, "SELECT touchstone_analyze('{\"annotation_label; DROP TABLE x\"}')")


def test_both_roles_have_the_passwords_of_the_environment(handed_over: str) -> None:
    with psycopg.connect(handed_over) as connection:
        stored = connection.execute(
            "SELECT rolname FROM pg_authid WHERE rolpassword LIKE 'SCRAM-SHA-256$%' ORDER BY 1"
        ).fetchall()
    assert [name for (name,) in stored] == [APP, OWNER]


def test_check_names_a_role_with_too_many_rights(handed_over: str, tmp_path: Path) -> None:
    words = ("manage.py", "check", "--deploy", "--database", "default")
    said = {
        role: run(as_role(handed_over, role), tmp_path, *words).stderr
        for role in (APP, OWNER, "touchstone")
    }
    assert "touchstone.W002" not in said[APP]
    assert "owns tables, may truncate tables, may create tables" in said[OWNER]
    assert "is a superuser" in said["touchstone"]


def test_an_installation_from_before_there_were_roles_is_handed_over(
    handed_over: str, tmp_path: Path
) -> None:
    owner = as_role(handed_over, OWNER)
    done = run(owner, tmp_path, "manage.py", "migrate", "--no-input", "-v0")
    assert done.returncode == 0, done.stderr
    assert "touchstone.W002" not in done.stderr
    with psycopg.connect(as_role(handed_over, APP)) as connection:
        owners = connection.execute(
            "SELECT DISTINCT relowner::regrole::text FROM pg_class "
            "WHERE relnamespace = 'public'::regnamespace UNION "
            "SELECT proowner::regrole::text FROM pg_proc "
            "WHERE pronamespace = 'public'::regnamespace"
        ).fetchall()
        assert owners == [(OWNER,)]
        assert connection.execute("DELETE FROM django_session").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("TRUNCATE django_session")
