"""Workers that send, and requests that tell, at the same moment."""

import threading
from functools import partial
from typing import Any

import pytest

from judgments.jobs.rounds import begin_round
from judgments.messages.channels import Channel, _channels
from judgments.messages.kinds import EMAIL
from judgments.messages.sending import AT_ONCE, send_due
from judgments.messages.services import notify, notify_digest
from judgments.models import Notice, OutboxMessage
from tests.builders import NOW, World, make_world
from tests.racing import CROWD, ROUNDS, AtOnce, raised

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(settings: Any) -> World:
    settings.MAIL_ON = True
    return make_world()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What a channel was given to send, in any order."""
    rows: list[int] = []
    lock = threading.Lock()

    def send(message: OutboxMessage) -> None:
        with lock:
            rows.append(message.pk)

    monkeypatch.setitem(_channels, EMAIL, Channel(EMAIL, lambda: True, send, ()))
    return rows


def tell(world: World, key: str) -> None:
    notify(
        kind="report",
        key=key,
        people=[world.ada],
        payload={"campaign": "First", "collection": "Books"},
        page=("home",),
        collection=world.collection,
        at=NOW,
    )


def test_of_many_workers_one_sends_each_message(
    at_once: AtOnce, world: World, sent: list[int]
) -> None:
    for number in range(ROUNDS):
        for message in range(5):
            tell(world, f"{number}:{message}")
        done = at_once(*[partial(send_due, clock=lambda: NOW)] * CROWD)
        assert not raised(done)
        while send_due(clock=lambda: NOW):  # those whose ten candidates others had taken
            pass
    assert len(sent) == len(set(sent)) == 5 * ROUNDS
    assert set(OutboxMessage.objects.values_list("state", "attempts")) == {("sent", 1)}
    assert AT_ONCE > 5


def test_of_many_who_tell_of_one_event_one_does(
    at_once: AtOnce, world: World, sent: list[int]
) -> None:
    for number in range(ROUNDS):
        assert not raised(at_once(*[partial(tell, world, f"event {number}")] * CROWD))
    assert Notice.objects.count() == OutboxMessage.objects.count() == ROUNDS


def test_digests_that_are_told_at_once_are_one(
    at_once: AtOnce, world: World, sent: list[int]
) -> None:
    def digest(key: str, count: int) -> None:
        notify_digest(
            kind="adjudication",
            key=key,
            people=[world.ada, world.dora],
            count=count,
            payload={"campaign": "First", "collection": "Books", "pairs": f"{count} pairs"},
            page=("home",),
            collection=world.collection,
            at=NOW,
        )

    for number in range(ROUNDS):
        works = [partial(digest, f"d{number}", count) for count in range(1, CROWD + 1)]
        assert not raised(at_once(*works))
    assert Notice.objects.count() == OutboxMessage.objects.count() == 2 * ROUNDS


def test_of_many_workers_one_begins_a_round(at_once: AtOnce, world: World) -> None:
    from datetime import timedelta

    for number in range(ROUNDS):
        begin = partial(
            begin_round, name="r", every=timedelta(minutes=1), at=NOW + timedelta(hours=number)
        )
        assert sorted(at_once(*[begin] * CROWD)) == [False] * (CROWD - 1) + [True]
