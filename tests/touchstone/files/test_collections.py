"""Queries and documents, as their readers give them."""

import gzip
import io
import json

import pytest
from django.db import models

from judgments.models import Document, Query
from touchstone.files.collections import (
    MAX_SEGMENT_CHARACTERS,
    MAX_WEIGHT,
    DocumentRecord,
    QueryRecord,
    read_documents,
    read_queries,
)
from touchstone.files.errors import FileRefused
from touchstone.files.ids import MAX_ID_CHARACTERS
from touchstone.files.reading import Limits


def queries_of(text: str) -> list[QueryRecord]:
    return list(read_queries(io.BytesIO(text.encode()), name="queries"))


def documents_of(text: str) -> list[DocumentRecord]:
    return list(read_documents(io.BytesIO(text.encode()), name="documents"))


def problems_of(reader: object, text: str) -> list[str]:
    assert callable(reader)
    with pytest.raises(FileRefused) as refused:
        reader(text)
    return [str(problem) for problem in refused.value.problems]


def test_queries_are_read_from_two_columns_without_a_header() -> None:
    assert queries_of("q1\thow to sort a list\n\nq2\twhat is “None”?\r\n") == [
        QueryRecord(query_id="q1", text="how to sort a list", line=1),
        QueryRecord(query_id="q2", text="what is “None”?", line=3),
    ]


def test_queries_are_read_by_the_names_of_a_header() -> None:
    text = "ID\tweight\tText\tsegment\tdescription\nq1\t2.5\tsort\thead\tin place\nq2\t\tmap\t\t\n"
    assert queries_of(text) == [
        QueryRecord(
            query_id="q1",
            text="sort",
            description="in place",
            segment="head",
            weight=2.5,
            line=2,
        ),
        QueryRecord(query_id="q2", text="map", line=3),
    ]


@pytest.mark.parametrize("name", ["query_id", "_id", "id"])
def test_queries_are_read_from_json_lines(name: str) -> None:
    row: dict[str, object] = {
        name: "q1",
        "text": "sort",
        "description": None,
        "weight": 3,
        "metadata": {},
    }
    assert queries_of(json.dumps(row)) == [
        QueryRecord(query_id="q1", text="sort", weight=3.0, line=1)
    ]


def test_a_query_without_a_text_has_its_title_as_one() -> None:
    (query,) = queries_of('{"id": 7, "title": "sort"}')
    assert (query.query_id, query.text) == ("7", "sort")


def test_documents_keep_what_they_have_besides_in_fields() -> None:
    row = {"doc_id": "d", "id": "x", "title": "T", "text": "a\n\tb", "url": "u", "price": [1, 0.5]}
    assert documents_of(json.dumps(row)) == [
        DocumentRecord(
            doc_id="d",
            title="T",
            text="a\n\tb",
            url="u",
            fields={"id": "x", "price": [1, 0.5]},
            line=1,
        )
    ]


def test_documents_are_read_from_columns_and_leave_empty_cells_out() -> None:
    assert documents_of("d1\tsome text\n") == [
        DocumentRecord(doc_id="d1", text="some text", fields={}, line=1)
    ]
    assert documents_of("doc_id\ttitle\tbrand\nd1\tT\tB\nd2\tU\t\n") == [
        DocumentRecord(doc_id="d1", title="T", fields={"brand": "B"}, line=2),
        DocumentRecord(doc_id="d2", title="U", fields={}, line=3),
    ]


def test_a_file_may_be_gzipped_and_begin_with_a_byte_order_mark() -> None:
    content = gzip.compress("\ufeffid\ttext\n1\tx\n".encode())
    (query,) = read_queries(io.BytesIO(content), name="q.gz")
    assert query.query_id == "1"


def test_an_id_that_is_there_twice_is_refused_with_both_lines() -> None:
    assert problems_of(documents_of, '{"id": "a"}\n{"id": "b"}\n{"_id": "a"}\n') == [
        "documents:3: duplicate: “a” is already on line 1."
    ]


def test_every_problem_is_named_and_nothing_follows_the_first() -> None:
    content = io.BytesIO(b"a\tx\nb\t\nc\tz\nd e\tx\nf\n")
    taken: list[str] = []
    with pytest.raises(FileRefused) as refused:
        taken.extend(query.query_id for query in read_queries(content, name="q"))
    assert [(p.line, p.rule) for p in refused.value.problems] == [
        (2, "text"),
        (4, "id"),
        (5, "columns"),
    ]


def test_only_records_before_the_first_problem_are_given() -> None:
    records = read_queries(io.BytesIO(b"a\tx\nb\t\nc\tz\n"), name="q")
    assert next(records).query_id == "a"
    with pytest.raises(FileRefused):
        next(records)


def test_more_ids_than_fit_into_memory_are_refused() -> None:
    content = io.BytesIO(b"".join(b"%d\tx\n" % number for number in range(1000)))
    with pytest.raises(FileRefused) as refused:
        list(read_queries(content, name="q", limits=Limits(memory=50_000)))
    (problem,) = refused.value.problems
    assert problem.rule == "too-much"
    assert 200 < problem.line < 400


def test_what_a_file_may_hold_fits_into_the_tables() -> None:
    assert Query._meta.get_field("qid").max_length == MAX_ID_CHARACTERS
    assert Query._meta.get_field("segment").max_length == MAX_SEGMENT_CHARACTERS
    assert Document._meta.get_field("docid").max_length == MAX_ID_CHARACTERS
    (weights,) = (c for c in Query._meta.constraints if c.name == "query_weight_positive_finite")
    assert isinstance(weights, models.CheckConstraint)
    assert weights.condition == models.Q(weight__gt=0, weight__lt=MAX_WEIGHT)
