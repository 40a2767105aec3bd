"""Which corrected evaluations are due: of every run, by each machine judge of each sample."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluation.evaluations.measure_sets import is_of_this_arithmetic
from evaluation.models import CorrectedEvaluation, Leaderboard, MeasureSet, Run
from evaluation.samples.drawn import basis_of as basis_of_sample
from evaluation.samples.drawn import last_touched, list_zero_results
from evaluation.samples.due import current_plans
from judgments.models import SamplePlan
from judgments.versions.machine_sources import MachineSource, list_sources

# while a judge is at work, each of its labels makes all means of its list due
WHILE_LABELLING: Final = timedelta(minutes=1)
RULES: Final = 2  # counts changes of how means, or the mark of short intervals, are computed


@dataclass(frozen=True)
class DueCorrection:
    """A plan and its runs (ascending) without an evaluation by a machine judge.

    version: the newest that changed a grade of a drawn query. basis: what else it follows from.
    """

    plan: SamplePlan
    version: int
    source: MachineSource
    basis: str
    measure_set: MeasureSet
    runs: tuple[Run, ...]


def list_due_plans(*, at: datetime) -> list[int]:
    """The plans that have something due, of each list's newest."""
    plans_qs = current_plans().select_related("list", "frame").order_by("-pk")
    return [plan.pk for plan in plans_qs if next(list_due(plan, at=at), None) is not None]


def list_due(plan: SamplePlan, *, at: datetime) -> Iterator[DueCorrection]:
    """What is due of a plan, by each machine judge of its list. plan: with its list and frame.

    Of a judge that is at work on the list, once a minute.
    """
    sources = list_sources(plan.list_id)
    board = Leaderboard.objects.select_related("measure_set").filter(list=plan.list_id).first()
    if not sources or board is None or not is_of_this_arithmetic(board.measure_set):
        return
    version = last_touched(plan)
    for source in sources:
        if source.is_labelling and _is_recent(plan, source, at):
            continue
        basis = basis_of(plan, version, source)
        runs = tuple(_waiting(plan, version, source, basis, board.measure_set))
        if runs:
            yield DueCorrection(plan, version, source, basis, board.measure_set, runs)


def basis_of(plan: SamplePlan, version: int, source: MachineSource) -> str:
    """Names what the means follow from besides the version: the machine's labels, the samples of
    the same log, queries without results, and the rules by which they are computed."""
    same_qs = SamplePlan.objects.filter(list=plan.list_id, frame=plan.frame_id)
    newest = same_qs.order_by("-pk").values_list("pk", flat=True).first()
    empty = basis_of_sample(plan, version, list_zero_results(plan, version), None)
    return f"{source.state} {newest} {empty} {RULES}"


def is_current(row: CorrectedEvaluation, version: int, basis: str) -> bool:
    """Whether an evaluation is of this version and basis."""
    return (row.version, row.basis) == (version, basis)


def is_of(plan: SamplePlan, version: int, source: MachineSource, basis: str) -> Q:
    """The evaluations of a plan by a source that are current."""
    return Q(plan=plan, version=version, source=source.key, basis=basis)


def _is_recent(plan: SamplePlan, source: MachineSource, at: datetime) -> bool:
    stored = CorrectedEvaluation.objects.filter(
        plan=plan, source=source.key, computed_at__gt=at - WHILE_LABELLING
    )
    return stored.exists()


def _waiting(
    plan: SamplePlan, version: int, source: MachineSource, basis: str, measure_set: MeasureSet
) -> QuerySet[Run]:
    stored = CorrectedEvaluation.objects.filter(
        is_of(plan, version, source, basis), run=OuterRef("pk"), measure_set=measure_set
    )
    runs_qs = Run.objects.filter(
        ~Exists(stored), ranker__collection=plan.list.collection_id, withdrawn_at__isnull=True
    )
    return runs_qs.order_by("pk")
