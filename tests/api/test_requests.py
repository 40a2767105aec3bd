"""Requests that are not as they should be: each is a problem, none is an error of the server."""

import json
import time

import pytest
from django.test import Client

from judgments.rest import parsing, uploads
from tests.api.callers import (
    BOOKS,
    MAIN,
    ROOT,
    by_session,
    by_token,
    is_problem,
    post_file,
    post_json,
)

JSON = "application/json"


def send(client: Client, path: str, body: bytes, kind: str = JSON, method: str = "POST"):
    return client.generic(method, path, body, content_type=kind)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"1",
        b'"text"',
        b"true",
        b"[" * 100_000,
        b'{"slug":' * 100_000,
        b'{"slug": ' + b"9" * 100_000 + b"}",
        b'{"slug": NaN}',
        b'{"slug": Infinity}',
        b'{"slug": 1e999}',
        b'{"slug": "\\u0000"}',
        b'{"slug": "\\ud800"}',
        b'{"\\ud800": 1}',
        b'{"slug": "a", "name": "\\udfff"}',
        b'{"slug": "\xff"}',
        b"\xff\xfe{\x00}\x00",
        b'\xef\xbb\xbf{"slug": "a"}',
        b'{"slug": {}}',
        b'{"slug": ["a"]}',
        b'{"slug": "A B"}',
        b'{"slug": ""}',
        b'{"slug": "a\\nb"}',
        b'{"slug": "' + b"a" * 65 + b'"}',
        b'{"slug": "a", "name": true}',
        b'{"slug": "a", "colour": "red"}',
        b'{"slug": "a", "role": "lead"}',
        b'{"slug": "a", "slug": "b"}',
        b'{"name": "-"}',
        b'{"description": "x"}',
        b"\x1f\x8b\x08\x00",
        b"a" * (parsing.MAX_BYTES + 1),
    ],
    ids=range(34),
)
def test_a_body_that_is_not_what_it_should_be_is_a_problem(world, body):
    response = send(by_token("ada"), f"{ROOT}collections/", body)
    assert response.status_code == 400, response.content
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["code"] in ("parse_error", "invalid")


def test_a_name_that_is_a_number_in_json_is_taken_as_its_text(world):
    made = post_json(by_token("ada"), f"{ROOT}collections/", {"slug": "a", "name": 7})
    assert made.json()["name"] == "7"


def test_each_wrong_field_is_named(world):
    response = post_json(by_token("ada"), f"{ROOT}collections/", {"slug": "A B", "name": "x" * 201})
    problem = is_problem(response, 400, "invalid")
    assert set(problem["errors"]) == {"slug", "name"}


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "", "nonsense", "a/b/c", "\x00"])
def test_a_body_of_another_media_type_is_refused(world, kind):
    response = send(by_token("ada"), f"{ROOT}collections/", b'{"slug": "a"}', kind)
    is_problem(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("kind", ["application/xml", "image/png", "application/json", "nonsense"])
def test_a_file_of_another_media_type_is_refused(world, kind):
    response = post_file(by_token("ada"), f"{BOOKS}queries/", b"n\tnew\n", kind)
    is_problem(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "NONSENSE"])
@pytest.mark.parametrize("path", [f"{ROOT}collections/", f"{MAIN}versions/1/qrels", ROOT])
def test_a_method_that_an_address_does_not_know_is_a_problem(world, path, method):
    response = send(by_token("ada"), path, b"", method=method)
    is_problem(response, 405, "method_not_allowed")
    assert "GET" in response["Allow"]


def test_head_is_get_without_a_body(world):
    response = by_token("ada").head(f"{BOOKS}queries/")
    assert response.status_code == 200
    assert response.content == b""


@pytest.mark.parametrize(
    "accept", ["*/*", "application/json", "text/html", "text/plain", "image/png", "nonsense", ""]
)
def test_each_address_answers_in_its_one_form_whatever_is_accepted(world, accept):
    client = by_token("ada")
    listed = client.get(f"{BOOKS}queries/", headers={"Accept": accept})
    assert (listed.status_code, listed["Content-Type"]) == (200, "application/json")
    qrels = client.get(f"{MAIN}versions/0/qrels", headers={"Accept": accept})
    assert (qrels.status_code, qrels["Content-Type"]) == (200, "text/plain; charset=utf-8")
    is_problem(client.get(f"{MAIN}versions/9/qrels", headers={"Accept": accept}), 404, "not_found")


@pytest.mark.parametrize(
    "query",
    [
        "colour=red",
        "Limit=1",
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=ten",
        "limit=",
        "limit=1.5",
        "limit=1&limit=2",
        "limit=1e3",
        "limit=" + "9" * 5000,
        "after=-1",
        "after=99999999999999999999",
        "after=%00",
        "after=%ED%A0%80",
        "format=xml",
        "segment=%00",
        "%00=1",
        "%FF=1",
    ],
)
def test_a_parameter_that_is_unknown_or_wrong_is_named(world, query):
    response = by_token("ada").get(f"{BOOKS}queries/?{query}")
    assert response.status_code == 400, response.content
    problem = response.json()
    assert problem["code"] in ("invalid", "parse_error")


@pytest.mark.parametrize(
    "path",
    [
        "nonsense",
        "collections/books/nonsense",
        "collections/%00/",
        "collections/books%00/queries/",
        "collections/bo/oks/queries/",
        "collections/books/documents/d%00",
        "collections/books/documents/d9",
        "collections/books/documents/%ED%A0%80",
        "collections/books/documents/" + "d" * 3000,
        "collections/books/jobs/1",
        "collections/books/jobs/00000000-0000-0000-0000-000000000000",
        "collections/books/lists/main/versions/1",
        "collections/books/lists/main/versions/-1",
        "collections/books/lists/main/versions/99999999999999999999",
        "collections/books/lists/main/versions/%00",
        "collections/books/lists/main/versions/0..1",
        "collections/books/lists/main/versions/0..0..0",
        "collections/books/lists/main/versions/..",
        "collections/books/lists/main/versions/head/qrels",
        "collections/" + "b" * 5000 + "/queries/",
        "..",
        "collections/a%0Ab/queries/",
        "../tokens",
        "%2e%2e/%2e%2e/etc/passwd",
        "\ud83d\ude00",
    ],
    ids=range(25),
)
def test_an_address_that_leads_nowhere_is_a_problem(world, path):
    path = path.encode("utf-16", "surrogatepass").decode("utf-16")
    response = by_token("ada").get(ROOT + path)
    if "head/qrels" in path:  # the head of an empty list is the empty list
        assert (response.status_code, response.content) == (200, b"")
    else:
        is_problem(response, 404, "not_found")


def test_whoever_has_not_said_who_they_are_learns_of_no_address(world):
    is_problem(Client().get(f"{ROOT}nonsense"), 401, "not_authenticated")


def test_a_slash_too_many_or_too_few_is_forgiven(world):
    client = by_token("ada")
    assert client.get(f"{ROOT}collections").json() == client.get(f"{ROOT}collections/").json()
    assert client.get(f"{MAIN}").json() == client.get(MAIN.removesuffix("/")).json()
    assert post_json(client, f"{BOOKS}lists", {"slug": "x"}).status_code == 201
    assert post_file(client, f"{BOOKS}queries", "n\tnew\n").status_code == 201
    is_problem(client.put(f"{ROOT}collections"), 405, "method_not_allowed")
    is_problem(Client().get(f"{ROOT}collections"), 401, "not_authenticated")


def test_the_forgiven_slash_opens_no_page_without_a_sign_in(world):
    is_problem(Client().get(f"{ROOT}docs/"), 401, "not_authenticated")
    is_problem(by_token("ada").get(f"{ROOT}docs/"), 404, "not_found")


def test_a_string_that_never_ends_is_looked_at_once(world):
    began = time.monotonic()
    for body in (b'"' + b'\\"' * 900_000, b'{"a":"' + b"\\\\" * 900_000, b'"' * 1_900_000):
        is_problem(send(by_token("ada"), f"{ROOT}collections/", body), 400, "parse_error")
    assert time.monotonic() - began < 20  # looking at each place again would take hours


def test_brackets_inside_a_string_have_no_depth(world):
    made = post_json(by_token("ada"), f"{ROOT}collections/", {"slug": "a", "name": "[{" * 50})
    assert made.status_code == 201


def test_a_form_is_no_json(world):
    response = by_token("ada").post(f"{ROOT}collections/", {"slug": "a"})
    is_problem(response, 415, "unsupported_media_type")


MULTIPART = "multipart/form-data; boundary=b"


def part(name: str, value: str, file_name: str | None = None) -> str:
    file = "" if file_name is None else f'; filename="{file_name}"'
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n{value}\r\n'


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (part("file", "n\tnew", "f.tsv") + "--b--\r\n", 201),
        (part("file", "n\tnew", "../../etc/passwd") + "--b--\r\n", 201),
        (part("file", "n\tnew", "\x01\u202e" + "x" * 300) + "--b--\r\n", 201),
        (part("file", "n\tnew", "f.tsv"), 400),
        (part("file", "n\tnew") + "--b--\r\n", 400),
        (part("file", "n\tnew", "") + "--b--\r\n", 400),
        (part("other", "n\tnew", "f.tsv") + "--b--\r\n", 400),
        (part("file", "n\tnew", "f") + part("file", "m\tnew", "g") + "--b--\r\n", 400),
        (part("file", "n\tnew", "f") + part("two", "m\tnew", "g") + "--b--\r\n", 400),
        (part("file", "n\tnew", "f") + part("colour", "red") + "--b--\r\n", 400),
        (part("file", "n\tnew", "f") + part("\x00", "\x00") + "--b--\r\n", 400),
        (part("file", "", "f.tsv") + "--b--\r\n", 422),
        ("--b--\r\n", 400),
        ("nonsense", 400),
        ("", 400),
        ("--b\r\n" * 2000, 400),
        ("".join(part(f"f{n}", "1") for n in range(6000)) + "--b--\r\n", 400),
        ("".join(part(f"f{n}", "1", "f") for n in range(200)) + "--b--\r\n", 400),
        (part("file", "n\tnew", "f") + part("x", "y" * 3_000_000) + "--b--\r\n", 413),
    ],
    ids=range(19),
)
@pytest.mark.parametrize("how", [by_token, by_session])
def test_a_form_with_a_file_is_taken_or_refused_but_never_breaks(world, how, body, status):
    response = send(how("ada"), f"{BOOKS}queries/", body.encode(), MULTIPART)
    assert response.status_code == status, response.content
    if status >= 400:
        assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "kind",
    ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\xff"],
)
def test_a_form_without_a_sound_boundary_is_a_problem(world, kind):
    response = send(by_token("ada"), f"{BOOKS}queries/", b"--b--", kind)
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"


def test_a_body_larger_than_a_file_may_be_is_not_even_read(world, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_BYTES", 10)
    response = post_file(by_token("ada"), f"{BOOKS}queries/", "n\tmore than ten bytes\n")
    is_problem(response, 413, "too_large")


def test_a_body_in_chunks_is_asked_for_with_its_length(world):
    client = by_token("ada")
    response = post_file(client, f"{BOOKS}queries/", "n\tnew\n", Transfer_Encoding="chunked")
    is_problem(response, 411, "length_required")


@pytest.mark.parametrize("length", ["nonsense", "-1", "9" * 30, ""])
def test_a_length_that_is_none_is_a_problem(world, length):
    response = by_token("ada").generic(
        "POST", f"{BOOKS}queries/", b"n\tnew\n", content_type="text/plain", CONTENT_LENGTH=length
    )
    assert response.status_code in (400, 413, 422)
    assert response["Content-Type"] == "application/problem+json"


def test_numbers_beyond_any_column_are_a_problem(world):
    response = post_json(by_token("ada"), f"{MAIN}releases/", {"name": "a", "version": 10**40})
    is_problem(response, 400, "invalid")


def test_problems_are_json_that_anybody_can_read(world):
    response = by_token("ada").get(f"{BOOKS}queries/?a=1&b=2")
    assert set(json.loads(response.content)) == {
        "type", "title", "status", "code", "detail", "errors",
    }  # fmt: skip
