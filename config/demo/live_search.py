"""The demo's live ranker: a small search server on loopback, and what watches it.

The server answers in the process that serves the demo, after a restart too, and is allowed in that
process alone. It can be broken on purpose: its results are then sorted the wrong way.
"""

import json
import threading
from datetime import datetime
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from django.conf import settings

from config.demo.inverted_index import InvertedIndex, inverted_index
from config.demo.people import SIGN_INS
from config.demo.rankers import RANKERS, ranking
from config.demo.word_judge import PATH, Unreadable, complete, have_judge
from config.demo.workspace import LIST, SLUG, is_built
from evaluation.canaries.page_parts import PagePart
from evaluation.canaries.services import create_canary
from evaluation.live_rankers.configuration import Configuration
from evaluation.live_rankers.mapping import Mapping
from evaluation.live_rankers.services import configure, set_schedule, start_snapshot
from evaluation.models import Canary, LiveSource, Ranker, Run, Snapshot
from evaluation.runs.rankers import create_ranker
from judgments.models import Document, JudgmentList, User
from judgments.outgoing.rules import read_origins
from judgments.permissions import get_access

HOST: Final = "127.0.0.1"
RANKER: Final = "live-search"
BASELINE: Final = RANKERS[0]  # how the server ranks while it is not broken
REVERSED: Final = 20  # results that come worst first while it is broken
MOST: Final = 100
LONGEST_REQUEST: Final = 1_000_000  # bytes
HOURLY: Final = "0 * * * *"

is_broken: Final = threading.Event()
_is_serving: Final = threading.Event()


class SearchServer:
    """The server, bound before the process that serves it is made, so that its port is known."""

    def __init__(self, wanted_port: int) -> None:
        """wanted_port: taken if it is free, so that the ranker keeps its address; else another."""
        try:
            self._server = ThreadingHTTPServer((HOST, wanted_port), _Handler)
        except OSError:
            self._server = ThreadingHTTPServer((HOST, 0), _Handler)
        self._server.daemon_threads = True
        self._thread: threading.Thread | None = None
        self.url = f"http://{HOST}:{self._server.server_address[1]}"

    def start(self) -> None:
        """Answer from now on, in a thread of this process."""
        serve = partial(self._server.serve_forever, poll_interval=0.1)
        self._thread = threading.Thread(target=serve, name="search", daemon=True)
        self._thread.start()
        _is_serving.set()

    def close(self) -> None:
        """End the thread, which would ask a closed socket again and again; let go of the port."""
        _is_serving.clear()
        is_broken.clear()
        if self._thread:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """`/search?q=…&k=…`."""
        asked = parse_qs(urlsplit(self.path).query)
        try:
            depth = min(int(asked["k"][0]), MOST)
            body = json.dumps({"results": search(_index(), asked["q"][0], depth)}).encode()
        except (KeyError, ValueError):
            self.send_error(400)
            return
        self._answer(body)

    def do_POST(self) -> None:
        """The demo's machine judge."""
        try:
            length = int(self.headers["Content-Length"])
            if self.path != PATH or length > LONGEST_REQUEST:
                raise Unreadable("no such service")
            body = json.dumps(complete(self.rfile.read(length), _index().whole)).encode()
        except (TypeError, ValueError):
            self.send_error(400)
            return
        self._answer(body)

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: requests are not logged."""


@cache
def _index() -> InvertedIndex:
    documents_qs = Document.objects.filter(collection__slug=SLUG).order_by("pk")
    return inverted_index(documents_qs.values_list("docid", "title", "body"))


def search(index: InvertedIndex, text: str, depth: int) -> list[dict[str, Any]]:
    """The results for a query, as the server answers them."""
    result = ranking(BASELINE, index, text, depth)
    if is_broken.is_set():
        result = result[:REVERSED][::-1] + result[REVERSED:]
    # the order counts: while it is broken, scores rise
    return [{"id": docid, "score": score} for docid, score in result]


def allow(server: SearchServer) -> None:
    """Let this process ask the server."""
    settings.OUTGOING = (*settings.OUTGOING, *read_origins([f"{server.url}={HOST}/32"]))


def watch(server: SearchServer, *, at: datetime) -> None:
    """Have the live ranker, its schedule and its canary; what is there already stays."""
    lead = get_access(viewer=User.objects.get(username="lead"), slug=SLUG)
    ranker = Ranker.objects.filter(collection=lead.collection, slug=RANKER).first()
    if ranker is None:
        ranker = create_ranker(
            access=lead,
            at=at,
            slug=RANKER,
            name="Live search",
            description="A small search server that runs with this demo: BM25 over HTTP.",
        )
    configuration = Configuration(
        method="GET",
        url=f"{server.url}/search?q={{{{text}}}}&k={{{{depth}}}}",
        mapping=Mapping(rows="results", id="id"),
        timeout=30.0,
        takes_documents=False,
    )
    configure(access=lead, ranker=ranker, configuration=configuration, secret="", at=at)
    if not LiveSource.objects.get(ranker=ranker).cron:
        set_schedule(access=lead, ranker=ranker, cron=HOURLY, time_zone="UTC", at=at)
    if not Canary.objects.filter(source__ranker=ranker).exists():
        create_canary(
            access=lead,
            ranker=ranker,
            judgment_list=JudgmentList.objects.get(collection=lead.collection, slug=LIST),
            measure="nDCG@10",
            saved_set=None,
            baseline=Run.objects.filter(ranker__slug=BASELINE.slug).earliest("pk"),
            margin=0.02,
            coverage_margin=0.1,
            latency_limit=1.0,
            in_a_row=1,
            at=at,
        )


def make_server(port: int, *, at: datetime) -> SearchServer | None:
    """The server for the process that serves a demo, to be started when that is ready; None where
    this home has no demo.

    port: of the web server; this one prefers the next. The live ranker gets its first snapshot at
    once.
    """
    if not (settings.HOME / SIGN_INS).exists() or not is_built():
        return None
    server = SearchServer(port + 1)
    allow(server)
    watch(server, at=at)
    have_judge(server.url, at=at)
    ranker = Ranker.objects.get(collection__slug=SLUG, slug=RANKER)
    if not Snapshot.objects.filter(source__ranker=ranker).exists():
        lead = get_access(viewer=User.objects.get(username="lead"), slug=SLUG)
        start_snapshot(access=lead, ranker=ranker, at=at)
    return server


def find_part(collection: str, ranker: str) -> PagePart | None:
    """The buttons on the page of the demo's canary, while its server runs."""
    if (collection, ranker) != (SLUG, RANKER) or not _is_serving.is_set():
        return None
    return PagePart("demo/live_search.html", {"is_broken": is_broken.is_set()})


def is_serving() -> bool:
    """Whether the server answers in this process."""
    return _is_serving.is_set()
