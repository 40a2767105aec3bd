"""503 while the database is away, and 500 for everything else that fails."""

from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.http import HttpRequest
from django.test import Client
from psycopg import errors

from config.unavailable import is_database_away
from judgments.models import User
from tests.builders import make_user
from tests.racing import AtOnce, raised

AWAY = [
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.TooManyConnections,
    errors.ConnectionFailure,
    errors.SqlclientUnableToEstablishSqlconnection,
]
AT_WORK = [
    errors.DeadlockDetected,
    errors.QueryCanceled,
    errors.LockNotAvailable,
    errors.DiskFull,
    errors.OutOfMemory,
    errors.SerializationFailure,
]


def wrapped(kind: type[psycopg.Error]) -> OperationalError:
    error = OperationalError("said by the server")
    error.__cause__ = kind("said by the server")
    return error


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of a site on which no one's session can be read, for the given reason."""

    def fail(error: Exception) -> Client:
        def get_user(_: HttpRequest) -> None:
            raise error

        monkeypatch.setattr("django.contrib.auth.middleware.auth.get_user", get_user)
        return Client(raise_request_exception=False)

    return fail


@pytest.mark.parametrize("kind", AWAY)
def test_rest_and_pages_answer_503_while_the_database_is_away(
    failing: Any, kind: type[psycopg.Error]
) -> None:
    client = failing(wrapped(kind))
    answer = client.get("/api/v1/collections/")
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert int(answer["Retry-After"]) > 0
    assert (answer.json()["status"], answer.json()["code"]) == (503, "unavailable")
    page = client.get("/")
    assert (page.status_code, page["Retry-After"]) == (503, answer["Retry-After"])
    assert page["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("kind", AT_WORK)
def test_an_error_of_a_database_that_works_stays_a_500(
    failing: Any, kind: type[psycopg.Error]
) -> None:
    answer = failing(wrapped(kind)).get("/api/v1/collections/")
    assert answer.status_code == 500
    assert "Retry-After" not in answer


@pytest.mark.parametrize("error", [DatabaseError("x"), ValueError("x"), OSError("x")])
def test_any_other_failure_stays_a_500(failing: Any, error: Exception) -> None:
    assert failing(error).get("/").status_code == 500


@pytest.mark.django_db
def test_a_connection_that_is_there_is_not_away() -> None:
    connection.ensure_connection()
    assert not is_database_away(OperationalError("database is locked"))
    assert not is_database_away(InterfaceError("a cursor was closed"))


def _lose_connection() -> None:
    """Work whose connection the server ends."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        ((own,),) = cursor.fetchall()
        url = connection.get_connection_params()
        with psycopg.connect(
            host=url["host"], port=url["port"], user=url["user"], dbname=url["dbname"]
        ) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [own])
        cursor.execute("SELECT 1")


def _judge(work: Any) -> bool:
    try:
        work()
    except Exception as error:  # noqa: BLE001  (what it is, is the question)
        return is_database_away(error)
    finally:
        connection.close()
    raise AssertionError("no error")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_server_ends_is_away_and_the_next_one_works(at_once: AtOnce) -> None:
    (is_away,) = at_once(partial(_judge, _lose_connection))
    assert is_away is True
    make_user(username="ada")
    (count,) = at_once(User.objects.count)
    assert count == 1


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_database_that_does_not_exist_is_no_restart(
    at_once: AtOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect_elsewhere() -> None:
        connection.close()
        monkeypatch.setitem(connection.settings_dict, "NAME", "touchstone_nowhere")
        User.objects.count()

    done = at_once(partial(_judge, connect_elsewhere))
    assert not raised(done)
    assert done == [False]
