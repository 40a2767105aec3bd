"""The servers that the suite starts for itself."""

from pathlib import Path

import psycopg
import pytest
import redis
from django.db import connection

from tests import services


@pytest.mark.postgres
def test_a_private_postgresql_answers_and_is_gone_afterwards() -> None:
    with services.private_postgres() as url:
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT current_database()").fetchone()
        assert row == ("touchstone",)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=5)


@pytest.mark.postgres
def test_an_own_database_lies_beside_the_named_one_and_is_dropped_with_its_connections() -> None:
    with services.private_postgres() as server:
        with services.own_postgres_database(server) as url:
            assert url != server
            left_open = psycopg.connect(url)
            left_open.execute("CREATE TABLE streak (grade int)")
        left_open.close()
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            psycopg.connect(url, connect_timeout=5)


@pytest.mark.redis
def test_a_private_redis_is_empty_and_is_gone_afterwards() -> None:
    with services.private_redis() as url, redis.Redis.from_url(url) as client:
        assert client.dbsize() == 0
    with redis.Redis.from_url(url) as client, pytest.raises(redis.ConnectionError):
        client.ping()


@pytest.mark.redis
def test_a_redis_that_was_frozen_is_still_ended(own_redis_url: str) -> None:
    with redis.Redis.from_url(own_redis_url) as client:
        client.set("streak", "gold")
        assert client.get("streak") == b"gold"


@pytest.mark.redis
def test_processes_of_a_pass_have_redis_databases_of_their_own() -> None:
    from tests.conftest import redis_database

    assert redis_database("redis://127.0.0.1:6379/5", 1) == "redis://127.0.0.1:6379/6"
    assert redis_database("redis://127.0.0.1:6379", 0) == "redis://127.0.0.1:6379/0"


@pytest.mark.django_db
def test_sqlite_is_tested_as_a_file_with_its_log_beside_it() -> None:
    if connection.vendor != "sqlite":
        assert connection.settings_dict["NAME"].startswith("test_")
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)
    assert Path(connection.settings_dict["NAME"]).is_file()
