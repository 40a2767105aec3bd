"""All per-query values of runs in one answer, for notebooks."""

import csv
import io

import pytest
from django.core.cache import cache
from django.test import Client
from pyarrow import parquet

from evaluation.diagnosis import list_values
from judgments.rest import tables
from tests.api.callers import BOOKS, MAIN, by_token, is_problem, post_json
from tests.builders import commit
from tests.evaluation.builders import make_run

VALUES = f"{MAIN}values"


@pytest.fixture(autouse=True)
def two_runs(world) -> None:
    """`bad` has the one relevant document second in q1 and does not answer q2; q3 is not judged."""
    cache.clear()
    d1 = world.documents[0]
    commit(judgment_list=world.judgments, grades=dict.fromkeys(((q, d1) for q in world.queries), 3))
    commit(judgment_list=world.judgments, grades={(world.queries[2], d1): None})
    good = {"q1": ("d1", "d2"), "q2": ("d1", "d2")}
    make_run(collection=world.collection, rankings=good, ranker="good", name="old")
    make_run(collection=world.collection, rankings=good | {"q3": ("d1",)}, ranker="good", name="r1")
    make_run(collection=world.collection, rankings={"q1": ("d2", "d1")}, ranker="bad", name="r1")


def rows(body: dict[str, list[dict[str, object]]]) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in body["results"]]


def test_every_value_of_every_newest_run_comes_at_once(world):
    body = by_token("dora").get(f"{VALUES}?measures=RR@10,P@1").json()
    assert (body["version"], body["measures"]) == (2, ["RR@10", "P@1"])
    assert body["runs"] == ["good/r1", "bad/r1"]
    assert [*body["results"][0]] == ["run", "query_id", "measure", "value"]
    assert rows(body) == [
        ("good/r1", "q1", "RR@10", 1.0),
        ("good/r1", "q2", "RR@10", 1.0),
        ("good/r1", "q1", "P@1", 1.0),
        ("good/r1", "q2", "P@1", 1.0),
        ("bad/r1", "q1", "RR@10", 0.5),
        ("bad/r1", "q2", "RR@10", 0.0),
        ("bad/r1", "q1", "P@1", 0.0),
        ("bad/r1", "q2", "P@1", 0.0),
    ]


def test_runs_and_a_version_are_chosen_and_what_is_not_in_the_mean_is_null(world):
    asked = "measures=RR(queries='returned')@10&runs=bad,good/old&version=1"
    body = by_token("dora").get(f"{VALUES}?{asked}").json()
    assert (body["version"], body["runs"]) == (1, ["bad/r1", "good/old"])
    assert [row[3] for row in rows(body)] == [0.5, None, None, 1.0, 1.0, None]


@pytest.mark.parametrize(
    ("query", "accept", "is_csv"),
    [
        ("&format=csv", "application/json", True),
        ("", "text/csv", True),
        ("", "text/csv;q=0.5, application/json", False),
        ("&format=json", "text/csv", False),
        ("", "*/*", False),
    ],
)
def test_the_form_is_what_the_address_or_else_accept_says(world, query, accept, is_csv):
    client: Client = by_token("dora")
    response = client.get(f"{VALUES}?measures=RR@10{query}", headers={"Accept": accept})
    assert response["Content-Type"].startswith("text/csv" if is_csv else "application/json")


def test_csv_has_the_same_rows_and_no_formula(world):
    rankings = {"q1": ("d2", "d3", "d1")}
    make_run(collection=world.collection, rankings=rankings, ranker="third", name="=1+1")
    response = by_token("dora").get(f"{VALUES}?measures=RR@10&format=csv&runs=bad,third/=1%2B1")
    table = list(csv.reader(io.StringIO(response.getvalue().decode())))
    assert table == [
        ["run", "query_id", "measure", "value"],
        ["bad/r1", "q1", "RR@10", "0.5"],
        ["bad/r1", "q2", "RR@10", "0.0"],
        ["third/=1+1", "q1", "RR@10", "0.3333333333333333"],
        ["third/=1+1", "q2", "RR@10", "0.0"],
    ]


@pytest.mark.parametrize("accept", ["application/vnd.apache.parquet", ""])
def test_parquet_has_the_same_rows(world, accept):
    named = "" if accept else "&format=parquet"
    address = f"{VALUES}?measures=RR(queries='returned')@10&version=1"
    response = by_token("dora").get(f"{address}{named}", headers={"Accept": accept or "*/*"})
    assert response["Content-Disposition"] == 'attachment; filename="books-main-1-values.parquet"'
    table = parquet.read_table(io.BytesIO(response.content))
    assert table.to_pylist() == by_token("dora").get(address).json()["results"]
    assert table.schema.metadata[b"title"] == b"books/main, version 1"


def test_a_server_that_cannot_write_parquet_says_so(world, monkeypatch):
    monkeypatch.setattr(tables, "can_write_parquet", lambda: False)
    is_problem(by_token("dora").get(f"{VALUES}?format=parquet"), 422, "no_parquet")
    accepting = {"Accept": "application/vnd.apache.parquet"}
    response = by_token("dora").get(VALUES, headers=accepting)
    assert response["Content-Type"].startswith("application/json")


def test_a_list_without_judgments_has_no_values(world):
    post_json(by_token("ada"), f"{BOOKS}lists/", {"slug": "empty"})
    body = by_token("dora").get(f"{BOOKS}lists/empty/values?measures=RR@10").json()
    assert (body["version"], body["results"]) == (0, [])


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("runs=nope", 422, "no_run"),
        ("measures=nope", 422, "bad_measure"),
        ("version=9", 404, "not_found"),
        ("format=xml", 400, "invalid"),
        ("set=canaries", 400, "invalid"),
    ],
)
def test_what_makes_no_sense_is_refused(world, query, status, code):
    is_problem(by_token("dora").get(f"{VALUES}?{query}"), status, code)


def test_too_many_values_are_refused_before_they_are_computed(world, monkeypatch):
    monkeypatch.setattr(list_values, "MOST_VALUES", 3)
    client = by_token("dora")
    is_problem(client.get(f"{VALUES}?measures=RR@10"), 422, "too_many_values")
    assert client.get(f"{VALUES}?measures=RR@10&runs=bad").status_code == 200


def test_annotators_do_not_see_it(world):
    assert by_token("ben").get(VALUES).status_code == 404
