"""Three means on the board, on Estimates, on Compare and over REST."""

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from evaluation.comparison.queries import CompareFilters, get_comparison
from evaluation.corrected.queries import get_estimates_and_corrections
from evaluation.corrected.services import correct_means
from evaluation.samples.queries import SampleFilters
from evaluation.samples.services import evaluate_sample
from judgments.models import User
from tests.builders import NOW, make_access
from tests.evaluation.corrected.builders import label, machine_grades, make_judged
from tests.evaluation.corrected.test_services import values_by
from touchstone.statistics.corrected import corrected_list_mean

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
LIST = ["books", "main"]


def reader(username: str = "dora") -> Client:
    client = Client()
    client.force_login(User.objects.get(username=username))
    return client


def found(judged):
    access = make_access(collection=judged.world.collection, username="dora")
    result = get_estimates_and_corrections(access=access, slug="main", filters=SampleFilters())
    (own,) = result.corrections
    return own


def test_the_board_and_estimates_show_three_means_and_say_when_they_are_stale():
    judged = make_judged()
    evaluate_sample(plan_id=judged.plan.pk, at=NOW)
    before = found(judged)
    assert (before.computing, before.shown, before.refused) == (True, (), "")
    assert "computing" in reader().get(reverse("estimates", args=LIST)).text
    correct_means(plan_id=judged.plan.pk, at=NOW)
    after = found(judged)
    assert (after.judge, after.revision, after.computing) == ("Model", 1, False)
    assert len(after.shown) == 2
    best, other = (one.means for one in after.shown)
    assert best.corrected.value >= other.corrected.value
    for name in ("leaderboard", "estimates"):
        text = reader().get(reverse(name, args=LIST)).text
        for title in ("People only", "Machine only", "Corrected"):
            assert title in text
        for mean in (best.people, best.machine, best.corrected):
            assert f"{mean.value:.4f}" in text
        assert f"{best.worth} more" in text
        assert ">stale<" not in text
        # how a judge agrees with people names people, so it is a page for leads
        agreement = reverse("machine-judge-trust", args=["books", judged.revision.judge_id])
        assert agreement not in text
        assert agreement in reader("ada").get(reverse(name, args=LIST)).text
    answer = reader().get(reverse("api-estimates", args=LIST)).json()["corrections"]
    assert answer[0]["runs"][0]["means"]["corrected"].keys() == {
        "value",
        "standard_error",
        "low",
        "high",
        "n",
    }
    label(judged, {next(iter(judged.grades)): 0})
    assert found(judged).computing
    assert ">stale<" in reader().get(reverse("leaderboard", args=LIST)).text


def test_without_a_sample_the_page_says_why_there_is_no_corrected_mean():
    judged = make_judged(without_plan=True)
    own = found(judged)
    assert "not drawn at random (20 chosen by hand)" in own.refused
    for name in ("leaderboard", "estimates"):
        text = reader().get(reverse(name, args=LIST)).text
        assert "the queries that people judged were not drawn at random" in text


def test_a_refusal_of_all_runs_is_said_once():
    judged = make_judged(unjudged=1)
    correct_means(plan_id=judged.plan.pk, at=NOW)
    own = found(judged)
    assert "19 of the 20 drawn queries completely" in own.refused
    assert own.left_out == ()
    text = reader().get(reverse("estimates", args=LIST)).text
    assert text.count("19 of the 20 drawn queries completely") == 1


def test_compare_corrects_paired_differences():
    judged = make_judged()
    access = make_access(collection=judged.world.collection, username="dora")
    compared = get_comparison(access=access, slug="main", filters=CompareFilters())
    (own,) = compared.corrected
    (row,) = own.differences
    baseline, other = (
        next(run for run in judged.runs if run.ranker.slug == name.partition("/")[0])
        for name in compared.names
    )
    said, every = machine_grades(judged.grades), {query.pk for query in judged.world.queries}

    def difference(grades, queries):
        one, two = (values_by(judged, run, grades, queries) for run in (baseline, other))
        return two - one

    y, f = (difference(grades, judged.members) for grades in (judged.grades, said))
    rest = difference(said, every - set(judged.members))
    right = corrected_list_mean(y, f, np.concatenate([f, rest]))
    assert row.means.corrected.value == pytest.approx(float(right.estimate), rel=1e-12)
    assert row.means.corrected.low == pytest.approx(float(right.low), rel=1e-12)
    answer = reader().get(reverse("api-compare", args=LIST)).json()["corrected"]
    assert answer[0]["differences"][0]["means"]["people"]["n"] == 20
    text = reader().get(reverse("compare", args=LIST)).text
    assert "By people, by the machine, corrected" in text
