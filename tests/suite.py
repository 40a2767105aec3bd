"""The whole suite: on SQLite, then what uses a database again on PostgreSQL with Redis.

`./run tests` starts it. A DATABASE_URL and REDIS_URL that are set are used for the second pass;
else both servers are started for it, if the machine has them.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from tests import services

ROOT = Path(__file__).resolve().parent.parent
PYTEST = (sys.executable, "-m", "pytest")
SLOWEST = ("--durations", "25", "--durations-min", "2")
SERVERS = ("DATABASE_URL", "REDIS_URL")
ASK_NO_SERVER = ("browser", "reference", "scripts", "texts", "touchstone")
NOTHING_SELECTED = 5  # pytest's exit status
IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30  # bytes; the files of both passes are a part of it


@dataclass
class Pass:
    """What one call of pytest came to."""

    name: str
    status: int = NOTHING_SELECTED
    seconds: float = 0.0
    tests: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    missing: str = ""


def main(arguments: list[str]) -> int:
    no_skips = "--no-skips" in arguments
    words = [word for word in arguments if word != "--no-skips"]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = None if "TMPDIR" in os.environ else folder_in_memory()
    with tempfile.TemporaryDirectory(prefix="touchstone-suite-", dir=folder) as name:
        directory = Path(name)
        directory.chmod(0o711)  # PostgreSQL's account has its own directory in it
        if folder:  # elsewhere its path may be too long for sockets
            os.environ["TMPDIR"] = tempfile.tempdir = name
        passes = [on_sqlite(words, directory), on_postgres(words, directory)]
    print("\n".join(closing_lines(passes)), flush=True)
    return exit_status(passes, no_skips=no_skips)


def folder_in_memory() -> Path | None:
    """Where files are kept in memory, if there is room and programs may be run from there.

    Hundreds of databases are made, and each commit waits for a disk.
    """
    if not IN_MEMORY.is_dir():
        return None
    there = os.statvfs(IN_MEMORY)
    has_room = there.f_bavail * there.f_frsize >= ROOM
    return IN_MEMORY if has_room and not there.f_flag & os.ST_NOEXEC else None


def on_sqlite(words: list[str], directory: Path) -> Pass:
    others = []
    if not set(words) - {"--long"}:
        # `./run check` runs these; the second pass has those that ask a database
        others.append("--ignore=tests/architecture")
        if not missing_servers():
            others.append("--ignore=tests/api/test_fuzzing.py")  # the second pass sends these
    selection = ["-m", "not postgres and not redis", *others]
    return run_pytest("SQLite", [*selection, *words], {}, directory)


def on_postgres(words: list[str], directory: Path) -> Pass:
    name = "PostgreSQL and Redis"
    missing = missing_servers()
    if missing:
        return Pass(name, missing=" and ".join(missing))
    with servers() as environment:
        ignored = [f"--ignore=tests/{folder}" for folder in ASK_NO_SERVER]
        return run_pytest(name, ["--real-services", *ignored, *words], environment, directory)


def missing_servers() -> list[str]:
    found = {
        "PostgreSQL": os.environ.get("DATABASE_URL") or services.find_postgres_programs(),
        "Redis": os.environ.get("REDIS_URL") or services.find_redis_server(),
    }
    return [name for name, where in found.items() if not where]


@contextmanager
def servers() -> Iterator[dict[str, str]]:
    """The second pass's servers as environment variables, started where none was named."""
    with ExitStack() as stack:
        database = os.environ.get("DATABASE_URL")
        broker = os.environ.get("REDIS_URL")
        yield {
            "DATABASE_URL": database or stack.enter_context(services.private_postgres()),
            "REDIS_URL": broker or stack.enter_context(services.private_redis()),
        }


def run_pytest(
    name: str, words: list[str], environment: Mapping[str, str], directory: Path
) -> Pass:
    print(f"\n== {name}", flush=True)
    began = time.monotonic()
    home = directory / name
    home.mkdir()
    inside = {**outside(), "TOUCHSTONE_HOME": str(home), **environment}
    report = directory / f"{name}.xml"
    status = call_pytest(["-n", "2", *SLOWEST, f"--junitxml={report}", *words], inside)
    cases = read_report(report)
    skipped = Counter(skip.get("message", "") for case in cases for skip in case.iter("skipped"))
    return Pass(name, status, time.monotonic() - began, len(cases), skipped)


def outside() -> dict[str, str]:
    """What every pass takes from the environment that the suite was started in.

    Bytecode is written: dozens of processes would else compile every module that they load.
    """
    left = {*SERVERS, "PYTHONDONTWRITEBYTECODE"}
    return {key: value for key, value in os.environ.items() if key not in left}


def call_pytest(words: list[str], environment: Mapping[str, str]) -> int:
    with ended_by_pytest():
        return subprocess.run([*PYTEST, *words], cwd=ROOT, env=environment, check=False).returncode


@contextmanager
def ended_by_pytest() -> Iterator[None]:
    """Ctrl-C reaches pytest too: let it end and say how far it came, then end as well."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt


def read_report(report: Path) -> list[ElementTree.Element]:
    """The tests of a JUnit report."""
    return list(ElementTree.parse(report).iter("testcase")) if report.exists() else []


def closing_lines(passes: list[Pass]) -> list[str]:
    fonts = ", ".join(services.find_fonts()) or "none of " + ", ".join(services.FONTS)
    lines = ["", "== The suite", f"fonts: {fonts}"]
    for one in passes:
        if one.missing:
            lines.append(f"{one.name}: NOT RUN, because {one.missing} was not found")
            continue
        skipped = one.skipped.total()
        said = "ok" if one.status in (0, NOTHING_SELECTED) else f"FAILED ({one.status})"
        lines.append(
            f"{one.name}: {said}, {one.tests} tests, {skipped} skipped, {one.seconds:.0f} s"
        )
        lines += [f"  skipped {number}: {why}" for why, number in sorted(one.skipped.items())]
    return lines


def exit_status(passes: list[Pass], *, no_skips: bool) -> int:
    """0 if every pass that ran passed and something ran; with `no_skips`, if everything ran."""
    failed = [one.status for one in passes if one.status not in (0, NOTHING_SELECTED)]
    if failed:
        return failed[0]
    if no_skips and any(one.skipped or one.missing for one in passes):
        print("failed: --no-skips was given, and something was skipped")
        return 1
    return 0 if any(one.tests for one in passes) else NOTHING_SELECTED


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
