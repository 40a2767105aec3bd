"""What many open boards ask for after one event is computed once for each role."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.leaderboards import queries, shared_parts, views
from judgments.models import SetLook
from tests.annotation.page_reading import client_of
from tests.builders import NOW, World, commit, make_member, make_set, make_world
from tests.evaluation.builders import make_run

BOARD = "/c/books/lists/main/leaderboard"


@pytest.fixture
def world(db: None) -> Iterator[World]:
    cache.clear()
    world = make_world()
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"], "q2": ["d2", "d1"]})
    evaluate(world, 1)
    make_member(collection=world.collection, username="fay", role="researcher")
    yield world
    cache.clear()


def evaluate(world: World, grade: int) -> None:
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): grade})
    while refresh_evaluations(list_id=world.judgments.pk, at=NOW).left:
        pass


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who had a board computed."""
    seen: list[str] = []
    real = queries.get_leaderboard

    def get_leaderboard(**given: object) -> object:
        seen.append(given["access"].user.username)  # type: ignore[attr-defined]
        return real(**given)  # type: ignore[arg-type]

    monkeypatch.setattr(views, "get_leaderboard", get_leaderboard)
    return seen


def ask(name: str, event: int | str, *, state: str = "older", more: str = "") -> Any:
    headers = {"HX-Request": "true", "X-Board-State": state, "X-Live-Event": str(event)}
    return client_of(name).get(BOARD + more, headers=headers)


def now() -> int:
    return int(time.time() * 1000)


def test_one_computation_answers_all_of_a_role_and_the_answer_is_the_whole_one(
    world: World, computed: list[str]
) -> None:
    event = now()
    first, second = ask("dora", event), ask("fay", event)
    assert computed == ["dora"]
    assert first.content == second.content == ask("fay", "0").content
    assert "X-Live-Event" in first["Vary"]


def test_other_roles_addresses_and_events_have_computations_of_their_own(
    world: World, computed: list[str]
) -> None:
    event = now()
    ask("dora", event)
    ask("ada", event)
    ask("fay", event, more="?sort=name")
    evaluate(world, 3)
    old, new = ask("fay", event), ask("fay", event + 1)
    assert computed == ["dora", "ada", "fay", "fay"]
    assert b'data-version="1"' in old.content
    assert b'data-version="2"' in new.content


def test_a_page_that_knows_the_state_gets_nothing(world: World) -> None:
    event = now()
    state = ask("dora", event).text.partition('"X-Board-State": "')[2].partition('"')[0]
    assert ask("fay", event, state=state).status_code == 204


@pytest.mark.parametrize("event", ["", "x", "-5", "9" * 15, "٣", "1700000000000", "1" * 400])
def test_what_is_no_event_of_the_last_minute_is_not_shared(
    world: World, computed: list[str], event: str
) -> None:
    if event.isascii():
        ask("dora", event)
        ask("fay", event)
        assert computed == ["dora", "fay"]
    assert not shared_parts.is_recent(event)


def test_no_answer_is_put_there_for_an_event_to_come() -> None:
    assert shared_parts.is_recent(str(now()))
    assert not shared_parts.is_recent(str(now() + 500))


def test_nothing_is_shared_of_an_address_that_is_refused(world: World) -> None:
    answer = ask("dora", now(), more="?measures=nonsense")
    assert answer.status_code == 400
    assert ask("fay", now(), more="?measures=nonsense").status_code == 400


def test_looks_at_a_held_out_set_are_counted_for_each_person(world: World) -> None:
    make_set(world=world, slug="held", qids=["q1"], is_held_out=True)
    event = now()
    for name in ("dora", "fay"):
        assert ask(name, event, more="?set=held").status_code == 200
    assert SetLook.objects.values("user").distinct().count() == 2


def test_who_annotates_gets_nothing_that_was_shared(world: World) -> None:
    event = now()
    ask("dora", event)
    assert ask("ben", event).status_code == 404


def test_while_a_table_is_computed_others_are_told_to_ask_again(world: World) -> None:
    held = threading.Event()
    with shared_parts._computing:
        held.set()
        answer = ask("dora", now())
    assert (answer.status_code, answer["X-Live-Again"]) == (204, "1")
    assert ask("dora", now()).status_code == 200
