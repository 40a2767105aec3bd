"""The web server and a worker reach PostgreSQL and Redis by TLS, and no other's server."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from config.healthcheck import answers
from tests.certificates import make_certificates
from tests.deployment import HOST, compose_command, production_environment, web_command
from tests.real_services.processes import call, eventually, process
from tests.services import free_port, private_postgres, private_redis

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
    certificates: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    own = certificates / "right"
    with private_postgres(tls=own) as database, private_redis(tls=own) as broker:
        yield production_environment(tmp_path_factory.mktemp("home"), database, broker)


def of_another(environment: dict[str, str], name: str) -> dict[str, str]:
    """The same, trusting an authority that did not make the server's certificate."""
    url = environment[name]
    assert "/right/ca.crt" in url
    return environment | {name: url.replace("/right/ca.crt", "/wrong/ca.crt")}


def test_the_web_server_and_a_worker_work_by_tls_alone(
    environment: dict[str, str], tmp_path: Path
) -> None:
    for words in (compose_command("migrate"), ["python", "manage.py", "collectstatic", "-v0"]):
        prepared = call(words, environment)
        assert prepared.returncode == 0, prepared.stderr
    port = free_port()
    logs = {name: tmp_path / f"{name}.log" for name in ("web", "worker")}
    worker = [*compose_command("worker"), "-n", "worker@tls"]
    ping = ["celery", "-A", "config", "inspect", "ping", "--timeout", "5", "-d", "worker@tls"]
    with (
        process(web_command(port, tmp_path), environment, logs["web"]),
        process(worker, environment, logs["worker"]),
    ):
        assert eventually(lambda: answers(port=port, hosts=HOST)), logs["web"].read_text()
        answered = partial(_is_answered, ping, environment)
        assert eventually(answered), logs["worker"].read_text()
        with psycopg.connect(environment["DATABASE_URL"]) as connection:
            found = connection.execute(
                "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                "WHERE backend_type = 'client backend'"
            ).fetchall()
    assert len(found) >= 2  # this one, and those of the web server or the worker
    assert set(found) == {(True,)}


def test_a_connection_without_tls_is_refused(environment: dict[str, str]) -> None:
    plain = environment["DATABASE_URL"].split("?")[0]
    with pytest.raises(psycopg.OperationalError, match=r"no encryption|no pg_hba"):
        psycopg.connect(f"{plain}?sslmode=disable")
    plain = environment["REDIS_URL"].split("?")[0].replace("rediss:", "redis:")
    asked = call(["python", "-c", ASK_REDIS], environment | {"REDIS_URL": plain})
    assert "ConnectionError" in asked.stderr, asked.stderr


def test_a_server_with_another_certificate_is_not_talked_to(environment: dict[str, str]) -> None:
    asked = call(["python", "-c", ASK_POSTGRES], of_another(environment, "DATABASE_URL"))
    assert "certificate verify failed" in asked.stderr, asked.stderr
    asked = call(["python", "-c", ASK_REDIS], of_another(environment, "REDIS_URL"))
    assert "CERTIFICATE_VERIFY_FAILED" in asked.stderr, asked.stderr
    asked = call(["python", "-c", ASK_BROKER], of_another(environment, "REDIS_URL"))
    assert "certificate verify failed" in asked.stderr.lower(), asked.stderr


SET_UP = (
    "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup()\n"
)
ASK_POSTGRES = f"{SET_UP}from django.db import connection; connection.ensure_connection()"
ASK_REDIS = f"{SET_UP}from django.core.cache import cache; cache._cache.get_client().ping()"
ASK_BROKER = (
    f"{SET_UP}from config.celery import app\n"
    "with app.connection() as connection: connection.ensure_connection(max_retries=1, timeout=5)"
)


def _is_answered(ping: list[str], environment: dict[str, str]) -> bool:
    return call(ping, environment).returncode == 0
