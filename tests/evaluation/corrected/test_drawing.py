"""Drawing the queries that people judge among those that a machine judged."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.gold.services import mark_gold
from evaluation.corrected.planning import DrawFilters, get_draw_page
from evaluation.corrected.queries import get_estimates_and_corrections
from evaluation.corrected.services import correct_means
from evaluation.samples.queries import SampleFilters
from evaluation.samples.verifying import verify_samples
from judgments.jobs.services import work_jobs
from judgments.models import Job, Query, SamplePlan, TrafficFrame
from judgments.traffic.queries import get_traffic_page
from judgments.versions.machine_sources import get_machine_grades, list_sources
from tests.builders import NOW, commit, make_access
from tests.evaluation.corrected.builders import make_judged
from touchstone.statistics.three_means import queries_for

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


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


def test_programs_plan_and_draw_like_the_page():
    judged = make_judged(without_plan=True)
    client = Client()
    client.force_login(judged.world.ada)
    path = reverse("api-draw-for-people", args=["books", "main"])
    answer = client.get(path, {"half": "0.1"}).json()
    wanted = queries_for(0.1, spread=0.3, size=40)
    key = f"{judged.revision.judge_id}.1"
    source = {"key": key, "judge": "Model", "revision": 1}
    assert (answer["sources"], answer["source"]) == ([source], source)
    assert (answer["size"], answer["is_known"], answer["n"]) == (40, False, wanted)

    def post(**data):
        return client.post(path, data, content_type="application/json")

    refused = (
        {"n": 14, "seed": 1},
        {"n": 41, "seed": 1},
        {"seed": 1},
        {"n": 20, "half": 0.1, "seed": 1},
        {"half": 2.0, "seed": 1},
        {"n": 20},
    )
    assert {post(**data).status_code for data in refused} <= {400, 422}
    assert post(n=20, seed=1, judge="9.9").status_code == 404
    told = post(half=0.1, seed=3, judge=key)
    assert told.status_code == 202
    while work_jobs():
        pass
    assert SamplePlan.objects.get().size == wanted
    assert client.get(told["Location"]).json()["state"] == "done"


def test_gold_that_is_no_judgment_of_the_list_does_not_count_for_the_machine_either():
    judged = make_judged()
    world = judged.world
    before = list_sources(world.judgments.pk)[0].state
    undrawn = next(pair for pair in judged.grades if pair[0].pk not in judged.members)
    drawn = next(pair for pair in judged.grades if pair[0].pk == judged.members[0])
    for query, document in (undrawn, drawn):
        pair = judged.campaign.pairs.get(query=query, document=document)
        access = make_access(collection=world.collection)
        mark_gold(access=access, pair=pair, low=1, high=2, reason="", at=NOW)
    (source,) = list_sources(world.judgments.pk)
    assert source.state != before
    grades = get_machine_grades(world.judgments.pk, source.key)
    assert (undrawn[0].pk, undrawn[1].pk) not in grades
    assert (drawn[0].pk, drawn[1].pk) in grades  # the list has a grade of people there
    assert len(grades) == len(judged.grades) - 1
