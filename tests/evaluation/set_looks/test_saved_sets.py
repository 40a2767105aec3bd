"""Numbers of a saved set: on every page that has them, and what is counted where it is held out."""

from copy import deepcopy

import pytest
from django.urls import reverse

from evaluation.comparison.queries import CompareFilters, get_comparison
from evaluation.comparison.version_impact import OUTSIDE, get_run_moves
from evaluation.evaluations.queries import FilterRefused
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.leaderboards.board import Filters
from evaluation.leaderboards.queries import get_leaderboard
from evaluation.models import Run
from judgments.models import AuditEntry, SetLook
from judgments.pages.paging import paged
from judgments.sets.looks import WORRYING
from tests.builders import (
    NOW,
    World,
    commit,
    make_access,
    make_list,
    make_set,
    make_user,
    make_world,
)
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

BEST = ["d1", "d2", "d3"]
BOARD = reverse("leaderboard", args=["books", "main"])
COMPARE = reverse("compare", args=["books", "main"])


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, tuple[Run, Run]]:
    """Ten queries, of which nine are judged: odd ones are the head, even ones the tail.

    A run that is best everywhere, and one that is worse on q2, q3 and q4.
    """
    world = make_world(queries=10)
    d1, d2, d3, *_ = world.documents
    grades = {
        (query, document): grade
        for query in world.queries[:9]
        for document, grade in ((d1, 3), (d2, 1), (d3, 0))
    }
    commit(judgment_list=world.judgments, grades=grades)
    world.judgments.refresh_from_db()
    qids = [query.qid for query in world.queries]
    worse = dict.fromkeys(qids, BEST) | dict.fromkeys(["q2", "q3", "q4"], BEST[::-1])
    return world, (
        make_run(collection=world.collection, rankings=dict.fromkeys(qids, BEST)),
        make_run(collection=world.collection, rankings=worse, ranker="lsa"),
    )


@pytest.fixture
def world(built: tuple[World, tuple[Run, Run]]) -> World:
    return deepcopy(built[0])


@pytest.fixture
def runs(built: tuple[World, tuple[Run, Run]]) -> tuple[Run, Run]:
    return deepcopy(built[1])


def board(world: World, **filters):
    access = make_access(collection=world.collection, username="dora")
    return get_leaderboard(access=access, slug="main", filters=Filters(**filters))


def compared(world: World, **filters):
    access = make_access(collection=world.collection, username="dora")
    return get_comparison(access=access, slug="main", filters=CompareFilters(**filters))


def values_of(page) -> dict[str, tuple[float, int]]:
    return {row.name: (own.mean, own.n) for row in page.runs for own in [*row.values.values()][:1]}


def get(world: World, url: str, query: str = "", username: str = "dora"):
    return signed_in(getattr(world, username)).get(url + query)


def test_a_leaderboard_of_a_set_is_the_one_of_a_segment_with_the_same_queries(world, runs):
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    make_set(world=world, qids=["q2", "q4", "q6", "q8", "q10"])
    of_set, of_segment = board(world, set="canaries"), board(world, segment="tail")
    assert values_of(of_set) == values_of(of_segment)
    assert values_of(of_set) != values_of(board(world))
    assert {n for _, n in values_of(of_set).values()} == {4}


def test_a_leaderboard_of_a_set_leads_to_runs_and_to_a_comparison_of_the_same_queries(world, runs):
    make_set(world=world, qids=["q2", "q4"])
    response = get(world, BOARD, "?set=canaries")
    assert f"{COMPARE}?set=canaries" in links_of(response, COMPARE)
    values = [link for link in links_of(response, "/runs/") if "measure=" in link]
    assert values
    assert all("set=canaries" in link for link in values)


def test_a_segment_and_a_set_together_are_what_both_have(world, runs):
    make_set(world=world, qids=["q1", "q2", "q4"])
    assert {n for _, n in values_of(board(world, set="canaries", segment="tail")).values()} == {2}
    assert compared(world, set="canaries", segment="tail").comparisons[0].n == 2


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"set": "nope"}, "No saved set named nope"),
        ({"set": "unjudged"}, "No query of version 1 is in the set Unjudged"),
        ({"set": "canaries", "segment": "tail"}, "in the segment tail"),
    ],
)
def test_what_no_judged_query_is_in_is_refused_in_words(world, runs, filters, words):
    make_set(world=world, qids=["q1"])
    make_set(world=world, qids=["q10"], slug="unjudged")
    for page in (board, compared):
        with pytest.raises(FilterRefused, match=words):
            page(world, **filters)
    assert get(world, BOARD, "?set=nope").status_code == 400


def test_a_set_of_another_collection_is_not_found(world, runs):
    make_set(world=make_world(slug="films"), qids=["q1"])
    with pytest.raises(FilterRefused):
        board(world, set="canaries")


def test_changes_since_a_version_that_judged_none_of_a_set_are_not_shown(world, runs):
    make_set(world=world, qids=["q10"])
    commit(judgment_list=world.judgments, grades={(world.queries[9], world.documents[0]): 2})
    page = board(world, set="canaries", since="1")
    assert page.since == 1
    assert [cell.change for row in page.runs for cell in row.values.values()] == [None] * sum(
        len(row.values) for row in page.runs
    )


def test_a_comparison_counts_what_changed_inside_a_set_and_outside_it(world, runs):
    make_set(world=world, qids=["q1", "q2", "q3", "q10"])
    page = compared(world, set="canaries", measure="nDCG@3")
    assert page.comparisons[0].n == 3
    inside, outside = page.detail.intended.inside, page.detail.intended.outside
    assert (inside.queries, inside.changed, inside.values) == (3, 2, 2)
    assert (outside.queries, outside.changed, outside.values) == (6, 1, 1)
    assert compared(world).detail.intended is None
    text = text_of(get(world, COMPARE, "?set=canaries&measure=nDCG@3"))
    assert "Inside and outside the saved set" in text
    assert "The first 3 differ on 3 queries: 2 in “Canaries”, 1 outside it." in text


def test_a_set_with_every_query_has_nothing_outside(world, runs):
    make_set(world=world, qids=[query.qid for query in world.queries])
    intended = compared(world, set="canaries").detail.intended
    inside, outside = intended.inside, intended.outside
    assert (inside.changed, outside.queries, outside.changed) == (3, 0, 0)
    assert get(world, COMPARE, "?set=canaries").status_code == 200


def test_the_moves_of_a_run_are_told_apart_by_a_set(world, runs):
    make_set(world=world, qids=["q1", "q2"])
    d1 = world.documents[0]
    changed = {(query, d1): 1 for query in world.queries[1:4]}
    commit(judgment_list=world.judgments, grades=changed)
    _, worse = runs
    asked = {"public_id": worse.public_id, "slug": "main", "before": "1", "after": "2"}
    access = make_access(collection=world.collection, username="dora")

    def moves(**more):
        return get_run_moves(access=access, measure="nDCG@3", cut=paged(""), **asked, **more)

    every, inside = moves(), moves(saved_set="canaries")
    outside = moves(saved_set="canaries", side=OUTSIDE)
    assert {row.query_id for row in every.rows} == {"q2", "q3", "q4"}
    assert [row.query_id for row in inside.rows] == ["q2"]
    assert {row.query_id for row in outside.rows} == {"q3", "q4"}
    assert (inside.inside, inside.outside) == (outside.inside, outside.outside) == (1, 2)
    assert inside.queries == (2, 2)
    means = [(one.mean_before, one.mean_after) for one in (every, inside, outside)]
    assert means[1] == means[2] != means[0]
    url = reverse("run-moves", args=["books", worse.public_id])
    text = text_of(get(world, url, "?list=main&before=1&after=2&measure=nDCG@3&set=canaries"))
    assert "3 queries moved: 1 in “Canaries”, 2 outside it. 33 % of the change is inside." in text


def test_a_run_shows_the_queries_of_a_set_and_keeps_it_in_its_addresses(world, runs):
    make_set(world=world, qids=["q2", "q3"])
    response = get(world, reverse("run", args=["books", runs[0].public_id]), "?set=canaries")
    assert "no spread same value for every query; mean of 2 queries" in text_of(response)
    boards = links_of(response, BOARD)
    assert any("set=canaries" in link for link in boards)
    assert all("set=canaries" in link for link in links_of(response, "/query/"))


@pytest.mark.parametrize("kind", ["board", "file", "compare", "unjudged", "run", "moves"])
def test_a_look_at_held_out_numbers_is_counted_and_shown(world, runs, kind):
    make_set(world=world, qids=["q2", "q3"], is_held_out=True)
    commit(judgment_list=world.judgments, grades={(world.queries[1], world.documents[0]): 1})
    run = runs[0].public_id
    url, query, page = {
        "board": (BOARD, "?set=canaries", "leaderboard"),
        "file": (f"{BOARD}/file", "?format=csv&set=canaries", "board_file"),
        "compare": (COMPARE, "?set=canaries", "comparison"),
        "unjudged": (reverse("unjudged", args=["books", "main"]), "?set=canaries", "unjudged"),
        "run": (reverse("run", args=["books", run]), "?set=canaries", "run"),
        "moves": (
            reverse("run-moves", args=["books", run]),
            "?list=main&before=1&set=canaries",
            "moves",
        ),
    }[kind]
    for _ in range(2):
        response = get(world, url, query)
        assert response.status_code == 200
        if kind != "file":
            assert "held out, looked at once" in text_of(response)
    look = SetLook.objects.get()
    assert (look.user, look.page, look.list) == (world.dora, page, world.judgments)


def test_what_shows_no_held_out_number_is_no_look(world, runs):
    make_set(world=world, qids=["q2"], is_held_out=True)
    make_set(world=world, qids=["q2"], slug="tail")
    for query in ("", "?set=tail", "?set=canaries&measures=nope", "?set=canaries&segment=head"):
        assert "held out, looked" not in text_of(get(world, BOARD, query))
    assert get(world, BOARD, "?set=canaries", "ben").status_code == 404
    assert not SetLook.objects.exists()


def test_an_open_leaderboard_that_has_nothing_new_is_no_look(world, runs):
    make_set(world=world, qids=["q2"], is_held_out=True)
    state = board(world).state
    response = signed_in(world.dora).get(
        BOARD + "?set=canaries", headers={"HX-Request": "true", "X-Board-State": state}
    )
    assert response.status_code == 204
    assert not SetLook.objects.exists()


def test_many_looks_are_a_worry_in_plain_words(world, runs):
    saved = make_set(world=world, qids=["q2", "q3"], is_held_out=True)
    looked = {"saved_set": saved, "list": world.judgments, "page": SetLook.Page.RUN, "at": NOW}
    for number in range(WORRYING - 2):
        SetLook.objects.create(user=make_user(username=f"person{number}"), **looked)
    assert "chance alone" not in text_of(get(world, COMPARE, "?set=canaries"))
    text = text_of(get(world, BOARD, "?set=canaries"))
    assert f"held out, looked at {WORRYING} times" in text
    assert "chance alone puts it 1.5 standard errors ahead" in text


def test_a_list_is_compared_by_the_test_that_leads_chose(world, runs):
    assert compared(world).test == "randomization"
    url = reverse("compare-test", args=["books", "main"])
    assert signed_in(world.dora).post(url, {"test": "t"}).status_code == 404
    assert signed_in(world.ada).post(url, {"test": "t"}).status_code == 302
    page = compared(world)
    assert (page.test, page.list_test) == ("t", "t")
    assert page.comparisons[0].p_value != compared(world, test="bootstrap").comparisons[0].p_value
    assert "is from the paired t test, this list’s test." in text_of(get(world, COMPARE))
    other = text_of(get(world, COMPARE, "?test=bootstrap"))
    assert "this list’s own test is the paired t test." in other
    entry = AuditEntry.objects.get(action="leaderboard.test_chosen")
    assert (entry.actor, entry.before, entry.after) == (
        world.ada,
        {"test": "randomization"},
        {"test": "t"},
    )


def test_each_list_has_its_own_test_and_a_lead_may_adopt_the_one_in_the_address(world, runs):
    make_list(collection=world.collection, slug="strict")
    adopt = "Make the paired t test the test of this list"
    assert adopt in text_of(get(world, COMPARE, "?test=t", "ada"))
    assert adopt not in text_of(get(world, COMPARE, "?test=t", "dora"))
    signed_in(world.ada).post(reverse("compare-test", args=["books", "strict"]), {"test": "t"})
    assert compared(world).list_test == "randomization"


def test_what_is_no_test_is_refused_and_changes_nothing(world, runs):
    url = reverse("compare-test", args=["books", "main"])
    response = signed_in(world.ada).post(url, {"test": "wilcoxon"}, follow=True)
    assert "Unknown test wilcoxon." in text_of(response)
    assert not AuditEntry.objects.filter(action="leaderboard.test_chosen").exists()
