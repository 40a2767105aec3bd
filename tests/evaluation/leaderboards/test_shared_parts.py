"""What many open boards ask for is computed once for each role and state."""

import base64
import zlib
from typing import Any

import pytest

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.leaderboards import queries, shared_parts, views
from evaluation.leaderboards.queries import get_state
from judgments.live import Part, now, read_ticket
from judgments.models import SetLook
from judgments.pages import streams
from tests.annotation.page_reading import client_of
from tests.builders import NOW, World, commit, make_member, make_set, make_world
from tests.evaluation.builders import make_run

BOARD = "/c/books/lists/main/leaderboard"


@pytest.fixture
def world(db: None) -> World:
    world = make_world()
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"], "q2": ["d2", "d1"]})
    evaluate(world, 1)
    make_member(collection=world.collection, username="fay", role="researcher")
    return world


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


def ask(name: str, *, state: str = "older", more: str = "", event: str = "0") -> Any:
    headers = {"HX-Request": "true", "X-Board-State": state, "X-Live-Event": event}
    return client_of(name).get(BOARD + more, headers=headers)


def state_of(answer: Any) -> str:
    return str(answer.text.partition('"X-Board-State": "')[2].partition('"')[0])


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch, settings: object) -> list[Part]:
    """What the listener would be brought."""
    settings.LIVE = True  # type: ignore[attr-defined]
    seen: list[Part] = []
    monkeypatch.setattr(streams, "announce_part", seen.append)
    return seen


def html_of(part: Part) -> str:
    return zlib.decompress(base64.b64decode(part.body)).decode()


def test_one_computation_answers_all_of_a_role_and_the_answer_is_the_whole_one(
    world: World, computed: list[str]
) -> None:
    first, second = ask("dora"), ask("fay")
    assert computed == ["dora"]
    whole = client_of("fay").get(BOARD, headers={"HX-Request": "true"})
    assert first.content == second.content == whole.content
    assert "X-Live-Event" in first["Vary"]


def test_other_roles_addresses_and_states_have_computations_of_their_own(
    world: World, computed: list[str]
) -> None:
    ask("dora")
    ask("ada")
    ask("fay", more="?sort=name")
    old = ask("fay")
    evaluate(world, 3)
    new = ask("fay")
    assert computed == ["dora", "ada", "fay", "fay"]
    assert b'data-version="1"' in old.content
    assert b'data-version="2"' in new.content


def test_a_page_that_knows_the_state_gets_nothing(world: World) -> None:
    assert ask("fay", state=state_of(ask("dora"))).status_code == 204


def test_a_page_that_an_event_makes_ask_gets_the_part_for_all_of_its_key(
    world: World, announced: list[Part]
) -> None:
    ask("dora")
    assert not announced
    answer = ask("dora", event="an_event-1")
    (part,) = announced
    assert html_of(part) == answer.text
    assert part.event == "an_event-1"
    ticket = read_ticket(answer["X-Live-Ticket"])
    assert ticket
    assert part.key == ticket.key
    assert ticket.moment <= part.moment <= now()
    # also if the page itself knows it: others may not
    assert ask("dora", event="an_event-2", state=state_of(answer)).status_code == 204
    assert html_of(announced[1]) == answer.text


def test_an_event_of_another_role_or_list_is_answered_for_their_own_pages_alone(
    world: World, announced: list[Part]
) -> None:
    for name, more in (("dora", ""), ("ada", ""), ("dora", "?sort=name")):
        ask(name, event="an_event", more=more)
    assert len({part.key for part in announced}) == 3


@pytest.mark.parametrize("event", ["", "0", "short", "x" * 33, "with space", "é" * 10])
def test_what_is_no_event_lets_no_one_have_anything(
    world: World, announced: list[Part], event: str
) -> None:
    ask("dora", event=event)
    assert not announced


def test_no_part_is_let_to_others_without_access_nor_of_a_held_out_set(
    world: World, announced: list[Part]
) -> None:
    make_set(world=world, slug="held", qids=["q1"], is_held_out=True)
    assert ask("ben", event="an_event").status_code == 404
    assert ask("dora", event="an_event", more="?set=held").status_code == 200
    assert ask("dora", event="an_event", more="?measures=nonsense").status_code == 400
    assert not announced


def test_nothing_is_shared_of_an_address_that_is_refused(world: World) -> None:
    answer = ask("dora", more="?measures=nonsense")
    assert answer.status_code == 400
    assert ask("fay", more="?measures=nonsense").status_code == 400


def test_looks_at_a_held_out_set_are_counted_for_each_person(world: World) -> None:
    make_set(world=world, slug="held", qids=["q1"], is_held_out=True)
    for name in ("dora", "fay"):
        assert ask(name, more="?set=held").status_code == 200
    assert SetLook.objects.values("user").distinct().count() == 2


def test_who_annotates_gets_nothing_that_was_shared(world: World) -> None:
    ask("dora")
    assert ask("ben").status_code == 404


def test_while_a_table_is_computed_others_are_told_to_ask_again(
    world: World, announced: list[Part]
) -> None:
    key = key_of_dora(world)
    with shared_parts._turn(f"board-part:{key}:{get_state(judgment_list=world.judgments)}"):
        answer = ask("dora", event="an_event")
        assert (answer.status_code, answer["X-Live-Again"]) == (204, "1")
        assert ask("ada").status_code == 200
        with shared_parts._turn("another"):
            assert "X-Live-Again" in ask("dora", more="?sort=name")
    assert not announced
    assert ask("dora").status_code == 200


def key_of_dora(world: World) -> str:
    ticket = read_ticket(client_of("dora").get(BOARD)["X-Live-Ticket"])
    assert ticket
    return ticket.key
