"""Whether a run has its values: on which lists of its collection, and waiting until it has."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import BoundedSemaphore
from typing import Final, Literal

from evaluation.evaluations.due import list_failures
from evaluation.models import Evaluation, Leaderboard, Run
from judgments.models import JudgmentList

State = Literal["waiting", "evaluated", "failed", "withdrawn"]

LONGEST: Final = 60  # seconds of one request
# Requests that wait at the same time in a process of eight threads: the others answer pages.
MOST_WAITING: Final = 3
FIRST_SLEEP: Final = 0.05  # seconds
LONGEST_SLEEP: Final = 0.5

_waiting: Final = BoundedSemaphore(MOST_WAITING)


@dataclass(frozen=True)
class RunOnList:
    """A run on a list with judgments. problem: why it has no values, of a failed one."""

    list: str
    version: int
    state: State
    problem: str


@dataclass(frozen=True)
class RunProgress:
    """A run's state: failed if it is on one list, evaluated if it is on every list.

    lists: those that have judgments. is_cut: the wait ended early, because too many wait already.
    """

    state: State
    lists: tuple[RunOnList, ...]
    is_cut: bool = field(default=False, metadata={"rest": False})


def wait_for_run(*, run: Run, seconds: float) -> RunProgress:
    """The state of a run, as soon as nothing is left to wait for, or when the time is over.

    A run is evaluated where it has values of the version that was the list's head at the call, or
    of a later one: while people label, the newest head is reached for moments only.
    No transaction is open while this waits. Where too many wait already, it answers at once.
    """
    end = time.monotonic() + min(seconds, LONGEST)
    heads = dict(
        JudgmentList.objects.filter(collection=run.ranker.collection_id, head__gt=0).values_list(
            "pk", "head"
        )
    )
    result = _progress(run, heads)
    if seconds <= 0 or result.state != "waiting":
        return result
    if not _waiting.acquire(blocking=False):
        return RunProgress(result.state, result.lists, is_cut=True)
    try:
        sleep = FIRST_SLEEP
        while result.state == "waiting" and (left := end - time.monotonic()) > 0:
            time.sleep(min(sleep, left))
            sleep = min(2 * sleep, LONGEST_SLEEP)
            run.refresh_from_db(fields=["withdrawn_at"])
            result = _progress(run, heads)
    finally:
        _waiting.release()
    return result


def _progress(run: Run, heads: Mapping[int, int]) -> RunProgress:
    """The state now. heads: of each list the version that is waited for."""
    lists = JudgmentList.objects.filter(pk__in=heads).order_by("pk")
    sets = dict(Leaderboard.objects.filter(list__in=heads).values_list("list", "measure_set"))
    reached: dict[int, int] = {}
    stored = Evaluation.objects.filter(run=run, version__list__in=heads)
    rows = stored.values_list("version__list", "version__number", "measure_set").order_by()
    for list_id, number, measure_set in rows:
        if sets.get(list_id) == measure_set:
            reached[list_id] = max(number, reached.get(list_id, 0))

    def on(one: JudgmentList) -> RunOnList:
        number = reached.get(one.pk, 0)
        if number >= heads[one.pk]:
            return RunOnList(one.slug, number, "evaluated", "")
        failures = {own.run_id: own for own in list_failures(list_id=one.pk)}
        failure = failures.get(run.pk)
        if failure is not None and failure.is_given_up:
            return RunOnList(one.slug, number, "failed", failure.problem)
        return RunOnList(one.slug, number, "waiting", failure.problem if failure else "")

    own = tuple(on(one) for one in lists)
    return RunProgress(_state_of(run, own), own)


def _state_of(run: Run, lists: tuple[RunOnList, ...]) -> State:
    states = {one.state for one in lists}
    if run.withdrawn_at is not None:
        return "withdrawn"
    if "failed" in states:
        return "failed"
    return "waiting" if "waiting" in states else "evaluated"
