"""The queue before SQLite's one writer."""

import threading
import time

from config.sqlite.base import FairLock


def test_the_lock_is_granted_in_the_order_in_which_it_was_asked_for() -> None:
    lock = FairLock()
    assert lock.acquire(timeout=0)
    granted: list[int] = []

    def wait(number: int) -> None:
        assert lock.acquire(timeout=5)
        granted.append(number)
        lock.release()

    threads = []
    for number in range(8):
        thread = threading.Thread(target=wait, args=(number,))
        thread.start()
        threads.append(thread)
        while len(lock._waiting) <= number:
            time.sleep(0.001)
    lock.release()
    for thread in threads:
        thread.join(5)
    assert granted == list(range(8))
    assert lock.acquire(timeout=0), "the last one out must leave the lock free"


def test_whoever_gives_up_waiting_leaves_the_queue() -> None:
    lock = FairLock()
    assert lock.acquire(timeout=0)
    assert not lock.acquire(timeout=0.01)
    lock.release()
    assert lock.acquire(timeout=0), "the lock must not be handed to one who has left"
