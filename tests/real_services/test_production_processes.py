"""The processes of docker-compose.yml, started as it starts them, without its containers."""

import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml

from config.healthcheck import answers
from tests.services import free_port

ROOT = Path(__file__).resolve().parents[2]
HOST = "labels.example.org"
PATIENCE = 60.0  # seconds

pytestmark = [pytest.mark.postgres, pytest.mark.redis]


def compose_command(service: str) -> list[str]:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    command: list[str] = compose["services"][service]["command"]
    return command


def image_command() -> list[str]:
    """What the image runs unless it is told otherwise: the web server."""
    found = re.search(r"^CMD (\[.*\])", (ROOT / "Dockerfile").read_text(), re.DOTALL | re.MULTILINE)
    assert found
    command: list[str] = json.loads(found.group(1).replace("\\\n", ""))
    return command


@pytest.fixture
def environment(tmp_path: Path, own_database_url: str, own_redis_url: str) -> dict[str, str]:
    programs = str(Path(sys.executable).parent)
    return {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "TOUCHSTONE_HOME": str(tmp_path / "home"),
        "TOUCHSTONE_MODE": "production",
        "TOUCHSTONE_SECRET_KEY": secrets.token_urlsafe(64),
        "TOUCHSTONE_HOSTS": HOST,
        "TOUCHSTONE_BEHIND_PROXY": "true",
        "DATABASE_URL": own_database_url,
        "REDIS_URL": own_redis_url,
    }


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
    here = {"0.0.0.0:8000": f"127.0.0.1:{port}", "/dev/shm": str(tmp_path)}
    web = [here.get(word, word) for word in image_command()]
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
