"""Estimates on pages and over REST: complete or not, reliable or not, and differences."""

import re
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from evaluation.comparison.queries import CompareFilters, get_comparison
from evaluation.evaluations.measure_sets import measures_of
from evaluation.evaluations.queries import FilterRefused
from evaluation.evaluations.query_values import get_query_values
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.leaderboards.queries import get_state
from evaluation.models import Leaderboard, Run
from evaluation.samples.due import list_due_plans
from evaluation.samples.queries import Estimates, SampleFilters, get_estimates
from evaluation.samples.services import evaluate_sample
from evaluation.samples.verifying import verify_samples
from judgments.models import JudgmentList, JudgmentVersion, Query, User
from judgments.models.lists import Takes
from judgments.samples.designs import QUERIES, SEARCHES, Design
from judgments.samples.queries import get_sample_page
from judgments.versions.services import Change
from tests.builders import NOW, commit, make_access, make_world
from tests.evaluation.builders import make_run
from tests.evaluation.samples.builders import Sampled, make_sampled
from tests.judgments.samples.builders import make_frame, make_sample
from touchstone.sampling.estimation import hajek_mean

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

WIDE = Design(by_size=True, cuts=(0.7,), n=55, allocation=SEARCHES)
SIMPLE = Design(by_size=False, cuts=(), n=55, allocation=QUERIES)
ESTIMATES = ["books", "main"]


def reader() -> Client:
    client = Client()
    client.force_login(User.objects.get(username="dora"))
    return client


def found(sampled: Sampled, **asked: Any) -> Estimates:
    access = make_access(collection=sampled.world.collection, username="dora")
    return get_estimates(access=access, slug="main", filters=SampleFilters(**asked))


def test_without_a_sample_there_is_nothing_to_estimate():
    make_world()
    page = reader().get(reverse("estimates", args=ESTIMATES))
    assert "No sample yet" in page.text


def test_estimates_are_shown_once_a_worker_has_computed_them():
    sampled = make_sampled(design=WIDE, is_flat=True)
    before = found(sampled)
    assert (before.computing, before.is_complete) == (True, True)
    assert [one.per_query.mean for one in before.runs] == [None, None]
    evaluate_sample(plan_id=sampled.plan.pk, at=NOW)
    after = found(sampled)
    assert not after.computing
    assert [one.version for one in after.runs] == [1, 1]
    means = [one.per_search.mean or 0.0 for one in after.runs]
    assert means == sorted(means, reverse=True)
    assert not after.unreliable
    page = reader().get(reverse("estimates", args=ESTIMATES))
    assert "Not yet estimates" not in page.text
    assert f"{means[0]:.4f}" in page.text
    row = reader().get(reverse("api-estimates", args=ESTIMATES)).json()["runs"][0]
    assert row["per_search"]["mean"] == means[0]
    assert row["per_search"]["effective_n"] >= 40


def test_a_sample_that_is_not_judged_completely_is_said_to_be_no_estimate():
    sampled = make_sampled(design=WIDE, unjudged=3)
    evaluate_sample(plan_id=sampled.plan.pk, at=NOW)
    assert (found(sampled).judged, found(sampled).is_complete) == (52, False)
    assert "Not yet estimates" in reader().get(reverse("estimates", args=ESTIMATES)).text


@pytest.mark.parametrize(
    ("design", "per_query", "per_search"),
    [(WIDE, True, True), (SIMPLE, True, False)],
    ids=["by size", "simple"],
)
def test_intervals_that_simulations_found_too_short_are_marked(design, per_query, per_search):
    sampled = make_sampled(design=design, is_flat=True)
    evaluate_sample(plan_id=sampled.plan.pk, at=NOW)
    one = found(sampled).runs[0]
    assert (one.per_query.is_reliable, one.per_search.is_reliable) == (per_query, per_search)


def test_few_effective_queries_are_marked():
    sampled = make_sampled()
    evaluate_sample(plan_id=sampled.plan.pk, at=NOW)
    assert found(sampled).unreliable
    assert "Some intervals are too short" in reader().get(reverse("estimates", args=ESTIMATES)).text


def test_only_samples_of_the_list_and_measures_that_it_keeps_are_estimated():
    sampled = make_sampled()
    for asked in ({"sample": "9"}, {"measure": "P@3"}):
        with pytest.raises(FilterRefused):
            found(sampled, **asked)


def test_the_board_shows_both_readings_of_its_first_measure():
    sampled = make_sampled(design=WIDE, is_flat=True)

    def cells(**asked: str) -> dict[str, str]:
        text = reader().get(reverse("leaderboard", args=ESTIMATES), asked).text
        found = re.findall(r'data-cell="(\S+ per \w+)">(.*?)</td>', text, re.DOTALL)
        return {key: " ".join(re.sub("<[^>]+>", " ", cell).split()) for key, cell in found}

    run = Run.objects.get(ranker__slug=found(sampled).runs[0].run.partition("/")[0])
    assert cells()[f"{run.public_id} per search"] == "– computing"
    waiting = get_state(judgment_list=sampled.world.judgments)
    evaluate_sample(plan_id=sampled.plan.pk, at=NOW)
    assert get_state(judgment_list=sampled.world.judgments) != waiting
    estimates = found(sampled)
    for row in estimates.runs:
        run = Run.objects.get(ranker__slug=row.run.partition("/")[0])
        for reading, one in (("query", row.per_query), ("search", row.per_search)):
            assert cells()[f"{run.public_id} per {reading}"] == (
                f"{one.mean:.4f} ± {one.half:.4f} SE {one.standard_error:.4f}"
                f" n {one.n} / {one.design_effect:.2f} = {one.effective_n:.1f}"
            )
    assert not cells(version="1")  # the sample speaks of the newest
    assert not cells(measures="P@3")  # and of what the list keeps


def test_the_board_has_no_estimates_of_an_incomplete_sample():
    sampled = make_sampled(design=WIDE, unjudged=3)
    evaluate_sample(plan_id=sampled.plan.pk, at=NOW)
    text = reader().get(reverse("leaderboard", args=ESTIMATES)).text
    assert "per search" not in text
    assert "52 of 55 drawn queries are judged" in text


def test_the_page_and_the_board_say_how_queries_were_chosen():
    sampled = make_sampled(design=WIDE, is_flat=True)
    world = sampled.world
    other = Query.objects.create(collection=world.collection, qid="favourite", text="favourite")
    commit(judgment_list=world.judgments, grades={(other, world.documents[0]): 2})
    for name in ("estimates", "leaderboard", "compare"):
        text = reader().get(reverse(name, args=ESTIMATES)).text
        assert "55 drawn by" in text or "55 were drawn by a sample" in text
        assert "1 imported" in text
        assert "do not estimate the mean over all queries" in text
    for name in ("api-leaderboard", "api-compare"):
        origins = reader().get(reverse(name, args=ESTIMATES)).json()["origins"]
        assert origins == {
            "sampled": 55,
            "judge_next": 0,
            "chosen": 0,
            "imported": 1,
            "not_by_people": 0,
        }


def test_grades_of_machine_judges_and_clicks_do_not_count():
    sampled = make_sampled(design=WIDE, unjudged=3)
    world, plan = sampled.world, sampled.plan
    evaluate_sample(plan_id=plan.pk, at=NOW)
    access = make_access(collection=world.collection, username="dora")

    def differences():
        own = get_comparison(access=access, slug="main", filters=CompareFilters()).sample
        assert own is not None
        return own.judged, own.differences[0].per_query

    before, compared = found(sampled), differences()
    last = [one.query for one in sampled.members[-3:]]
    by_machine = {"machine": {"judge": "Model", "revision": 1, "label": 1}}
    by_clicks = {"clicks": {"log": 1}}
    JudgmentList.objects.update(takes=Takes.ELSEWHERE)
    for source, evidence, query in (
        (JudgmentVersion.Source.MACHINE, by_machine, last[0]),
        (JudgmentVersion.Source.CLICKS, by_clicks, last[1]),
    ):
        changes = [Change(query.pk, one.pk, 4, evidence) for one in world.documents]
        commit(judgment_list=world.judgments, grades=changes, source=source)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    assert list_due_plans() == [plan.pk]
    evaluate_sample(plan_id=plan.pk, at=NOW)
    assert list_due_plans() == []
    after = found(sampled)
    assert (after.judged, after.is_complete) == (52, False)
    assert [one.per_query for one in after.runs] == [one.per_query for one in before.runs]
    assert differences() == compared
    assert after.origins is not None
    assert (after.origins.sampled, after.origins.not_by_people) == (52, 2)
    assert get_sample_page(access=access, list_slug="main", number=1, page="").judged == 52
    # of a query that both graded, what people said counts: here one pair less
    query, document = sampled.members[0].query, world.documents[0]
    commit(judgment_list=world.judgments, grades={(query, document): None})
    evaluate_sample(plan_id=plan.pk, at=NOW)
    without = found(sampled).runs
    change = Change(query.pk, document.pk, 4, by_machine)
    machine = JudgmentVersion.Source.MACHINE
    commit(judgment_list=world.judgments, grades=[change], source=machine)
    evaluate_sample(plan_id=plan.pk, at=NOW)
    assert [one.per_query for one in found(sampled).runs] == [one.per_query for one in without]
    assert verify_samples(judgment_list=world.judgments).problems == ()


def test_compare_has_both_readings_of_differences():
    sampled = make_sampled(design=WIDE, is_flat=True)
    world = sampled.world
    access = make_access(collection=world.collection, username="dora")
    compared = get_comparison(access=access, slug="main", filters=CompareFilters())
    own = compared.sample
    assert own is not None
    assert (own.size, own.judged, own.is_complete) == (55, 55, True)
    measure = measures_of(Leaderboard.objects.get().measure_set)[0]
    one, two = (
        get_query_values(run=run, judgment_list=world.judgments, version=1, measure=measure)
        for run in sampled.runs
    )
    pi = {member.query_id: member.pi for member in sampled.members}
    counted = one.counted & two.counted
    names = {f"bm25/{sampled.runs[0].name}": one, f"dense/{sampled.runs[1].name}": two}
    baseline, other = compared.names
    difference = names[other].values - names[baseline].values
    chances = np.array([pi[pk] for pk in one.query_ids[counted].tolist()])
    (row,) = own.differences
    assert row.per_query.mean == pytest.approx(hajek_mean(difference[counted], chances))
    answer = reader().get(reverse("api-compare", args=ESTIMATES)).json()
    assert answer["sample"]["differences"][0]["per_query"]["mean"] == row.per_query.mean
    page = reader().get(reverse("compare", args=ESTIMATES)).text
    assert "Over all queries and all searches" in page
    segment = CompareFilters(segment="head")
    assert get_comparison(access=access, slug="main", filters=segment).sample is None


def test_queries_without_results_complete_a_sample_with_the_value_of_an_empty_ranking():
    sampled = make_sampled(design=WIDE, unanswered=3, is_flat=True)
    world, plan = sampled.world, sampled.plan
    evaluate_sample(plan_id=plan.pk, at=NOW)
    before = found(sampled)
    assert (before.judged, before.unanswered, before.is_complete) == (52, 3, False)
    lead = Client()
    lead.force_login(world.ada)
    page = lead.post(reverse("sample-zero-results", args=[*ESTIMATES, 1]), follow=True).text
    assert "3 queries count as without results" in page
    assert list_due_plans() == [plan.pk]
    evaluate_sample(plan_id=plan.pk, at=NOW)
    assert list_due_plans() == []
    after = found(sampled)
    assert (after.judged, after.without_results, after.unanswered) == (52, 3, 0)
    assert after.is_complete
    pi = np.array([one.pi for one in sampled.members])
    values = np.zeros(55)
    measure = measures_of(Leaderboard.objects.get().measure_set)[0]
    for run, row in zip(sampled.runs, sorted(after.runs, key=lambda one: one.run), strict=True):
        own = get_query_values(run=run, judgment_list=world.judgments, version=1, measure=measure)
        values[:52] = own.values
        assert row.per_query.n == 55
        assert row.per_query.mean == pytest.approx(hajek_mean(values, pi))
    access = make_access(collection=world.collection, username="dora")
    compared = get_comparison(access=access, slug="main", filters=CompareFilters()).sample
    assert compared is not None
    assert (compared.without_results, compared.is_complete) == (3, True)
    assert compared.differences[0].per_query.n == 55
    assert verify_samples(judgment_list=world.judgments).problems == ()
    text = lead.get(reverse("sample", args=[*ESTIMATES, 1])).text
    assert "52 of 55 queries, 3 without results" in text
    assert "New campaign" not in text
    # a run that returns something for one of them: it must be judged after all
    last = sampled.members[-1].query
    make_run(collection=world.collection, rankings={last.qid: ["d1"]}, ranker="late")
    late = found(sampled)
    assert (late.without_results, late.is_complete, late.computing) == (2, False, True)
    assert verify_samples(judgment_list=world.judgments).outdated == 2


def test_nothing_is_without_results_as_long_as_no_run_answers_a_drawn_query():
    world = make_world(queries=6)
    plan = make_sample(world=world)
    Query.objects.create(collection=world.collection, qid="other", text="other")
    make_run(collection=world.collection, rankings={"other": ["d1"]})
    lead = Client()
    lead.force_login(world.ada)
    page = lead.post(reverse("sample-zero-results", args=[*ESTIMATES, 1]), follow=True).text
    assert "no run has been uploaded" in page
    assert not plan.zero_results.exists()


def test_post_stratified_means_weight_strata_by_the_newest_traffic():
    sampled = make_sampled(design=WIDE)
    world = sampled.world
    head = [one.query.text for one in sampled.members if one.stratum == 0]
    today = {one.query.text: 900 if one.query.text in head else 1 for one in sampled.members}
    make_frame(world=world, traffic=today | {f"new {n}": 1 for n in range(40)}, name="June")
    evaluate_sample(plan_id=sampled.plan.pk, at=NOW)
    page = found(sampled, post_stratified=True)
    assert page.traffic == "June"
    plain = found(sampled)
    measure = measures_of(Leaderboard.objects.get().measure_set)[0]
    run = sampled.runs[0]
    own = get_query_values(run=run, judgment_list=world.judgments, version=1, measure=measure)
    values = dict(zip(own.query_ids.tolist(), own.values.tolist(), strict=True))
    means, weights = [], []
    for code in (0, 1):
        members = [one for one in sampled.members if one.stratum == code]
        chances = np.array([one.searches / one.pi for one in members])
        means.append(np.average([values[one.query_id] for one in members], weights=chances))
        weights.append(sum(n for q, n in today.items() if (q in head) == (code == 0)))
    weights[1] += 40
    (row,) = [one for one in page.runs if one.run.startswith("bm25")]
    assert row.per_search.mean == pytest.approx(np.average(means, weights=weights))
    (before,) = [one for one in plain.runs if one.run.startswith("bm25")]
    assert row.per_search.mean != pytest.approx(before.per_search.mean)
    assert row.per_search.standard_error is not None
    address = reverse("estimates", args=ESTIMATES)
    text = reader().get(address, {"post_stratified": "true"}).text
    assert "Post-stratified: each stratum counts by its share of “June”" in text
    answer = reader().get(reverse("api-estimates", args=ESTIMATES), {"post_stratified": "true"})
    assert answer.json()["runs"][0]["per_search"]["mean"] == page.runs[0].per_search.mean


def test_a_sample_without_strata_is_not_post_stratified():
    sampled = make_sampled(design=SIMPLE)
    with pytest.raises(FilterRefused, match="without strata"):
        found(sampled, post_stratified=True)
