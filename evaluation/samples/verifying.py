"""Holding stored evaluations by samples, and the samples, against what they follow from."""

from collections.abc import Iterator

from evaluation.evaluations.measure_sets import is_of_this_arithmetic, measures_of
from evaluation.evaluations.verifying import Verified
from evaluation.models import SampleEvaluation
from evaluation.samples.drawn import get_counted, get_drawn
from evaluation.samples.figures import compute_readings, from_json
from judgments.models import JudgmentList, SamplePlan
from judgments.samples.drawing import is_reproduced


def verify_samples(*, judgment_list: JudgmentList) -> Verified:
    """Draw a list's samples again from their seeds, and recompute their evaluations."""
    result = Verified()
    plans = SamplePlan.objects.filter(list=judgment_list).select_related("list", "frame")
    for plan in plans.order_by("pk"):
        name = f"{judgment_list} sample {plan.number}"
        if plan.frame.blocks.exists():  # else a lead has deleted what users searched for
            problems = () if is_reproduced(plan) else (f"{name}: its seed draws something else",)
            result += Verified(samples=1, problems=problems)
        for one in _verify_evaluations(plan, name):
            result += one
    return result


def _verify_evaluations(plan: SamplePlan, name: str) -> Iterator[Verified]:
    drawn = get_drawn(plan)
    rows = SampleEvaluation.objects.filter(plan=plan).order_by("version", "pk")
    for row in rows.select_related("run__ranker", "measure_set"):
        counted = get_counted(drawn, row.version)
        is_due = row.basis != counted.basis
        if is_due or not is_of_this_arithmetic(row.measure_set):
            yield Verified(outdated=1)
            continue
        (right,) = compute_readings(
            drawn=drawn,
            counted=counted,
            runs=[row.run],
            measures=measures_of(row.measure_set),
        )
        is_right = from_json(row.readings) == right
        is_right = is_right and row.judged == counted.n_judged
        run = f"{row.run.ranker.slug}/{row.run.name}"
        said = f"{name}: {run} at version {row.version}: its estimates are not what is computed"
        yield Verified(sample_evaluations=1, problems=() if is_right else (said,))
