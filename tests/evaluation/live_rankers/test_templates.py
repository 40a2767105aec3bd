"""Values go into parsed JSON and parts of URLs, whatever they contain."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.live_rankers.templates import (
    TemplateRefused,
    Variables,
    fill_json,
    fill_url,
    used_variables,
)

TEXT = st.text(st.characters(codec="utf-8"), max_size=50)


def variables(**given: Any) -> Variables:
    usual: dict[str, Any] = {"text": "a", "id": "q1", "segment": "", "depth": 10}
    return Variables(**(usual | given))


@given(TEXT)
def test_a_text_stays_one_json_value_whatever_it_contains(text):
    filled = fill_json({"query": {"match": "{{text}}"}, "q": "({{text}})"}, variables(text=text))
    assert json.loads(json.dumps(filled)) == {"query": {"match": text}, "q": f"({text})"}


@given(TEXT)
def test_a_text_stays_one_parameter_of_a_url(text):
    url = fill_url("http://a.example/s?q={{text}}&k={{depth}}", variables(text=text))
    parts = urlsplit(url)
    assert (parts.netloc, parts.path, parts.fragment) == ("a.example", "/s", "")
    assert parse_qsl(parts.query, keep_blank_values=True) == [("q", text), ("k", "10")]


def test_a_whole_value_keeps_its_type_and_nothing_is_filled_twice():
    filled = fill_json(
        {"k": "{{ depth }}", "t": "{{text}}", "s": ["{{segment}}", 3, None]},
        variables(text="{{id}}", segment="news"),
    )
    assert filled == {"k": 10, "t": "{{id}}", "s": ["news", 3, None]}


def test_vectors_and_words_of_a_query_are_filled_in_or_refused():
    own = variables(text="wing-flow, @of (air)", vector=(0.5, -1.0))
    filled = fill_json(["{{any_word}}", "({{any_word}})", {"knn": "{{vector}}"}], own)
    assert filled == ["wing|flow|of|air", "(wing|flow|of|air)", {"knn": [0.5, -1.0]}]
    with pytest.raises(TemplateRefused, match="no word"):
        fill_json("{{any_word}}", variables(text="?!"))
    with pytest.raises(TemplateRefused, match="no vector"):
        fill_json("{{vector}}", variables())


@pytest.mark.parametrize("qid", ["..", "."])
def test_no_value_becomes_a_folder_of_a_path(qid):
    with pytest.raises(TemplateRefused, match="part of a path"):
        fill_url("http://a.example/{{id}}/x", variables(id=qid))


def test_a_slash_in_a_value_ends_no_part_of_a_path():
    assert fill_url("http://a.example/{{id}}/x", variables(id="../a?b#c")) == (
        "http://a.example/..%2Fa%3Fb%23c/x"
    )


@pytest.mark.parametrize(
    ("url", "body", "why"),
    [
        ("http://{{text}}.example/", None, "scheme, host or port"),
        ("http://a.example:{{depth}}/", None, "scheme, host or port"),
        ("http://a.example/{{query}}", None, "Unknown variable"),
        ("http://a.example/?q={{text", None, "has no }}"),
        ("http://a.example/?q={{vector}}", None, "in the URL"),
        ("", "[{{vector}}]", "part of a text"),
        ("", {"{{text}}": 1}, "name of a JSON field"),
        ("", [{"a": "{{nope}}"}], "Unknown variable"),
    ],
)
def test_a_template_that_can_not_be_filled_is_refused(url, body, why):
    with pytest.raises(TemplateRefused, match=why):
        used_variables(url=url, body=body)
