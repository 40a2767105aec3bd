"""Holding stored corrected evaluations against what they follow from."""

from collections.abc import Iterator

from evaluation.corrected.due import basis_of, is_current
from evaluation.corrected.figures import from_json
from evaluation.corrected.services import means_of_runs
from evaluation.evaluations.measure_sets import is_of_this_arithmetic
from evaluation.evaluations.verifying import Verified
from evaluation.models import CorrectedEvaluation
from evaluation.samples.drawn import last_touched
from judgments.models import JudgmentList, SamplePlan
from judgments.versions.machine_sources import list_sources


def verify_corrections(*, judgment_list: JudgmentList) -> Verified:
    """Recompute the corrected evaluations of a list; those that are due count as outdated."""
    result = Verified()
    plans_qs = SamplePlan.objects.filter(list=judgment_list)
    for plan in plans_qs.select_related("list__collection", "frame").order_by("pk"):
        for one in _verify_plan(plan, f"{judgment_list} sample {plan.number}"):
            result += one
    return result


def _verify_plan(plan: SamplePlan, name: str) -> Iterator[Verified]:
    version = last_touched(plan)
    bases = {source.key: basis_of(plan, version, source) for source in list_sources(plan.list_id)}
    has_queries = plan.frame.blocks.exists()  # else a lead has deleted what users searched for
    rows = CorrectedEvaluation.objects.filter(plan=plan).select_related(
        "run__ranker", "measure_set"
    )
    for row in rows.order_by("pk"):
        is_fresh = is_current(row, version, bases.get(row.source, ""))
        if not (is_fresh and has_queries and is_of_this_arithmetic(row.measure_set)):
            yield Verified(outdated=1)
            continue
        (right,) = means_of_runs(
            plan=plan,
            version=version,
            source_key=row.source,
            runs=[row.run],
            measure_set=row.measure_set,
        )
        run = f"{row.run.ranker.slug}/{row.run.name}"
        said = (
            f"{name}: {run} at version {row.version}: its corrected means are not what is computed"
        )
        is_right = from_json(row.means) == right
        yield Verified(corrections=1, problems=() if is_right else (said,))
