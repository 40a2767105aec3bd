"""Labelling over HTTP: how long the next pairs and a label's answer take, and what they cost.

    python -m benchmarks.labelling_http [--database sqlite postgresql minimal] [--annotators 1 8 32]
        [--pauses 0 1] [--seconds 12] [--postgres URL] [--redis URL]
    python -m benchmarks.labelling_http --all [--postgres URL] [--redis URL]

A campaign of made-up pairs is put into a temporary database, and the server is started as it is
for people: on SQLite `manage.py serve`, one process with its workers; on PostgreSQL the image's
gunicorn with two processes, and beside it the worker that makes grades and evaluations of the
labels. Annotators then label for so many seconds as the page does (crowd.py): one request a
label, and one for the next pairs when few are left. With a pause of 1 they are people who label
once a second; 0 is as fast as it goes. `minimal` is minimal_view.py, which checks
a label and inserts a row, on both databases: what the tools cost by themselves.

It prints the latencies of a label and of the next pairs, labels a second, CPU time a label of
the server's processes (of the web server alone, of workers and database beside it), and the
server's memory. On a busy machine trust the CPU time. In the end every acknowledged label must be
in the database once. `--all` takes five minutes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.crowd import Crowd, Refused
from benchmarks.usage import backends, cpu_seconds, family, memory_bytes
from config.healthcheck import answers
from tests.deployment import HOST, ROOT, compose_command, production_environment, web_command
from tests.services import free_port, own_postgres_database, private_redis

PATIENCE = 120.0  # seconds for a server to start, beyond the seconds of the load
KINDS = {
    "sqlite": ("sqlite",),
    "postgresql": ("postgresql",),
    "minimal": ("minimal on sqlite", "minimal on postgresql"),
}
BIN = Path(sys.executable).parent
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
TEXT = "Which of these words does somebody look for who wants to know how sails are mended? " * 12


def main() -> None:
    options = _options()
    if options.build:
        print(json.dumps(_build(options.build, options.pairs)))
    elif options.load:
        print(json.dumps(_load(json.loads(sys.stdin.read()))))
    elif options.count:
        print(json.dumps(_count()))
    else:
        kinds = [kind for name in options.database for kind in KINDS[name]]
        sys.exit("\n".join(filter(None, [_run(options, kind) for kind in kinds])) or 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--database", nargs="+", choices=KINDS, default=["sqlite", "postgresql"])
    parser.add_argument("--annotators", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=12.0, help="of each case")
    parser.add_argument(
        "--pauses", type=float, nargs="+", default=[0.0], help="seconds between two labels"
    )
    parser.add_argument("--all", action="store_true", help="what benchmarks/RESULTS.md records")
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--postgres", metavar="URL", default=os.environ.get("DATABASE_URL", ""))
    parser.add_argument("--redis", metavar="URL", default="", help="empty; one of its own without")
    parser.add_argument("--build", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--load", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.all:
        options.database, options.pauses = list(KINDS), [0.0, 1.0]
        options.annotators = [1, 8, 16, 32]
    return options


# One server


def _run(options: argparse.Namespace, kind: str) -> str:
    """Measure and print all cases of one server; what was wrong with its labels, or nothing."""
    with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as home, ExitStack() as stack:
        environment = _environment(options, kind, Path(home), stack)
        scene = _build_scene(options, kind, environment)
        port = free_port()
        servers = {
            name: stack.enter_context(_process(command, environment, Path(home) / f"{name}.log"))
            for name, command in _commands(kind, port, Path(home)).items()
        }
        host = HOST if kind == "postgresql" else "127.0.0.1"
        _wait_for_web(port, host, Path(home))
        plan = {**scene, "port": port, "host": host, "servers": servers, "kind": kind}
        plan["seconds"] = options.seconds
        if kind.endswith("postgresql"):
            plan["database"] = environment["DATABASE_URL"].split("?")[0].rsplit("/", 1)[1]
        stored = 0
        for annotators, pause in _cases(options, kind):
            own = {"cookies": scene["cookies"][:annotators], "pause": pause}
            done = _module(environment, "--load", sent=plan | own, patience=options.seconds)
            if done["error"]:
                return f"{kind}, {_in_words(annotators, pause)}: {done['error']}"
            memory = {name: memory_bytes(family(pid)) for name, pid in servers.items()}
            _print(f"{kind}, {_in_words(annotators, pause)}", done, memory)
            stored += done["stored"]
        return "" if _is_minimal(kind) else _check(stored, _module(environment, "--count"))


def _is_minimal(kind: str) -> bool:
    return kind not in ("sqlite", "postgresql")


def _cases(options: argparse.Namespace, kind: str) -> list[tuple[int, float]]:
    """How many people, and how long they pause; of the minimal view only the most, without one."""
    if _is_minimal(kind):
        return [(max(options.annotators), 0.0)]
    return [(people, pause) for pause in options.pauses for people in options.annotators]


def _in_words(annotators: int, pause: float) -> str:
    each = f", a label in {pause:g} s each" if pause else " without a pause"
    return f"{annotators} annotators{each}"


def _build_scene(
    options: argparse.Namespace, kind: str, environment: dict[str, str]
) -> dict[str, Any]:
    most = max(options.annotators)
    if _is_minimal(kind):
        _must([sys.executable, "-m", "benchmarks.minimal_view"], environment)
        return {"cookies": [str(number) for number in range(most)]}
    built: dict[str, Any] = _module(
        environment, "--build", str(most), "--pairs", str(options.pairs)
    )
    return built


def _check(stored: int, kept: dict[str, int]) -> str:
    if kept["labels"] < stored or kept["twice"]:
        return f"{stored} labels were acknowledged, the database has {kept}"
    return ""


def _environment(
    options: argparse.Namespace, kind: str, home: Path, stack: ExitStack
) -> dict[str, str]:
    if kind == "minimal on sqlite":
        return {**os.environ, "DATABASE_URL": f"sqlite:///{home / 'minimal.sqlite3'}"}
    if kind == "sqlite":
        return {**os.environ, "TOUCHSTONE_HOME": str(home), "TOUCHSTONE_MODE": "embedded",
                "DATABASE_URL": "", "REDIS_URL": ""}  # fmt: skip
    database = stack.enter_context(own_postgres_database(options.postgres))
    if kind == "minimal on postgresql":
        return {**os.environ, "DATABASE_URL": database, "WEB_CONCURRENCY": "2"}
    # messages that someone else left there would be worked on, and counted as these labels' cost
    broker = options.redis or stack.enter_context(private_redis())
    environment = production_environment(home, database, broker)
    _must([sys.executable, "manage.py", "collectstatic", "-v0", "--no-input"], environment)
    return environment


def _commands(kind: str, port: int, home: Path) -> dict[str, Sequence[str]]:
    if _is_minimal(kind):
        here = {"config.wsgi": "benchmarks.minimal_view", "gunicorn": f"{BIN}/gunicorn"}
        return {"web": [here.get(word, word) for word in web_command(port, home)]}
    if kind == "sqlite":
        return {"web": [sys.executable, "manage.py", "serve", "--port", str(port)]}
    return {
        "web": web_command(port, home),
        "worker": [*compose_command("worker"), "-n", "worker@benchmark"],
    }


@contextmanager
def _process(command: Sequence[str], environment: dict[str, str], log: Path) -> Iterator[int]:
    with log.open("wb") as output:
        started = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        yield started.pid
    finally:
        started.terminate()
        started.wait(PATIENCE)


def _wait_for_web(port: int, host: str, home: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not answers(port=port, hosts=host):
        if time.monotonic() > deadline:
            sys.exit((home / "web.log").read_text())
        time.sleep(0.2)


def _must(command: Sequence[str], environment: dict[str, str]) -> None:
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=PATIENCE)


def _module(
    environment: dict[str, str], *words: str, sent: Any = None, patience: float = 0.0
) -> Any:
    """What a part of this module says that runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.labelling_http", *words],
        cwd=ROOT,
        env=environment,
        input=json.dumps(sent),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=PATIENCE + 2 * patience,
    )
    return json.loads(done.stdout)


def _print(case: str, done: dict[str, Any], memory: dict[str, int]) -> None:
    labels = max(1, done["stored"])
    times = done["milliseconds"] or [0.0]
    at, pairs_at = _percentiles(times), _percentiles(done["pairs_milliseconds"] or [0.0])
    cost = {name: spent / labels * 1000 for name, spent in done["spent"].items()}
    print(
        f"{case}: {done['stored']:,} labels, {done['stored'] / done['took']:.0f}/s; "
        f"p50 {at[0]:.1f}, p95 {at[1]:.1f}, p99 {at[2]:.1f}, most {max(times):.0f} ms; "
        f"{len(done['pairs_milliseconds']):,} times the next pairs, p50 {pairs_at[0]:.1f}, "
        f"p99 {pairs_at[2]:.1f} ms; CPU a label "
        + ", ".join(f"{name} {value:.2f}" for name, value in cost.items())
        + f", in all {sum(cost.values()):.2f} ms, generator {done['cpu'] / labels * 1000:.2f} ms; "
        "memory " + ", ".join(f"{name} {size / 2**20:.0f} MiB" for name, size in memory.items()),
        flush=True,
    )


def _percentiles(times: list[float]) -> list[float]:
    """p50, p95 and p99."""
    if len(times) == 1:
        return times * 3
    return [statistics.quantiles(times, n=100)[percent - 1] for percent in (50, 95, 99)]


# The people


def _load(plan: dict[str, Any]) -> dict[str, Any]:
    """All annotators label until the time is up; what came of it, or what went wrong."""

    def spent() -> dict[str, float]:
        """Seconds of CPU time of each part of the server so far."""
        so_far = {name: cpu_seconds(family(pid)) for name, pid in plan["servers"].items()}
        if "database" in plan:
            so_far["database"] = cpu_seconds(backends(plan["database"]))
        return so_far

    try:
        return {"error": "", **Crowd(plan, spent).work()}
    except (Refused, OSError) as error:
        return {"error": repr(error)}


# The rows


def _build(annotators: int, pairs: int) -> dict[str, Any]:
    """Migrate, make a campaign and its people; what they need to label."""
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from tests.builders import make_member, make_world
    from tests.builders_annotation import make_campaign

    call_command("migrate", verbosity=0)
    documents = 50
    world = make_world(queries=max(1, pairs // documents), documents=documents)
    for document in world.documents:
        document.body = TEXT
        document.save(update_fields=["body"])
    names = [f"annotator{number}" for number in range(max(3, annotators))]
    users = [
        make_member(collection=world.collection, username=name, role="annotator") for name in names
    ]
    campaign = make_campaign(world=world, people=names, overlap=3)
    cookies = []
    for user in users[:annotators]:
        client = Client()
        client.force_login(user, "django.contrib.auth.backends.ModelBackend")
        cookies.append(client.cookies[settings.SESSION_COOKIE_NAME].value)
    cookie_names = (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME)
    return {"campaign": str(campaign.public_id), "cookies": cookies, "cookie_names": cookie_names}


def _count() -> dict[str, int]:
    """What the database holds in the end."""
    import django

    django.setup()
    from django.db.models import Count

    from annotation.models import Label

    twice = Label.objects.values("pair", "annotator").annotate(n=Count("pk")).filter(n__gt=1)
    return {"labels": Label.objects.count(), "twice": twice.count()}


if __name__ == "__main__":
    main()
