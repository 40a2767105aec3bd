"""What a collection's overview says of rankers: each step to those who may do it."""

import pytest

from evaluation.evaluations.refreshing import refresh_evaluations
from judgments.collections.overview_parts import Standing, Step, list_standings, list_steps
from judgments.models import Membership
from tests.builders import NOW, World, commit, make_access
from tests.evaluation.builders import make_ranker, make_run

pytestmark = pytest.mark.django_db
OWN = ("Register a ranker", "Upload a run", "View the leaderboard")


def steps_of(world: World, username: str) -> dict[str, Step]:
    access = make_access(collection=world.collection, username=username)
    return {step.title: step for step in list_steps(access) if step.title in OWN}


def standings_of(world: World, username: str) -> list[Standing]:
    access = make_access(collection=world.collection, username=username)
    return [card for card in list_standings(access) if card.kind == "Leaderboard"]


def test_a_researcher_is_led_from_the_ranker_to_the_leaderboard(world):
    steps = steps_of(world, "dora")
    assert [bool(steps[title].url) for title in OWN] == [True, False, False]
    make_ranker(collection=world.collection)
    steps = steps_of(world, "dora")
    assert [steps[title].is_done for title in OWN] == [True, False, False]
    assert steps["Upload a run"].url
    make_run(collection=world.collection, rankings={"q1": ["d1"]})
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    steps = steps_of(world, "dora")
    assert [steps[title].is_done for title in OWN] == [True, True, True]
    assert steps["View the leaderboard"].url


def test_whoever_labels_is_told_nothing_of_rankers(world):
    assert steps_of(world, "ben") == {}
    Membership.objects.filter(user=world.dora).update(is_annotating=True)
    assert steps_of(world, "dora") == {}


def test_the_first_three_rankers_of_a_list_stand_with_their_newest_runs(world):
    assert standings_of(world, "dora") == []
    for number, ranking in enumerate((["d2", "d1"], ["d1"], ["d2", "d3", "d1"], ["d2"])):
        for name, found in (("older", ["d1"]), ("newer", ranking)):
            make_run(
                collection=world.collection,
                ranker=f"r{number}",
                name=name,
                rankings={"q1": found},
            )
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    (card,) = standings_of(world, "dora")
    assert card.note == "nDCG@10, version 1"
    shown = [(line.text, line.figure) for line in card.lines]
    assert shown == [("r1", "1.0000"), ("r0", "0.6309"), ("r2", "0.5000")]
    assert standings_of(world, "ben") == []
