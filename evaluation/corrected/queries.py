"""Three means of a list's runs by each machine judge, for pages and programs."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from evaluation.corrected.due import basis_of, is_current
from evaluation.corrected.figures import MeansOrReason, compute_differences, from_json
from evaluation.corrected.population import get_population
from evaluation.evaluations.measure_sets import get_leaderboard
from evaluation.models import CorrectedEvaluation, Run
from evaluation.runs.names import name_of, run_label
from evaluation.runs.selection import ComparedRun
from evaluation.samples.corrections import CorrectedRun, Correction, has_short_interval
from evaluation.samples.drawn import last_touched
from evaluation.samples.queries import Estimates, SampleFilters, choose_plan, get_estimates
from judgments.models import JudgmentList, SamplePlan
from judgments.permissions import Access
from judgments.samples.origins import find_origins
from judgments.samples.queries import list_plans
from judgments.storage.caches import get_or_compute
from judgments.versions.machine_sources import (
    MachineSource,
    get_machine_grades,
    judge_of,
    list_sources,
)
from touchstone.measures.definition import Measure
from touchstone.statistics.corrected import CorrectionRefusedError

KEPT = 3600  # seconds
PART: Final = (
    "corrected means are of all queries that the machine judged, not of a segment or a saved set"
)


@dataclass(frozen=True)
class _Computed:
    rows: tuple[MeansOrReason, ...]


def get_estimates_and_corrections(
    *, access: Access, slug: str, filters: SampleFilters
) -> Estimates:
    """`get_estimates` with what each machine judge of the list adds."""
    result = get_estimates(access=access, slug=slug, filters=filters)
    sources = list_sources(result.list.pk)
    if not sources or not result.measures:
        return result
    plan = choose_plan(list_plans(judgment_list=result.list), filters.sample)
    if plan is None:
        refused = _not_drawn(result.list)
        corrections = [
            Correction(one.judge, one.revision, refused, (), judge_of(one.key)) for one in sources
        ]
        return replace(result, corrections=tuple(corrections))
    plan.list = result.list
    place = result.measures.index(result.measure)
    corrections = [_correction(plan, source, place) for source in sources]
    computing = result.computing or any(one.computing for one in corrections)
    return replace(result, corrections=tuple(corrections), computing=computing)


def of_part(estimates: Estimates) -> Estimates:
    """What is said where only some of the queries are chosen: why there are no corrected means."""
    corrections = tuple(replace(one, refused=PART, runs=()) for one in estimates.corrections)
    return replace(
        estimates, sample=0, is_complete=False, computing=False, runs=(), corrections=corrections
    )


def _not_drawn(judgment_list: JudgmentList) -> str:
    """Why queries that no sample drew correct nothing."""
    origins = find_origins(judgment_list=judgment_list)
    parts = (
        [
            (origins.judge_next, "added by Judge next"),
            (origins.chosen, "chosen by hand"),
            (origins.imported, "imported with their grades"),
        ]
        if origins
        else []
    )
    told = ", ".join(f"{count:,} {words}" for count, words in parts if count)
    return (
        "the queries that people judged were not drawn at random"
        + (f" ({told})" if told else "")
        + ", so they say nothing of the others"
    )


def _correction(plan: SamplePlan, source: MachineSource, place: int) -> Correction:
    version = last_touched(plan)
    basis = basis_of(plan, version, source)
    board = get_leaderboard(judgment_list=plan.list)
    judge = judge_of(source.key)
    stored = CorrectedEvaluation.objects.filter(
        plan=plan,
        source__startswith=f"{judge}.",
        measure_set=board.measure_set_id if board else 0,
    )
    newest = {row.run_id: row for row in stored.order_by("version", "pk")}
    runs_qs = Run.objects.filter(
        ranker__collection=plan.list.collection_id, withdrawn_at__isnull=True
    ).select_related("ranker")
    rows = []
    for run in runs_qs.order_by("pk"):
        row = newest.get(run.pk)
        found = from_json(row.means[place : place + 1])[0] if row else MeansOrReason(None, "")
        is_stale = row is None or row.source != source.key or not is_current(row, version, basis)
        rows.append(
            CorrectedRun(
                name_of(run),
                row.version if row else None,
                is_stale and bool(version),
                found.means,
                found.refused,
                run_label(run.ranker.name, name_of(run)),
            )
        )
    reasons = {one.refused for one in rows}
    refused = reasons.pop() if len(reasons) == 1 else ""
    if not version:
        refused = "people judged none of the drawn queries yet"
    return Correction(source.judge, source.revision, refused, tuple(rows), judge)


@dataclass(frozen=True)
class CorrectedDifferences:
    """Differences from the baseline by a sample's people, by a machine judge, and corrected.

    sample: its number, 0 without one. refused: why there is none of any run; else "".
    """

    judge: str
    revision: int
    sample: int
    sample_name: str
    refused: str
    differences: tuple[CorrectedRun, ...]

    @property
    def unreliable(self) -> bool:
        """Whether a shown interval is too short to be relied on."""
        return has_short_interval(self.differences)


def get_corrected_differences(
    *,
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    baseline: ComparedRun,
    others: Sequence[ComparedRun],
    is_part: bool,
) -> tuple[CorrectedDifferences, ...]:
    """What each machine judge of the list says of differences, by the newest sample.

    is_part: only some of the queries are compared.
    """
    sources = list_sources(judgment_list.pk)
    if not sources or not others:
        return ()
    plan = next(iter(list_plans(judgment_list=judgment_list)), None)
    if plan is None or is_part:
        refused = PART if is_part else _not_drawn(judgment_list)
        return tuple(
            CorrectedDifferences(one.judge, one.revision, 0, "", refused, ()) for one in sources
        )
    plan.list = judgment_list
    at = last_touched(plan, version=version)
    results = []
    for source in sources:
        rows = _differences(plan, at, source, measure, [baseline, *others])
        reasons = {one.refused for one in rows}
        shown = tuple(
            CorrectedRun(one.name, at, False, row.means, row.refused, one.label)
            for one, row in zip(others, rows, strict=True)
        )
        refused = reasons.pop() if len(reasons) == 1 else ""
        results.append(
            CorrectedDifferences(
                source.judge, source.revision, plan.number, plan.name, refused, shown
            )
        )
    return tuple(results)


def _differences(
    plan: SamplePlan,
    version: int,
    source: MachineSource,
    measure: Measure,
    runs: Sequence[ComparedRun],
) -> tuple[MeansOrReason, ...]:
    """Of all runs but the first from the first; cached by all that they follow from."""

    def compute() -> _Computed:
        grades = get_machine_grades(plan.list_id, source.key)
        try:
            population = get_population(plan, version, grades)
        except CorrectionRefusedError as error:
            return _Computed((MeansOrReason.of_refusal(error.message),) * (len(runs) - 1))
        rows = compute_differences(
            judgment_list=plan.list,
            population=population,
            baseline=runs[0].run,
            others=[one.run for one in runs[1:]],
            measure=measure,
        )
        return _Computed(tuple(rows))

    parts = (
        *(str(one.run.public_id) for one in runs),
        str(plan.pk),
        str(version),
        source.key,
        basis_of(plan, version, source),
        f"{measure.name} {measure.revision}",
    )
    name = "corrected:1:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return get_or_compute(name, _Computed, KEPT, compute).rows
