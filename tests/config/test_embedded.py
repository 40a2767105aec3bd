"""The embedded workers are real Celery workers, each with its own queue."""

import threading
import time

from celery import current_app, shared_task

from config.embedded import EmbeddedWorkers

done: list[tuple[str, str]] = []


@shared_task(name="tests.note_the_thread")
def note_the_thread(what: str) -> None:
    done.append((what, threading.current_thread().name))


def test_a_long_job_does_not_delay_a_refresh() -> None:
    workers = EmbeddedWorkers()
    workers.start()
    try:
        for number in range(10):
            current_app.send_task("tests.note_the_thread", (f"refresh {number}",), queue="refresh")
            current_app.send_task("tests.note_the_thread", (f"job {number}",), queue="jobs")
        deadline = time.monotonic() + 20
        while len(done) < 20 and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        workers.stop()
    expected = {(f"refresh {n}", "worker-refresh") for n in range(10)}
    expected |= {(f"job {n}", "worker-jobs") for n in range(10)}
    assert set(done) == expected
    assert len(done) == 20
