"""Evaluations by samples: due, computed once, and checked from scratch."""

from math import fsum, sqrt

import pytest

from config.sweep import list_due
from evaluation.evaluations.measure_sets import measures_of
from evaluation.evaluations.query_values import get_query_values
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Leaderboard, Run, SampleEvaluation
from evaluation.samples.due import list_due_plans
from evaluation.samples.figures import from_json
from evaluation.samples.services import evaluate_sample
from evaluation.samples.verifying import verify_samples
from evaluation.tasks import evaluate_by_sample
from judgments.models import Judgment, Query
from judgments.samples.designs import QUERIES, SEARCHES, Design
from tests.builders import NOW, commit
from tests.evaluation.samples.builders import Sampled, make_sampled
from tests.judgments.samples.builders import make_frame, make_sample

pytestmark = pytest.mark.django_db

BY_SIZE = Design(by_size=True, cuts=(0.7,), n=12, allocation=SEARCHES)
EQUAL = Design(by_size=False, cuts=(0.7,), n=12, allocation=QUERIES)


def values_of(sampled: Sampled, run: Run) -> dict[int, float]:
    """nDCG@10 of each judged query, as the rest of the product has it."""
    measure = measures_of(Leaderboard.objects.get().measure_set)[0]
    found = get_query_values(
        run=run,
        judgment_list=sampled.world.judgments,
        version=sampled.world.judgments.head,
        measure=measure,
    )
    rows = zip(found.query_ids.tolist(), found.values.tolist(), found.counted.tolist(), strict=True)
    return {pk: value for pk, value, counted in rows if counted}


def loop_reading(sampled: Sampled, run: Run, *, per_search: bool) -> tuple[float, float]:
    """The mean and its standard error, by the formulas of docs/estimates.md as loops."""
    values = values_of(sampled, run)
    design, members = sampled.plan.design, sampled.members
    weight = {
        one.query_id: (one.searches if per_search else 1) * (one.query_id in values)
        for one in members
    }
    total = fsum(weight[one.query_id] / one.pi for one in members)
    value = {one.query_id: values.get(one.query_id, 0.0) for one in members}
    mean = fsum(weight[o.query_id] * value[o.query_id] / o.pi for o in members) / total
    variance = 0.0
    for code, row in enumerate(design["strata"]):
        own = [one for one in members if one.stratum == code]
        u = [weight[o.query_id] * (value[o.query_id] - mean) / total for o in own]
        if design["by_size"]:
            z = [(one / o.pi, o.pi) for one, o in zip(u, own, strict=True) if o.pi < 1]
            if z:
                middle = fsum((1 - p) * x for x, p in z) / fsum(1 - p for _, p in z)
                spread = fsum((1 - p) * (x - middle) ** 2 for x, p in z)
                variance += len(z) / (len(z) - 1) * spread
        else:
            n, whole = len(own), row["queries"]
            middle = fsum(u) / n
            spread = fsum((x - middle) ** 2 for x in u) / (n - 1)
            variance += whole**2 * (1 - n / whole) * spread / n
    return mean, sqrt(variance)


@pytest.mark.parametrize("design", [BY_SIZE, EQUAL], ids=["by size", "equal"])
def test_both_readings_and_their_errors_are_those_of_the_formulas(design):
    sampled = make_sampled(design=design)
    assert evaluate_sample(plan_id=sampled.plan.pk, at=NOW) == 2
    for run in sampled.runs:
        row = SampleEvaluation.objects.get(run=run)
        assert row.judged == 12
        pair = from_json(row.readings)[0][:2]  # the others are post-stratified
        for reading, per_search in zip(pair, (False, True), strict=True):
            mean, error = loop_reading(sampled, run, per_search=per_search)
            assert reading.value == pytest.approx(mean, rel=1e-12)
            assert reading.standard_error == pytest.approx(error, rel=1e-9)
            assert reading.design_effect >= 1
            assert reading.effective_n == pytest.approx(reading.n / reading.design_effect)


def test_the_sweep_finds_what_is_due_and_a_task_that_runs_twice_changes_nothing():
    sampled = make_sampled()
    own = ("evaluation.evaluate_sample", (sampled.plan.pk,))
    assert own in list(list_due())
    evaluate_by_sample(sampled.plan.pk)
    before = list(SampleEvaluation.objects.order_by("pk").values())
    evaluate_by_sample(sampled.plan.pk)
    assert list(SampleEvaluation.objects.order_by("pk").values()) == before
    assert own not in list(list_due())


def test_only_grades_of_drawn_queries_make_it_due_and_older_ones_are_replaced():
    sampled = make_sampled()
    world, plan = sampled.world, sampled.plan
    evaluate_sample(plan_id=plan.pk, at=NOW)
    other = Query.objects.create(collection=world.collection, qid="another", text="another")
    commit(judgment_list=world.judgments, grades={(other, world.documents[0]): 2})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    assert list_due_plans() == []
    query = sampled.members[0].query
    old = Judgment.objects.get(query=query, document=world.documents[0]).grade
    commit(judgment_list=world.judgments, grades={(query, world.documents[0]): (old + 1) % 5})
    assert list_due_plans() == [plan.pk]
    evaluate_sample(plan_id=plan.pk, at=NOW)
    assert set(SampleEvaluation.objects.values_list("version", flat=True)) == {3}
    commit(judgment_list=world.judgments, grades={(query, world.documents[0]): None})
    evaluate_sample(plan_id=plan.pk, at=NOW)
    assert set(SampleEvaluation.objects.values_list("version", flat=True)) == {4}


def test_verify_draws_samples_again_and_computes_their_evaluations_anew():
    sampled = make_sampled(unjudged=2)
    evaluate_sample(plan_id=sampled.plan.pk, at=NOW)
    found = verify_samples(judgment_list=sampled.world.judgments)
    assert (found.samples, found.sample_evaluations, found.problems) == (1, 2, ())
    row = SampleEvaluation.objects.first()
    assert row.judged == 8
    row.readings[0][1]["value"] += 1e-12
    SampleEvaluation.objects.filter(pk=row.pk).delete()
    row.pk = None
    row.save(force_insert=True)
    (problem,) = verify_samples(judgment_list=sampled.world.judgments).problems
    assert "its estimates are not what is computed" in problem


def test_the_two_newest_samples_of_a_list_are_kept_up_to_date():
    sampled = make_sampled()
    plans = [sampled.plan]
    for month in range(2):
        traffic = {one.query.text: 5 + one.searches + month for one in sampled.members}
        frame = make_frame(world=sampled.world, traffic=traffic, name=f"month {month}")
        design = Design(by_size=False, cuts=(), n=6, allocation=QUERIES)
        plans.append(make_sample(world=sampled.world, frame=frame, design=design))
    assert list_due_plans() == [plan.pk for plan in plans[1:]]
