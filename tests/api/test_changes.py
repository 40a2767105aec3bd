"""Why numbers changed, over REST: the same as on the pages."""

import pytest
from django.urls import reverse

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Run
from judgments.lists.services import release_version
from judgments.models import SetLook
from tests.api.callers import BOOKS, MAIN, by_token, is_problem
from tests.builders import NOW, World, commit, make_access, make_set, make_world
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    """Two versions, and two runs that differ on q1 and q2."""
    world = make_world()
    (q1, q2, _), (d1, d2, *_) = world.queries, world.documents
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"], "q2": ["d1", "d2"]})
    make_run(
        collection=world.collection,
        rankings={"q1": ["d2", "d1"], "q2": ["d3", "d1"]},
        ranker="lsa",
    )
    commit(judgment_list=world.judgments, grades={(q1, d1): 3, (q2, d1): 3})
    commit(judgment_list=world.judgments, grades={(q1, d1): 0, (q1, d2): 2})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    return world


def address_of(ranker: str, what: str) -> str:
    run = Run.objects.get(ranker__slug=ranker)
    return f"{BOOKS}rankers/{ranker}/runs/{run.public_id}/{what}?list=main"


def test_an_effect_has_every_run_at_both_versions(world):
    found = by_token("dora").get(f"{MAIN}versions/1..head/effect?measure=RR(rel=1)@10").json()
    assert (found["before"], found["after"], found["measure"]) == (1, 2, "RR@10")
    assert {row["ranker"]: (row["before"], row["after"]) for row in found["runs"]} == {
        "bm25": (1.0, 0.75),
        "lsa": (0.5, 0.75),
    }
    assert [row["change"] for row in found["runs"]] == [-0.25, 0.25]
    back = by_token("dora").get(f"{MAIN}versions/head..1/effect?measure=RR@10").json()
    assert [row["change"] for row in back["runs"]] == [0.25, -0.25]


def test_the_moves_of_a_run_name_the_grades_behind_them(world):
    found = by_token("dora").get(address_of("bm25", "moves") + "&since=1&measure=RR@10").json()
    assert (found["since"], found["version"]) == (1, 2)
    assert (found["mean_before"], found["mean_after"]) == (1.0, 0.75)
    (query,) = found["results"]
    assert (query["query_id"], query["before"], query["after"]) == ("q1", 1.0, 0.5)
    assert query["documents"] == [
        {"doc_id": "d1", "rank": 1, "before": 3, "after": 0},
        {"doc_id": "d2", "rank": 2, "before": None, "after": 2},
    ]
    assert (found["inside"], found["outside"], found["next"]) == (1, 0, None)


def test_moved_documents_come_with_ranks_and_grades_in_parts(world):
    client = by_token("dora")
    first = client.get(f"{MAIN}compare/documents?runs=bm25,lsa&measure=RR@10&limit=1").json()
    second = client.get(first["next"]).json()
    assert second["next"] is None
    assert (first["first"]["name"], first["second"]["name"]) == ("bm25/one", "lsa/one")
    assert (first["depth"], first["queries"]) == (10, 2)
    rows = {row["query_id"]: row for row in first["results"] + second["results"]}
    assert rows["q1"]["difference"] == 0.5
    assert rows["q2"]["documents"] == [
        {"doc_id": "d3", "before": None, "after": 1, "grade": None},
        {"doc_id": "d1", "before": 1, "after": 2, "grade": 3},
        {"doc_id": "d2", "before": 2, "after": None, "grade": None},
    ]
    is_problem(client.get(f"{MAIN}compare/documents?runs=bm25"), 422, "two_runs")


def test_a_run_has_the_value_of_every_query(world):
    client = by_token("dora")
    first = client.get(address_of("bm25", "values") + "&measure=RR@10&limit=1").json()
    assert (first["version"], first["measure"], first["mean"], first["n"]) == (2, "RR@10", 0.75, 2)
    assert first["results"] == [
        {"query_id": "q1", "segment": "head", "value": 0.5, "judged": 2, "shown": 2}
    ]
    (second,) = client.get(first["next"]).json()["results"]
    assert (second["query_id"], second["value"]) == ("q2", 1.0)
    assert client.get(address_of("bm25", "values") + "&version=1").json()["version"] == 1
    is_problem(client.get(address_of("bm25", "values") + "&measure=nope"), 422, "bad_measure")
    other = address_of("bm25", "values").replace("/bm25/", "/lsa/")
    is_problem(client.get(other), 404, "not_found")


@pytest.mark.parametrize(
    ("path", "look"),
    [
        ("values", SetLook.Page.REST_RUN),
        ("moves", SetLook.Page.REST_MOVES),
        ("compare/documents", SetLook.Page.REST_DOCUMENTS),
        ("compare/without", SetLook.Page.REST_COMPARISON),
    ],
)
def test_a_look_at_a_held_out_set_is_counted(world, path, look):
    make_set(world=world, qids=["q1"], is_held_out=True)
    address = {
        "values": lambda: address_of("bm25", "values"),
        "moves": lambda: address_of("bm25", "moves") + "&since=1",
    }.get(path, lambda: f"{MAIN}{path}?runs=bm25,lsa")()
    found = by_token("dora").get(f"{address}&set=canaries").json()
    assert (found["set"], found["looks"]) == ("canaries", 1)
    assert SetLook.objects.get().page == look


def test_a_comparison_says_what_changed_by_segment_and_inside_a_set(world):
    make_set(world=world, qids=["q1"])
    asked = f"{MAIN}compare?runs=bm25,lsa&measure=RR@10"
    plain = by_token("dora").get(asked).json()["detail"]
    assert plain["run"] == "lsa/one"
    assert plain["changes"]["queries"] == 2
    assert (plain["changes"]["same_top"], plain["changes"]["same_set"]) == (0, 1)
    assert plain["intended"] is None
    own = by_token("dora").get(f"{asked}&set=canaries").json()["detail"]
    assert own["intended"]["inside"] == {"queries": 1, "changed": 1, "values": 1}
    assert own["intended"]["outside"] == {"queries": 1, "changed": 1, "values": 1}


def test_a_release_says_how_it_is_cited(world, client):
    access = make_access(collection=world.collection)
    release_version(access=access, at=NOW, judgment_list=world.judgments, number=1, name="paper")
    found = by_token("dora").get(f"{MAIN}releases/paper").json()
    assert (found["name"], found["version"]) == ("paper", 1)
    assert found["url"] == "http://testserver" + reverse("version", args=["books", "main", "paper"])
    client.force_login(world.dora, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(found["url"]).context["cited"][0]
    assert (found["citation"], found["bibtex"]) == (page.plain, page.bibtex)
    is_problem(by_token("dora").get(f"{MAIN}releases/autumn"), 404, "not_found")
