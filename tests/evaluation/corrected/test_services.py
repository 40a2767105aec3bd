"""Corrected evaluations: due, computed once, equal to the formulas, and checked from scratch."""

from datetime import timedelta

import numpy as np
import pytest

from annotation.models import JudgeCampaign
from config.sweep import list_due as sweep
from evaluation.corrected.due import list_due_plans
from evaluation.corrected.figures import MeansOrReason, from_json
from evaluation.corrected.services import correct_means
from evaluation.corrected.verifying import verify_corrections
from evaluation.evaluations.measure_sets import grades_of, measures_of
from evaluation.evaluations.query_values import values_under
from evaluation.models import CorrectedEvaluation, Leaderboard, Run
from evaluation.tasks import correct_by_sample
from judgments.models import SampledQuery
from judgments.samples.designs import SEARCHES, Design
from judgments.versions.queries import Judged as JudgedPairs
from tests.builders import NOW, commit
from tests.builders_annotation import fill
from tests.evaluation.corrected.builders import (
    Judged,
    equal,
    label,
    machine_grades,
    make_judged,
    make_revision,
)
from tests.judgments.samples.builders import make_sample
from touchstone.statistics.corrected import corrected_list_mean, corrected_sample_mean

pytestmark = pytest.mark.django_db


def means_of(run: Run) -> MeansOrReason:
    """Of the list's first measure."""
    return from_json(CorrectedEvaluation.objects.get(run=run).means)[0]


def values_by(judged: Judged, run: Run, grades, query_ids) -> np.ndarray:
    """The first measure of some queries, as the rest of the product computes it."""
    ids = np.array(sorted(query_ids), np.int64)
    pairs = {
        (query.pk, document.pk): grade
        for (query, document), grade in grades.items()
        if query.pk in set(query_ids)
    }
    return values_under(
        run=run,
        judged=JudgedPairs.of(pairs),
        query_ids=ids,
        grades=grades_of(judged.world.judgments),
        measure=measures_of(Leaderboard.objects.get().measure_set)[0],
    ).values


def both_values(judged: Judged, run: Run, every):
    """Y, F of the same queries, and F of all others."""
    drawn = judged.members
    y = values_by(judged, run, judged.grades, drawn)
    said = machine_grades(judged.grades)
    f = values_by(judged, run, said, drawn)
    return y, f, values_by(judged, run, said, set(every) - set(drawn))


def test_a_log_of_which_the_machine_judged_all_is_corrected_as_a_fixed_list():
    judged = make_judged()
    assert correct_means(plan_id=judged.plan.pk, at=NOW) == 2
    for run in judged.runs:
        y, f, others = both_values(judged, run, {query.pk for query in judged.world.queries})
        right = corrected_list_mean(y, f, np.concatenate([f, others]))
        means = means_of(run).means
        assert means is not None
        own = means.corrected
        assert own.value == pytest.approx(float(right.estimate), rel=1e-12)
        assert [own.low, own.high] == pytest.approx([right.low, right.high], rel=1e-12)
        assert (means.people.n, means.machine.n) == (20, 40)
        assert means.people.value == pytest.approx(y.mean())
        assert means.machine.value == pytest.approx(np.concatenate([f, others]).mean())


def test_of_a_larger_log_the_machines_other_sample_stands_for_it():
    judged = make_judged(queries=40, more=60, design=equal(20))
    correct_means(plan_id=judged.plan.pk, at=NOW)
    assert "adds nothing to what people judged" in means_of(judged.runs[0]).refused
    # a second, larger sample by another seed, which the machine judges, makes it due
    other = make_sample(world=judged.world, frame=judged.plan.frame, design=equal(50), seed=8)
    assert list_due_plans(at=NOW) == [other.pk, judged.plan.pk]
    more = list(SampledQuery.objects.filter(plan=other).select_related("query"))
    known = {query.pk for query, _ in judged.grades}
    new = {
        (one.query, document): 2
        for one in more
        if one.query_id not in known
        for document in judged.world.documents
    }
    fill(campaign=judged.campaign, pairs=new)
    label(judged, new)
    correct_means(plan_id=judged.plan.pk, at=NOW)
    run = judged.runs[0]
    y = values_by(judged, run, judged.grades, judged.members)
    said = machine_grades(judged.grades) | new
    f = values_by(judged, run, said, judged.members)
    others = values_by(judged, run, said, {one.query_id for one in more} - set(judged.members))
    right = corrected_sample_mean(y, f, others)
    means = means_of(run).means
    assert means is not None
    assert [means.corrected.low, means.corrected.high] == pytest.approx(
        [right.low, right.high], rel=1e-12
    )


@pytest.mark.parametrize(
    "design",
    [equal(34, cuts=(0.84,)), Design(by_size=True, cuts=(), n=20, allocation=SEARCHES)],
    ids=["strata", "by size"],
)
def test_samples_with_strata_or_unequal_chances_are_corrected(design):
    judged = make_judged(design=design)
    correct_means(plan_id=judged.plan.pk, at=NOW)
    found = means_of(judged.runs[0])
    assert found.refused == ""
    assert found.means is not None
    assert found.means.corrected.low < found.means.corrected.high
    assert verify_corrections(judgment_list=judged.world.judgments).problems == ()


def test_the_sweep_finds_what_is_due_and_a_task_that_runs_twice_changes_nothing():
    judged = make_judged()
    own = ("evaluation.correct_means", (judged.plan.pk,))
    assert own in list(sweep())
    correct_by_sample(judged.plan.pk)
    before = list(CorrectedEvaluation.objects.order_by("pk").values())
    correct_by_sample(judged.plan.pk)
    assert list(CorrectedEvaluation.objects.order_by("pk").values()) == before
    assert own not in list(sweep())


def test_it_is_due_when_the_version_the_labels_the_revision_or_the_sample_change():
    judged = make_judged()
    plan, world = judged.plan, judged.world

    def compute() -> CorrectedEvaluation:
        assert list_due_plans(at=NOW) == [plan.pk]
        correct_means(plan_id=plan.pk, at=NOW)
        assert list_due_plans(at=NOW) == []
        return CorrectedEvaluation.objects.filter(plan=plan).earliest("pk")

    first = compute()
    pair = next(pair for pair in judged.grades if pair[0].pk == judged.members[0])
    commit(judgment_list=world.judgments, grades={pair: (judged.grades[pair] + 1) % 5})
    second = compute()
    assert (first.version, second.version) == (1, 2)
    label(judged, {pair: 4})
    third = compute()
    assert (third.version, third.basis != second.basis) == (2, True)
    revision = make_revision(world, judged.campaign, number=2)
    assert list_due_plans(at=NOW) == []  # it has no labels
    label(judged, {pair: 0}, revision)
    fourth = compute()
    assert fourth.source == f"{judged.revision.judge_id}.2"
    assert CorrectedEvaluation.objects.count() == 2
    # grades of queries that were not drawn change nothing
    other = next(pair for pair in judged.grades if pair[0].pk not in judged.members)
    commit(judgment_list=world.judgments, grades={other: 1})
    assert list_due_plans(at=NOW) == []
    again = make_sample(world=world, frame=plan.frame, design=equal(20), seed=9)
    assert list_due_plans(at=NOW) == [again.pk, plan.pk]


def test_what_people_judged_in_part_or_too_little_is_refused_with_the_reason():
    judged = make_judged(unjudged=2)
    correct_means(plan_id=judged.plan.pk, at=NOW)
    assert "people judged 18 of the 20 drawn queries completely" in means_of(judged.runs[0]).refused
    # all but one document of the last one
    rest = {
        pair: grade for pair, grade in judged.grades.items() if pair[0].pk in judged.members[18:]
    }
    last = list(rest)[-1]
    commit(
        judgment_list=judged.world.judgments,
        grades={pair: grade for pair, grade in rest.items() if pair != last},
    )
    correct_means(plan_id=judged.plan.pk, at=NOW)
    assert "19 of the 20" in means_of(judged.runs[0]).refused
    commit(judgment_list=judged.world.judgments, grades={last: rest[last]})
    correct_means(plan_id=judged.plan.pk, at=NOW)
    assert means_of(judged.runs[0]).refused == ""


def test_fewer_than_fifteen_queries_are_refused():
    judged = make_judged(design=equal(14))
    correct_means(plan_id=judged.plan.pk, at=NOW)
    assert "takes 15 or more" in means_of(judged.runs[0]).refused


def test_verify_computes_them_again_and_knows_what_is_due():
    judged = make_judged()
    correct_means(plan_id=judged.plan.pk, at=NOW)
    own = {"judgment_list": judged.world.judgments}
    found = verify_corrections(**own)
    assert (found.corrections, found.outdated, found.problems) == (2, 0, ())
    row = CorrectedEvaluation.objects.earliest("pk")
    row.means[0]["means"]["corrected"]["value"] += 1e-12
    CorrectedEvaluation.objects.filter(pk=row.pk).delete()
    row.pk = None
    row.save(force_insert=True)
    (problem,) = verify_corrections(**own).problems
    assert "its corrected means are not what is computed" in problem
    label(judged, {next(iter(judged.grades)): 0})
    assert verify_corrections(**own).outdated == 2


def test_while_a_judge_is_at_work_means_are_due_once_a_minute():
    judged = make_judged()
    plan = judged.plan
    correct_means(plan_id=plan.pk, at=NOW)
    own = JudgeCampaign.objects.filter(revision=judged.revision)
    own.update(state=JudgeCampaign.State.RUNNING, ended_at=None)
    label(judged, {next(iter(judged.grades)): 0})
    soon, later = NOW + timedelta(seconds=59), NOW + timedelta(seconds=61)
    assert list_due_plans(at=soon) == []
    assert correct_means(plan_id=plan.pk, at=soon) == 0
    assert list_due_plans(at=later) == [plan.pk]
    own.update(state=JudgeCampaign.State.DONE, ended_at=NOW)
    assert list_due_plans(at=soon) == [plan.pk]
