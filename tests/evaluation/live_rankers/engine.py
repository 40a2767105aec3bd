"""A search engine on loopback that answers as a test wants, and live rankers that ask it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from evaluation.live_rankers.configuration import Configuration
from evaluation.live_rankers.mapping import Mapping
from evaluation.live_rankers.services import configure
from evaluation.models import LiveRevision
from judgments.jobs.services import work_jobs
from tests.builders import NOW, World, make_access
from tests.evaluation.builders import make_ranker

Results = list[tuple[str, float]]


@dataclass
class Engine:
    """A running engine. asked: the text of each query, in the order that they came."""

    port: int
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def entry(self) -> str:
        """Its origin as an administrator lists it."""
        return f"{self.url}=127.0.0.0/8"


@contextmanager
def running(respond: Callable[[str], Any], *, seconds: float = 0.0) -> Iterator[Engine]:
    """An engine that answers `?q=` with what `respond` gives: JSON, or (status, headers, bytes).

    seconds: that each answer takes.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            text = parse_qs(urlsplit(self.path).query)["q"][0]
            engine.asked.append(text)
            engine.headers.append({name.lower(): value for name, value in self.headers.items()})
            time.sleep(seconds)
            given = respond(text)
            status, headers, body = (
                given if isinstance(given, tuple) else (200, {}, json.dumps(given).encode())
            )
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    engine = Engine(server.server_address[1])
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield engine
    finally:
        server.shutdown()
        server.server_close()


def results(rows: Results, **more: Any) -> dict[str, Any]:
    """An answer with these documents and scores."""
    return {"results": [{"id": doc_id, "score": score, **more} for doc_id, score in rows]}


def configuration(url: str, /, **given: Any) -> Configuration:
    """A GET with `?q=`; results as `results` writes them."""
    usual: dict[str, Any] = {
        "method": "GET",
        "url": f"{url}/search?q={{{{text}}}}",
        "mapping": Mapping(rows="results", id="id", score="score", title="title", text="text"),
        "timeout": 5.0,
    }
    return Configuration(**(usual | given))


def make_live(world: World, url: str, /, *, secret: str = "", **given: Any) -> LiveRevision:
    """The ranker `live`, which asks the engine at this URL."""
    return configure(
        access=make_access(collection=world.collection, username="dora"),
        ranker=make_ranker(collection=world.collection, slug="live"),
        configuration=configuration(url, **given),
        secret=secret,
        at=NOW,
    )


def work() -> None:
    """Do all jobs, also those that follow from others."""
    while work_jobs():
        pass
