"""Which evaluations by samples are due: of every run, at what its sample's grades are by now."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from evaluation.evaluations.measure_sets import is_of_this_arithmetic
from evaluation.models import Leaderboard, MeasureSet, Run, SampleEvaluation
from evaluation.samples.drawn import basis_of, find_traffic, last_touched, list_zero_results
from judgments.models import SamplePlan

CURRENT: Final = 2  # plans of a list that are kept up to date: this month's, and the last one's


@dataclass(frozen=True)
class DueSample:
    """A plan and its runs (ascending) without an evaluation at a version of the plan's list.

    basis: `basis_of` the queries that count as empty rankings and the newest traffic.
    """

    plan: SamplePlan
    version: int
    basis: str
    measure_set: MeasureSet
    runs: tuple[Run, ...]


def list_due_plans() -> list[int]:
    """The plans that have something due, of each list's newest."""
    return [one.plan.pk for one in _list_due(current_plans())]


def current_plans() -> QuerySet[SamplePlan]:
    """The plans that are kept up to date: each list's newest, by id."""
    by_list: dict[int, list[int]] = {}
    for list_id, pk in SamplePlan.objects.order_by("-pk").values_list("list", "pk"):
        by_list.setdefault(list_id, []).append(pk)
    current = [pk for pks in by_list.values() for pk in pks[:CURRENT]]
    return SamplePlan.objects.filter(pk__in=current).order_by("pk")


def find_due(plan_id: int) -> DueSample | None:
    """What is due of a plan; None if nothing is."""
    return next(_list_due(SamplePlan.objects.filter(pk=plan_id)), None)


def _list_due(plans_qs: QuerySet[SamplePlan]) -> Iterator[DueSample]:
    for plan in plans_qs.select_related("list", "frame"):
        board = Leaderboard.objects.select_related("measure_set").filter(list=plan.list_id).first()
        if board is None or not is_of_this_arithmetic(board.measure_set):
            continue
        version = last_touched(plan)
        if not version:
            continue
        basis = basis_of(plan, version, list_zero_results(plan, version), find_traffic(plan))
        runs = tuple(_waiting(plan, version, basis, board.measure_set))
        if runs:
            yield DueSample(plan, version, basis, board.measure_set, runs)


def _waiting(plan: SamplePlan, version: int, basis: str, measure_set: MeasureSet) -> Iterator[Run]:
    stored = SampleEvaluation.objects.filter(
        run=OuterRef("pk"),
        plan=plan,
        version=version,
        basis=basis,
        measure_set=measure_set,
    )
    runs_qs = Run.objects.filter(
        ~Exists(stored),
        ranker__collection=plan.list.collection_id,
        withdrawn_at__isnull=True,
    )
    return runs_qs.order_by("pk").iterator()
