"""The sweep announces what is due, and ever more rarely while it stays due."""

from itertools import pairwise

import pytest

from annotation.consolidation.services import consolidate
from config import sweep
from config.sweep import Sweeper, Wake, read_state
from tests.builders import NOW, make_world
from tests.builders_annotation import label, make_campaign


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    numbers = [0]
    monkeypatch.setattr(sweep, "read_state", lambda: tuple(numbers))
    return numbers


@pytest.fixture
def due(monkeypatch: pytest.MonkeyPatch, state: list[int]) -> set[Wake]:
    wakes: set[Wake] = set()
    monkeypatch.setattr(sweep, "list_due", lambda: iter(wakes))
    return wakes


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Wake]:
    messages: list[Wake] = []

    def publish(task: str, *args: int) -> bool:
        messages.append((task, args))
        return True

    monkeypatch.setattr(sweep, "publish", publish)
    return messages


def test_nothing_is_sent_when_nothing_is_due(due: set[Wake], sent: list[Wake]) -> None:
    assert Sweeper().look(now=100.0) == 0
    assert sent == []


def test_due_work_is_announced_at_once_and_then_ever_more_rarely(
    due: set[Wake], sent: list[Wake]
) -> None:
    due.add(("evaluation.refresh", (7,)))
    sweeper = Sweeper()
    looks = [now for now in range(0, 200, 2) if sweeper.look(now=float(now))]
    waits = [later - sooner for sooner, later in pairwise(looks)]
    assert looks[0] == 0
    assert waits == sorted(waits)
    assert waits[-1] == Sweeper.LONGEST_WAIT


def test_work_that_comes_back_is_announced_at_once_again(due: set[Wake], sent: list[Wake]) -> None:
    wake: Wake = ("evaluation.refresh", (7,))
    sweeper = Sweeper()
    due.add(wake)
    sweeper.look(now=0.0)
    due.clear()
    sweeper.look(now=1.0)
    due.add(wake)
    sweeper.look(now=1.5)
    assert sent == [wake, wake]


def test_a_list_that_is_due_at_every_look_because_people_label_is_announced_at_every_look(
    due: set[Wake], sent: list[Wake], state: list[int]
) -> None:
    due.add(("annotation.consolidate", (7,)))
    sweeper = Sweeper()
    for number in range(40):
        state[0] = number
        assert sweeper.look(now=2.0 * number) == 1


def test_what_could_not_be_announced_is_tried_again_at_the_next_look(
    due: set[Wake], monkeypatch: pytest.MonkeyPatch
) -> None:
    due.add(("evaluation.refresh", (7,)))
    answers = [False] * 20 + [True]
    monkeypatch.setattr(sweep, "publish", lambda *_: answers.pop(0))
    sweeper = Sweeper()
    looks = [sweeper.look(now=2.0 * number) for number in range(21)]
    assert looks == [0] * 20 + [1]


@pytest.mark.django_db
def test_the_state_is_another_after_a_label_a_conclusion_and_a_version() -> None:
    world = make_world()
    (pair, *_) = make_campaign(world=world, overlap=1).pairs.all()
    states = [read_state()]
    label(pair=pair, username="ben", grade=3)
    states.append(read_state())
    label(pair=pair, username="ben", grade=2)
    states.append(read_state())
    consolidate(list_id=world.judgments.pk, at=NOW)
    states.append(read_state())
    assert len(set(states)) == 4
