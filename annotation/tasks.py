"""Wake-ups of the annotation room; what they do is in the services."""

import threading
import time
from collections import defaultdict

from celery import shared_task
from django.utils import timezone

from annotation.services.consolidating import consolidate
from annotation.services.leasing import release_expired

_at_work: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)


@shared_task(name="annotation.consolidate", ignore_result=True)
def consolidate_list(list_id: int) -> None:
    """Conclude and commit what is due in a list.

    A label wakes this at once; within the interval of live commits it waits for its turn, once.
    A second wake-up for the same list in this process has nothing to add to the first.
    """
    lock = _at_work[list_id]
    if not lock.acquire(blocking=False):
        return
    try:
        done = consolidate(list_id=list_id, at=timezone.now())
        if done.wait_seconds > 0:
            time.sleep(done.wait_seconds)
            consolidate(list_id=list_id, at=timezone.now())
    finally:
        lock.release()


@shared_task(name="annotation.release_expired", ignore_result=True)
def release_expired_leases() -> None:
    """Free the seats of people who went away."""
    release_expired(at=timezone.now())
