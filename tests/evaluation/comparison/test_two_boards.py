"""Two boards of the same runs: how alike the orders are, and whom the second one favours."""

import pytest

from evaluation.comparison.two_boards import get_two_boards
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Ranker
from tests.builders import NOW, commit, make_access, make_world
from tests.evaluation.builders import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
ORDERS = {"one": "d1 d2 d3", "two": "d2 d1 d3", "three": "d3 d2 d1"}


def boards(*, queries=16, second=None, family=""):
    """People gave d1, d2, d3 the grades 4, 2, 0; `second` says what the machine gave them."""
    world = make_world(queries=queries, documents=3)
    for ranker, order in ORDERS.items():
        rankings = {query.qid: order.split() for query in world.queries}
        make_run(collection=world.collection, rankings=rankings, ranker=ranker)
    Ranker.objects.filter(slug="three").update(tags=["gpt"])
    people = {"d1": 4, "d2": 2, "d3": 0}
    said = [(query, document) for query in world.queries for document in world.documents]
    first = {(query, document): people[document.docid] for query, document in said}
    commit(judgment_list=world.judgments, grades=first)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    own = second or people
    return get_two_boards(
        access=make_access(collection=world.collection),
        judgment_list=world.judgments,
        first={(query.pk, document.pk): grade for (query, document), grade in first.items()},
        second={(query.pk, document.pk): own[document.docid] for query, document in said},
        family=family,
    )


def test_boards_that_agree():
    found = boards()
    assert (found.tau, found.low, found.high, found.same_best) == (1.0, 1.0, 1.0, 1.0)
    assert (found.tau_ap.value, found.tau_ap.low, found.tau_ap.high) == (1.0, 1.0, 1.0)
    assert (found.top, found.family) == (None, None)  # three runs are no more than five


def test_a_swap_of_the_best_two_costs_the_top_more():
    found = boards(second={"d1": 2, "d2": 4, "d3": 0})
    assert found.tau == pytest.approx(1 / 3)
    assert found.tau_ap.value == pytest.approx(0.0)
    assert found.same_best == 0.0


def test_the_shift_of_a_family_is_beside_the_others():
    found = boards(second={"d1": 0, "d2": 2, "d3": 4}, family="gpt")
    shift = found.family.shift
    moved = {run.label: run.second - run.first for run in found.runs}
    own = [run.label for run in found.runs if run.is_family]
    others = [moved[label] for label in moved if label not in own]
    assert (len(own), found.family.own, found.family.others, found.family.why) == (1, 1, 2, "")
    assert shift.value == pytest.approx(moved[own[0]] - sum(others) / 2)
    assert shift.low == pytest.approx(shift.value)  # all queries are alike


def test_thin_evidence_is_refused():
    few = boards(queries=14, family="gpt")
    assert (few.tau, few.low, few.same_best) == (1.0, None, None)
    assert (few.family.why, few.family.shift.value) == ("few_queries", None)


def test_a_family_that_no_ranker_is_of_is_refused():
    assert boards(family="llama").family.why == "no_runs"
