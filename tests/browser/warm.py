"""Servers and programs that begin at once: forks of one process that has loaded everything.

`manage.py serve` takes two seconds of a processor to load what it needs, and its first pages take
another one, a hundred times over in a run of the browser's tests. A program that changes something
behind the page takes one.
"""

import io
import json
import os
import runpy
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
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
        assert self._parent.stdout
        assert self._parent.stdout.readline(), "what is forked could not be loaded"

    def begin(self) -> None:
        """Fork a server, on the same port each time."""
        self._running["serve"] = self._fork("serve", str(self.port))
        self.wait_for_web()

    def call(self, *words: str, patience: float = 120.0) -> str:
        """Run a program of the project in a fork: `-m` a module, or a text after `-c`."""
        result = self.directory / "called.json"
        result.unlink(missing_ok=True)
        self._fork("call", str(result), *words).wait(patience)
        status, output = json.loads(result.read_text())
        if status != 0:
            raise RuntimeError(f"{words} ended with {status}:\n{output}")
        return str(output)

    def _fork(self, what: str, *words: str) -> "Forked":
        """Let the parent fork what is named, with these words; its output goes to a log."""
        assert self._parent.stdin
        assert self._parent.stdout
        log = str(self.directory / f"{what}.log")
        print(json.dumps([log, what, *words]), file=self._parent.stdin, flush=True)
        return Forked(int(self._parent.stdout.readline()))

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
    from tests.browser.scene import hash_in_milliseconds

    hash_in_milliseconds()
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


def serve(port: str) -> None:
    """What `manage.py serve` does with a home that is migrated."""
    from config.embedded import EmbeddedServer

    EmbeddedServer(host="127.0.0.1", port=int(port), on_ready=lambda: None).run()


def call(result: str, *words: str) -> None:
    """Run what the words name, as Python would; its status and its output are left in a file."""
    from django.db import connections

    output, status = io.StringIO(), 0
    with redirect_stdout(output):
        try:
            if words[0] == "-m":
                runpy.run_module(words[1], run_name="__main__")
            else:
                exec(words[words.index("-c") + 1], {"__name__": "__main__"})  # noqa: S102
        except BaseException:  # noqa: BLE001
            output.write(traceback.format_exc())
            status = 1
    connections.close_all()
    unfinished = Path(f"{result}.part")
    unfinished.write_text(json.dumps([status, output.getvalue()]))
    unfinished.rename(result)


def fork_on_demand() -> None:
    """For each line of standard input, a log, `serve` or `call` and words: fork; say its id."""
    load_everything()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for them
    os.write(1, b"loaded\n")
    for line in sys.stdin:
        log, what, *words = json.loads(line)
        pid = os.fork()
        if pid:
            os.write(1, b"%d\n" % pid)
            continue
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        (serve if what == "serve" else call)(*words)
        os._exit(0)


if __name__ == "__main__":
    fork_on_demand()
