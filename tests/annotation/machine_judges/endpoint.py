"""A chat completions endpoint on loopback that answers as a test wants, and judges that ask it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from annotation.guidelines.services import get_newest_revision
from annotation.machine_judges.configuration import Configuration
from annotation.machine_judges.services import create_judge
from annotation.models import Guideline, JudgeRevision
from tests.builders import NOW, World, make_access
from tests.builders_annotation import make_guideline

Answered = tuple[int, dict[str, str], bytes]


@dataclass
class Endpoint:
    """A running endpoint. asked: the bodies of the requests, in the order that they came."""

    port: int
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/chat/completions"

    @property
    def entry(self) -> str:
        """Its origin as an administrator lists it."""
        return f"http://127.0.0.1:{self.port}=127.0.0.0/8"

    @property
    def shown(self) -> list[str]:
        """The message about the pair, of each request."""
        return [body["messages"][1]["content"] for body in self.asked]


def completion(
    content: Any, *, finish: str = "stop", usage: Any = None, **message: Any
) -> Answered:
    """An answer with this content: text, or an object that is written as JSON."""
    text = content if isinstance(content, str | None) else json.dumps(content)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, "refusal": None, **message},
        "finish_reason": finish,
    }
    counted = usage or {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    body = {"id": "c1", "object": "chat.completion", "choices": [choice], "usage": counted}
    return 200, {}, json.dumps(body).encode()


def grades(grade: int, reason: str = "so") -> Answered:
    """An answer that keeps to the schema."""
    return completion({"reason": reason, "grade": grade})


def fails(status: int, **headers: str) -> Answered:
    """An error of the server; `Retry_After="1"` becomes a header."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, b'{"error": {"message": "no"}}'


@contextmanager
def running(respond: Callable[[str], Answered], *, seconds: float = 0.0) -> Iterator[Endpoint]:
    """An endpoint that answers the message about a pair. seconds: that each answer takes."""
    lock, busy = threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                busy[0] += 1
                endpoint.most_at_once = max(endpoint.most_at_once, busy[0])
                endpoint.asked.append(body)
                endpoint.headers.append({n.lower(): v for n, v in self.headers.items()})
            time.sleep(seconds)
            status, headers, answer = respond(body["messages"][1]["content"])
            with lock:
                busy[0] -= 1
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint = Endpoint(server.server_address[1])
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()


def configuration(url: str, **given: Any) -> Configuration:
    """A judge without a secret."""
    usual: dict[str, Any] = {"url": url, "model": "m1", "secret_header": "", "timeout": 5.0}
    return Configuration(**(usual | given))


def make_judge(
    world: World, url: str, *, name: str = "Model", secret: str = "", **given: Any
) -> JudgeRevision:
    """The first revision of a machine judge that asks the endpoint at this URL."""
    guideline = Guideline.objects.filter(collection=world.collection).first()
    judge = create_judge(
        access=make_access(collection=world.collection),
        name=name,
        configuration=configuration(url, **given),
        guideline_revision=get_newest_revision(guideline or make_guideline(world=world)),
        secret=secret,
        at=NOW,
    )
    return judge.revisions.get()
