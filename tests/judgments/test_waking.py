"""Announcing work costs next to nothing, whatever state the broker is in."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis
from django.db import transaction

from judgments import waking
from judgments.waking import PATIENCE, PAUSE, publish_later, wake
from tests.deployment import ROOT, production_environment

# In a process of its own, whose broker is the test's own: a line in, an attempt, a line out.
ANNOUNCER = """
import json, sys, time, django
django.setup()
from judgments import waking
waking.SILENCE = 1.0
for _ in sys.stdin:
    began = time.monotonic()
    is_sent = waking.publish("evaluation.refresh", 1)
    print(json.dumps([is_sent, time.monotonic() - began]), flush=True)
"""


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The messages that are sent, in their order, instead of sending them."""
    messages: list[tuple[object, ...]] = []
    monkeypatch.setattr(waking, "publish", lambda *message: messages.append(message))
    return messages


@pytest.mark.django_db(transaction=True)
def test_a_hundred_labels_at_once_are_a_few_messages_and_none_is_left_unsaid(
    said: list[tuple[object, ...]],
) -> None:
    for _ in range(100):
        with transaction.atomic():
            wake("annotation.consolidate", 987_654)
    time.sleep(4 * PAUSE)
    before = len(said)
    assert 2 <= before < 50
    with transaction.atomic():
        wake("annotation.consolidate", 987_654)
    assert len(said) == before + 1


@pytest.mark.django_db(transaction=True)
def test_who_wakes_says_how_long_a_message_holds(said: list[tuple[object, ...]]) -> None:
    for _ in range(3):
        wake("annotation.consolidate", 987_654, pause=3600.0)
    wake("annotation.consolidate", 987_655, pause=3600.0)
    assert said == [("annotation.consolidate", 987_654), ("annotation.consolidate", 987_655)]


def test_what_is_to_be_said_later_is_said_once(said: list[tuple[object, ...]]) -> None:
    for _ in range(2):
        for _ in range(5):
            publish_later(0.1, "annotation.consolidate", 987_654)
        time.sleep(0.5)
    assert said == [("annotation.consolidate", 987_654)] * 2


@pytest.mark.redis
def test_a_frozen_redis_costs_one_short_wait_and_then_none_until_it_is_tried_again(
    tmp_path: Path, own_redis_url: str
) -> None:
    environment = production_environment(
        tmp_path, "postgres://nobody@127.0.0.1/none", own_redis_url
    )
    with (
        redis.Redis.from_url(own_redis_url) as client,
        subprocess.Popen(
            [sys.executable, "-c", ANNOUNCER],
            cwd=ROOT,
            env={**environment, "DJANGO_SETTINGS_MODULE": "config.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):

        def announce() -> tuple[bool, float]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            is_sent, seconds = json.loads(process.stdout.readline())
            return is_sent, seconds

        assert announce()[0]
        server = client.info("server")["process_id"]
        os.kill(server, signal.SIGSTOP)
        first, others = announce(), [announce() for _ in range(20)]
        time.sleep(1.1)
        later = announce()
        os.kill(server, signal.SIGCONT)
        time.sleep(1.1)
        afterwards = announce()
        assert process.stdin is not None
        process.stdin.close()
    for is_sent, seconds in (first, later):
        assert not is_sent
        assert PATIENCE["socket_timeout"] <= seconds < 4 * PATIENCE["socket_timeout"]
    assert not any(is_sent for is_sent, _ in others)
    assert sorted(seconds for _, seconds in others)[10] < 0.01
    assert afterwards[0]
