"""Servers that begin in a tenth of a second: forks of one process that has loaded everything.

`manage.py serve` takes two seconds of a processor to load what it needs, a hundred times over in a
run of the browser's tests.
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


def fork_servers() -> None:
    """For each line of standard input, a port and a log file, fork a server and say its process."""
    import config.wsgi  # noqa: F401
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
