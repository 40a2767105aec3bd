"""The embedded workers are real Celery workers, each with its own queue."""

import threading
import time
from collections.abc import Iterator

import pytest
from celery import current_app, shared_task

from config.embedded import EmbeddedWorkers
from judgments.stopping import process_ends

done: list[tuple[str, str]] = []


@shared_task(name="tests.note_the_thread")
def note_the_thread(what: str) -> None:
    done.append((what, threading.current_thread().name))


@shared_task(name="tests.go_on_until_the_end")
def go_on_until_the_end() -> None:
    done.append(("began", ""))
    process_ends.wait(20)
    time.sleep(0.1)  # what is left to do then
    done.append(("ended", ""))


@pytest.fixture(scope="module")
def workers() -> Iterator[EmbeddedWorkers]:
    workers = EmbeddedWorkers()
    workers.start()
    yield workers
    workers.stop()
    process_ends.clear()  # this process goes on


def wait_for(count: int) -> None:
    deadline = time.monotonic() + 20
    while len(done) < count and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.usefixtures("workers")
def test_a_long_job_does_not_delay_a_refresh() -> None:
    for number in range(10):
        current_app.send_task("tests.note_the_thread", (f"refresh {number}",), queue="refresh")
        current_app.send_task("tests.note_the_thread", (f"job {number}",), queue="jobs")
    wait_for(20)
    expected = {(f"refresh {n}", "worker-refresh") for n in range(10)}
    expected |= {(f"job {n}", "worker-jobs") for n in range(10)}
    assert set(done) == expected
    assert len(done) == 20


def test_a_task_that_is_under_way_is_told_that_the_process_ends_and_is_waited_for(
    workers: EmbeddedWorkers,
) -> None:
    done.clear()
    current_app.send_task("tests.go_on_until_the_end", queue="jobs")
    wait_for(1)
    workers.stop()
    assert [what for what, _ in done] == ["began", "ended"]
