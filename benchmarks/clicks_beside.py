"""Labels and the leaderboard while a large file is imported, and without: in turns, on one server.

    python -m benchmarks.clicks_beside [--events 2000000 | --judgments 5000000] [--annotators 8]
        [--seconds 10] [--turns 3] [--postgres URL]

A server on loopback in embedded mode, with its workers and SQLite, or with `--postgres` the image's
gunicorn and its workers, with a Redis of their own. Annotators label once a second as the page does
(crowd.py), and a lead opens the leaderboard twice a second. In every other turn a worker imports a
click log meanwhile, or with `--judgments` so many judgments of new documents into another list.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from benchmarks import labelling_http as http
from benchmarks.clicks import write_log
from tests.deployment import HOST, ROOT, compose_command
from tests.services import free_port

SEED: Final = """
import django, json, sys
django.setup()
from benchmarks import clicks_beside
print(json.dumps(clicks_beside.{call}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--judgments", type=int, default=0, help="lines, instead of a click log")
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--postgres", default="", help="URL of a server to make a database in")
    parser.set_defaults(redis="")
    options = parser.parse_args()
    kind = "postgresql" if options.postgres else "sqlite"
    with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as name, ExitStack() as stack:
        home = Path(name)
        environment = http._environment(options, kind, home, stack)
        build = ("--build", str(options.annotators), "--pairs", "1000")
        scene = http._module(environment, *build, patience=300)
        cookie = _call(environment, "board_cookie()")
        logs = [_write_file(home, turn, options) for turn in range(options.turns)]
        if options.judgments:
            _call(environment, f"prepare({str(logs[0])!r})")
        port, host = free_port(), HOST if options.postgres else "127.0.0.1"
        commands = http._commands(kind, port, home)
        if options.postgres:
            commands["jobs"] = [*compose_command("jobs"), "-n", "jobs@benchmark"]
        servers = {
            name: stack.enter_context(http._process(command, environment, home / f"{name}.log"))
            for name, command in commands.items()
        }
        http._wait_for_web(port, host, home)
        plan = {**scene, "port": port, "host": host, "servers": servers, "kind": kind}
        # no one labels for long before, for the import has begun by then
        plan |= {"seconds": options.seconds, "pause": 1.0, "begun": 1}
        headers = {
            "Host": host,
            "Cookie": f"{scene['cookie_names'][0]}={cookie}",
            "X-Forwarded-Proto": "https",
        }
        labels: dict[str, list[float]] = {"without": [], "beside": []}
        boards: dict[str, list[float]] = {"without": [], "beside": []}
        for log in logs:
            for case in labels:
                job = _call(environment, f"begin({str(log)!r})") if case == "beside" else None
                with _board(port, headers) as times:
                    done = http._module(environment, "--load", sent=plan, patience=options.seconds)
                if done["error"]:
                    sys.exit(done["error"])
                labels[case] += done["milliseconds"]
                boards[case] += times
                if job is not None:
                    print(f"import: {_call(environment, f'end({job})')}", flush=True)
        for kind, times in labels.items():
            print(f"{kind}: labels {_said(times)}; leaderboard {_said(boards[kind])}")


def _write_file(home: Path, turn: int, options: argparse.Namespace) -> Path:
    """A click log, or twenty judgments a query, of documents that come five times."""
    lines = options.judgments
    path = home / f"log-{turn}.{'qrels' if lines else 'parquet'}"
    if not lines:
        write_log(path, options.events, 2000 + turn, 14)
        return path
    with path.open("w") as file:
        for line in range(lines):
            document = line * 7919 % (lines // 5)
            file.write(f"query-{turn}-{line // 20} 0 product-{turn}-{document:08} {line % 5}\n")
    return path


def _said(times: Sequence[float]) -> str:
    at = statistics.quantiles(times, n=100, method="inclusive")
    return (
        f"p50 {at[49]:.1f}, p95 {at[94]:.1f}, p99 {at[98]:.1f}, most {max(times):.0f} ms "
        f"of {len(times)}"
    )


def _call(environment: dict[str, str], call: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", SEED.format(call=call)],
        cwd=ROOT,
        env=environment | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@contextmanager
def _board(port: int, headers: Mapping[str, str]) -> Iterator[list[float]]:
    """Open the leaderboard twice a second; how long it took each time, in milliseconds."""
    times: list[float] = []
    stop = threading.Event()

    def look() -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        while not stop.wait(0.5):
            began = time.perf_counter()
            connection.request("GET", "/c/books/lists/main/leaderboard", headers=dict(headers))
            response = connection.getresponse()
            response.read()
            assert response.status == 200, response.status
            times.append((time.perf_counter() - began) * 1000)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield times
    finally:
        stop.set()
        thread.join()


def board_cookie() -> str:
    """Runs on the leaderboard, and the session of its lead."""
    from django.conf import settings
    from django.test import Client

    from evaluation.evaluations.refreshing import refresh_evaluations
    from judgments.models import Collection, Query, User
    from tests.builders import NOW, commit
    from tests.evaluation.builders import make_run

    collection = Collection.objects.get(slug="books")
    judgments = collection.lists.get()
    queries, documents = list(Query.objects.order_by("pk")[:50]), list(collection.documents.all())
    grades = {(q, d): (q.pk + d.pk) % 3 for q in queries for d in documents[:20]}
    commit(judgment_list=judgments, grades=grades)
    for number in range(10):
        docids = [one.docid for one in documents[number : number + 30]]
        make_run(
            collection=collection, rankings={q.qid: docids for q in queries}, ranker=f"r{number}"
        )
    while refresh_evaluations(list_id=judgments.pk, at=NOW).left:
        pass
    client = Client()
    client.force_login(
        User.objects.get(username="ada"), "django.contrib.auth.backends.ModelBackend"
    )
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def prepare(path: str) -> None:
    """Compile what reads large files, as once on every machine."""
    from touchstone.files.trec import read_qrels
    from touchstone.scales import Scale

    for _ in range(2):  # the first may still be compiling at its end
        read_qrels(path, name="qrels", scale=Scale.parse("0..4"))


def begin(path: str) -> int:
    """Queue an import, and wait until a worker has begun it."""
    from django.core.files.base import File
    from django.utils import timezone

    from judgments.jobs.services import queue_job
    from judgments.models import Collection, Job, JudgmentList
    from touchstone.scales import Scale

    collection, at = Collection.objects.get(slug="books"), timezone.now()
    kind = "import_clicks"
    params: dict[str, Any] = {"name": Path(path).name}
    if path.endswith("qrels"):
        kind, params = "import_qrels", {"list": "imported", "reason": "", "create": True}
        scale = Scale.parse("0..4").to_json()
        own = {"name": "Imported", "scale": scale, "created_at": at}
        JudgmentList.objects.get_or_create(collection=collection, slug="imported", defaults=own)
    with Path(path).open("rb") as file:
        job = queue_job(
            collection=collection,
            by=None,
            kind=kind,
            at=at,
            params=params,
            file=File(file, Path(path).name),
        )
    deadline = time.monotonic() + http.PATIENCE
    while Job.objects.get(pk=job.pk).state == Job.State.QUEUED:
        assert time.monotonic() < deadline, "no worker took the import"
        time.sleep(0.1)
    return int(job.pk)


def end(pk: int) -> str:
    """Wait until a job has ended; its state and how long it took."""
    from judgments.models import Job

    while (job := Job.objects.get(pk=pk)).finished_at is None:
        time.sleep(0.2)
    return f"{job.state}, {(job.finished_at - job.created_at).total_seconds():.0f} s"


if __name__ == "__main__":
    main()
