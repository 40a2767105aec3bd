"""Open pages that follow the listener, beside people who label: when a label is on every board.

    python -m benchmarks.live_updates [--viewers 300] [--monitors 10] [--annotators 32] [--pause 2]
        [--seconds 30] [--postgres URL] [--long]

A campaign with 20 runs is put into a temporary PostgreSQL database; web server, worker and listener
are started as docker-compose.yml starts them. Annotators label (crowd.py), one label in so many
seconds each. Viewers behave as static/touchstone/live.js does: the first part, and a stream, whose
events either have the part or make the page ask, at most once a second; each is a person of their
own. A few are leads with the campaign's live page. Then all pages are opened once more, the
listener is killed, and for 15 seconds of labels the pages, which now poll every second and every
ten, or less often while answers are slow, must still change. `--long` takes ten minutes.

A label is on a board when the page was answered with, or brought, a version that holds it; it is on
a monitor when its count is. Both count from the moment at which the server stored the label.
"""

import argparse
import asyncio
import base64
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from benchmarks.usage import backends, cpu_seconds, family, machine_seconds, memory_bytes
from config.healthcheck import answers
from tests.deployment import HOST, ROOT, compose_command, production_environment, web_command
from tests.services import free_port, own_postgres_database, private_postgres, private_redis

PATIENCE: Final = 120.0
POLLING: Final = 15.0  # seconds after the listener was killed
NEVER: Final = 60.0  # stands for: not before the pages were closed, 20 seconds after the last label
OPENED: Final = 20.0  # streams a second before anyone labels
RUNS: Final = 20
VERSION: Final = re.compile(rb'data-version="(\d+)"')
STATE: Final = re.compile(rb'"X-Board-State": "([^"]*)"')
COUNT: Final = re.compile(rb"Labels in the last hour</span>.*?>([\d,.]+)<", re.DOTALL)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--viewers", type=int, default=300, help="all open pages")
    parser.add_argument("--monitors", type=int, default=10, help="of them, live pages of leads")
    parser.add_argument("--annotators", type=int, default=32)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two labels")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--long", action="store_true", help="ten minutes")
    parser.add_argument("--postgres", metavar="URL", default=os.environ.get("DATABASE_URL", ""))
    parser.add_argument("--build", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--view", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--labels", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.long:
        options.seconds = 600.0
    if options.build:
        print(json.dumps(_build(options)))
    elif options.view:
        print(json.dumps(asyncio.run(_view(json.loads(sys.stdin.read())))))
    elif options.labels:
        print(json.dumps(_labels()))
    else:
        signal.signal(signal.SIGTERM, _end)
        _run(options)


def _end(*_: object) -> None:
    """End the servers too, undisturbed: `timeout` sends a signal twice."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


def _run(options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="touchstone-live-")))
        server = options.postgres or stack.enter_context(private_postgres())
        database = stack.enter_context(own_postgres_database(server))
        broker = stack.enter_context(private_redis())
        environment = production_environment(home, database, broker)
        environment |= {"TOUCHSTONE_LIVE": "true", "PYTHONPATH": str(ROOT)}
        collect = [sys.executable, "manage.py", "collectstatic", "-v0", "--no-input"]
        subprocess.run(collect, cwd=ROOT, env=environment, check=True, timeout=PATIENCE)
        people = ["--viewers", options.viewers, "--monitors", options.monitors]
        people += ["--annotators", options.annotators]
        scene = _module(environment, "--build", *people)
        port, live_port = free_port(), free_port()
        here = {"0.0.0.0:8001": f"127.0.0.1:{live_port}", "/dev/shm": str(home)}  # noqa: S108
        commands = {
            "web": web_command(port, home),
            "worker": [*compose_command("worker"), "-n", "worker@benchmark"],
            "listener": [here.get(word, word) for word in compose_command("live")],
        }
        servers = {}
        for name, command in commands.items():
            log = stack.enter_context((home / f"{name}.log").open("wb"))
            started = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
            stack.callback(started.wait, PATIENCE)
            stack.callback(started.terminate)
            servers[name] = started
        for one in (port, live_port):
            _wait(one, home)
        plan = {**scene, "port": port, "live_port": live_port, "host": HOST, "kind": "postgresql"}
        plan |= {"seconds": options.seconds, "pause": options.pause, "servers": {}}
        _measure(options, plan, environment, servers, database)


def _measure(
    options: argparse.Namespace,
    plan: dict[str, Any],
    environment: dict[str, str],
    servers: dict[str, subprocess.Popen[bytes]],
    database: str,
) -> None:
    name = database.split("?", maxsplit=1)[0].rsplit("/", 1)[1]

    def spent() -> dict[str, float]:
        so_far = {key: cpu_seconds(family(one.pid)) for key, one in servers.items()}
        return so_far | {"database": cpu_seconds(backends(name)), "machine": machine_seconds()}

    for stays in (True, False):
        seconds = options.seconds if stays else POLLING
        opening = len(plan["viewers"]) / OPENED
        own = json.dumps(plan | {"seconds": seconds, "opening": opening}).encode()
        with _start(environment, "benchmarks.live_updates", "--view") as view:
            assert view.stdin
            view.stdin.write(own)
            view.stdin.close()
            view.stdin = None
            time.sleep(opening + 5)  # until all streams are open
            memory = memory_bytes(family(servers["listener"].pid))
            if not stays:
                for pid in family(servers["listener"].pid):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            before, began = spent(), time.time()
            with _start(environment, "benchmarks.labelling_http", "--load") as load:
                done = json.loads(load.communicate(own, timeout=PATIENCE + seconds)[0])
            after, took = spent(), time.time() - began
            seen = json.loads(view.communicate(timeout=PATIENCE)[0])
        if done["error"]:
            sys.exit(done["error"])
        labels = [one for one in _module(environment, "--labels") if one["at"] >= began]
        _print("with the listener" if stays else "listener killed", done, seen, labels)
        cost = {key: (after[key] - before[key]) / took for key in after}
        cores = ", ".join(f"{key} {value:.2f}" for key, value in cost.items())
        pages, people = seen["cpu"] / seen["took"], done["cpu"] / took
        print(
            f"  cores: {cores}; generators: pages {pages:.2f}, annotators {people:.2f}; "
            f"listener {memory / 2**20:.0f} MiB",
            flush=True,
        )


def _print(
    words: str, done: dict[str, Any], seen: dict[str, Any], labels: list[dict[str, Any]]
) -> None:
    times = done["milliseconds"]
    boards = _delays(seen["boards"], [(one["at"], one["version"]) for one in labels])
    versions = _delays(seen["boards"], sorted({(one["made"], one["version"]) for one in labels}))
    monitors = _delays(seen["monitors"], [(one["at"], one["count"]) for one in labels])
    print(
        f"{words}: {len(times):,} labels, p50 {_at(times, 50):.0f}, p95 {_at(times, 95):.0f}, "
        f"p99 {_at(times, 99):.0f} ms; {len(seen['boards'])} boards, label on the board "
        f"p50 {_at(boards, 50):.2f}, p95 {_at(boards, 95):.2f}, most {max(boards, default=0):.2f} "
        f"s, never {boards.count(NEVER)} of {len(boards):,}; version "
        f"p50 {_at(versions, 50):.2f}, p95 {_at(versions, 95):.2f} s; {len(seen['monitors'])} "
        f"monitors p50 {_at(monitors, 50):.2f}, p95 {_at(monitors, 95):.2f} s; "
        f"streams {seen['streams']}, parts brought {seen['brought']:,}, "
        f"requests {seen['requests']:,} ({seen['requests'] / seen['took']:.0f}/s), of "
        f"them {seen['empty']:,} without news, {seen['failed']} failed; "
        f"p95 {_at(seen['milliseconds'], 95):.0f} ms",
        flush=True,
    )


def _delays(pages: list[list[list[float]]], labels: list[tuple[float, int]]) -> list[float]:
    """For each page and label: seconds until the page showed it. pages: (time, number) in order."""
    result = []
    for page in pages:
        numbers = [number for _, number in page]
        for at, number in labels:
            place = bisect_left(numbers, number)
            if place < len(page):
                result.append(max(0.0, page[place][0] - at))
            else:
                result.append(NEVER)
    return result


def _at(times: list[float], percent: int) -> float:
    return statistics.quantiles(times, n=100)[percent - 1] if len(times) > 1 else 0.0


def _wait(port: int, home: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not answers(port=port, hosts=HOST):
        if time.monotonic() > deadline:
            sys.exit("\n".join(path.read_text() for path in home.glob("*.log")))
        time.sleep(0.2)


@contextmanager
def _start(
    environment: dict[str, str], module: str, *words: str
) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(
        [sys.executable, "-m", module, *words],
        cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield started
    finally:
        started.terminate()
        started.wait(PATIENCE)


def _module(environment: dict[str, str], *words: object) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.live_updates", *map(str, words)],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True, timeout=3 * PATIENCE,
    )  # fmt: skip
    return json.loads(done.stdout)


# The pages


class Page:
    """One open page, as static/touchstone/live.js has it."""

    def __init__(self, plan: dict[str, Any], viewer: dict[str, str], scene: "Scene") -> None:
        self._plan, self._scene = plan, scene
        self._address, self._is_board = viewer["address"], viewer["kind"] == "board"
        session, _ = plan["cookie_names"]
        self._cookie = f"Cookie: {session}={viewer['cookie']}\r\n"
        self._headers = (
            f"Host: {plan['host']}\r\nX-Forwarded-Proto: https\r\nHX-Request: true\r\n"
            f"{self._cookie}Connection: close\r\n"
        )
        self.state, self._ticket, self._event = plan.get("state", ""), "", "0"
        self._is_open = self._is_asking = self._wants_more = False
        self._dice = random.Random(viewer["cookie"])
        self.asked_at = self.news_at = -60.0
        self._took = 0.0
        self._brought = b""
        self._planned: asyncio.Task[None] | None = None
        self.shown: list[tuple[float, int]] = []

    async def live(self, until: float) -> None:
        """Poll while no stream is open; open one when there is a ticket."""
        every = 1.0 if self._is_board else 10.0
        await asyncio.sleep(self._dice.random() * self._plan["opening"])
        while time.monotonic() < until:
            pause = 30.0 if self._is_open else min(10 * self._took, 10.0)
            if time.monotonic() - (self.news_at if self._is_open else self.asked_at) >= pause:
                await self.ask()
            if self._ticket and not self._is_open and self._scene.has_listener:
                self._is_open = True
                self._scene.keep(asyncio.create_task(self._follow(until)))
            await asyncio.sleep(every)

    async def _follow(self, until: float) -> None:
        try:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", self._plan["live_port"], limit=2**20
            )
        except OSError:
            self._is_open, self._scene.has_listener = False, False
            self._fail()
            return
        path = f"/live?ticket={quote(self._ticket)}"
        head = f"GET {path} HTTP/1.1\r\nHost: {self._plan['host']}\r\n{self._cookie}\r\n"
        writer.write(head.encode())
        self._scene.streams += 1
        while time.monotonic() < until:
            line = await reader.readline()
            if line.startswith(b"event: over"):
                break
            if not line:
                self._fail()
                break
            if line.startswith(b"data: "):
                data = json.loads(line[6:])
                if "part" in data:
                    self._bring(data["part"])
                else:
                    self._event = data["event"]
                    self._plan_request(data["spread"])
        writer.close()
        self._is_open, self._event = False, "0"

    def _fail(self) -> None:
        self._took = max(self._took, 0.3)
        self.asked_at = time.monotonic() - self._dice.random() * 3

    def _bring(self, packed: str) -> None:
        """Show a part, unless a request is not answered yet: then afterwards."""
        self.news_at = time.monotonic()
        self._scene.brought += 1
        if packed not in self._scene.parts:
            html = zlib.decompress(base64.b64decode(packed))
            self._scene.parts = {packed: html}  # other pages are brought the same
        if self._is_asking:
            self._brought = self._scene.parts[packed]
        else:
            self._show(self._scene.parts[packed])

    def _plan_request(self, spread: int) -> None:
        if self._planned is None:
            pause = max(0.0, self.asked_at + 1.0 - time.monotonic())
            self._planned = asyncio.create_task(
                self._ask_in(pause + self._dice.random() * spread / 1000)
            )
            self._scene.keep(self._planned)

    async def _ask_in(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._planned = None
        await self.ask()

    async def ask(self) -> None:
        """As htmx: never two at once; once more after one that was not answered yet."""
        if self._is_asking:
            self._wants_more = True
            return
        self._is_asking = True
        try:
            await self._ask()
            while self._wants_more:
                self._wants_more = False
                await self._ask()
        finally:
            self._is_asking = False
            if self._brought:
                self._show(self._brought)
            self._brought = b""

    async def _ask(self) -> None:
        self.asked_at = self.news_at = began = time.monotonic()
        event = self._event if self._is_open else "0"
        known = f"X-Board-State: {self.state}\r\n" if self._is_board else ""
        more = f"{known}X-Live-Event: {event}\r\n\r\n"
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._plan["port"])
            writer.write(f"GET {self._address} HTTP/1.1\r\n{self._headers}{more}".encode())
            answer = await reader.read()
            writer.close()
            while chunk := await reader.read():
                answer += chunk
        except OSError:
            self._scene.failed += 1
            return
        self._scene.requests += 1
        took = time.monotonic() - began
        self._took = max(took, 0.8 * self._took)
        self._scene.milliseconds.append(took * 1000)
        self._take(answer)
        if event == self._event and b"X-Live-Again" not in answer:
            self._event = "0"

    def _take(self, answer: bytes) -> None:
        head, _, body = answer.partition(b"\r\n\r\n")
        if head.startswith(b"HTTP/1.1 204"):
            self._scene.empty += 1
        elif not head.startswith(b"HTTP/1.1 200"):
            self._scene.failed += 1
        if b"X-Live-Again" in head:
            self._plan_request(250)
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"x-live-ticket: "):
                self._ticket = line[15:].decode()
        self._show(body)

    def _show(self, body: bytes) -> None:
        found = (VERSION if self._is_board else COUNT).search(body)
        if found:
            number = int(re.sub(rb"\D", b"", found[1]))
            self.shown.append((time.time(), number))
        if state := STATE.search(body):
            self.state = state[1].decode()


class Scene:
    """What all pages count together."""

    def __init__(self) -> None:
        self.requests = self.empty = self.failed = self.streams = self.brought = 0
        self.parts: dict[str, bytes] = {}
        self.milliseconds: list[float] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.has_listener = True

    def keep(self, task: asyncio.Task[None]) -> None:
        """Hold a task until it is done: asyncio does not, and one that nothing holds is collected
        while it waits for an answer, which is then never read."""
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


async def _view(plan: dict[str, Any]) -> dict[str, Any]:
    scene, began = Scene(), time.monotonic()
    until = began + plan["opening"] + 5 + plan["seconds"] + 25
    first = Page(plan, plan["viewers"][-1], scene)
    await first.ask()
    plan["state"] = first.state  # all pages were opened before
    pages = [Page(plan, viewer, scene) for viewer in plan["viewers"]]
    await asyncio.gather(*(page.live(until) for page in pages))
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    kinds = [viewer["kind"] for viewer in plan["viewers"]]
    shown = {
        kind: [page.shown for page, own in zip(pages, kinds, strict=True) if own == kind]
        for kind in ("board", "monitor")
    }
    return {
        "boards": shown["board"], "monitors": shown["monitor"], "cpu": time.process_time(),
        "requests": scene.requests, "empty": scene.empty, "failed": scene.failed,
        "streams": scene.streams, "brought": scene.brought, "milliseconds": scene.milliseconds,
        "took": time.monotonic() - began,
    }  # fmt: skip


# The rows


def _build(options: argparse.Namespace) -> dict[str, Any]:
    """Migrate, make a campaign, runs and people; what the pages need."""
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client
    from django.urls import reverse

    from evaluation.evaluations.refreshing import refresh_evaluations
    from judgments.models import User
    from tests.builders import NOW, commit, make_member, make_world
    from tests.builders_annotation import make_campaign
    from tests.evaluation.builders import make_run

    call_command("migrate", verbosity=0)
    world = make_world(queries=400, documents=50)
    dice = random.Random(7)
    for number in range(RUNS):
        ranked = {
            query.qid: [one.docid for one in dice.sample(world.documents, 20)]
            for query in world.queries
        }
        make_run(collection=world.collection, ranker=f"ranker-{number}", rankings=ranked)
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    while refresh_evaluations(list_id=world.judgments.pk, at=NOW).left:
        pass
    names = [f"annotator{number}" for number in range(options.annotators)]
    for name in names:
        make_member(collection=world.collection, username=name, role="annotator")
    campaign = make_campaign(world=world, people=names, overlap=1)

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as autovacuum does a minute after so many rows

    def cookie(username: str) -> str:
        client = Client()
        client.force_login(User.objects.get(username=username), backend)
        return str(client.cookies[settings.SESSION_COOKIE_NAME].value)

    backend = "django.contrib.auth.backends.ModelBackend"
    slug = world.collection.slug
    board = reverse("leaderboard", args=[slug, world.judgments.slug])
    monitor = reverse("campaign-live", args=[slug, campaign.public_id])
    viewers = []
    for number in range(options.viewers):
        is_lead = number < options.monitors
        role = "lead" if is_lead else "researcher"
        make_member(collection=world.collection, username=f"viewer{number}", role=role)
        address = monitor if is_lead else board
        kind = "monitor" if is_lead else "board"
        viewers.append({"cookie": cookie(f"viewer{number}"), "address": address, "kind": kind})
    return {
        "campaign": str(campaign.public_id), "viewers": viewers,
        "cookies": [cookie(name) for name in names],
        "cookie_names": (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME),
    }  # fmt: skip


def _labels() -> list[dict[str, Any]]:
    """Each label: when it was stored, its place, and which version holds it, made when."""
    import django

    django.setup()
    from annotation.models import Label
    from judgments.models import Judgment, JudgmentVersion

    made = dict(JudgmentVersion.objects.values_list("number", "created_at"))
    since: dict[tuple[int, int], list[int]] = {}
    rows = Judgment.objects.order_by("since").values_list("query_id", "document_id", "since")
    for query, document, number in rows:
        since.setdefault((query, document), []).append(number)
    labels = Label.objects.order_by("received_at", "pk").values_list(
        "received_at", "pair__query_id", "pair__document_id"
    )
    result = []
    for count, (at, query, document) in enumerate(labels, 1):
        version = since.get((query, document), [0])[-1]
        moment = made[version].timestamp() if version else at.timestamp()
        result.append({"at": at.timestamp(), "count": count, "version": version, "made": moment})
    return result


if __name__ == "__main__":
    main()
