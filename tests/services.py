"""Servers for tests: found on the machine, started on loopback, ended and removed afterwards.

They are private: nothing that a test flushes, freezes or kills is anyone else's.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "var" / "tests"
PATIENCE = 30.0  # seconds for a server to answer, or to end
# Their letters differ in height and width; a layout that holds with all three holds with others.
FONTS = {
    "DejaVu": "DejaVuSans.ttf",
    "Liberation": "LiberationSans-Regular.ttf",
    "Noto": "NotoSans-Regular.ttf",
}
SPEED_BEFORE_DURABILITY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


def find_chromium() -> Path | None:
    """Its form without windows if there is one: it takes half the processor time."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = [path for path in map(shutil.which, names) if path]
    return Path(found[0]) if found else None


def find_fonts() -> dict[str, Path]:
    """The folder of each of FONTS that this machine has, by its name."""
    files = {path.name: path.parent for path in Path("/usr/share/fonts").rglob("*.ttf")}
    return {name: files[file] for name, file in FONTS.items() if file in files}


def find_redis_server() -> Path | None:
    found = shutil.which("redis-server")
    return Path(found) if found else None


def find_postgres_programs() -> Path | None:
    """The directory of the newest initdb; Debian keeps it off the path."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    installed = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = sorted(installed, key=lambda path: int(path.parts[-3]))
    return newest[-1].parent if newest else None


def find_psql() -> Path:
    """PostgreSQL's client; every package that brings the server brings it as well."""
    found = shutil.which("psql")
    if found:
        return Path(found)
    return max(Path("/usr/lib/postgresql").glob("*/bin/psql"), key=lambda one: int(one.parts[-3]))


def find_data() -> Path | None:
    """The public collections; they lie beside the project unless TOUCHSTONE_DATA says otherwise."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    data = Path(os.environ.get("TOUCHSTONE_DATA") or beside)
    return data if data.is_dir() else None


@contextmanager
def private_postgres(*, is_durable: bool = False, tls: Path | None = None) -> Iterator[str]:
    """A new PostgreSQL; yields the URL of its empty database `touchstone`.

    is_durable: what it has committed outlives SIGKILL, as with the settings it comes with.
    tls: a folder of certificates (tests/certificates.py); connections without TLS are refused then.
    """
    with restartable_postgres(is_durable=is_durable, tls=tls) as server:
        yield server.url


@contextmanager
def restartable_postgres(
    *, is_durable: bool = False, tls: Path | None = None
) -> Iterator["PostgresServer"]:
    """A new PostgreSQL that can be stopped and started again."""
    programs = find_postgres_programs()
    if programs is None:
        raise FileNotFoundError("PostgreSQL's initdb was not found")
    owner = _account_for_postgres()
    with _directory(owner) as directory:
        data, port = directory / "data", free_port()
        # A collation of people's languages, not of bytes: order that matters must say so itself.
        layout = ("-D", data, "-U", "touchstone", "--auth=trust", "--no-sync", "--encoding=UTF8")
        collation = ("--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US")
        initdb = (programs / "initdb", *layout, *collation)
        subprocess.run(initdb, user=owner, cwd=directory, check=True, stdout=subprocess.DEVNULL)
        speed = () if is_durable else SPEED_BEFORE_DURABILITY
        settings = ("listen_addresses=127.0.0.1", "max_connections=200", *speed)
        query = ""
        if tls is not None:
            for name in ("server.crt", "server.key"):
                kept = shutil.copy(tls / name, data / name)
                if owner:
                    shutil.chown(kept, owner)
                kept.chmod(0o600)
            (data / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 trust\n")
            settings += ("ssl=on",)
            query = f"?sslmode=verify-full&sslrootcert={tls / 'ca.crt'}"
        options = (word for setting in settings for word in ("-c", setting))
        postgres = str(programs / "postgres")
        command = (postgres, "-D", str(data), "-p", str(port), "-k", "", *options)
        server = f"postgres://touchstone@127.0.0.1:{port}"
        started = PostgresServer(server, command, directory, owner, query=query)
        try:
            started.start()
            _execute(f"{server}/postgres{query}", "CREATE DATABASE touchstone")
            yield started
        finally:
            started.stop()


class PostgresServer:
    """A PostgreSQL's process. url: of its database `touchstone`."""

    def __init__(
        self,
        server: str,
        command: Sequence[str],
        directory: Path,
        owner: str | None,
        *,
        query: str = "",
    ) -> None:
        self.url = f"{server}/touchstone{query}"
        self._first = f"{server}/postgres{query}"
        self._start = (command, directory, owner)
        self._running = ExitStack()

    def start(self) -> None:
        """Start it and wait until it answers."""
        process = self._running.enter_context(_process(*self._start, stop=signal.SIGINT))
        _wait_for(lambda: _execute(self._first, "SELECT 1"), process, self._start[1])

    def stop(self) -> None:
        """Stop it as an administrator does, ending its connections; wait until it has ended."""
        self._running.close()


@contextmanager
def private_redis(*, tls: Path | None = None) -> Iterator[str]:
    """A new, empty Redis that keeps nothing on disk; yields the URL of its database 0.

    tls: a folder of certificates (tests/certificates.py); it has no port without TLS then.
    """
    program = find_redis_server()
    if program is None:
        raise FileNotFoundError("redis-server was not found")
    with _directory(None) as directory:
        port = free_port()
        address: tuple[str, ...] = ("--bind", "127.0.0.1", "--port", str(port))
        url = f"redis://127.0.0.1:{port}/0"
        if tls is not None:
            own = (
                "--tls-cert-file",
                str(tls / "server.crt"),
                "--tls-key-file",
                str(tls / "server.key"),
            )
            of_clients = ("--tls-ca-cert-file", str(tls / "ca.crt"), "--tls-auth-clients", "no")
            address = (
                "--bind",
                "127.0.0.1",
                "--port",
                "0",
                "--tls-port",
                str(port),
                *own,
                *of_clients,
            )
            url = (
                f"rediss://127.0.0.1:{port}/0?ssl_cert_reqs=required&ssl_ca_certs={tls / 'ca.crt'}"
            )
        command = (
            str(program),
            *address,
            "--dir",
            str(directory),
            "--save",
            "",
            "--appendonly",
            "no",
        )
        with _process(command, directory, None, stop=signal.SIGTERM) as process:
            client = redis.Redis.from_url(url)
            _wait_for(client.ping, process, directory)
            client.close()
            yield url


@contextmanager
def own_postgres_database(server: str, *, like: str = "template1") -> Iterator[str]:
    """A new database beside the one that the URL names; dropped afterwards.

    like: the database that it is a copy of, to which no one is connected; without it, empty.
    """
    name = f"touchstone_{uuid.uuid4().hex}"
    _execute(server, f"CREATE DATABASE {name} TEMPLATE {like}")
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    finally:
        _execute(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def fill_postgres_database(url: str, *, like: str) -> None:
    """Give the empty database of another server what the database has whose URL is `like`."""
    programs = find_psql().parent
    dump = (programs / "pg_dump", "--no-owner", "--no-privileges", like)
    fill = (programs / "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", url)
    with subprocess.Popen(dump, stdout=subprocess.PIPE) as dumping:
        subprocess.run(fill, stdin=dumping.stdout, check=True, stdout=subprocess.DEVNULL)
    if dumping.returncode:
        raise subprocess.CalledProcessError(dumping.returncode, dump)


def _name_of_migrations() -> str:
    """With a digest of what a migrated database follows from: our migrations and triggers, and the
    packages with theirs."""
    triggers = (*sorted(ROOT.glob("*/apps.py")), ROOT / "judgments" / "triggers.py")
    files = (*sorted(ROOT.glob("*/migrations/*.py")), *triggers, ROOT / "requirements.lock")
    found = hashlib.sha256()
    for file in files:
        found.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    return f"touchstone_{found.hexdigest()[:16]}"


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one process at a time make what is kept."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def keep_sqlite_database(*, home: Path) -> Path:
    """A migrated database that holds nothing, in var/tests; made if it is not there."""
    with one_at_a_time():  # another process then finds it
        kept = KEPT / f"{_name_of_migrations()}.sqlite3"
        if not kept.exists():
            made = home / "touchstone.sqlite3"
            _migrate(f"sqlite:///{made}", home)
            part = kept.with_suffix(f".{os.getpid()}")
            shutil.copy(made, part)
            part.replace(kept)
    return kept


def keep_postgres_database(server: str, *, home: Path) -> str:
    """The name of a migrated database on the server that holds nothing; made if it is not there."""
    name = _name_of_migrations()
    with one_at_a_time():
        with psycopg.connect(server, autocommit=True, connect_timeout=5) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
            if found.fetchone():
                return name
        with own_postgres_database(server) as url:
            _migrate(url, home)
            made = urlsplit(url).path.strip("/")
            with suppress(psycopg.errors.DuplicateDatabase):  # another folder's tests were quicker
                _execute(server, f"ALTER DATABASE {made} RENAME TO {name}")
    return name


def _migrate(url: str, home: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": url, "TOUCHSTONE_HOME": str(home)}
    command = (sys.executable, "manage.py", "migrate", "--verbosity", "0")
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def _execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        connection.execute(statement)


def _account_for_postgres() -> str | None:
    """PostgreSQL refuses to run as root; its package brings an account."""
    return "postgres" if os.geteuid() == 0 else None


def free_port() -> int:
    """A port on loopback that no one listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _directory(owner: str | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="touchstone-", ignore_cleanup_errors=True) as name:
        if owner:
            shutil.chown(name, owner)
        yield Path(name)


@contextmanager
def _process(
    command: Sequence[str], directory: Path, owner: str | None, *, stop: signal.Signals
) -> Iterator[subprocess.Popen[bytes]]:
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            user=owner,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Its own session: Ctrl-C in the terminal reaches the tests first.
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(stop)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()


def _wait_for(
    answers: Callable[[], object], process: subprocess.Popen[bytes], directory: Path
) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            answers()
        except (psycopg.OperationalError, redis.ConnectionError):
            if process.poll() is not None or time.monotonic() > deadline:
                log = (directory / "log").read_text(errors="replace")
                raise RuntimeError(f"{process.args!r} does not answer:\n{log}") from None
            time.sleep(0.05)
        else:
            return
