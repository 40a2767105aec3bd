"""Commands that begin in a few hundredths of a second: forks of one process that has loaded Django.

`manage.py`, or another program that loads Django, takes 0.7 seconds of a processor to begin, and
tests start some 150 of them. `run_forked` and `begin_forked` start them as `subprocess` does: with
their own arguments, environment, folder, input and output, and settings that they read themselves.
What a program imports is not as in a process of its own: others have imported more already.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from tests.fork_request import request_fork

ROOT = Path(__file__).resolve().parents[1]
# what commands of more than one test import once they are asked for something
OFTEN_IMPORTED = (
    "annotation.consolidation.services",
    "config.backups.drill",
    "config.backups.making",
    "config.embedded",
    "config.management.commands.verify",
    "config.privacy.erasing",
    "config.privacy.purging",
    "django.core.management.commands.migrate",
    "django.core.management.commands.shell",
    "evaluation.evaluations.refreshing",
    "judgments.jobs.services",
    "judgments.lists.services",
    "pytest",
    "tests.builders_annotation",
    "tests.evaluation.builders",
    "touchstone.cli.click_evidence",
    "touchstone.cli.click_interleaving",
    "touchstone.cli.click_models",
    "touchstone.cli.click_policies",
    "touchstone.cli.clicks",
    "touchstone.cli.compare",
    "touchstone.cli.evaluate",
    "touchstone.cli.gate",
)


class Forked:
    """A program that runs in a fork, with what tests ask of subprocess.Popen."""

    def __init__(self, connection: socket.socket, words: Sequence[str]) -> None:
        self._connection = connection
        self._words = list(words)
        self._lines = connection.makefile()
        self.pid = self._read()

    def wait(self, timeout: float) -> int:
        """Its exit status, as subprocess has it; subprocess.TimeoutExpired if that takes longer."""
        self._connection.settimeout(timeout)
        try:
            return self._read()
        except TimeoutError:
            raise subprocess.TimeoutExpired(self._words, timeout) from None

    def terminate(self) -> None:
        """Send it SIGTERM, if it has not ended."""
        with suppress(BrokenPipeError):
            self._connection.send(bytes([signal.SIGTERM]))

    def close(self) -> None:
        """Kill it (SIGKILL), if it has not ended."""
        self._lines.close()
        self._connection.close()

    def _read(self) -> int:
        line = self._lines.readline()
        assert line, "the process that forks has ended"
        return int(line)


@functools.cache
def start_forking() -> str:
    """Start the process that forks, which ends with this one; the address of its socket."""
    folder = tempfile.TemporaryDirectory(prefix="touchstone-forks-")
    address = str(Path(folder.name) / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        ours = ("TOUCHSTONE_", "REDIS_", "DATABASE_", "CELERY_", "PYTHONPATH", "PYTHONWARNINGS")
        outside = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.forks", str(listener.fileno())],
            cwd=ROOT,
            env={
                **outside,
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "OPENBLAS_NUM_THREADS": "1",  # a process with threads must not fork
                "TOUCHSTONE_HOME": folder.name,
            },
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        )

    def end() -> None:
        process.communicate()
        folder.cleanup()

    atexit.register(end)
    return address


def begin_forked(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path = ROOT,
    stdin: IO[Any] | None = None,
    stdout: IO[Any] | None = None,
    stderr: IO[Any] | None = None,
) -> Forked:
    """Begin `python WORDS`. A stream that is not given is /dev/null."""
    with Path(os.devnull).open("r+b") as nothing:
        streams = [stream or nothing for stream in (stdin, stdout, stderr)]
        connection = request_fork(
            start_forking(), words, cwd=str(cwd), env=dict(env), streams=streams
        )
    return Forked(connection, words)


def run_forked(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path = ROOT,
    input: str = "",  # noqa: A002  (as subprocess.run)
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS` to its end, as subprocess.run with its output captured as text."""
    with (
        tempfile.TemporaryFile("w+") as given,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as errors,
    ):
        given.write(input)
        given.seek(0)
        forked = begin_forked(words, env=env, cwd=cwd, stdin=given, stdout=out, stderr=errors)
        try:
            status = forked.wait(timeout)
        finally:
            forked.close()
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(list(words), status, out.read(), errors.read())


# The process that forks


def load_everything() -> tuple[dict[str, Any], dict[str, str]]:
    """Load Django and what commands import often.

    Gives the settings and the variables of the environment that were added by what loaded.
    """
    import django
    from django.conf import Settings, settings
    from django.core.cache import caches
    from django.db import connections

    before = dict(os.environ)
    django.setup()
    for name in OFTEN_IMPORTED:
        importlib.import_module(name)
    handlers: tuple[Any, ...] = (connections, caches)
    for handler in handlers:  # models have asked how long a table's name may be
        vars(handler).clear()
        type(handler).__init__(handler)
    all_of_them: Any = settings
    present = vars(Settings("config.settings"))
    return (
        {key: one for key, one in vars(all_of_them._wrapped).items() if key not in present},
        {key: one for key, one in os.environ.items() if key not in before},
    )


class Server:
    """Forks for each connection, and sends the fork's id and, when it ends, its exit status.

    A byte that comes is the number of a signal for it; it is killed when the connection is closed.
    """

    def __init__(
        self, listener: socket.socket, settings: Mapping[str, Any], variables: Mapping[str, str]
    ) -> None:
        self._listener, self._settings, self._variables = listener, settings, variables
        self._running: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._woken, wake = socket.socketpair()
        wake.setblocking(False)
        self._wake = wake
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno())

    def run(self) -> None:
        """Serve until standard input ends."""
        for source in (self._listener, self._woken, sys.stdin):
            self._selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is sys.stdin:
                    return
                if key.fileobj is self._listener:
                    self._fork()
                elif key.fileobj is self._woken:
                    self._woken.recv(1)
                else:
                    self._send_signal(key.data)
            self._say_who_has_ended()

    def _fork(self) -> None:
        connection, _ = self._listener.accept()
        size, streams, _, _ = socket.recv_fds(connection, 4, 3)
        asked = json.loads(connection.recv(int.from_bytes(size), socket.MSG_WAITALL))
        pid = os.fork()
        if not pid:
            self._become(connection, streams, **asked)
        for stream in streams:
            os.close(stream)
        connection.sendall(b"%d\n" % pid)
        self._running[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ, pid)

    def _become(
        self,
        connection: socket.socket,
        streams: Sequence[int],
        *,
        words: list[str],
        cwd: str,
        env: Mapping[str, str],
    ) -> NoReturn:
        """Run, in the fork, the program that `python WORDS` would, and end."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._selector.close()
        for own in (self._listener, self._woken, self._wake, connection, *self._running.values()):
            own.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update({**self._variables, **env})
        for action in filter(None, env.get("PYTHONWARNINGS", "").split(",")):
            warnings.simplefilter(action)  # type: ignore[arg-type]
        forget_settings(self._settings)
        run_program(words)
        sys.exit()

    def _send_signal(self, pid: int) -> None:
        connection = self._running[pid]
        number = connection.recv(1)
        os.kill(pid, number[0] if number else signal.SIGKILL)
        if not number:
            self._selector.unregister(connection)

    def _say_who_has_ended(self) -> None:
        for pid, connection in list(self._running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._running[pid]
                if connection in self._selector.get_map():
                    self._selector.unregister(connection)
                    with suppress(BrokenPipeError):  # no one waits for it any more
                        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
                connection.close()


def forget_settings(added: Mapping[str, Any]) -> None:
    """Have the settings read from the environment when one is asked for, as in a new process."""
    import django.conf
    from django.utils.functional import empty

    lazy: Any = django.conf.LazySettings
    read = lazy._setup

    def read_again(self: Any, name: str | None = None) -> None:
        read(self, name)
        self._wrapped.__dict__.update(added)

    lazy._setup = read_again
    del sys.modules["config.settings"]
    settings: Any = django.conf.settings
    settings._wrapped = empty


def run_program(words: list[str]) -> None:
    """As the interpreter does with its arguments: a file, -m and a module, or -c and the code."""
    safe = words[0] == "-P"
    kind, *rest = words[safe:]
    folders = {"-m": str(Path.cwd()), "-c": ""}
    first = folders.get(kind, str(Path(kind).resolve().parent))
    more = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    sys.path[:] = [*([] if safe else [first]), *more, *sys.path[1:]]
    if kind == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
    else:
        sys.argv = [kind, *rest]
        runpy.run_path(kind, run_name="__main__")


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the tests'
    listener = socket.socket(fileno=int(sys.argv[1]))
    listener.set_inheritable(False)
    server = Server(listener, *load_everything())
    gc.collect()
    gc.freeze()
    server.run()


if __name__ == "__main__":
    main()
