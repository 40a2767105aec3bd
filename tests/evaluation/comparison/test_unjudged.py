"""What unjudged documents leave open: bounds that hold, and where none are known."""

import pytest
from django.urls import reverse

from evaluation.comparison.unjudged import OpenValues, get_open_values
from evaluation.comparison.words import judging_warning
from evaluation.runs.selection import RunsFilters
from tests.api.callers import MAIN, by_token
from tests.builders import World, commit, make_access, make_world
from tests.evaluation.browsing import signed_in, text_of
from tests.evaluation.builders import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture
def world() -> World:
    """Of four queries d1 and d2 are judged; one run shows them, the other also d3 and d4."""
    world = make_world(queries=4)
    d1, d2, *_ = world.documents
    grades = {(query, d1): 2 for query in world.queries} | {(q, d2): 0 for q in world.queries}
    commit(judgment_list=world.judgments, grades=grades)
    world.judgments.refresh_from_db()
    qids = [query.qid for query in world.queries]
    make_run(collection=world.collection, rankings=dict.fromkeys(qids, ("d1", "d2")))
    other = dict.fromkeys(qids, ("d3", "d1", "d4"))
    make_run(collection=world.collection, rankings=other, ranker="fresh")
    return world


def get(world: World, **filters) -> OpenValues:
    access = make_access(collection=world.collection, username="dora")
    return get_open_values(access=access, slug="main", filters=RunsFilters(**filters))


def test_a_run_of_judged_documents_has_no_room_and_the_other_has(world):
    page = get(world, measure="nDCG@5")
    judged, new = page.runs
    assert judged.low == judged.high == judged.zeros == pytest.approx(1)
    assert (judged.documents, new.documents) == (0, 8)
    assert new.low is not None
    assert new.high is not None
    assert new.low < new.zeros < new.condensed == pytest.approx(1)
    # d3 at the best grade, before d1, and d4 with the grade of none: the best order there is
    assert new.high == pytest.approx(1)
    (difference,) = page.differences
    assert not difference.is_settled
    assert difference.low == pytest.approx(new.low - 1)
    assert "may be about judging" in judging_warning(difference.first, difference.run)


@pytest.mark.parametrize(
    ("measure", "low", "high"),
    [("P(rel=1)@5", 0.2, 0.6), ("RR@5", 0.5, 1.0), ("Hit@1", 0.0, 1.0)],
)
def test_measures_that_only_rise_have_the_best_grade_as_their_best_case(world, measure, low, high):
    new = get(world, measure=measure).runs[1]
    assert (new.low, new.high) == (pytest.approx(low), pytest.approx(high))


def test_measures_without_known_bounds_have_none(world):
    page = get(world, measure="AP")
    assert [row.high for row in page.runs] == [None, None]
    assert page.differences[0].low is None
    assert page.runs[1].condensed == pytest.approx(1)


def test_the_page_says_what_it_means_and_refuses_in_words(world):
    address = reverse("unjudged", args=["books", "main"])
    text = text_of(signed_in(world.dora).get(f"{address}?measure=nDCG@5"))
    assert "could change which is better" in text
    assert "Judged unevenly" in text
    assert "has no known bounds" in text_of(signed_in(world.dora).get(f"{address}?measure=AP"))
    refused = signed_in(world.dora).get(f"{address}?measure=nDCG@5 RR")
    assert refused.status_code == 400
    compare = signed_in(world.dora).get(reverse("compare", args=["books", "main"]))
    assert address in compare.content.decode()


def test_over_rest_the_bounds_are_numbers(world):
    body = by_token("dora").get(f"{MAIN}unjudged?measure=nDCG@5&segment=head").json()
    assert [run["queries"] for run in body["runs"]] == [2, 2]
    assert body["runs"][1]["low"] < body["runs"][1]["high"]
