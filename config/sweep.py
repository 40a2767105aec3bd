"""What is due, found by looking; the safety net under every message."""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import close_old_connections
from django.db.models import Sum
from django.utils import timezone

import annotation.budgets.services
import annotation.changed_documents.due
import annotation.due
import annotation.machine_judges.following
import annotation.quality.due
import annotation.reminders.services
import annotation.retention.services
import evaluation.canaries.due
import evaluation.corrected.due
import evaluation.data_set_canaries.due
import evaluation.data_sets.working
import evaluation.evaluations.due
import evaluation.live_rankers.due
import evaluation.samples.due
import judgments.accounts.retention
import judgments.audit.seals
import judgments.versions.parts
from judgments.accounts.queries import is_session_expired
from judgments.jobs.queries import is_job_due
from judgments.jobs.worker_beats import beat
from judgments.messages.queries import is_message_due
from judgments.models import JudgmentList
from judgments.waking import publish

logger = logging.getLogger(__name__)

Wake = tuple[str, tuple[int, ...]]
WITHOUT_ARGUMENTS: Final[Mapping[str, Callable[[datetime], bool]]] = {
    "judgments.work_jobs": is_job_due,
    "judgments.send_messages": is_message_due,
    "judgments.clear_sessions": is_session_expired,
    judgments.accounts.retention.TASK: judgments.accounts.retention.is_clearing_due,
    "evaluation.start_snapshots": evaluation.live_rankers.due.is_snapshot_due,
    "evaluation.coordinate_data_sets": evaluation.data_sets.working.is_coordinating_due,
    "evaluation.check_canaries": evaluation.canaries.due.is_look_due,
    "evaluation.check_data_sets": evaluation.data_set_canaries.due.is_data_set_look_due,
    "annotation.release_expired": annotation.due.is_lease_due,
    "annotation.build_snapshot_pools": annotation.due.is_snapshot_pool_due,
    annotation.budgets.services.TASK: annotation.budgets.services.is_check_due,
    annotation.retention.services.TASK: annotation.retention.services.is_clearing_due,
    "annotation.remind": annotation.reminders.services.is_reminding_due,
}
# what each gives the ids of
WITH_ID: Final[Mapping[str, Callable[[datetime], Iterable[int]]]] = {
    judgments.versions.parts.TASK: judgments.versions.parts.list_abandoned,
    "annotation.consolidate": lambda _: annotation.due.list_due_lists(),
    "annotation.follow_documents": lambda now: annotation.changed_documents.due.list_due_lists(
        at=now
    ),
    "annotation.follow_machine": lambda _: annotation.machine_judges.following.list_due_lists(),
    "annotation.refresh_quality": lambda now: annotation.quality.due.list_due_reports(at=now),
    "evaluation.refresh": lambda now: evaluation.evaluations.due.list_due_lists(at=now),
    "evaluation.evaluate_sample": lambda _: evaluation.samples.due.list_due_plans(),
    "evaluation.correct_means": lambda now: evaluation.corrected.due.list_due_plans(at=now),
}


def list_due() -> Iterator[Wake]:
    """Each piece of due work as the message that would start it; reads only."""
    now = timezone.now()
    yield from ((task, ()) for task, is_due in WITHOUT_ARGUMENTS.items() if is_due(now))
    if judgments.audit.seals.is_sealing_due():
        # with the newest seal: where there is always something new, each look announces it
        yield judgments.audit.seals.TASK, (judgments.audit.seals.find_newest(),)
    for task, list_ids in WITH_ID.items():
        yield from ((task, (pk,)) for pk in list_ids(now))


def read_state() -> tuple[object, ...]:
    """What is another after every label, conclusion and version; reads only."""
    heads = JudgmentList.objects.aggregate(heads=Sum("head"))["heads"]
    return annotation.due.count_due(), heads


class Sweeper:
    """Looks every few seconds and announces what is due, ever more rarely while it stays due.

    Something that stays due is usually being worked on; announcing it at every look would
    only fill the queue. But where people label without a pause a list is due at every look, and
    each time something else is: then every look announces, or the last label's lost message
    would wait for as long as there had been labelling.
    """

    LONGEST_WAIT = 60.0
    PULSE = 10.0  # seconds between two signs of life

    def __init__(self) -> None:
        self.name = f"embedded@{socket.gethostname()}"
        self._next_beat = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._next: dict[Wake, float] = {}
        self._wait: dict[Wake, float] = {}
        self._state: tuple[object, ...] = ()

    def start(self, name: str = "") -> None:
        """Begin in a thread of this process; a second start changes nothing.

        name: of the worker that it is a part of.
        """
        self.name = name or self.name
        if self._thread is not None and self._thread.is_alive():
            return
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="sweep", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the look that is under way."""
        self._stop.set()

    def look(self, now: float) -> int:
        """One look at `now` (monotonic seconds): announce what is due; how many were announced."""
        due, state = set(list_due()), read_state()
        is_other = state != self._state
        self._state = state
        for gone in set(self._next) if is_other else self._next.keys() - due:
            del self._next[gone], self._wait[gone]
        announced = 0
        for wake in sorted(due):
            if now < self._next.get(wake, 0.0):
                continue
            task, args = wake
            if not publish(task, *args):
                continue  # the wake-up was lost: the next sweep repeats it
            announced += 1
            wait = min(2 * self._wait.get(wake, settings.SWEEP_INTERVAL), self.LONGEST_WAIT)
            self._wait[wake] = wait
            self._next[wake] = now + wait
        return announced

    def beat(self, now: float) -> None:
        """Show a sign of life at `now` (monotonic seconds), unless one was shown just before."""
        if now >= self._next_beat:
            beat(name=self.name, at=timezone.now())
            self._next_beat = now + self.PULSE

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.look(time.monotonic())
                self.beat(time.monotonic())
            except Exception:
                logger.exception("the sweep failed; it tries again")
            finally:
                close_old_connections()
            self._stop.wait(settings.SWEEP_INTERVAL)


sweeper = Sweeper()
