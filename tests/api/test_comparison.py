"""Comparisons over REST: the page's numbers, in full precision."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.models import Run
from tests.api.callers import MAIN, by_token, is_problem
from tests.builders import commit
from tests.evaluation.builders import make_run

COMPARE = f"{MAIN}compare"


@pytest.fixture(autouse=True)
def two_runs(world) -> None:
    """Two of three judged queries have their document second instead of first in `bad`."""
    cache.clear()
    d1 = world.documents[0]
    commit(judgment_list=world.judgments, grades=dict.fromkeys(((q, d1) for q in world.queries), 3))
    good = {query.qid: ("d1", "d2") for query in world.queries}
    make_run(collection=world.collection, rankings=good, ranker="good", name="r1")
    bad = good | {"q1": ("d2", "d1"), "q2": ("d2", "d1")}
    make_run(collection=world.collection, rankings=bad, ranker="bad", name="r1")


def test_a_comparison_says_how_large_how_sure_and_of_what(world):
    response = by_token("dora").get(f"{COMPARE}?runs=good,bad/r1&measure=RR@10")
    assert response.status_code == 200, response.content
    body = response.json()
    assert (body["version"], body["measure"], body["test"]) == (1, "RR@10", "randomization")
    assert (body["baseline"]["name"], body["baseline"]["mean"]) == ("good/r1", 1.0)
    (one,) = body["comparisons"]
    assert one["run"]["name"] == "bad/r1"
    assert one["mean"] == pytest.approx(-1 / 3)
    assert (one["n"], one["wins"], one["ties"], one["losses"]) == (3, 0, 1, 2)
    assert (one["p_value"], one["p_corrected"]) == (None, None)
    assert one["sentence"].startswith("Too few queries: 3 queries")
    assert body["pairs"] == []


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("runs=nope", 422, "no_run"),
        ("baseline=x", 422, "no_baseline"),
        ("measure=x", 422, "bad_measure"),
        ("test=wilcoxon", 400, "invalid"),
        ("margin=-0.1", 400, "invalid"),
        ("margin=nan", 400, "invalid"),
        ("level=1", 400, "invalid"),
        ("level=nan", 400, "invalid"),
        ("y=1", 400, "invalid"),
    ],
)
def test_what_makes_no_sense_is_refused(world, query, status, code):
    is_problem(by_token("dora").get(f"{COMPARE}?{query}"), status, code)


@pytest.mark.parametrize(
    ("margin", "verdict"), [("0.05", "inconclusive"), ("5", "no worse"), ("0", "inconclusive")]
)
def test_a_gate_is_told_the_verdict_and_what_it_rests_on(world, margin, verdict):
    asked = f"runs=good,bad&baseline=good&measure=RR@10&margin={margin}&level=0.9"
    body = by_token("dora").get(f"{COMPARE}?{asked}").json()
    assert (body["version"], body["baseline"]["name"]) == (1, "good/r1")
    assert (body["margin"], body["level"]) == (float(margin), 0.9)
    (one,) = body["comparisons"]
    # by hand: differences −1/2, −1/2 and 0; t of 2 degrees of freedom at 0.95 is 2.9199856
    low, high = -1 / 3 - 2.9199856 / 6, -1 / 3 + 2.9199856 / 6
    assert one["ci"] == pytest.approx([low, high])
    assert (one["difference"], one["n"], one["verdict"]) == (pytest.approx(-1 / 3), 3, verdict)
    assert one["mdd"] > 0
    assert (one["needed"] is None) == (verdict == "no worse")


def test_annotators_do_not_see_it(world):
    assert by_token("ben").get(COMPARE).status_code == 404


@pytest.mark.parametrize("how", ["full name", "ranker", "id"])
def test_a_baseline_is_named_in_any_way_that_a_run_is(world, how):
    run = Run.objects.get(ranker__slug="bad")
    name = {"full name": "bad/r1", "ranker": "bad", "id": str(run.public_id)}[how]
    body = by_token("dora").get(f"{COMPARE}?runs=good,bad&measure=RR@10&baseline={name}").json()
    assert body["baseline"]["id"] == str(run.public_id)
    assert [one["run"]["name"] for one in body["comparisons"]] == ["good/r1"]


def test_a_ranker_as_baseline_is_its_newest_run_among_those_compared(world):
    for name, document in (("r2", "d3"), ("r3", "d4")):
        rankings = dict.fromkeys([query.qid for query in world.queries], (document, "d1"))
        make_run(collection=world.collection, rankings=rankings, ranker="bad", name=name)
    body = by_token("dora").get(f"{COMPARE}?runs=good,bad/r1,bad/r2&baseline=bad").json()
    assert body["baseline"]["name"] == "bad/r2"


def test_what_detail_is_about_is_named_in_any_way_that_a_run_is(world):
    rankings = dict.fromkeys([query.qid for query in world.queries], ("d3", "d1"))
    other = make_run(collection=world.collection, rankings=rankings, ranker="third", name="r1")
    url = f"{COMPARE}?runs=good,bad,third&against={other.public_id}"
    assert by_token("dora").get(url).json()["detail"]["run"] == "third/r1"


def queries_of(client, url) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200, url
    return len(captured)


@pytest.mark.parametrize("page", ["compare", "unjudged", "judge-next", "stability"])
def test_a_run_named_two_thousand_times_costs_no_query_more_than_once(world, page):
    client = by_token("dora")
    url = f"{MAIN}{page}?runs=good,bad"
    client.get(url)
    once = queries_of(client, url)
    assert queries_of(client, url + ",bad" * 900) <= once
    # Names of runs are looked up among the aliases too, all at once.
    assert queries_of(client, url + ",bad/r1,good/r1" * 200) <= once + 1


@pytest.mark.parametrize("page", ["compare", "unjudged", "judge-next", "stability"])
def test_thousands_of_different_names_are_refused_before_anything_is_looked_up(world, page):
    client = by_token("dora")
    names = ",".join(f"r{number}" for number in range(700))
    with CaptureQueriesContext(connection) as captured:
        is_problem(client.get(f"{MAIN}{page}?runs={names}"), 422, "too_many_names")
    assert len(captured) <= 15


def test_a_measure_named_three_hundred_times_costs_no_query_more_than_once(world):
    client = by_token("dora")
    url = f"{MAIN}leaderboard?measures=RR@10"
    client.get(url)
    once = queries_of(client, url)
    assert queries_of(client, url + ",RR@10" * 300) <= once
