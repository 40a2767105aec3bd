"""Estimates on pages and over REST: complete or not, reliable or not, and differences."""

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from evaluation.comparison.queries import CompareFilters, get_comparison
from evaluation.evaluations.measure_sets import measures_of
from evaluation.evaluations.queries import FilterRefused
from evaluation.evaluations.query_values import get_query_values
from evaluation.models import Leaderboard
from evaluation.samples.queries import Estimates, SampleFilters, get_estimates
from evaluation.samples.services import evaluate_sample
from judgments.models import Query, User
from judgments.samples.designs import QUERIES, SEARCHES, Design
from tests.builders import NOW, commit, make_access, make_world
from tests.evaluation.samples.builders import Sampled, make_sampled
from touchstone.sampling.estimation import hajek_mean

pytestmark = pytest.mark.django_db

WIDE = Design(by_size=True, cuts=(0.7,), n=55, allocation=SEARCHES)
SIMPLE = Design(by_size=False, cuts=(), n=55, allocation=QUERIES)
ESTIMATES = ["books", "main"]


def reader() -> Client:
    client = Client()
    client.force_login(User.objects.get(username="dora"))
    return client


def found(sampled: Sampled, **asked: str) -> Estimates:
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


def test_the_page_and_the_board_say_how_queries_were_chosen():
    sampled = make_sampled(design=WIDE, is_flat=True)
    world = sampled.world
    other = Query.objects.create(collection=world.collection, qid="favourite", text="favourite")
    commit(judgment_list=world.judgments, grades={(other, world.documents[0]): 2})
    for name in ("estimates", "leaderboard"):
        text = reader().get(reverse(name, args=ESTIMATES)).text
        assert "55 drawn by" in text or "55 were drawn by a sample" in text
        assert "1 imported" in text
        assert "do not estimate the mean over all queries" in text


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
