"""Servers that begin in a tenth of a second: forks of one process that has loaded everything.

`manage.py serve` takes two seconds of a processor to load what it needs, and its first pages take
another one, a hundred times over in a run of the browser's tests.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.deployment import ROOT
from tests.faults.site import POLL, Embedded

BACKEND = "django.contrib.auth.backends.ModelBackend"


class WarmSite(Embedded):
    """`serve`, forked by a process that stays; one home for all that it serves."""

    def __init__(self, directory: Path, more: Mapping[str, str]) -> None:
        super().__init__(directory, more)
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.warm"],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def begin(self) -> None:
        """Fork a server, on the same port each time."""
        assert self._parent.stdin
        assert self._parent.stdout
        log = self.directory / "serve.log"
        print(self.port, log, file=self._parent.stdin, flush=True)
        self._running["serve"] = Forked(int(self._parent.stdout.readline()))
        self.wait_for_web()

    def close(self) -> None:
        """End the process that forks; what it forked has been stopped."""
        self._parent.communicate()


class Forked(subprocess.Popen[bytes]):
    """A process that another one started, with what `Site` asks of those that it started itself."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode = None

    def poll(self) -> int | None:
        """None while it is there; then 0, as no one is told how it ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, 0)
            return None
        self.returncode = 0
        return 0

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it is gone; subprocess.TimeoutExpired if that takes longer."""
        deadline = time.monotonic() + (timeout or 0)
        while self.poll() is None:
            if timeout is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("serve", timeout)
            time.sleep(POLL)
        return 0

    def terminate(self) -> None:
        """SIGTERM, if it is still there."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)


def load_everything() -> None:
    """Show pages of the home as it was built, so that forks have their code and their templates."""
    import django

    django.setup()
    from celery.worker import WorkController
    from django.core.cache import cache
    from django.db import connections
    from django.test import Client

    import config.wsgi  # noqa: F401
    from annotation.models import Campaign
    from config.celery import make_app
    from judgments.models import User

    # makes what the two workers of each fork need; this one is not started
    WorkController(app=make_app(is_current=False), pool="solo", queues=["refresh"])
    campaign = Campaign.objects.get().public_id
    for username, pages in {
        "ada": ("/c/books/lists/main/leaderboard", f"/c/books/campaigns/{campaign}"),
        "ben": ("/my-campaigns", f"/label/{campaign}"),
    }.items():
        client = Client(headers={"host": "127.0.0.1"})
        client.force_login(User.objects.get(username=username), BACKEND)
        for page in pages:
            assert client.get(page).status_code == 200, page
    cache.clear()
    connections.close_all()


def fork_servers() -> None:
    """For each line of standard input, a port and a log file, fork a server and say its process."""
    load_everything()
    from config.embedded import EmbeddedServer

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for them
    for line in sys.stdin:
        port, log = line.split(maxsplit=1)
        pid = os.fork()
        if pid:
            os.write(1, b"%d\n" % pid)
            continue
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        output = os.open(log.strip(), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        EmbeddedServer(host="127.0.0.1", port=int(port), on_ready=lambda: None).run()
        os._exit(0)


if __name__ == "__main__":
    fork_servers()
