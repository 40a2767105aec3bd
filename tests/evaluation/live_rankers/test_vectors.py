"""Vectors of queries: what a file must be like, and how requests get them."""

import gzip
import io
import json
import struct
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.live_rankers.configuration import Configuration, ConfigurationRefused
from evaluation.live_rankers.presets import PRESETS
from evaluation.live_rankers.services import start_snapshot
from evaluation.live_rankers.vectors import read_vectors, submit_vectors
from evaluation.models import LiveRevision, QueryVector, QueryVectors
from judgments.models import AuditEntry, Job
from judgments.outgoing.rules import read_origins
from tests.builders import NOW, make_access, make_world
from tests.evaluation.builders import make_ranker
from tests.evaluation.live_rankers.engine import make_live, work
from tests.judgments.outgoing.redis_servers import resp3, send, serving_redis
from touchstone.files.errors import FileRefused

REDIS: dict[str, Any] = {
    "method": "REDIS",
    "body": PRESETS["redis_vectors"].body,
    "mapping": PRESETS["redis_vectors"].mapping,
}


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def row(qid: str, *values: float) -> dict[str, object]:
    return {"query_id": qid, "vector": values}


@pytest.fixture
def world(settings, tmp_path):
    settings.HOME = tmp_path
    return make_world(queries=3, documents=4)


def upload(world: Any, content: bytes) -> Job:
    access = make_access(collection=world.collection, username="dora")
    ranker = make_ranker(collection=world.collection, slug="live")
    file = SimpleUploadedFile("v.jsonl", content)
    job = submit_vectors(access=access, ranker=ranker, file=file, at=NOW)
    work()
    job.refresh_from_db()
    return job


def test_vectors_are_read_as_32_bit_floats_also_from_gzip() -> None:
    content = gzip.compress(lines(row("q1", 0.1, -2), row("q2", 1, 3e38)))
    read = list(read_vectors(io.BytesIO(content), name="v.jsonl.gz"))
    assert [(line, qid) for line, qid, _ in read] == [(1, "q1"), (2, "q2")]
    assert np.concatenate([vector for *_, vector in read]).tolist() == pytest.approx(
        [np.float32(0.1), -2.0, 1.0, np.float32(3e38)], rel=0
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "v:1: empty: no vectors."),
        (b"nonsense\n", "v:1:1: json"),
        (lines({"vector": [1]}), "v:1: field: query_id is missing"),
        (lines({"query_id": "q1"}), "v:1: field: vector is not an array"),
        (lines(row("q1")), "v:1: field: vector is not an array"),
        (lines(row("q1", 1e39)), "v:1: field: vector is not an array"),
        (lines({"query_id": "q1", "vector": [True]}), "v:1: field: vector is not an array"),
        (lines(row("q1", 1), row("q1", 2)), "v:2: duplicate: duplicate query “q1”"),
        (lines(row("q1", 1), row("q2", 2, 3)), "v:2: field: 2 numbers; the vectors before have 1."),
    ],
)  # fmt: skip
def test_what_a_file_gets_wrong_names_line_and_rule(content: bytes, problem: str) -> None:
    with pytest.raises(FileRefused) as refused:
        list(read_vectors(io.BytesIO(content), name="v"))
    assert str(refused.value.problems[0]).startswith(problem)


@pytest.mark.django_db
def test_an_unknown_query_refuses_the_whole_file(world) -> None:
    job = upload(world, lines(row("q1", 1), row("who", 2)))
    assert (job.state, QueryVectors.objects.count()) == ("failed", 0)
    assert job.problems[0]["message"] == "the collection has no query “who”."
    assert job.problems[0]["line"] == 2


@pytest.mark.django_db
def test_vectors_get_into_requests_and_a_new_upload_makes_a_new_revision(world, settings) -> None:
    dora = make_access(collection=world.collection, username="dora")
    with serving_redis(send(resp3(1, ("d1", "0", {})))) as server:
        settings.OUTGOING = read_origins([server.entry])
        with pytest.raises(ConfigurationRefused, match="Upload the vectors"):
            make_live(world, server.url, url=server.url, **REDIS)
        assert upload(world, lines(row("q1", 0.5, 1), row("q3", -1, 2))).state == "done"
        revision = make_live(world, server.url, url=server.url, min_answered=0.5, **REDIS)
        assert Configuration.from_json(revision.configuration).vectors == 1
        snapshot = start_snapshot(access=dora, ranker=revision.source.ranker, at=NOW)
        work()
        snapshot.refresh_from_db()
    assert (snapshot.state, snapshot.problem) == ("done", "")
    outcomes = dict(snapshot.answers.values_list("query__qid", "outcome"))
    assert outcomes == {"q1": "ok", "q2": "refused", "q3": "ok"}
    sent = {words[8] for words in server.commands if words[0] == "FT.SEARCH"}
    assert sent == {struct.pack("<2f", 0.5, 1).decode("latin-1"),
                    struct.pack("<2f", -1, 2).decode("latin-1")}  # fmt: skip
    assert upload(world, lines(row("q2", 7))).state == "done"
    last = LiveRevision.objects.get(source=revision.source, number=2)
    assert last.configuration == revision.configuration | {"vectors": 2}
    assert QueryVector.objects.filter(vectors__number=1).count() == 2
    assert AuditEntry.objects.filter(action="live.vectors_imported").count() == 2
