"""What PostgreSQL said it had stored is there after a crash, whatever the server's own habit."""

import os
import signal
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from config.durability import KEEPING, check_durability, list_risks
from tests.faults.site import Site
from tests.services import private_postgres

pytestmark = pytest.mark.postgres

WRITERS = ("background writer", "checkpointer", "walwriter")


def freeze_writers(url: str) -> None:
    """Stop the processes that would write the log a moment later."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT backend_type, pid FROM pg_stat_activity").fetchall()
    for pid in (pid for kind, pid in found if kind in WRITERS):
        os.kill(pid, signal.SIGSTOP)


def test_what_was_committed_outlives_a_crash_of_a_server_that_answers_early(
    tmp_path: Path,
) -> None:
    ours = settings.DATABASES["default"]["OPTIONS"]["options"]
    site = Site(tmp_path, {})
    with private_postgres() as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE streak (grade int)")
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("off",)
        with psycopg.connect(url, options=ours, autocommit=True) as connection:
            freeze_writers(url)
            connection.execute("INSERT INTO streak VALUES (3)")
            try:
                site.kill_postgres(url)
                with psycopg.connect(url) as again:
                    assert again.execute("SELECT grade FROM streak").fetchall() == [(3,)]
            finally:
                site.stop()


@pytest.mark.django_db
def test_what_the_server_has_switched_off_is_named() -> None:
    with connection.cursor() as cursor:
        off = []
        for name in KEEPING:
            cursor.execute(f"SHOW {name}")
            off += [name] * (cursor.fetchone() == ("off",))
        assert "synchronous_commit" not in off  # every connection asks for it
        assert list_risks() == off
        cursor.execute("SET LOCAL synchronous_commit = off")
    assert list_risks() == [*off, "synchronous_commit"]
    warnings = check_durability(databases=["default"])
    assert [warning.id for warning in warnings] == ["touchstone.W001"] * (len(off) + 1)
    assert "synchronous_commit=off" in warnings[-1].msg
    assert check_durability(databases=None) == []
