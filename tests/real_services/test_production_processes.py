"""The processes of docker-compose.yml, started as it starts them, without its containers."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from config.healthcheck import answers
from tests.deployment import HOST, ROOT, compose_command, production_environment, web_command
from tests.services import free_port

PATIENCE = 60.0  # seconds

pytestmark = [pytest.mark.postgres, pytest.mark.redis]


@pytest.fixture
def environment(tmp_path: Path, own_database_url: str, own_redis_url: str) -> dict[str, str]:
    return production_environment(tmp_path / "home", own_database_url, own_redis_url)


def call(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@contextmanager
def process(
    command: list[str], environment: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        started = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        yield started
    finally:
        started.terminate()
        started.wait(PATIENCE)


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.2)
    return False


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
            destination = [*ping, f"{name}@test"]
            assert eventually(lambda to=destination: call(to, environment).returncode == 0), (
                tmp_path / f"{name}.log"
            ).read_text()
        assert {name: one.poll() for name, one in running.items()} == dict.fromkeys(running)
    assert {name: one.returncode for name, one in running.items()} == dict.fromkeys(running, 0)


def test_the_health_check_fails_where_nothing_answers() -> None:
    assert not answers(port=free_port(), hosts=HOST)
