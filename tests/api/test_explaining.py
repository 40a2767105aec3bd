"""Where a number comes from, over REST: rank by rank, and in every tool's dialect."""

import pytest
from django.core.cache import cache

from evaluation.models import Run
from evaluation.tasks import compute_tools
from tests.api.callers import BOOKS, MAIN, by_token, is_problem
from tests.builders import World, commit, make_world
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


@pytest.fixture
def world() -> World:
    """Of q1 d1 and d2 are judged; bm25 has them second and first, lsa answers q1 alone."""
    world = make_world()
    (q1, q2, _), (d1, d2, *_) = world.queries, world.documents
    rankings = {"q1": ["d2", "d1", "d3"], "q2": ["d1", "d2"]}
    make_run(collection=world.collection, rankings=rankings)
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]}, ranker="lsa")
    commit(judgment_list=world.judgments, grades={(q1, d1): 3, (q1, d2): 1, (q2, d2): 2})
    return world


def ask(ranker: str, what: str, query: str = "", user: str = "dora"):
    run = Run.objects.get(ranker__slug=ranker)
    address = f"{BOOKS}rankers/{ranker}/runs/{run.public_id}/{what}?list=main"
    return by_token(user).get(f"{address}&{query}" if query else address)


def test_every_rank_says_what_it_adds_to_the_value(world):
    found = ask("bm25", "explain", "query=q1&measures=nDCG@2,RR(rel=2)@10").json()
    ndcg, rr = found["measures"]
    assert (found["version"], found["judged"], found["next"]) == (1, 2, None)
    first, second, third = found["results"]
    assert (first["doc_id"], first["grade"], first["rank"]) == ("d2", 1, 1)
    assert first["measures"]["nDCG@2"] == {
        "rank": 1, "gain": 1.0, "discount": 1.0, "contribution": 1.0,
    }  # fmt: skip
    parts = [row["measures"]["nDCG@2"]["contribution"] for row in (first, second)]
    assert sum(parts) == ndcg["dcg"]
    assert ndcg["dcg"] / ndcg["ideal_dcg"] == ndcg["value"]
    assert third["grade"] is None
    assert third["measures"]["nDCG@2"]["contribution"] is None  # behind the cutoff
    assert (rr["value"], rr["dcg"]) == (0.5, None)
    assert second["measures"]["RR(rel=2)@10"]["contribution"] == 0.5
    ideal = found["ideals"][0]
    assert ideal["measures"][0] == "nDCG@2"
    assert [(one["doc_id"], one["grade"], one["found_at"]) for one in ideal["ranks"]] == [
        ("d1", 3, 2), ("d2", 1, 1),
    ]  # fmt: skip


def test_long_rankings_come_in_parts(world):
    whole = ask("bm25", "explain", "query=q1").json()
    part = ask("bm25", "explain", "query=q1&limit=2").json()
    rest = by_token("dora").get(part["next"]).json()
    assert part["results"] + rest["results"] == whole["results"]
    assert rest["next"] is None


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("query=q1&k=3", 400), ("query=q9", 404), ("query=q1&measures=nope", 422)],
)
def test_what_can_not_be_explained_is_a_problem(world, query, status):
    answer = ask("bm25", "explain", query)
    assert is_problem(answer, status, answer.json()["code"])


def test_a_run_has_the_number_that_every_tool_would_print(world):
    waiting = ask("lsa", "rosetta", "k=5").json()
    assert (waiting["computing"], waiting["dialects"]) == (True, [])
    compute_tools(world.judgments.pk, 1, 5, Run.objects.get(ranker__slug="lsa").pk)
    found = ask("lsa", "rosetta", "k=5").json()
    means = {one["preset"]: (one["mean"], one["n"]) for one in found["dialects"]}
    assert (found["measure"], found["mean"], found["n"]) == ("nDCG@5", 0.5, 2)
    assert means["trec_eval"] == (1.0, 1)  # the answered query alone
    assert means["trec_eval_c"] == (0.5, 2)
    assert not found["computing"]


def test_a_lists_orders_say_which_tools_have_them_and_who_changes_places(world):
    assert by_token("dora").get(f"{MAIN}rosetta?k=5").json()["computing"] == 2
    compute_tools(world.judgments.pk, 1, 5, 0)
    found = by_token("dora").get(f"{MAIN}rosetta?k=5").json()
    names = [run["ranker"] for run in found["runs"]]
    own, *others = found["orders"]
    assert own["is_own"]
    assert [run["places"][0] for run in found["runs"]] == [1, 2]
    assert names == ["bm25", "lsa"]
    (pair,) = found["pairs"]
    assert "trec_eval" in pair["for_second"]  # lsa, on the one query that it answers
    assert pair["second"] == found["runs"][1]["id"]
    assert (found["computing"], found["disputed"]) == (0, 1)
    assert {name for one in (own, *others) for name in one["presets"]} >= {"trec_eval"}


def test_the_value_that_is_explained_is_the_one_in_the_list_of_values(world):
    found = ask("bm25", "explain", "query=q2&measures=nDCG@10").json()["measures"][0]["value"]
    values = ask("bm25", "values", "measure=nDCG@10").json()["results"]
    assert found == {row["query_id"]: row["value"] for row in values}["q2"]


def test_a_run_is_explained_at_its_own_rankers_address_alone(world):
    run = Run.objects.get(ranker__slug="bm25")
    for what in ("explain?list=main&query=q1", "rosetta?list=main"):
        answer = by_token("dora").get(f"{BOOKS}rankers/lsa/runs/{run.public_id}/{what}")
        assert is_problem(answer, 404, "not_found")
