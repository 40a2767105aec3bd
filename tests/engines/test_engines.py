"""Snapshots of real engines have the values of the same rankings, uploaded as files."""

import builtins
import collections
import inspect
import json
import math
import random
import struct
import types
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
import redis
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.live_rankers.mapping import Mapping
from evaluation.live_rankers.presets import PRESETS
from evaluation.live_rankers.services import start_snapshot
from evaluation.live_rankers.vectors import submit_vectors
from evaluation.models import Evaluation
from judgments.outgoing.rules import read_origins
from tests.builders import NOW, World, commit, make_access, make_world
from tests.engines.started import get, groonga, lucene, redis_search
from tests.evaluation.builders import make_ranker, make_run
from tests.evaluation.live_rankers.engine import make_live, work

pytestmark = pytest.mark.django_db

DEPTH = 10
TEXTS = ("string", "dictionary", "iterable", "list", "integer", "arguments", "object", "default")
Ranked = list[tuple[str, float]]


def docstrings() -> dict[str, str]:
    """Documents by id: what Python says of its builtins and of a module."""
    found: dict[str, str] = {}
    for module in (builtins, collections, types):
        for name, value in inspect.getmembers(module):
            text = inspect.getdoc(value)
            if text and not name.startswith("_"):
                found.setdefault(name, text)
    return found


def vectors_of(texts: dict[str, str]) -> dict[str, list[float]]:
    """Made-up vectors, the same each time."""
    rng = random.Random(5)
    made = {name: [rng.gauss(0, 1) for _ in range(8)] for name in sorted(texts)}
    return {name: [value / math.hypot(*own) for value in own] for name, own in made.items()}


@pytest.fixture
def world(settings: Any, tmp_path: Any) -> World:
    settings.HOME = tmp_path
    made = make_world(queries=len(TEXTS), documents=3)
    for query, text in zip(made.queries, TEXTS, strict=True):
        query.text = text
        query.save()
        commit(judgment_list=made.judgments, grades={(query, made.documents[0]): 1})
    return made


def values_equal_those_of_a_file(
    world: World, rankings: dict[str, Ranked], *, scored: bool
) -> None:
    """Take a snapshot, upload what the engine was asked directly, and compare both."""
    dora = make_access(collection=world.collection, username="dora")
    ranker = make_ranker(collection=world.collection, slug="live")
    snapshot = start_snapshot(access=dora, ranker=ranker, at=NOW)
    work()
    snapshot.refresh_from_db()
    assert (snapshot.state, snapshot.problem) == ("done", "")
    assert sum(map(bool, rankings.values())) >= len(TEXTS) // 2
    lines = "".join(
        f"{query.qid} Q0 {docid} {rank} {score!r} x\n"
        if scored
        else f"{query.qid} {docid} {rank}\n"
        for query in world.queries
        for rank, (docid, score) in enumerate(rankings[query.text], start=1)
    )
    uploaded = make_run(collection=world.collection, text=lines, ranker="uploaded")
    assert snapshot.run is not None
    assert snapshot.run.sha256 == uploaded.sha256
    some = next(docid for rows in rankings.values() for docid, _ in rows)
    document = world.collection.documents.get(docid=some)
    commit(judgment_list=world.judgments, grades={(world.queries[0], document): 3})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    newest = Evaluation.objects.order_by("-version__number", "pk")[:2]
    assert len({bytes(one.sums) for one in newest}) == 1


def test_lucene_over_http(world: World, settings: Any, tmp_path: Any) -> None:
    with lucene(tmp_path, docstrings()) as port:
        settings.OUTGOING = read_origins([f"http://127.0.0.1:{port}=127.0.0.0/8"])
        url = f"http://127.0.0.1:{port}/v1/index/search?query={{{{text}}}}&hits={{{{depth}}}}"
        mapping = Mapping(rows="candidates", id="docid", score="score", text="doc")
        make_live(world, "", url=url, mapping=mapping, depth=DEPTH)

        def ask(text: str) -> Ranked:
            filled = url.replace("{{text}}", quote(text)).replace("{{depth}}", str(DEPTH))
            answer: Any = get(filled)
            return [(one["docid"], float(one["score"])) for one in answer["candidates"]]

        rankings = {text: ask(text) for text in TEXTS}
        values_equal_those_of_a_file(world, rankings, scored=True)


def test_groonga_whose_rows_are_arrays(world: World, settings: Any, tmp_path: Any) -> None:
    with groonga(tmp_path, docstrings()) as port:
        settings.OUTGOING = read_origins([f"http://127.0.0.1:{port}=127.0.0.0/8"])
        url = (
            f"http://127.0.0.1:{port}/d/select?table=Docs&match_columns=text"
            "&query={{text}}&output_columns=_key,_score,text&sort_keys=-_score&limit={{depth}}"
        )
        mapping = Mapping(rows="[1][0][2:]", id="[0]", score="[1]", text="[2]")
        make_live(world, "", url=url, mapping=mapping, depth=DEPTH)

        def ask(text: str) -> Ranked:
            filled = url.replace("{{text}}", quote(text)).replace("{{depth}}", str(DEPTH))
            answer: Any = get(filled)
            return [(row[0], float(row[1])) for row in answer[1][0][2:]]

        rankings = {text: ask(text) for text in TEXTS}
        values_equal_those_of_a_file(world, rankings, scored=True)


def _fields(words: list[Any]) -> Callable[[str], Any]:
    """Words of a command without its variables, for redis-py."""
    return lambda text: [text if word == "{{any_word}}" else word for word in words]


def test_redis_by_words(world: World, settings: Any, tmp_path: Any) -> None:
    documents = docstrings()
    with redis_search(tmp_path, documents, vectors_of(documents)) as port:
        settings.OUTGOING = read_origins([f"redis://127.0.0.1:{port}=127.0.0.0/8"])
        preset = PRESETS["redis"]
        words = ["FT.SEARCH", "docs", "{{any_word}}", "WITHSCORES", "RETURN", 1, "text"]
        make_live(
            world,
            "",
            method=preset.method,
            url=f"redis://127.0.0.1:{port}",
            body=[*words, "LIMIT", 0, "{{depth}}"],
            mapping=preset.mapping,
            secret_header="default",
            secret="secret",
            depth=DEPTH,
        )
        client = redis.Redis(port=port, password="secret", protocol=2)
        fill = _fields([*words, "LIMIT", 0, DEPTH])

        def ask(text: str) -> Ranked:
            _, *flat = client.execute_command(*fill(text))
            return [(flat[n].decode(), float(flat[n + 1])) for n in range(0, len(flat), 3)]

        rankings = {text: ask(text) for text in TEXTS}
        values_equal_those_of_a_file(world, rankings, scored=True)


def test_redis_by_vectors(world: World, settings: Any, tmp_path: Any) -> None:
    documents = docstrings()
    of_queries = {text: vectors_of({text: ""})[text] for text in TEXTS}
    with redis_search(tmp_path, documents, vectors_of(documents)) as port:
        settings.OUTGOING = read_origins([f"redis://127.0.0.1:{port}=127.0.0.0/8"])
        lines = b"".join(
            json.dumps({"query_id": query.qid, "vector": of_queries[query.text]}).encode() + b"\n"
            for query in world.queries
        )
        submit_vectors(
            access=make_access(collection=world.collection, username="dora"),
            ranker=make_ranker(collection=world.collection, slug="live"),
            file=SimpleUploadedFile("vectors.jsonl", lines),
            at=NOW,
        )
        work()
        preset = PRESETS["redis_vectors"]
        body = ["docs" if word == "INDEX" else word for word in preset.body or []]
        make_live(
            world,
            "",
            method=preset.method,
            url=f"redis://127.0.0.1:{port}",
            body=body,
            mapping=preset.mapping,
            secret_header="default",
            secret="secret",
            depth=DEPTH,
        )
        client = redis.Redis(port=port, password="secret", protocol=2)

        def ask(text: str) -> Ranked:
            packed = struct.pack("<8f", *of_queries[text])
            filled = {"{{depth}}": DEPTH, "{{vector}}": packed}
            _, *flat = client.execute_command(*(filled.get(str(word), word) for word in body))
            return [(flat[n].decode(), 0.0) for n in range(0, len(flat), 2)]

        rankings = {text: ask(text) for text in TEXTS}
        values_equal_those_of_a_file(world, rankings, scored=False)
