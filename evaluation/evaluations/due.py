"""What is due: runs without an evaluation at a list's head, and the steps that bring them there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum

from evaluation.evaluations.measure_sets import is_of_this_arithmetic
from evaluation.evaluations.sums import Board, RunSize, cost_of, touched_queries
from evaluation.models import Evaluation, Leaderboard, MeasureSet, RefreshAttempt, Run
from judgments.models import JudgmentList, JudgmentVersion
from touchstone.measures.averages import most_queries
from touchstone.measures.exact import IntArray, from_bytes

SMALL: Final = 2_000_000  # ranks read in well under a second: no reason to wait for a slow lane
LARGEST: Final = 25_000_000  # ranks of one step: some seconds


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run without an evaluation at the head. attempts: how many have begun and not ended."""

    size: RunSize
    attempts: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored evaluation: the exact sums of one run at one version, packed."""

    run_id: int
    version: int
    sums: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """Where a step by differences begins.

    version: its number. sums: of each run there. query_ids: those touched since.
    """

    version: int
    sums: IntArray
    query_ids: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Runs that come to the head together. base: None from scratch. work: ranks read, roughly."""

    runs: tuple[DueRun, ...]
    base: Base | None
    work: float

    @property
    def sizes(self) -> list[RunSize]:
        return [run.size for run in self.runs]

    @property
    def is_large(self) -> bool:
        """Whether it takes seconds, so that quick work should not wait behind it."""
        return self.work > SMALL

    def singly(self) -> Iterator["Step"]:
        """The same, run by run."""
        for position, run in enumerate(self.runs):
            base = self.base and Base(
                self.base.version, self.base.sums[position : position + 1], self.base.query_ids
            )
            yield Step((run,), base, self.work / len(self.runs))


def list_due_lists(*, at: datetime) -> list[int]:
    """The lists on which a run is waiting to be evaluated at the head, and may be.

    So are all runs of a list that keeps a measure whose definition has changed since.
    """
    evaluated = Evaluation.objects.filter(
        run=OuterRef("pk"),
        version__list=OuterRef(OuterRef("pk")),
        version__number=OuterRef(OuterRef("head")),
        measure_set=F("version__list__leaderboard__measure_set"),
    )
    held = RefreshAttempt.objects.filter(
        Q(attempts__gte=RefreshAttempt.MOST) | Q(not_before__gt=at),
        run=OuterRef("pk"),
        list=OuterRef(OuterRef("pk")),
    )
    waiting = Run.objects.filter(
        ~Exists(evaluated),
        ~Exists(held),
        ranker__collection=OuterRef("collection"),
        withdrawn_at__isnull=True,
    )
    outdated = Q(leaderboard__measure_set__in=_outdated_sets())
    lists = JudgmentList.objects.filter(Exists(waiting) | outdated, head__gt=0).order_by("pk")
    return list(lists.values_list("pk", flat=True))


def _outdated_sets() -> list[int]:
    """The sets that a leaderboard keeps and that this code computes otherwise: to be replaced."""
    kept = MeasureSet.objects.filter(pk__in=Leaderboard.objects.values("measure_set"))
    return [own.pk for own in kept if not is_of_this_arithmetic(own)]


def list_due_runs(
    *, version: JudgmentVersion, measure_set: MeasureSet, at: datetime
) -> list[DueRun]:
    """The runs of the list's collection that have no evaluation at the version.

    Left out are the withdrawn, those that failed too often, and those whose time has not come.
    """
    evaluated = Evaluation.objects.filter(
        run=OuterRef("pk"), version=version, measure_set=measure_set
    )
    runs = Run.objects.filter(
        ~Exists(evaluated),
        ranker__collection_id=version.list.collection_id,
        withdrawn_at__isnull=True,
    ).order_by("pk")
    tried = {a.run_id: a for a in RefreshAttempt.objects.filter(list_id=version.list_id)}
    return [
        DueRun(RunSize(*row), tried[row[0]].attempts if row[0] in tried else 0)
        for row in runs.values_list("pk", "row_count", "query_count")
        if row[0] not in tried or _may_try(tried[row[0]], at)
    ]


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that could not be evaluated. is_given_up: no one tries again by himself."""

    run_id: int
    name: str
    problem: str
    is_given_up: bool


def list_failures(*, list_id: int) -> list[Failure]:
    """The runs of a list whose evaluation failed, or was begun and never ended."""
    attempts = RefreshAttempt.objects.filter(
        list_id=list_id, run__withdrawn_at__isnull=True
    ).select_related("run__ranker")
    return [
        Failure(
            attempt.run_id,
            f"{attempt.run.ranker.slug}/{attempt.run.name}",
            attempt.problem,
            attempt.attempts >= RefreshAttempt.MOST,
        )
        for attempt in attempts.order_by("pk")
        if attempt.problem or attempt.attempts > 1
    ]


def list_steps(
    *, version: JudgmentVersion, measure_set: MeasureSet, board: Board, due: Sequence[DueRun]
) -> Iterator[Step]:
    """What brings the runs to the version, the quick first. board: with the set's measures.

    A run that failed before is alone in its step, so that it takes no other with it.
    """
    latest = list_latest(
        list_id=version.list_id,
        measure_set_id=measure_set.pk,
        run_ids=[run.size.run_id for run in due],
        below=version.number,
    )
    groups: dict[tuple[int, int], list[DueRun]] = {}
    for run in due:
        base = latest[run.size.run_id].version if run.size.run_id in latest else 0
        groups.setdefault((base, run.size.run_id if run.attempts else 0), []).append(run)
    new: list[list[DueRun]] = [[]]
    for (base, alone), runs in sorted(groups.items(), reverse=True):
        step = _by_differences(board, version, base, runs, latest) if base else None
        if step is not None:
            yield step
        elif alone:
            new.append(runs)
        else:
            new[0] += runs
    if new != [[]]:
        yield from _from_scratch(board, version, new)


def list_latest(
    *, list_id: int, measure_set_id: int, run_ids: Sequence[int], below: int
) -> dict[int, Stored]:
    """The latest evaluation before version `below` of each of the runs that has one."""
    result = _at_latest_version(list_id, measure_set_id, run_ids, below)
    missing = set(run_ids) - result.keys()
    if not missing:
        return result
    latest = (
        Evaluation.objects.filter(
            run_id__in=missing,
            measure_set_id=measure_set_id,
            version__list_id=list_id,
            version__number__lt=below,
        )
        .values("run_id")
        .annotate(latest=Max("version_id"))
        .order_by()
        .values_list("run_id", "latest")
    )
    by_version: dict[int, list[int]] = {}
    for run_id, version_id in latest:
        by_version.setdefault(version_id, []).append(run_id)
    for version_id, own in by_version.items():
        there = Evaluation.objects.filter(version=version_id)
        result |= _stored(there, measure_set_id, own)
    return result


def _may_try(attempt: RefreshAttempt, at: datetime) -> bool:
    return attempt.attempts < RefreshAttempt.MOST and attempt.not_before <= at


def _at_latest_version(
    list_id: int, measure_set_id: int, run_ids: Sequence[int], below: int
) -> dict[int, Stored]:
    """The evaluations at the last version that has any: nearly always all there are to find."""
    any_there = Evaluation.objects.filter(version=OuterRef("pk"), measure_set_id=measure_set_id)
    versions = JudgmentVersion.objects.filter(
        Exists(any_there), list_id=list_id, number__lt=below
    ).order_by("-number")
    last = Evaluation.objects.filter(version=Subquery(versions.values("pk")[:1]))
    return _stored(last, measure_set_id, run_ids)


def _stored(
    evaluations_qs: QuerySet[Evaluation], measure_set_id: int, run_ids: Iterable[int]
) -> dict[int, Stored]:
    wanted = set(run_ids)
    rows = evaluations_qs.filter(measure_set_id=measure_set_id).order_by()
    return {
        run_id: Stored(run_id, number, bytes(sums))
        for run_id, number, sums in rows.values_list("run_id", "version__number", "sums")
        if run_id in wanted
    }


def _by_differences(
    board: Board,
    version: JudgmentVersion,
    base: int,
    runs: Sequence[DueRun],
    latest: Mapping[int, Stored],
) -> Step | None:
    """The step from version `base`; None where more than half of the queries were touched.

    From there on, from scratch is quicker.
    """
    touched = touched_queries(board=board, after=base, until=version.number)
    flat = from_bytes(b"".join(latest[run.size.run_id].sums for run in runs))
    sums = flat.reshape(len(runs), -1, flat.shape[-1])
    if 2 * len(touched) > most_queries(board.measures, sums):
        return None
    work = len(touched) * sum(run.size.depth for run in runs) * cost_of(board.measures)
    return Step(tuple(runs), Base(base, sums, touched), work)


def _from_scratch(
    board: Board, version: JudgmentVersion, groups: Iterable[Sequence[DueRun]]
) -> Iterator[Step]:
    """Steps over all judged queries, each of as many runs as some seconds are enough for."""
    pairs = JudgmentVersion.objects.filter(
        list_id=version.list_id, number__lte=version.number
    ).aggregate(pairs=Sum("added") - Sum("removed"))["pairs"]
    for runs in groups:
        cost = cost_of(board.measures)
        ends = np.cumsum([run.size.rows * cost for run in runs])
        parts = ends // LARGEST
        for part in np.unique(parts).tolist():
            own = tuple(run for run, its in zip(runs, parts.tolist(), strict=True) if its == part)
            yield Step(own, None, pairs + cost * sum(run.size.rows for run in own))
