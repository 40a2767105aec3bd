"""The sweep announces what is due, and ever more rarely while it stays due."""

from itertools import pairwise

import pytest

from config import sweep
from config.sweep import Sweeper, Wake


@pytest.fixture
def due(monkeypatch: pytest.MonkeyPatch) -> set[Wake]:
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
