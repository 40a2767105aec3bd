"""Drawing the queries that people judge among those that a machine judged."""

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.corrected.planning import DrawFilters, get_draw_page
from evaluation.corrected.queries import get_estimates_and_corrections
from evaluation.corrected.services import correct_means
from evaluation.samples.queries import SampleFilters
from evaluation.samples.verifying import verify_samples
from judgments.jobs.services import work_jobs
from judgments.models import Job, Query, SamplePlan, TrafficFrame
from judgments.traffic.queries import get_traffic_page
from tests.builders import NOW, commit, make_access
from tests.evaluation.corrected.builders import make_judged
from touchstone.statistics.three_means import queries_for

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings, tmp_path):
    settings.HOME = tmp_path


def draw(judged, n, seed=3):
    client = Client()
    client.force_login(judged.world.ada)
    path = reverse("draw-for-people", args=["books", "main"])
    told = client.post(path, {"n": n, "seed": seed})
    while work_jobs():
        pass
    return told


def test_a_lead_draws_queries_and_the_machine_is_corrected_once_people_judged_them():
    judged = make_judged(without_plan=True)
    world = judged.world
    assert draw(judged, 18).status_code == 302
    plan = SamplePlan.objects.get()
    assert (plan.size, plan.frame.queries, plan.frame.of_list) == (18, 40, world.judgments)
    assert plan.design["by_size"] is False
    # no traffic: it is neither listed nor planned with
    access = make_access(collection=world.collection)
    assert len(get_traffic_page(access=access).frames) == 1
    drawn = set(plan.members.values_list("query", flat=True))
    commit(
        judgment_list=world.judgments,
        grades={pair: grade for pair, grade in judged.grades.items() if pair[0].pk in drawn},
    )
    correct_means(plan_id=plan.pk, at=NOW)
    (own,) = get_estimates_and_corrections(
        access=access, slug="main", filters=SampleFilters()
    ).corrections
    means = own.shown[0].means
    assert (means.people.n, means.machine.n, means.machine.half) == (18, 40, 0)
    assert verify_samples(judgment_list=world.judgments).problems == ()
    # another draw is from the same frame
    draw(judged, 20, seed=4)
    assert SamplePlan.objects.count() == 2
    assert TrafficFrame.objects.filter(of_list=world.judgments).count() == 1
    # and what was left between people and the machine plans it
    page = get_draw_page(access=access, slug="main", filters=DrawFilters(half="0.05"))
    assert page.is_known
    assert page.spread == max(one.means.spread for one in own.shown)
    assert page.n == queries_for(0.05, spread=page.spread, size=40)


def test_the_page_computes_the_number_for_an_interval():
    judged = make_judged(without_plan=True)
    client = Client()
    client.force_login(judged.world.ada)
    path = reverse("draw-for-people", args=["books", "main"])
    wanted = queries_for(0.1, spread=0.3, size=40)
    page = client.get(path, {"half": "0.1"})
    assert f"<strong>{wanted}</strong> of 40 queries" in page.text
    assert f'value="{wanted}"' in page.text
    assert client.get(path, {"half": "x"}).status_code == 400
    board = client.get(reverse("leaderboard", args=["books", "main"])).text
    assert path in board


@pytest.mark.parametrize("n", [14, 41])
def test_too_few_or_more_queries_than_there_are_can_not_be_drawn(n):
    judged = make_judged(without_plan=True)
    assert draw(judged, n).status_code == 200
    assert not SamplePlan.objects.exists()


def test_queries_that_share_a_text_can_not_be_named_by_a_sample():
    judged = make_judged(without_plan=True)
    world = judged.world
    text = world.queries[3].text
    other = Query.objects.create(collection=world.collection, qid="same", text=text)
    Query.objects.filter(pk=world.queries[3].pk).update(text=world.queries[4].text)
    assert other.pk
    draw(judged, 20)
    assert not SamplePlan.objects.exists()
    job = Job.objects.latest("pk")
    assert (job.state, "share their text" in str([job.result, job.problems])) == ("failed", True)
