"""Processes of the production set-up, started and ended by tests."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.deployment import ROOT, compose_command
from tests.forks import run_forked

PATIENCE = 60.0  # seconds


def call(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS`."""
    python, *words = command
    assert python == "python"
    return run_forked(words, env=environment, timeout=PATIENCE)


def prepare(environment: dict[str, str]) -> None:
    """What is done before the processes start; the database may have been migrated before."""
    for words in (compose_command("migrate"), ["python", "manage.py", "collectstatic", "-v0"]):
        prepared = call(words, environment)
        assert prepared.returncode == 0, prepared.stderr


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
