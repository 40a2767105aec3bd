"""The processes that a storm strikes, in both modes, and the ways to strike them."""

import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import redis

from config.healthcheck import answers
from tests.deployment import HOST, ROOT, compose_command, production_environment, web_command
from tests.deployment import programs as path_of_programs
from tests.forks import run_forked
from tests.services import find_redis_server, free_port

PATIENCE = 60.0  # seconds for a process to answer
POLL = 0.05
EXPIRE = tuple(
    "UPDATE annotation_assignment SET leased_until = '2001-01-01 00:00:00+00:00' "  # noqa: S608
    + f"WHERE state = 'leased' AND id % 2 = {half}"
    for half in (0, 1)
)
PROXY = {"Host": HOST, "X-Forwarded-Proto": "https"}


class Site:
    """Processes by name, each at the head of a session of its own, so that it dies with its own."""

    headers: Mapping[str, str] = {}

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        self.directory = directory
        self.environment = environment
        self.port = free_port()
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def begin(self) -> None:
        """Start everything; the database is there already."""
        raise NotImplementedError

    @property
    def address(self) -> str:
        """Where the web server listens."""
        return f"http://127.0.0.1:{self.port}"

    def call(self, *words: str, patience: float = 120.0) -> str:
        """Run a Python program of the project to its end; what it printed."""
        done = run_forked(words, env=self.environment, timeout=patience)
        if done.returncode != 0:
            raise RuntimeError(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(
        self, name: str, command: Sequence[str], *, cwd: Path = ROOT, user: int | None = None
    ) -> None:
        """Start a process; its output is appended to a file of its name."""
        with (self.directory / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                command,
                cwd=cwd,
                user=user,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """SIGKILL to a process and all of its children at once, as when a container dies."""
        process = self._running[name]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)

    def kill_child(self, name: str, which: int) -> None:
        """SIGKILL to one child of a process, which must get along without it."""
        listed = sorted(_children(self._running[name].pid))
        if listed:
            _kill_at_once([listed[which % len(listed)]])

    def kill_postgres(self, url: str) -> None:
        """SIGKILL to a PostgreSQL and all of its processes at once, then start it again."""
        with psycopg.connect(url) as connection:
            found = connection.execute("SELECT pg_read_file('postmaster.pid')").fetchone()
        assert found
        postmaster = int(found[0].split()[0])
        again = _how_started(postmaster)
        _kill_at_once([postmaster, *_children(postmaster)])

        def answers_again() -> bool:
            with suppress(psycopg.OperationalError), psycopg.connect(url):
                return True
            if "postgres" not in self._running or self._running["postgres"].poll() is not None:
                self.start("postgres", **again)
            return False

        eventually(answers_again, "PostgreSQL")

    def freeze(self, name: str, seconds: float) -> None:
        """SIGSTOP a process and all of its children for so long."""
        group = self._running[name].pid
        os.killpg(group, signal.SIGSTOP)
        time.sleep(seconds)
        os.killpg(group, signal.SIGCONT)

    def expire_leases(self, half: int) -> None:
        """Let half of the leases have run out long ago, as a clock that jumped would."""
        raise NotImplementedError

    def stop(self, patience: float = 10.0) -> None:
        """End every process that is still there, with so many seconds to end by itself."""
        for process in self._running.values():
            if process.poll() is None:
                process.terminate()
        for process in self._running.values():
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(PATIENCE)

    def wait_for_web(self) -> None:
        """Wait until the web server answers."""
        eventually(lambda: answers(port=self.port, hosts=self.headers.get("Host", "")), "the web")

    def logs(self) -> str:
        """The ends of all processes' output."""
        paths = sorted(self.directory.glob("*.log"))
        return "\n".join(f"== {path.name}\n{path.read_text()[-3000:]}" for path in paths)


class Production(Site):
    """Web server and both workers as docker-compose starts them."""

    headers = PROXY

    def __init__(
        self, directory: Path, database_url: str, redis_url: str, more: Mapping[str, str]
    ) -> None:
        environment = production_environment(directory / "home", database_url, redis_url)
        super().__init__(directory, {**environment, **more})
        self._redis_url = redis_url
        self._database_url = database_url

    def begin(self) -> None:
        """The web server and both workers; labels come once the first worker has looked around."""
        self.start("web", web_command(self.port, self.directory))
        self.start_worker()
        self.start("jobs", [*compose_command("jobs"), "-n", "jobs@storm"])
        self.wait_for_web()
        eventually(self._worker_beats, "the worker")

    def start_worker(self) -> None:
        """Start the worker that the labels wait for."""
        self.start("worker", [*compose_command("worker"), "-n", "worker@storm"])

    def _worker_beats(self) -> bool:
        with psycopg.connect(self._database_url) as connection:
            beats = "SELECT 1 FROM judgments_workerbeat WHERE name = 'worker@storm'"
            return connection.execute(beats).fetchone() is not None

    def kill_worker(self) -> None:
        """As when its machine is gone."""
        self.kill("worker")

    def require_durability(self) -> None:
        """Refuse a server that may forget what it said it had stored."""
        self.call("manage.py", "check", "--database", "default", "--fail-level", "WARNING")

    def expire_leases(self, half: int) -> None:
        """As a clock that jumped would."""
        with psycopg.connect(self._database_url, autocommit=True) as connection:
            connection.execute(EXPIRE[half])

    def kill_database(self) -> None:
        """As when PostgreSQL's machine is gone, and another one takes its disk."""
        self.kill_postgres(self._database_url)

    def kill_redis(self) -> Callable[[], None]:
        """SIGKILL to Redis; call what is returned to start it again, empty."""
        with redis.Redis.from_url(self._redis_url) as client:
            process: int = client.info("server")["process_id"]
        port = client.connection_pool.connection_kwargs["port"]
        address = ("--bind", "127.0.0.1", "--port", str(port))
        program = str(find_redis_server())
        _kill_at_once([process])
        # no one answers there meanwhile, but no one else can take the port in these ten minutes
        place = socket.socket()
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind(("127.0.0.1", port))

        def start() -> None:
            place.close()
            self.start("redis", [program, *address, "--save", "", "--appendonly", "no"])
            eventually(self._redis_answers, "Redis")

        return start

    def _redis_answers(self) -> bool:
        with suppress(redis.ConnectionError), redis.Redis.from_url(self._redis_url) as client:
            return bool(client.ping())
        return False

    def flush(self) -> None:
        """Empty Redis, with whatever messages it holds."""
        with redis.Redis.from_url(self._redis_url) as client:
            client.flushall()

    def freeze_redis(self) -> Callable[[], None]:
        """Stop Redis in its tracks; call what is returned to let it go on."""
        with redis.Redis.from_url(self._redis_url) as client:
            process: int = client.info("server")["process_id"]
        os.kill(process, signal.SIGSTOP)
        return lambda: os.kill(process, signal.SIGCONT)


class Embedded(Site):
    """One process on SQLite: `manage.py serve`."""

    def __init__(self, directory: Path, more: Mapping[str, str]) -> None:
        home = directory / "home"
        environment = {"PATH": path_of_programs(), "TOUCHSTONE_HOME": str(home)}
        super().__init__(directory, {**environment, **more})

    def begin(self) -> None:
        """Start it, on the same port each time."""
        self.start("serve", [sys.executable, "manage.py", "serve", "--port", str(self.port)])
        self.wait_for_web()

    def kill_all(self) -> None:
        """The whole process, web server and workers."""
        self.kill("serve")

    def expire_leases(self, half: int) -> None:
        """As a clock that jumped would."""
        database = self.directory / "home" / "touchstone.sqlite3"
        with closing(sqlite3.connect(database, timeout=PATIENCE)) as connection, connection:
            connection.execute(EXPIRE[half])

    def fill_disk(self, seconds: float) -> None:
        """Let no file of the process grow for so long: every write to the database fails."""
        process = self._running["serve"].pid
        everything = [process, *_children(process)]
        before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in everything}
        for pid, (_, hard) in before.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, hard))
        time.sleep(seconds)
        for pid, limits in before.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


def _children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in listed]


def _how_started(process: int) -> dict[str, Any]:
    """What starts a process of this kind again: its command, its directory and its account."""
    place = Path(f"/proc/{process}")
    return {
        "command": place.joinpath("cmdline").read_text().split("\0")[:-1],
        "cwd": place.joinpath("cwd").readlink(),
        "user": place.stat().st_uid,
    }


def _kill_at_once(processes: Sequence[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    for process in processes:
        with suppress(ChildProcessError):  # PostgreSQL takes one that no one waited for as alive
            os.waitpid(process, 0)


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds; RuntimeError if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not within {PATIENCE:g} s")
        time.sleep(POLL)
