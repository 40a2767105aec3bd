"""The processes of docker-compose.yml, as it starts them but without its containers, by TLS.

They reach PostgreSQL and Redis so, and no other's server.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psycopg
import pytest
from celery import Celery

from config.healthcheck import answers
from tests.certificates import make_certificates
from tests.deployment import HOST, compose_command, production_environment, web_command
from tests.real_services.processes import call, eventually, prepare, process
from tests.services import (
    fill_postgres_database,
    free_port,
    own_postgres_database,
    private_postgres,
    private_redis,
)

pytestmark = [pytest.mark.postgres, pytest.mark.redis]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with those of the servers, `right`, and one of another authority, `wrong`."""
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("right", "wrong"):
        make_certificates(folder / name)
    return folder


@pytest.fixture(scope="module")
def environment(
    certificates: Path, migrated: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    own = certificates / "right"
    with private_postgres(tls=own) as database, private_redis(tls=own) as broker:
        with own_postgres_database(os.environ["DATABASE_URL"], like=migrated) as like:
            fill_postgres_database(database, like=like)
        yield production_environment(tmp_path_factory.mktemp("home"), database, broker)


def of_another(environment: dict[str, str], name: str) -> dict[str, str]:
    """The same, trusting an authority that did not make the server's certificate."""
    url = environment[name]
    assert "/right/ca.crt" in url
    return environment | {name: url.replace("/right/ca.crt", "/wrong/ca.crt")}


def test_the_web_server_and_both_workers_start_answer_and_end_by_tls_alone(
    environment: dict[str, str], tmp_path: Path
) -> None:
    prepare(environment)
    port = free_port()
    workers = {name: [*compose_command(name), "-n", f"{name}@tls"] for name in ("worker", "jobs")}
    commands = {"web": web_command(port, tmp_path), **workers}
    logs = {name: tmp_path / f"{name}.log" for name in commands}
    with (
        ExitStack() as stack,
        Celery("tests", broker=environment["REDIS_URL"], set_as_current=False) as asking,
    ):
        running = {
            name: stack.enter_context(process(command, environment, logs[name]))
            for name, command in commands.items()
        }
        assert eventually(lambda: answers(port=port, hosts=HOST)), logs["web"].read_text()

        def pings(name: str) -> bool:
            return bool(asking.control.ping([f"{name}@tls"], timeout=1, limit=1))

        for name in workers:
            assert eventually(partial(pings, name)), logs[name].read_text()
        with psycopg.connect(environment["DATABASE_URL"]) as connection:
            found = connection.execute(
                "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                "WHERE backend_type = 'client backend'"
            ).fetchall()
        assert {name: one.poll() for name, one in running.items()} == dict.fromkeys(running)
    assert {name: one.returncode for name, one in running.items()} == dict.fromkeys(running, 0)
    assert len(found) >= 2  # this one, and those of the web server or the workers
    assert set(found) == {(True,)}


def test_the_health_check_fails_where_nothing_answers() -> None:
    assert not answers(port=free_port(), hosts=HOST)


def test_a_connection_without_tls_is_refused(environment: dict[str, str]) -> None:
    plain = environment["DATABASE_URL"].split("?")[0]
    with pytest.raises(psycopg.OperationalError, match=r"no encryption|no pg_hba"):
        psycopg.connect(f"{plain}?sslmode=disable")
    plain = environment["REDIS_URL"].split("?")[0].replace("rediss:", "redis:")
    asked = call(["python", "-c", ASK_REDIS], environment | {"REDIS_URL": plain})
    assert "ConnectionError" in asked.stderr, asked.stderr


def test_a_server_with_another_certificate_is_not_talked_to(environment: dict[str, str]) -> None:
    wrong = of_another(of_another(environment, "DATABASE_URL"), "REDIS_URL")
    asked = call(["python", "-c", ASK_ALL], wrong)
    assert asked.returncode == 0, asked.stderr
    said = asked.stdout.splitlines()
    assert len(said) == 3
    assert all("certificate verify failed" in one.lower().replace("_", " ") for one in said), said


SET_UP = (
    "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup()\n"
)
ASK_REDIS = f"{SET_UP}from django.core.cache import cache; cache._cache.get_client().ping()"
# PostgreSQL, Redis as the cache, and as the broker
ASK_ALL = f"""{SET_UP}
import traceback
from django.core.cache import cache
from django.db import connection
from config.celery import app

def ask_broker():
    with app.connection() as connection:
        connection.ensure_connection(max_retries=1, timeout=5)

for ask in (connection.ensure_connection, lambda: cache._cache.get_client().ping(), ask_broker):
    try:
        ask()
    except Exception:
        print(*traceback.format_exc().split())
"""
