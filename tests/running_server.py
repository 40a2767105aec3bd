"""An installation of a test's own, served by one process with its worker, on loopback."""

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from tests.forks import begin_forked, run_forked
from tests.services import free_port

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60.0  # seconds


@contextmanager
def running_server(home: Path, *, seed: str) -> Iterator[dict[str, str]]:
    """The environment of programs that ask it; `TOUCHSTONE` is its address.

    home: of an installation that has been migrated (`make_home`). seed: a program that fills it,
    and whose last line is a JSON object of further variables.
    """
    port = free_port()
    variables = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "TOUCHSTONE_HOME": str(home),
        "TOUCHSTONE": f"http://127.0.0.1:{port}",
    }
    seeded = run_forked(("-c", seed), env=variables, timeout=PATIENCE)
    assert seeded.returncode == 0, seeded.stderr
    log = home.with_suffix(".log")
    with log.open("wb") as output:
        words = ("manage.py", "serve", "--port", str(port))
        server = begin_forked(words, env=variables, stdout=output, stderr=output)
    try:
        assert _answers(f"{variables['TOUCHSTONE']}/login"), log.read_text()
        yield variables | json.loads(seeded.stdout.splitlines()[-1])
    finally:
        server.terminate()
        server.wait(PATIENCE)
        server.close()


def _answers(address: str) -> bool:
    deadline = monotonic() + PATIENCE
    while monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=5):  # noqa: S310  (our own)
                return True
        except (urllib.error.URLError, ConnectionError):
            sleep(0.2)
    return False
