"""The page of a run: its queries by value, and what an address can ask of it."""

import pytest
from django.urls import reverse

from evaluation.models import Run
from evaluation.runs.services import withdraw_run
from judgments.models import JudgmentList
from tests.builders import NOW, World, commit, make_access, make_list, make_world
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture
def world() -> World:
    return make_world(queries=4)


@pytest.fixture
def run(world: World) -> Run:
    """q1 (head) is perfect, q2 (tail) is half as good, q3 (head) is judged and unanswered."""
    run = make_run(
        collection=world.collection,
        rankings={"q1": ["d1", "d2"], "q2": ["d2", "d1"], "q4": ["d5"]},
    )
    q1, q2, q3, _ = world.queries
    d1 = world.documents[0]
    commit(judgment_list=world.judgments, grades={(q1, d1): 3, (q2, d1): 3, (q3, d1): 1})
    return run


def get(world: World, run: Run, query: str = ""):
    url = reverse("run", args=["books", run.public_id])
    return signed_in(world.dora).get(url + query)


def order_of(page) -> list[str]:
    """The texts of the queries, as the table has them."""
    places = {number: text_of(page).find(f"query number {number}") for number in range(1, 5)}
    found = sorted((place, number) for number, place in places.items() if place >= 0)
    return [f"q{number}" for _, number in found]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("", ["q1", "q2", "q3"]),
        ("value", ["q3", "q2", "q1"]),
        ("qid", ["q1", "q2", "q3"]),
        ("-qid", ["q3", "q2", "q1"]),
        ("judged", ["q3", "q1", "q2"]),
    ],
)
def test_queries_stand_best_first_worst_first_or_by_id(world, run, sort, expected):
    assert order_of(get(world, run, f"?sort={sort}")) == expected


def test_the_mean_stands_on_top_with_its_error_its_version_and_what_is_judged(world, run):
    text = text_of(get(world, run))
    assert "0.5436 ± 1.2562" in text  # of 1, 1 / log2(3) and 0; 95 %: 4.303 standard errors
    assert "mean ± half of its 95 % interval of 3 queries" in text
    assert "Version of Main 1 the newest" in text
    assert "Judged@10 50 %" in text


def test_every_value_leads_to_its_query_with_all_that_was_chosen(world, run):
    page = get(world, run, "?measure=RR@10&segment=head&sort=value")
    (link, *_) = links_of(page, "/query/q1")
    assert link.endswith("?list=main&version=1&measure=RR%4010&segment=head&sort=value")
    assert "q2" not in order_of(page)
    assert signed_in(world.dora).get(link).status_code == 200


def test_the_mean_leads_to_the_leaderboard_with_the_same_number(world, run):
    page = get(world, run, "?measure=P(rel=2)@5")
    assert "0.1333 ± 0.2868" in text_of(page)
    (link,) = links_of(page, "/leaderboard?")
    board = signed_in(world.dora).get(link)
    assert board.status_code == 200
    # 95 %: 4.303 standard errors
    assert "P@5 rel=2 1 bm25 one answers 2 of 3 queries 0.1333 ± 0.2868" in text_of(board)


def test_an_older_version_is_shown_when_asked_for_and_leads_to_the_newest(world, run):
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[1]): 4})
    old = get(world, run, "?version=1")
    assert "0.5436" in text_of(old)
    assert "see the newest, 2" in text_of(old)
    assert "0.5436" not in text_of(get(world, run))
    assert get(world, run, "?version=0").status_code == 200
    assert get(world, run, "?version=3").status_code == 404


def test_the_empty_list_says_that_nothing_is_judged(world):
    run = make_run(collection=world.collection, rankings={"q1": ["d1"]})
    text = text_of(get(world, run))
    assert "No query has a judgment" in text
    assert "1 query of the run has no judgment" in text


def test_a_collection_without_a_list_says_what_values_need(world, run):
    films = make_world(slug="films")
    JudgmentList.objects.filter(collection=films.collection).delete()
    own = make_run(collection=films.collection, rankings={"q1": ["d1"]})
    page = signed_in(films.dora).get(reverse("run", args=["films", own.public_id]))
    assert "No judgment list yet" in text_of(page)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?measure=nope@10", "nope"),
        ("?measure=nDCG@10%20RR@10", "one measure at a time"),
        ("?measure=Coverage(of='relevant')@10", "over a whole run"),
        ("?measure=P@0", "cutoff"),
        ("?measure=%22%3Cscript%3E", "is not the name of a measure"),
        ("?sort=score", "sort by score"),
        ("?segment=nowhere", "nowhere"),
    ],
)
def test_what_can_not_be_shown_is_said_kindly_above_the_usual_page(world, run, query, words):
    page = get(world, run, query)
    assert page.status_code == 400
    assert "Can’t show this." in text_of(page)
    assert words in text_of(page)
    assert "0.5436" in text_of(page)
    assert "<script>" not in page.content.decode()


def test_unknown_parameters_change_nothing_and_odd_pages_are_the_nearest(world, run):
    for query in ("?color=red", "?page=99", "?page=x", "?measure="):
        page = get(world, run, query)
        assert page.status_code == 200
        assert order_of(page) == ["q1", "q2", "q3"]


def test_a_query_the_run_does_not_answer_says_so_and_those_unjudged_are_counted(world, run):
    text = text_of(get(world, run))
    assert "no results" in text
    assert "The run has no results for 1 of these queries" in text
    assert "1 query of the run has no judgments at this version" in text


def test_a_withdrawn_run_is_still_explained(world, run):
    withdraw_run(access=make_access(collection=world.collection), run=run, at=NOW)
    page = get(world, run)
    assert "This run is withdrawn." in text_of(page)
    assert "0.5436" in text_of(page)
    assert reverse("run-withdraw", args=["books", run.public_id]) not in page.content.decode()


def test_a_run_can_be_seen_on_another_list_with_other_grades(world, run):
    strict = make_list(collection=world.collection, slug="strict", name="Strict")
    commit(judgment_list=strict, grades={(world.queries[0], world.documents[1]): 1})
    page = get(world, run, "?list=strict")
    assert "0.6309" in text_of(page)
    assert all("list=strict" in link for link in links_of(page, "/query/"))
    assert get(world, run, "?list=nope").status_code == 404


def test_more_queries_ask_no_more_of_the_database(django_assert_max_num_queries):
    world = make_world(queries=120)
    run = make_run(
        collection=world.collection, rankings={query.qid: ["d1"] for query in world.queries}
    )
    d1 = world.documents[0]
    commit(judgment_list=world.judgments, grades={(query, d1): 1 for query in world.queries})
    dora = signed_in(world.dora)
    url = reverse("run", args=["books", run.public_id])
    with django_assert_max_num_queries(19):
        page = dora.get(url)
    assert "1–50 of 120" in text_of(page)


def test_a_tools_definition_can_be_chosen_and_leads_to_why_it_differs(world, run):
    page = get(world, run, "?measure=ranx_ndcg:nDCG@5")
    text = text_of(page)
    assert "ranx_ndcg:nDCG@5" in text
    assert "exact mean, which may differ from the tool’s in the last digits" in text
    assert "ranx sorts ties arbitrarily" in text
    offered = [one.preset.name for one in page.context["tools"]]
    assert "lightgbm" in offered
    assert "letor4_eval" not in offered  # it has no gain for a grade of 3
    (link, *_) = links_of(page, "/query/q1")
    assert "measures=ranx_ndcg%3AnDCG%405+nDCG%405" in link
    assert "Why nDCG@5 is" in text_of(signed_in(world.dora).get(link))
    (board,) = links_of(page, "leaderboard?version")
    assert signed_in(world.dora).get(board).status_code == 200
