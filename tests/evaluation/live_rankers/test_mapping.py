"""Answers of engines are mapped to ranked documents, or refused with the reason."""

import json
from typing import Any

import jmespath
import pytest

from evaluation.live_rankers.mapping import (
    BadAnswer,
    Mapping,
    MappingRefused,
    Row,
    check_mapping,
    map_answer,
    read_answer,
)
from evaluation.live_rankers.presets import PRESETS
from tests.evaluation.live_rankers.examples import EXAMPLES, FAILED, search_answer

PLAIN = Mapping(rows="results", id="id", score="score")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.preset} {one.source[:12]}")
def test_the_preset_of_an_engine_reads_its_published_format(example):
    answer = read_answer(json.dumps(example.answer).encode())
    mapped = map_answer(answer, PRESETS[example.preset].mapping, depth=10)
    assert [(row.id, row.score) for row in mapped.rows] == example.rows
    assert mapped.is_partial == example.is_partial


def test_rows_may_be_a_slice_of_arrays():
    mapping = Mapping(rows="[1][0][2:]", id="[0]", score="[1]")
    check_mapping(mapping)
    answer = read_answer(b'[[0], [[[2], [["_key"], ["_score"]], ["d1", 3], ["d2", 1]]]]')
    mapped = map_answer(answer, mapping, depth=10)
    assert [(row.id, row.score) for row in mapped.rows] == [("d1", 3.0), ("d2", 1.0)]


@pytest.mark.parametrize(("preset", "answer"), FAILED)
def test_an_error_that_an_engine_reports_in_an_answer_is_never_an_empty_result(preset, answer):
    try:
        mapped = map_answer(answer, PRESETS[preset].mapping, depth=10)
    except BadAnswer:
        return
    assert mapped.is_partial


def test_every_preset_has_expressions_that_can_be_used():
    for preset in PRESETS.values():
        check_mapping(preset.mapping)


def test_documents_come_along():
    mapped = map_answer(search_answer(), PRESETS["elasticsearch"].mapping, depth=10)
    assert mapped.rows[0] == Row("d1", 1.3862942, "One", "First text", "https://b.example/1")


def test_rows_may_be_arrays_and_ids_numbers():
    answer = read_answer(b'[[0, 1.5e9, 0.01], [[[2], [["_id", "Int"]], [7, 0.5], [9, 0.25]]]]')
    mapping = Mapping(rows="[1][0][2:]", id="[0]", score="[1]")
    assert [(row.id, row.score) for row in map_answer(answer, mapping, depth=10).rows] == [
        ("7", 0.5),
        ("9", 0.25),
    ]


@pytest.mark.parametrize("expression", ["id", '"a b"', "_source.a.b", 'x."y z"', "a.b[0].c"])
def test_a_path_of_names_selects_what_jmespath_does(expression):
    for value in (
        {"id": "1", "a b": "2", "_source": {"a": {"b": "3"}}, "x": {"y z": "4"}},
        {"_source": ["a"], "x": None, "a": {"b": [{"c": "5"}]}},
        {"_source": {"a": "text"}},
    ):
        given: Any = {"results": [{"doc": value, "n": "n1"}]}
        mapping = Mapping(rows="results", id="n", title=f"doc.{expression}")
        (row,) = map_answer(given, mapping, depth=1).rows
        assert row.title == (jmespath.search(expression, value) or "")


def test_no_more_rows_than_asked_for():
    answer: Any = {"results": [{"id": str(n), "score": -n} for n in range(50)]}
    assert [row.id for row in map_answer(answer, PLAIN, depth=3).rows] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html>", "Not JSON"),
        (b'{"results": [', "Not JSON"),
        (b'{"results": [{"id": "a", "score": NaN}]}', "NaN"),
        (b'{"results": [{"id": "a", "score": Infinity}]}', "Infinity"),
        (b'{"results": [{"id": "a", "score": 1e999}]}', "a number out of range"),
        (b'{"results": [{"id": "a", "score": ' + b"9" * 400 + b"}]}", "a number out of range"),
        (b'{"results": [{"id": "a", "score": ' + b"9" * 5000 + b"}]}", "Not JSON"),
        (b'{"results": [{"id": "a", "score": "1"}]}', "selects a text"),
        (b'{"results": [{"id": "a", "score": true}]}', "selects true or false"),
        (b'{"results": [{"id": "a"}]}', "selects nothing"),
        (b'{"results": [{"score": 1}]}', "has no id"),
        (b'{"results": [{"id": true, "score": 1}]}', "has no id"),
        (b'{"results": [{"id": "", "score": 1}]}', "is empty"),
        (b'{"results": [{"id": "a b", "score": 1}]}', "contains a blank"),
        (b'{"results": [{"id": "a", "score": 1}, {"id": "a", "score": 1}]}', "earlier result"),
        (b'{"results": [{"id": "1", "score": 1}, {"id": 1, "score": 2}]}', "earlier result"),
        (b'{"results": null}', "selects nothing"),
        (b'{"results": {"id": "a"}}', "selects an object"),
        (b"[" * 100_000, "Not JSON"),
        (b"\xff\xfe\x00", "Not JSON"),
        (b"", "Not JSON"),
    ],
)
def test_an_answer_that_is_not_as_described_is_refused_with_the_reason(body, why):
    with pytest.raises(BadAnswer, match=why):
        map_answer(read_answer(body), PLAIN, depth=10)


@pytest.mark.parametrize(
    ("field", "expression"),
    [
        ("rows", ""),
        ("id", "a["),
        ("score", "x" * 501),
        ("rows", "|".join(["[@,@][]"] * 20)),
    ],
)
def test_an_expression_that_is_none_or_costs_too_much_is_named(field, expression):
    mapping = Mapping(**({"rows": "a", "id": "b"} | {field: expression}))
    with pytest.raises(MappingRefused) as refused:
        check_mapping(mapping)
    assert refused.value.field == field


def test_a_function_that_does_not_exist_is_named_when_it_is_called():
    with pytest.raises(BadAnswer, match="nofunction"):
        map_answer({}, Mapping(rows="nofunction(@)", id="id"), depth=1)
