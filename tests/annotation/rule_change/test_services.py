"""Another rule for labels that are there: a preview that writes nothing, and the change itself."""

import pytest
from django.urls import reverse

from annotation.adjudication.services import adjudicate
from annotation.campaigns.services import CampaignRefused
from annotation.consolidation.services import consolidate
from annotation.models import Campaign, Pair, QualityReport
from annotation.quality.services import refresh_quality
from annotation.rule_change.previews import preview_rule
from annotation.rule_change.queries import STEPS, compute_preview, get_rule_page
from annotation.rule_change.services import RuleRefused, ask_for_plan, ask_for_rule, choose_rule
from evaluation.comparison.what_if import get_resolution
from evaluation.evaluations.queries import chosen_measures, list_run_sums
from evaluation.evaluations.refreshing import refresh_evaluations
from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, Job, Judgment, JudgmentVersion
from judgments.permissions import NotFound
from tests.builders import NOW, make_access, make_member, make_world
from tests.builders_annotation import label, make_campaign, make_draft
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows):
    """Twenty pairs. Ben and Cem agree but for a few; Fay always says 2, and so makes ties."""
    world = make_world(queries=2, documents=10)
    make_member(collection=world.collection, username="fay", role="annotator")
    made = make_campaign(world=world, overlap=3, people=["ben", "cem", "fay"])
    for place, pair in enumerate(made.pairs.order_by("pk")):
        label(pair=pair, username="ben", grade=place % 5)
        label(pair=pair, username="cem", grade=(place + (place % 8 == 0)) % 5)
        label(pair=pair, username="fay", grade=2)
    for ranker, docids in (("bm25", ["d1", "d2", "d3"]), ("other", ["d9", "d5", "d7"])):
        make_run(
            collection=world.collection,
            ranker=ranker,
            name=ranker,
            rankings={f"q{number}": docids for number in range(1, 3)},
        )
    consolidate(list_id=made.list_id, at=NOW)
    refresh_evaluations(list_id=made.list_id, at=NOW)
    return world, made


def means(campaign):
    campaign.list.refresh_from_db()
    version = JudgmentVersion.objects.get(list=campaign.list, number=campaign.list.head)
    measure = chosen_measures(campaign.list, "")[0]
    found = list_run_sums(judgment_list=campaign.list, version=version, measures=[measure])
    return {one.run.name: one.averages[0].value for one in found}


def previewed(ada, campaign, rule):
    """What the page shows of a rule once a worker was there."""
    preview_rule(campaign_id=campaign.pk, rule=rule, clock=lambda: NOW)
    page = get_rule_page(access=ada, campaign=campaign, rule=rule)
    assert not page.freshness.is_due
    return page.outcome


@pytest.mark.parametrize("rule", ["dawid_skene", "mean"])
def test_the_preview_says_what_the_change_then_does(world, ada, campaign, rule):
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    now, rows = means(campaign), list(Judgment.objects.values_list("pk", "grade", "until"))
    campaign.list.refresh_from_db()
    page = previewed(ada, campaign, rule)
    assert page.changed > 0
    assert list(Judgment.objects.values_list("pk", "grade", "until")) == rows
    assert {one.run: one.before for one in page.board} == pytest.approx(now)

    choose_rule(access=ada, campaign=campaign, rule=rule, at=NOW)
    refresh_evaluations(list_id=campaign.list_id, at=NOW)
    assert {one.run: one.after for one in page.board} == pytest.approx(means(campaign), abs=1e-12)
    assert get_rule_page(access=ada, campaign=Campaign.objects.get(), rule=rule).is_now
    assert previewed(ada, Campaign.objects.get(), rule).changed == 0
    assert campaign.pairs.filter(state=Pair.State.TIED).count() == page.ties
    entry = AuditEntry.objects.get(action="campaign.rule_chosen")
    assert (entry.before, entry.after) == ({"rule": "majority"}, {"rule": rule})


def test_the_report_says_how_far_apart_rankers_must_be_to_be_told(campaign):
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    found = QualityReport.objects.get().figures["resolution"]
    assert found["runs"] == 2
    assert 0 < found["apart"] < 0.5
    certain = {
        (pair.query_id, pair.document_id): [float(step == 3) for step in range(5)]
        for pair in campaign.pairs.all()
    }
    campaign.list.refresh_from_db()
    assert get_resolution(judgment_list=campaign.list, chances=certain).apart < 1e-9
    assert get_resolution(judgment_list=campaign.list, chances={}) is None


def test_somebody_who_always_says_the_same_decides_nothing_any_more(ada, campaign):
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    choose_rule(access=ada, campaign=campaign, rule="dawid_skene", at=NOW)
    clear = [pair for place, pair in enumerate(campaign.pairs.order_by("pk")) if place % 8]
    assert [pair.grade for pair in clear] == [place % 5 for place in range(20) if place % 8]


def test_the_posterior_is_kept_with_the_judgment(ada, campaign):
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    choose_rule(access=ada, campaign=campaign, rule="dawid_skene", at=NOW)
    changed = Judgment.objects.filter(until=None, evidence__rule="dawid_skene").order_by("pk")[0]
    posterior = changed.evidence["posterior"]
    assert set(posterior) == {"0", "1", "2", "3", "4"}
    assert sum(posterior.values()) == pytest.approx(1, abs=1e-5)
    assert max(posterior, key=posterior.get) == str(changed.grade)


def test_labels_are_not_weighed_by_figures_that_have_not_seen_them(ada, campaign):
    with pytest.raises(RuleRefused, match="has not seen every label"):
        choose_rule(access=ada, campaign=campaign, rule="dawid_skene", at=NOW)
    choose_rule(access=ada, campaign=campaign, rule="median", at=NOW)  # needs no figures
    with pytest.raises(RuleRefused, match="Unknown rule"):
        choose_rule(access=ada, campaign=campaign, rule="dice", at=NOW)


def test_a_draft_and_other_peoples_campaigns_are_left_alone():
    world = make_world(slug="films", queries=2, documents=10)
    ada = make_access(collection=world.collection)
    draft = make_draft(world=world)
    with pytest.raises(RuleRefused, match="draft"):
        choose_rule(access=ada, campaign=draft, rule="mean", at=NOW)
    dora = make_access(collection=world.collection, username="dora")
    with pytest.raises(NotFound):
        choose_rule(access=dora, campaign=draft, rule="mean", at=NOW)
    with pytest.raises(NotFound):
        get_rule_page(access=dora, campaign=draft, rule="mean")


def test_what_a_lead_has_decided_stays_and_approval_waits(ada, campaign):
    Campaign.objects.update(commit="approval")
    pair = campaign.pairs.select_related("campaign", "list").order_by("pk")[0]
    adjudicate(access=ada, pair=pair, grade=4, reason="because", at=NOW)
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    head = JudgmentVersion.objects.count()
    choose_rule(access=ada, campaign=campaign, rule="dawid_skene", at=NOW)
    pair.refresh_from_db()
    assert (pair.state, pair.grade) == ("adjudicated", 4)
    assert JudgmentVersion.objects.count() == head
    waiting = [one for one in campaign.pairs.all() if one.committed_seq < one.consolidated_seq]
    assert waiting


def test_the_page_shows_a_rule_and_takes_it(client, world, campaign):
    client.force_login(world.ada)
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    url = reverse("campaign-rule", args=["books", campaign.public_id])
    text = client.get(url, {"rule": "dawid_skene"}).text
    assert "The preview will be computed in a moment." in text
    assert "Use this rule" not in text
    state = reverse("campaign-rule-state", args=["books", campaign.public_id, "dawid_skene"])
    assert "HX-Refresh" not in client.get(state).headers
    preview_rule(campaign_id=campaign.pk, rule="dawid_skene", clock=lambda: NOW)
    assert client.get(state).headers["HX-Refresh"] == "true"
    text = client.get(url, {"rule": "dawid_skene"}).text
    assert "On the leaderboard" in text
    assert "Use this rule" in text
    assert client.get(url, {"rule": "dice"}).status_code == 200
    answer = client.post(url, {"rule": "dawid_skene"})
    assert answer.status_code == 302
    assert Campaign.objects.get().rule == "majority"  # a worker does it, not the request
    text = client.get(url, {"rule": "dawid_skene"}).text
    assert "Re-aggregating labels" in text
    assert "Use this rule" not in text
    again = client.post(url, {"rule": "mean"}, follow=True)
    assert "already being re-aggregated" in again.text
    assert work_jobs() == 1
    assert Campaign.objects.get().rule == "dawid_skene"
    page = client.get(answer.url).text
    assert "Aggregating labels by a rule" in page
    assert reverse("campaign", args=["books", campaign.public_id]) in page
    job = Job.objects.get()
    changed = campaign.pairs.filter(grade__isnull=False).count()
    version = JudgmentVersion.objects.latest("number").number
    assert (job.state, job.total_units) == ("done", 20)
    assert job.result["concluded_pairs"] == 20
    assert 0 < job.result["changed_pairs"] <= changed
    assert job.result["version"] == version
    assert "being concluded" not in client.get(url).text
    preview_rule(campaign_id=campaign.pk, rule="dawid_skene", clock=lambda: NOW)
    assert "This is the current rule." in client.get(url).text


def test_a_preview_is_computed_once_and_again_when_something_is_new(ada, campaign):
    def preview():
        return preview_rule(campaign_id=campaign.pk, rule="mean", clock=lambda: NOW)

    steps: list[int] = []
    campaign.list.refresh_from_db()
    compute_preview(campaign, "mean", steps.append)
    assert steps == list(range(1, STEPS))
    assert (preview(), preview()) == (True, False)
    adjudicate(access=ada, pair=campaign.pairs.select_related("campaign", "list")[0], grade=4,
               reason="because", at=NOW)  # fmt: skip
    page = get_rule_page(access=ada, campaign=Campaign.objects.get(), rule="mean")
    assert page.freshness.is_due
    assert page.outcome.concluded == 20  # as it was: it says that there is something new
    assert (preview(), preview()) == (True, False)
    assert previewed(ada, Campaign.objects.get(), "mean").concluded == 19


def test_a_worker_says_how_many_pairs_it_has_heard(ada, campaign, monkeypatch):
    monkeypatch.setattr("annotation.consolidation.aggregation.BATCH", 8)
    heard: list[int] = []
    done = choose_rule(access=ada, campaign=campaign, rule="mean", at=NOW, report=heard.append)
    assert heard == [8, 16, 20]
    assert done.pairs == 20
    again = choose_rule(access=ada, campaign=campaign, rule="mean", at=NOW)
    assert (again.changed, again.version) == (0, None)


def test_what_was_refused_meanwhile_is_said_on_the_jobs_page(client, world, ada, campaign):
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    job = ask_for_rule(access=ada, campaign=campaign, rule="dawid_skene", at=NOW)
    QualityReport.objects.update(seen="older")
    work_jobs()
    job.refresh_from_db()
    assert (job.state, Campaign.objects.get().rule) == ("failed", "majority")
    client.force_login(world.ada)
    page = client.get(reverse("job", args=["books", job.public_id])).text
    assert "has not seen every label yet" in page
    assert reverse("campaign-rule", args=["books", campaign.public_id]) in page


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_only_leads_ask_for_a_rule(world, campaign, username):
    access = make_access(collection=world.collection, username=username)
    with pytest.raises(NotFound):
        ask_for_rule(access=access, campaign=campaign, rule="mean", at=NOW)
    assert not Job.objects.exists()


def test_a_worker_concludes_labels_by_a_changed_plan(client, world, ada, campaign):
    client.force_login(world.ada)
    address = reverse("campaign-change", args=["books", campaign.public_id])
    plan = {"name": "Newer", "overlap": 2, "commit": "live", "order": "query",
            "lease_minutes": campaign.lease_minutes}  # fmt: skip
    asked = client.post(address, plan)
    job = Job.objects.get()
    assert asked.url == reverse("job", args=["books", job.public_id])
    assert Campaign.objects.get().overlap == 3
    assert "already being re-aggregated" in client.post(address, plan).text
    Campaign.objects.update(lease_minutes=30)  # by someone else meanwhile
    graded = Judgment.objects.filter(until=None).count()
    work_jobs()
    job.refresh_from_db()
    done = Campaign.objects.get()
    assert (job.state, job.total_units) == ("done", 20)
    assert (done.overlap, done.name, done.lease_minutes) == (2, "Newer", 30)
    assert AuditEntry.objects.get(action="campaign.changed").actor == world.ada
    assert Judgment.objects.filter(until=None).count() >= graded
    assert Pair.objects.filter(consolidated_seq=3).count() == 20


def test_what_changes_no_grade_needs_no_worker(ada, campaign):
    assert ask_for_plan(access=ada, campaign=campaign, changes={"name": "Newer"}, at=NOW) is None
    assert Campaign.objects.get().name == "Newer"
    with pytest.raises(CampaignRefused, match="needs 4 people"):
        ask_for_plan(access=ada, campaign=campaign, changes={"overlap": 4}, at=NOW)
    assert not Job.objects.exists()
