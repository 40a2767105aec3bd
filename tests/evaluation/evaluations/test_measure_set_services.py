"""Which measures a list keeps: chosen by name, computed behind the page, nothing old is lost."""

from copy import deepcopy
from html import unescape

import pytest
from django.urls import reverse

from evaluation.evaluations import due
from evaluation.evaluations.measure_set_services import LeaderboardRefused, choose_measures
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.evaluations.verifying import verify_list
from evaluation.leaderboards.board import Filters, LeaderboardTable
from evaluation.leaderboards.choices import list_board_choices
from evaluation.leaderboards.queries import get_leaderboard
from evaluation.models import Evaluation, Leaderboard
from judgments.models import User
from judgments.permissions import NotFound
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.browsing import signed_in, text_of
from tests.evaluation.builders import evaluate_from_scratch, make_run
from touchstone.measures.asking import ask_all
from touchstone.measures.errors import MeasureError

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
RUNS = 100


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    world = make_world(queries=4)
    grades = {(query, world.documents[1]): 3 for query in world.queries}
    commit(judgment_list=world.judgments, grades=grades)
    return world


@pytest.fixture
def world(built: World) -> World:
    return deepcopy(built)


def choose(world: World, names: str, username: str = "ada") -> Leaderboard:
    return choose_measures(
        access=make_access(collection=world.collection, username=username),
        judgment_list=world.judgments,
        measures=[one.measure for one in ask_all(names)],
        at=NOW,
    )


def page(world: World, measures: str = "") -> LeaderboardTable:
    access = make_access(collection=world.collection, username="dora")
    return get_leaderboard(access=access, slug="main", filters=Filters(measures=measures))


def test_a_hundred_runs_get_a_new_measure_step_by_step_and_show_the_old_ones_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(RUNS):
        rankings = {"q1": ["d1", "d2", "d3"][number % 2 :], "q2": ["d2"]}
        make_run(collection=world.collection, rankings=rankings, ranker=f"r{number}")
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    before = {row.id: row.values["RR@10"].mean for row in page(world, "RR@10").runs}
    stored = {e.pk: bytes(e.sums) for e in Evaluation.objects.all()}
    monkeypatch.setattr(due, "SMALL", 1)
    monkeypatch.setattr(due, "LARGEST", RUNS)  # ranks: some thirty runs a step

    choose(world, "RR@10 Judged@10 P(rel=2)@10")
    waiting: list[int] = []
    while not waiting or waiting[-1]:
        shown = page(world, "P(rel=2)@10 RR@10")
        waiting.append(shown.waiting)
        # what was there stays there, whatever is still to come
        old = page(world, "RR@10")
        assert old.waiting == 0
        assert {row.id: row.values["RR@10"].mean for row in old.runs} == before
        done = refresh_evaluations(list_id=world.judgments.pk, at=NOW)
        assert bool(done.evaluated) == bool(waiting[-1])
    assert waiting[0] == RUNS
    assert waiting == sorted(waiting, reverse=True)
    assert len(set(waiting)) == len(waiting) > 3
    assert {e.pk: bytes(e.sums) for e in Evaluation.objects.filter(pk__in=stored)} == stored


def test_a_tools_definition_is_kept_current_by_its_name(world: World) -> None:
    run = make_run(collection=world.collection, rankings={"q1": ["d1", "d2"], "q2": ["d2"]})
    choose(world, "lightgbm:nDCG@10 opensearch_search_relevance:P@3 nDCG@10")
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    done = refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    assert (done.evaluated, done.from_scratch) == (1, 0)
    head = Evaluation.objects.get(version__number=2)
    right = evaluate_from_scratch(run=run, judgment_list=world.judgments, version=2)
    assert bytes(head.sums) == right
    assert verify_list(judgment_list=world.judgments, every_step=True).problems == ()
    make_run(collection=world.collection, rankings={"q1": ["d2"]}, ranker="other")
    shown = page(world)
    assert [one.name for one in shown.measures[:2]] == [
        "lightgbm:nDCG@10",
        "opensearch_search_relevance:P@3",
    ]
    assert [name for name, _ in list_board_choices(shown).kept] == [
        one.name for one in shown.measures
    ]
    dora = signed_in(User.objects.get(username="dora"))
    slug = world.collection.slug
    pages = {
        "leaderboard": reverse("leaderboard", args=[slug, "main"]),
        "segments": reverse("leaderboard-segments", args=[slug, "main"]),
        "ranker": reverse("ranker", args=[slug, run.ranker.slug]),
        "run": reverse("run", args=[slug, run.public_id]),
        "query": reverse("run-query", args=[slug, run.public_id, "q1"]),
        "compare": reverse("compare", args=[slug, "main"]) + f"?runs={run.ranker.slug},other",
    }
    lightgbm = ask_all("lightgbm:nDCG@10")[0]
    for name, address in pages.items():
        text = text_of(dora.get(address))
        for told in (lightgbm.canonical, lightgbm.measure.name, lightgbm.caveat):
            assert told in text or told in unescape(dora.get(address).content.decode()), (
                name,
                told,
            )


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("nDCG@10 nDCG@10x", "the cutoff must be a whole number"),
        ("ligthgbm:nDCG@10", "unknown preset 'ligthgbm'"),
        ("lightgbm:RR@10", "has no RR"),
        ("Coverage@10", "over a whole run"),
        ("nDCG(empty='error')@10", "on a leaderboard"),
        ("", "enter a measure"),
    ],
)
def test_a_name_that_can_not_be_kept_is_refused_in_words(
    world: World, names: str, said: str
) -> None:
    with pytest.raises(MeasureError, match=said):
        choose(world, names)


def test_a_set_has_each_measure_once_whatever_it_is_called(world: World) -> None:
    with pytest.raises(LeaderboardRefused, match="different measures"):
        choose(world, "nDCG@10 trec_eval_c:nDCG@10")


def test_only_leads_choose(world: World) -> None:
    with pytest.raises(NotFound):
        choose(world, "nDCG@10", username="dora")
