"""A PostgreSQL that is stopped and started again under the web server."""

import http.client
from contextlib import closing
from pathlib import Path

import pytest

from config.healthcheck import answers
from tests.deployment import HOST, production_environment, web_command
from tests.real_services.processes import eventually, prepare, process
from tests.services import fill_postgres_database, free_port, restartable_postgres

pytestmark = [pytest.mark.postgres, pytest.mark.redis]
PROXY = {"Host": HOST, "X-Forwarded-Proto": "https"}
REST, PAGE = "/api/v1/collections/", "/login"
# well-formed, so that it is looked for in the database
TOKEN = {"Authorization": "Bearer " + "a" * 64}
UP = {REST: 401, PAGE: 302}
DOWN = {REST: 503, PAGE: 503}


def ask(port: int, path: str) -> tuple[int, dict[str, str]]:
    """The status and the headers of an answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", path, headers=PROXY | TOKEN)
        with connection.getresponse() as response:
            return response.status, dict(response.getheaders())


def statuses(port: int) -> dict[str, int]:
    return {path: ask(port, path)[0] for path in (REST, PAGE)}


def test_a_restart_of_postgresql_is_a_503_and_over_when_it_is_back(
    tmp_path: Path, own_migrated_database_url: str, own_redis_url: str
) -> None:
    port = free_port()
    with restartable_postgres() as server:
        environment = production_environment(tmp_path / "home", server.url, own_redis_url)
        fill_postgres_database(server.url, like=own_migrated_database_url)
        prepare(environment)
        with process(web_command(port, tmp_path), environment, tmp_path / "web.log"):
            assert eventually(lambda: answers(port=port, hosts=HOST))
            for _ in range(2):
                assert [statuses(port) for _ in range(5)] == [UP] * 5
                server.stop()
                assert [statuses(port) for _ in range(5)] == [DOWN] * 5
                _, headers = ask(port, REST)
                assert int(headers["Retry-After"]) > 0
                assert headers["Content-Type"] == "application/problem+json"
                assert answers(port=port, hosts=HOST)
                server.start()
            assert [statuses(port) for _ in range(10)] == [UP] * 10
