"""Bringing evaluations up to a list's head: by differences where few queries were touched.

No lock is taken. Versions and rankings are immutable, so every worker computes the same bits of an
evaluation, and the unique key (run, version, measure set) lets the first one write them. A
worker that dies leaves runs that are still due, and the next look finds them.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import F, QuerySet

from evaluation.evaluations.due import DueRun, Step, list_due_runs, list_steps
from evaluation.evaluations.measure_set_services import ensure_leaderboard
from evaluation.evaluations.measure_sets import grades_of, measures_of
from evaluation.evaluations.sums import Board, compute_sums, move_sums
from evaluation.evaluations.thinning import thin_evaluations
from evaluation.models import Evaluation, MeasureSet, RefreshAttempt, Run
from judgments.models import JudgmentVersion
from judgments.storage.bulk import insert_rows
from judgments.webhooks.queries import list_receivers
from judgments.webhooks.services import publish_event
from touchstone.errors import DomainError
from touchstone.measures.exact import IntArray, to_bytes

logger = logging.getLogger(__name__)

THIN_EVERY: Final = 64  # versions
WAITS: Final = tuple(timedelta(seconds=s) for s in (2, 10, 60, 300, 3600))
RANKS_A_SECOND: Final = 1_000_000
LONGEST_PROBLEM: Final = 500
# What wrong data can make of an evaluation; whatever else happens is no fault of the run.
UNCOMPUTABLE: Final = (ValueError, ArithmeticError, LookupError, DomainError, MemoryError)


@dataclass(frozen=True)
class Refreshed:
    """What one refresh did.

    version: the head that it worked towards; 0 where the list has none.
    evaluated: evaluations made; from_scratch: how many of them not by differences.
    left: runs that wait for the next call, or for a worker of long jobs.
    failed: runs that could not be evaluated this time.
    """

    list_id: int
    version: int
    evaluated: int = 0
    from_scratch: int = 0
    left: int = 0
    failed: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Target:
    """Where the runs are to come."""

    version: JudgmentVersion
    measure_set: MeasureSet
    board: Board


def refresh_evaluations(*, list_id: int, at: datetime, only_small: bool = False) -> Refreshed:
    """Evaluate what is due on a list: every run without an evaluation at its head.

    only_small: leave what takes seconds to a worker of long jobs. Otherwise one such step is
    taken a call, so that a caller who loops always works towards the head of the moment.
    """
    version = (
        JudgmentVersion.objects.select_related("list__leaderboard__measure_set")
        .filter(list_id=list_id, number=F("list__head"))
        .first()
    )
    if version is None:
        return Refreshed(list_id, 0)
    measure_set = ensure_leaderboard(judgment_list=version.list).measure_set
    due = list_due_runs(version=version, measure_set=measure_set, at=at)
    if not due:
        return Refreshed(list_id, version.number)
    board = Board(list_id, measures_of(measure_set), grades_of(version.list))
    return _refresh(_Target(version, measure_set, board), due, at, only_small=only_small)


def retry_failed(*, list_id: int) -> int:
    """Let the runs that failed too often be tried again; how many there were."""
    return RefreshAttempt.objects.filter(list_id=list_id).delete()[0]


def _refresh(
    target: _Target, due: Sequence[DueRun], at: datetime, *, only_small: bool
) -> Refreshed:
    evaluated = from_scratch = left = 0
    failed: list[int] = []
    may_be_large = not only_small
    oldest = target.version.number
    for step in _steps(target, due):
        if step.is_large and not may_be_large:
            left += len(step.runs)
            continue
        may_be_large = may_be_large and not step.is_large
        lost = _evaluate(target, step, at)
        failed += lost
        evaluated += len(step.runs) - len(lost)
        if step.base is None:
            from_scratch += len(step.runs) - len(lost)
        else:
            oldest = min(oldest, step.base.version)
    if oldest // THIN_EVERY < target.version.number // THIN_EVERY:
        thin_evaluations(list_id=target.board.list_id, at=at)
    number = target.version.number
    return Refreshed(target.board.list_id, number, evaluated, from_scratch, left, tuple(failed))


def _steps(target: _Target, due: Sequence[DueRun]) -> Iterator[Step]:
    return list_steps(
        version=target.version, measure_set=target.measure_set, board=target.board, due=due
    )


def _evaluate(target: _Target, step: Step, at: datetime, *, is_counted: bool = False) -> list[int]:
    """Take a step and write its evaluations; the runs that it could not be taken for.

    is_counted: this attempt at these runs is counted already.
    """
    if not is_counted:
        is_counted = step.base is None or step.is_large or any(run.attempts for run in step.runs)
        if is_counted:
            _count_attempt(target, step, at)
    try:
        sums = _compute(target, step)
    except UNCOMPUTABLE as error:
        if len(step.runs) > 1:
            singly = (_evaluate(target, one, at, is_counted=is_counted) for one in step.singly())
            return [run_id for lost in singly for run_id in lost]
        _note_failure(target, step, at, error, is_counted=is_counted)
        return [step.runs[0].size.run_id]
    _write(target, step, sums, at)
    if is_counted:
        _attempts(target, step).delete()
    return []


def _compute(target: _Target, step: Step) -> IntArray:
    if step.base is None:
        return compute_sums(board=target.board, version=target.version.number, runs=step.sizes)
    return move_sums(
        board=target.board,
        sums=step.base.sums,
        before=step.base.version,
        after=target.version.number,
        query_ids=step.base.query_ids,
        runs=step.sizes,
    )


def _write(target: _Target, step: Step, sums: IntArray, at: datetime) -> None:
    """Insert the evaluations. Where another worker was faster its rows stay: they are the same."""
    moment = Evaluation._meta.get_field("computed_at").get_db_prep_value(at, connection)
    run_ids = [run.size.run_id for run in step.runs]
    packed = [to_bytes(own) for own in sums]
    same = (target.version.pk, target.measure_set.pk)
    with transaction.atomic():
        if step.base is None:
            _announce_first(target, run_ids, at)
        if connection.vendor == "postgresql":
            _insert_from_one_string(run_ids, packed, *same, moment)
            return
        columns = ("run_id", "version_id", "measure_set_id", "sums", "computed_at")
        rows = [(pk, *same, own, moment) for pk, own in zip(run_ids, packed, strict=True)]
        insert_rows(Evaluation, columns, rows, ignore_conflicts=True)


def _announce_first(target: _Target, run_ids: Sequence[int], at: datetime) -> None:
    """Tell webhooks of the runs that have no evaluation on the list yet."""
    own = target.version.list
    if not list_receivers(collection=own.collection, event="run.evaluated"):
        return
    known = Evaluation.objects.filter(run__in=run_ids, version__list=own).values("run")
    for run in Run.objects.filter(pk__in=run_ids).exclude(pk__in=known).select_related("ranker"):
        publish_event(
            event="run.evaluated",
            key=f"run:{run.pk}:list:{own.pk}",
            collection=own.collection,
            data={
                "list": own.slug,
                "ranker": run.ranker.slug,
                "run": run.name,
                "run_id": str(run.public_id),
                "version": target.version.number,
            },
            at=at,
        )


def _insert_from_one_string(
    run_ids: Sequence[int], packed: Sequence[bytes], version_id: int, set_id: int, moment: Any
) -> None:
    """All sums travel as one byte string and are cut up there: half the time of an array."""
    length = len(packed[0])
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO evaluation_evaluation "
            "(run_id, version_id, measure_set_id, sums, computed_at) "
            "SELECT run_id, %s, %s, "
            "substring(all_sums FROM ((place - 1) * %s + 1)::int FOR %s), %s "
            "FROM unnest(%s::bigint[]) WITH ORDINALITY AS runs(run_id, place), "
            "(SELECT %s::bytea AS all_sums) AS given ON CONFLICT DO NOTHING",
            [version_id, set_id, length, length, moment, list(run_ids), b"".join(packed)],
        )


def _count_attempt(target: _Target, step: Step, at: datetime) -> None:
    """Write down, before the work, that it begins: work that kills its worker counts as well."""
    lease = timedelta(seconds=step.work / RANKS_A_SECOND)
    with transaction.atomic():
        RefreshAttempt.objects.bulk_create(
            [
                RefreshAttempt(
                    run_id=run.size.run_id,
                    list_id=target.board.list_id,
                    attempts=0,
                    not_before=at,
                )
                for run in step.runs
            ],
            ignore_conflicts=True,
        )
        for attempts in {run.attempts for run in step.runs}:
            own = [run.size.run_id for run in step.runs if run.attempts == attempts]
            _attempts(target, step).filter(run_id__in=own).update(
                attempts=F("attempts") + 1, not_before=at + _wait(attempts) + lease
            )


def _note_failure(
    target: _Target, step: Step, at: datetime, error: BaseException, *, is_counted: bool
) -> None:
    """Keep what went wrong, for the lead to see; the run waits, and the others do not."""
    run = step.runs[0]
    logger.warning("run %s can't be evaluated: %s", run.size.run_id, error)
    if not is_counted:
        _count_attempt(target, step, at)
    problem = f"{type(error).__name__}: {error}"[:LONGEST_PROBLEM]
    _attempts(target, step).update(problem=problem, not_before=at + _wait(run.attempts))


def _attempts(target: _Target, step: Step) -> QuerySet[RefreshAttempt]:
    return RefreshAttempt.objects.filter(
        list_id=target.board.list_id, run_id__in=[run.size.run_id for run in step.runs]
    )


def _wait(attempts: int) -> timedelta:
    return WAITS[min(attempts, len(WAITS) - 1)]
