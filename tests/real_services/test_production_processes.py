"""The processes of docker-compose.yml, started as it starts them, without its containers."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from config.healthcheck import answers
from tests.deployment import HOST, compose_command, production_environment, web_command
from tests.real_services.processes import call, eventually, process
from tests.services import free_port

pytestmark = [pytest.mark.postgres, pytest.mark.redis]


@pytest.fixture
def environment(tmp_path: Path, own_database_url: str, own_redis_url: str) -> dict[str, str]:
    return production_environment(tmp_path / "home", own_database_url, own_redis_url)


def test_the_web_server_and_both_workers_start_answer_and_end(
    environment: dict[str, str], tmp_path: Path
) -> None:
    for words in (compose_command("migrate"), ["python", "manage.py", "collectstatic", "-v0"]):
        prepared = call(words, environment)
        assert prepared.returncode == 0, prepared.stderr
    port = free_port()
    web = web_command(port, tmp_path)
    workers = {name: [*compose_command(name), "-n", f"{name}@test"] for name in ("worker", "jobs")}
    ping = ["celery", "-A", "config", "inspect", "ping", "--timeout", "5", "--destination"]
    with ExitStack() as stack:
        running = {
            name: stack.enter_context(process(command, environment, tmp_path / f"{name}.log"))
            for name, command in {"web": web, **workers}.items()
        }
        assert eventually(lambda: answers(port=port, hosts=HOST)), (
            tmp_path / "web.log"
        ).read_text()
        for name in workers:
            answered = partial(_is_answered, [*ping, f"{name}@test"], environment)
            assert eventually(answered), (tmp_path / f"{name}.log").read_text()
        assert {name: one.poll() for name, one in running.items()} == dict.fromkeys(running)
    assert {name: one.returncode for name, one in running.items()} == dict.fromkeys(running, 0)


def test_the_health_check_fails_where_nothing_answers() -> None:
    assert not answers(port=free_port(), hosts=HOST)


def _is_answered(ping: list[str], environment: dict[str, str]) -> bool:
    return call(ping, environment).returncode == 0
