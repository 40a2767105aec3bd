"""TF-Ranking's files, taken apart by a reader of their own, and as TensorFlow itself read them."""

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.record_elwc import CSV, PAIRS, RECORDED
from touchstone.errors import DomainError
from touchstone.files.elwc import crc32c
from touchstone.files.learning import Features, read_features, write_learning
from touchstone.files.rating_rows import JudgedPair

KINDS = {1: "bytes", 2: "floats", 3: "integers"}
Found = dict[str, object]


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message whose wire type is 2, which is all that ELWC has."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        assert tag & 7 == 2
        size, at = varint(message, at)
        yield tag >> 3, message[at : at + size]
        at += size
    assert at == len(message)


def varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte, at = data[at], at + 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def records(file: bytes) -> Iterator[bytes]:
    """The records of a TFRecord file, whose checksums hold."""
    at = 0
    while at < len(file):
        (size,) = struct.unpack_from("<Q", file, at)
        content = file[at + 12 : at + 12 + size]
        assert file[at + 8 : at + 12] == masked(file[at : at + 8])
        assert file[at + 12 + size : at + 16 + size] == masked(content)
        yield content
        at += size + 16


def masked(data: bytes) -> bytes:
    """By the words of tensorflow/core/lib/hash/crc32c.h: rotated right by 15 bits, and moved."""
    checksum = crc32c(data)
    rotated = ((checksum >> 15) | (checksum << 17)) & 0xFFFFFFFF
    return ((rotated + 0xA282EAD8) % 2**32).to_bytes(4, "little")


def example(message: bytes) -> Found:
    ((number, features),) = fields(message)
    assert number == 1
    found: Found = {}
    for entry in (content for _, content in fields(features)):
        parts = dict(fields(entry))
        ((kind, values),) = fields(parts[2])
        ((_, value),) = fields(values)
        assert parts[1].decode() not in found
        found[parts[1].decode()] = {
            "bytes": bytes.decode,
            "floats": lambda data: struct.unpack("<f", data)[0],
            "integers": lambda data: varint(data, 0)[0],
        }[KINDS[kind]](value)
    return found


def read(file: bytes) -> list[dict[str, Any]]:
    """Every query with its documents."""
    found = []
    for record in records(file):
        parts = list(fields(record))
        (context,) = (content for number, content in parts if number == 2)
        documents = [example(content) for number, content in parts if number == 1]
        found.append({"context": example(context), "examples": documents})
    return found


def written(pairs: list[JudgedPair], features: Features) -> bytes:
    with zipfile.ZipFile(io.BytesIO(write_learning("tfranking", pairs, features))) as archive:
        return archive.read("judgments.tfrecord")


def test_the_checksum_is_that_of_the_standard() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


@given(st.binary(max_size=3_000), st.integers(0, 3_000))
def test_the_checksum_of_long_content_is_that_of_its_bytes_one_by_one(content, more) -> None:
    content += bytes(place % 251 for place in range(more))
    checksum = 0xFFFFFFFF
    for byte in content:  # the definition: bit by bit, by the polynomial reversed
        checksum ^= byte
        for _ in range(8):
            checksum = checksum >> 1 ^ (0x82F63B78 if checksum & 1 else 0)
    assert crc32c(content) == checksum ^ 0xFFFFFFFF


def test_a_query_is_a_record_with_its_documents() -> None:
    assert read(written(PAIRS, read_features(io.BytesIO(CSV), name="file"))) == [
        {
            "context": {"query_id": "q1"},
            "examples": [
                {"doc_id": "d1", "relevance": 3, "bm25": 0.5, "age": 3.0},
                {"doc_id": "d2", "relevance": 0, "bm25": pytest.approx(1e-3)},
            ],
        },
        {
            "context": {"query_id": "ö2"},
            "examples": [{"doc_id": "d1", "relevance": 200, "bm25": 2.0, "age": -1.0}],
        },
    ]


def test_tensorflow_reads_from_these_very_bytes_what_was_written() -> None:
    recorded = json.loads(Path(RECORDED).read_text())
    file = written(PAIRS, read_features(io.BytesIO(CSV), name="file"))
    assert hashlib.sha256(file).hexdigest() == recorded["sha256"], "record it anew"
    assert read(file) == recorded["read"]


ids = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=200)
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(
    st.dictionaries(
        st.tuples(ids, ids),
        st.tuples(st.integers(0, 2**31 - 1), st.lists(st.none() | numbers, min_size=2, max_size=2)),
        min_size=1,
        max_size=12,
    )
)
def test_what_is_written_is_read_again(judged) -> None:
    names = ("a", "größe")
    texts = {
        pair: tuple("" if value is None else repr(value) for value in values)
        for pair, (_, values) in judged.items()
    }
    pairs = [JudgedPair(query, "", doc, grade) for (query, doc), (grade, _) in judged.items()]
    found = {
        (one["context"]["query_id"], own["doc_id"]): own
        for one in read(written(pairs, Features(names, texts)))
        for own in one["examples"]
    }
    assert found == {
        (query, doc): {"doc_id": doc, "relevance": grade}
        | {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for (query, doc), (grade, values) in judged.items()
    }


@pytest.mark.parametrize(
    ("name", "value", "said"), [("relevance", "1", "relevance"), ("a", "1e39", "q1")]
)
def test_what_the_file_has_no_room_for_is_refused(name, value, said) -> None:
    with pytest.raises(DomainError, match=said) as caught:
        written([JudgedPair("q1", "", "d1", 1)], Features((name,), {("q1", "d1"): (value,)}))
    assert caught.value.code == "feature_refused"
