"""An endpoint of files and batches on loopback, whose batches end as a test wants."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.annotation.machine_judges.endpoint import Answered

Fault = Callable[["BatchServer", str, str], int | None]
Lines = tuple[list[dict[str, Any]], list[dict[str, Any]]]  # answers and errors


@dataclass
class BatchServer:
    """files: by id. batches: by id, the oldest first. log: method and path of each request.

    fault: called first with the server, method and path; a status ends the request with it.
    lists: GET /batches works. end: the status in which a batch ends; None: it goes on.
    """

    port: int
    respond: Callable[[str], Answered]
    fault: Fault | None = None
    lists: bool = True
    end: str | None = "completed"
    shape: Callable[[Lines], Lines] | None = None
    raw: Callable[[bytes], bytes] | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/chat/completions"

    @property
    def entry(self) -> str:
        return f"http://127.0.0.1:{self.port}=127.0.0.0/8"

    def requests_of(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        """The lines of its file."""
        content = self.files[batch["input_file_id"]]
        return [json.loads(line) for line in content.splitlines()]

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body of an answer."""
        status = self.fault(self, method, path) if self.fault else None
        if status is not None:
            return status, b'{"error": {"message": "no"}}'
        parts = path.split("?", maxsplit=1)[0].removeprefix("/v1/").split("/")
        if parts[0] == "files" and method == "GET":
            return 200, self.files[parts[1]]
        if parts == ["batches"] and method == "GET":
            listed = list(self.batches.values())[::-1]
            return (200 if self.lists else 404), json.dumps({"data": listed}).encode()
        return 200, json.dumps(self._said(method, parts, body)).encode()

    def _said(self, method: str, parts: list[str], body: bytes) -> dict[str, Any]:
        match method, parts:
            case "POST", ["files"]:
                name = f"file-{len(self.files)}"
                start = body.index(b"\r\n\r\n", body.index(b'name="file"')) + 4
                self.files[name] = body[start : body.rindex(b"\r\n--")]
                return {"id": name, "object": "file"}
            case "POST", ["batches"]:
                asked = json.loads(body)
                assert asked["endpoint"] == "/v1/chat/completions"
                return self.create(asked["input_file_id"])
            case "POST", ["batches", name, "cancel"]:
                self.end = "cancelled"
                return self.batches[name]
        return self.finish(self.batches[parts[1]])

    def create(self, file_id: str) -> dict[str, Any]:
        name = f"batch_{len(self.batches)}"
        made = {"id": name, "object": "batch", "status": "validating", "input_file_id": file_id}
        self.batches[name] = made | {"output_file_id": None, "error_file_id": None}
        return self.batches[name]

    def finish(self, batch: dict[str, Any]) -> dict[str, Any]:
        if self.end is None or batch["output_file_id"]:
            return batch
        batch["status"] = self.end
        if self.end == "failed":
            batch["errors"] = {"data": [{"code": "invalid", "message": "Line 1 is too long"}]}
            return batch
        lines: Lines = ([], [])
        for one in self.requests_of(batch):
            status, _, body = self.respond(one["body"]["messages"][1]["content"])
            response = {"status_code": status, "request_id": "r", "body": json.loads(body)}
            own = {"id": "x", "custom_id": one["custom_id"], "response": response, "error": None}
            lines[0 if status == 200 else 1].append(own)
        both = self.shape(lines) if self.shape else lines
        for name, some in zip(("output", "error"), both, strict=True):
            if some:
                content = b"".join(json.dumps(line).encode() + b"\n" for line in some)
                self.files[f"{batch['id']}-{name}"] = self.raw(content) if self.raw else content
                batch[f"{name}_file_id"] = f"{batch['id']}-{name}"
        return batch


@contextmanager
def serving(respond: Callable[[str], Answered], **knobs: Any) -> Iterator[BatchServer]:
    """A running endpoint. respond: answers the message about a pair."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with lock:
                server.log.append(f"{self.command} {self.path}")
                server.headers.append({n.lower(): v for n, v in self.headers.items()})
                status, answer = server.answer(self.command, self.path, body)
            with suppress(ConnectionError):  # of a worker that was killed
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = BatchServer(http.server_address[1], respond, **knobs)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
