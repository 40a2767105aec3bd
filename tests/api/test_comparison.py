"""Comparisons over REST: the page's numbers, in full precision."""

import pytest
from django.core.cache import cache

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
    assert one["verdict"].startswith("No answer: 3 queries")
    assert body["pairs"] == []


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("runs=nope", 422, "no_run"),
        ("baseline=x", 422, "no_baseline"),
        ("measure=x", 422, "bad_measure"),
        ("test=wilcoxon", 400, "invalid"),
        ("y=1", 400, "invalid"),
    ],
)
def test_what_makes_no_sense_is_refused(world, query, status, code):
    is_problem(by_token("dora").get(f"{COMPARE}?{query}"), status, code)


def test_annotators_do_not_see_it(world):
    assert by_token("ben").get(COMPARE).status_code == 404
