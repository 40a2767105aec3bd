"""The page of runs' parameters beside their values."""

import pytest
from django.urls import reverse

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.leaderboards.board import Filters
from evaluation.leaderboards.parameters import get_parameters_page
from evaluation.models import Run
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db
DETAILS = {
    "a": {"k1": 0.5, "stemmed": True, "model": "bm25", "seed": 7},
    "b": {"k1": 2, "stemmed": False, "model": "bm25"},
    "c": {"k1": 1, "b": 0.4},
}


@pytest.fixture
def world() -> World:
    world = make_world(queries=3)
    orders = {"a": ["d1", "d2"], "b": ["d2", "d1"], "c": ["d3", "d1"]}
    for ranker, order in orders.items():
        run = make_run(
            collection=world.collection,
            rankings={query.qid: order for query in world.queries},
            ranker=ranker,
        )
        Run.objects.filter(pk=run.pk).update(parameters=DETAILS[ranker], commit=f"c-{ranker}")
    commit(
        judgment_list=world.judgments,
        grades={(query, world.documents[0]): 3 for query in world.queries},
    )
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    return world


def test_runs_stand_in_the_boards_order_with_what_they_say_of_each_parameter(world: World) -> None:
    access = make_access(collection=world.collection, username="dora")
    page = get_parameters_page(access=access, slug="main", filters=Filters(measures="RR@10"))
    assert page.names == ("k1", "model", "stemmed", "b", "seed")
    told = {run.row.ranker: (run.parameters, run.commit) for run in page.runs}
    assert next(iter(told)) == "a"
    assert told["a"] == ((0.5, "bm25", True, None, 7), "c-a")
    assert told["c"] == ((1, None, None, 0.4, None), "c-c")


def test_only_what_differs_is_drawn_and_measures_come_last(world: World) -> None:
    access = make_access(collection=world.collection, username="dora")
    page = get_parameters_page(access=access, slug="main", filters=Filters(measures="RR@10"))
    assert [axis.name for axis in page.axes] == ["k1", "stemmed", "RR@10"]
    order = [run.row.ranker for run in page.drawn]
    k1, stemmed, value = (dict(zip(order, axis.places, strict=True)) for axis in page.axes)
    assert k1 == {"a": 0.0, "b": 1.0, "c": pytest.approx(1 / 3)}
    assert stemmed == {"a": 1.0, "b": 0.0, "c": None}
    assert value == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert [(axis.low, axis.high) for axis in page.axes] == [
        ("0.5", "2"),
        ("False", "True"),
        ("0.5000", "1.0000"),
    ]


def test_the_page_has_a_line_for_each_run_that_leads_to_it(world: World) -> None:
    page = signed_in(world.dora).get(
        reverse("leaderboard-parameters", args=["books", "main"]), {"measures": "RR@10"}
    )
    html = page.content.decode()
    assert html.count('class="mark') == html.count('class="joined"') == 3
    for run in Run.objects.all():
        address = f"{reverse('run', args=['books', run.public_id])}?list=main"
        assert html.count(f'href="{address}"') == 2
    assert "0.4" in text_of(page)
    board = signed_in(world.dora).get(reverse("leaderboard", args=["books", "main"]))
    assert reverse("leaderboard-parameters", args=["books", "main"]) in links_of(board)


def test_a_list_whose_runs_say_nothing_says_how_to(world: World) -> None:
    Run.objects.update(parameters={})
    page = signed_in(world.dora).get(reverse("leaderboard-parameters", args=["books", "main"]))
    assert "--param" in text_of(page)
    assert "<table" not in page.content.decode()
