"""The demo workspace, built whole: what a new user meets."""

import threading
from collections import Counter
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.models import Count
from django.test import Client
from django.utils import timezone

from annotation.labelling.leasing import lease_next
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.models import (
    Adjudication,
    Assignment,
    Campaign,
    GoldCheck,
    GuidelineRevision,
    JudgeAttempt,
    JudgeCampaign,
    Label,
    MachineLabel,
    Pair,
)
from annotation.permissions import get_annotator_context
from annotation.quality.costs import Rates
from annotation.quality.queries import get_quality_page
from config.demo import live_search
from config.demo.clicks import EXAMINATION, PAGES
from config.demo.guideline import LATER
from config.demo.people import SIGN_INS, keep_sign_ins, load_sign_ins
from config.demo.queries import QUERIES
from config.demo.rankers import RANKERS
from config.demo.story import DECIDED
from config.demo.word_judge import have_judge
from config.demo.workspace import FOR_PEOPLE, SLUG, build_workspace, is_built
from evaluation.canaries.looking import check_canaries
from evaluation.corrected.services import correct_means
from evaluation.live_rankers.configuration import Configuration
from evaluation.live_rankers.trying import try_query
from evaluation.models import CanaryLook, Evaluation, Incident, Run, Snapshot
from evaluation.samples.queries import SampleFilters, get_estimates
from evaluation.samples.services import evaluate_sample
from judgments.clicks.queries import list_applications
from judgments.jobs.services import work_jobs
from judgments.models import (
    ClickLog,
    Document,
    InterleavingExperiment,
    JudgmentVersion,
    Membership,
    Query,
    Release,
    SamplePlan,
    TrafficFrame,
    User,
)
from judgments.outgoing.rules import read_origins
from judgments.permissions import get_access

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass, pytest.mark.xdist_group("demo")]
NOW = timezone.now()


@pytest.fixture(autouse=True)
def jobs_give_no_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which would wait for the transaction that all is done in here, and the job for its end."""
    monkeypatch.setattr("judgments.jobs.services.PULSE", 3600.0)


@pytest.fixture(scope="module")
def built(django_db_setup, django_db_blocker):
    """One workspace for all tests here: each looks, none changes what the next one sees."""
    with django_db_blocker.unblock():
        from django.db import transaction

        with transaction.atomic():
            yield build_workspace(at=NOW, say=lambda text: None)
            transaction.set_rollback(True)


def test_the_workspace_has_documents_queries_runs_and_judged_pairs(built) -> None:
    assert is_built()
    assert Document.objects.filter(collection__slug=SLUG).count() == built.documents > 2000
    assert Query.objects.filter(collection__slug=SLUG).count() == len(QUERIES) >= 50
    assert Run.objects.count() == len(RANKERS) >= 5
    assert built.grades >= 300
    assert built.pairs == Pair.objects.count() > built.grades


def test_a_month_of_clicks_is_there_and_called_simulated(built) -> None:
    log = ClickLog.objects.get()
    assert log.is_simulated
    assert log.known_queries == log.queries > 50
    (application,) = list_applications(log)
    assert application.pages == PAGES
    _, *others = application.curves["all_pairs"]
    for point, truth in zip(others[:4], EXAMINATION[1:], strict=False):
        assert point.examination == pytest.approx(truth, rel=0.15)
    experiment = InterleavingExperiment.objects.get()
    assert experiment.is_simulated
    assert experiment.outcome["low"] > 0  # whole texts find more than titles alone


def test_each_role_has_a_sign_in_whose_password_works(built) -> None:
    for sign_in in built.sign_ins:
        user = User.objects.get(username=sign_in.username)
        assert user.check_password(sign_in.password)
        assert Membership.objects.get(user=user).role == sign_in.role


def test_nobody_can_sign_in_as_a_reading(built) -> None:
    readings = User.objects.filter(username__endswith="-reading")
    assert readings.count() == 2
    assert not any(user.has_usable_password() for user in readings)


def test_every_judgment_comes_from_labels_of_two_people(built) -> None:
    complete = Pair.objects.filter(state=Pair.State.COMPLETE)
    assert JudgmentVersion.objects.get(number=1).source == JudgmentVersion.Source.LABELS
    assert complete.count() > 300
    seconds = set()
    for pair in complete:
        labels = pair.labels.filter(assignment__purpose=Assignment.Purpose.POOL)
        people = set(labels.values_list("annotator__username", flat=True))
        assert len(people) == 2
        assert "first-reading" in people
        seconds |= people - {"first-reading"}
    assert seconds == {"second-reading", "third-annotator"}


def test_who_is_made_up_is_called_so_and_can_not_sign_in(built) -> None:
    third = User.objects.get(username="third-annotator")
    assert "simulated" in third.name
    assert not third.has_usable_password()


def test_gold_was_met_and_failed_by_the_third_annotator_alone(built) -> None:
    checks = GoldCheck.objects.values_list("label__annotator__username", "error")
    met = Counter(name for name, error in checks if not error)
    failed = Counter(name for name, error in checks if error)
    assert min(met[name] for name in ("first-reading", "second-reading", "third-annotator")) > 5
    assert set(failed) == {"third-annotator"}


def test_the_report_has_something_to_do_about_the_third_annotator(built) -> None:
    campaign = Campaign.objects.get()
    lead = get_access(viewer=User.objects.get(username="lead"), slug=SLUG)
    page = get_quality_page(access=lead, campaign=campaign, rates=Rates())
    named = {person.name for person in page.people if person.said}
    assert named == {"Third annotator (simulated)"}


def test_labels_name_both_revisions_of_the_guideline(built) -> None:
    of_labels = set(Label.objects.values_list("guideline_revision__number", flat=True))
    assert of_labels == {1, 2}
    first, second = GuidelineRevision.objects.order_by("number")
    assert LATER.strip() not in first.text
    assert LATER.strip() in second.text


def test_several_versions_end_in_decisions_and_a_release(built) -> None:
    sources = list(JudgmentVersion.objects.order_by("number").values_list("source", flat=True))
    # the labels of the drawn questions came after the release
    assert sources == ["labels"] * 3 + ["adjudication"] * DECIDED + ["labels"]
    assert Release.objects.get().version.number == len(sources) - 1
    decisions = Adjudication.objects.all()
    assert decisions.count() == DECIDED == len({one.pair_id for one in decisions})


def test_nothing_is_dated_in_the_future(built) -> None:
    assert Label.objects.latest("received_at").received_at <= NOW
    assert JudgmentVersion.objects.latest("number").created_at <= NOW
    days = {one.date() for one in Label.objects.values_list("received_at", flat=True)}
    assert len(days) >= 4


def test_every_run_is_evaluated_at_the_newest_version(built) -> None:
    head = JudgmentVersion.objects.latest("number").number
    assert Evaluation.objects.filter(version__number=head).count() == len(RANKERS)


def test_the_next_start_says_again_how_to_sign_in(built, tmp_path, settings) -> None:
    settings.HOME = tmp_path
    keep_sign_ins(built.sign_ins, tmp_path)
    assert (tmp_path / SIGN_INS).stat().st_mode & 0o777 == 0o600
    out = StringIO()
    call_command("demo", "--no-serve", stdout=out)
    assert all(f"{one.username:<12} {one.password}" in out.getvalue() for one in built.sign_ins)


def test_a_password_that_was_changed_is_not_said_again(built, tmp_path) -> None:
    keep_sign_ins([replace(built.sign_ins[0], password="another")], tmp_path)
    assert load_sign_ins(tmp_path) == []


def test_the_annotator_begins_where_one_label_completes_a_pair(built) -> None:
    campaign = Campaign.objects.get()
    context = get_annotator_context(
        viewer=User.objects.get(username="annotator"), campaign_id=campaign.public_id
    )
    lease_next(context=context, count=20, at=timezone.now())
    assert list_leased_pairs(context)
    leased = Assignment.objects.filter(annotator=context.viewer, state=Assignment.State.LEASED)
    # One person may have labelled a pair twice: some come again as repeats.
    people = (
        Label.objects.filter(pair__in=leased.values("pair"))
        .values("pair")
        .annotate(count=Count("annotator", distinct=True))
    )
    assert {one["count"] for one in people} == {1}
    assert len(people) == leased.count()


def test_what_is_stored_is_what_a_computation_from_scratch_gives(built) -> None:
    out = StringIO()
    call_command("verify", stdout=out)


def test_the_demos_traffic_says_that_it_is_simulated_and_its_sample_estimates_every_run(
    built,
) -> None:
    frame = TrafficFrame.objects.get(of_list=None)
    plan = SamplePlan.objects.get(frame=frame)
    assert frame.is_simulated
    assert frame.queries == len(QUERIES)
    evaluate_sample(plan_id=plan.pk, at=NOW)
    access = get_access(viewer=User.objects.get(username="researcher"), slug=SLUG)
    found = get_estimates(
        access=access, slug="main", filters=SampleFilters(sample=str(plan.number))
    )
    assert found.is_simulated
    assert found.size == plan.size == 30
    assert 0 < found.judged < 30
    assert not found.is_complete
    assert [one.per_search.mean is not None for one in found.runs] == [True] * len(RANKERS)


def test_people_judged_the_questions_drawn_for_them_completely_and_three_means_are_shown(
    built, settings
):
    settings.OUTGOING = read_origins(["http://127.0.0.1:9=127.0.0.1/32"])
    plan = SamplePlan.objects.exclude(frame__of_list=None).get()
    assert plan.size == FOR_PEOPLE
    campaign = Campaign.objects.get()
    with transaction.atomic():
        have_judge("http://127.0.0.1:9", at=NOW)
        started = JudgeCampaign.objects.get()
        pairs = list(campaign.pairs.select_related("query", "document"))
        attempts = [
            JudgeAttempt(
                campaign=started,
                query=pair.query,
                document=pair.document,
                digest=f"{pair.pk:064}",
                content_hash="",
                outcome="labelled",
                grade=pair.pk % 5,
                is_last=True,
                seconds=0.0,
                ended_at=NOW,
            )
            for pair in pairs
        ]
        JudgeAttempt.objects.bulk_create(attempts)
        MachineLabel.objects.bulk_create(
            MachineLabel(
                revision=started.revision,
                query=one.query,
                document=one.document,
                digest=one.digest,
                content_hash="",
                grade=one.grade or 0,
                attempt=one,
                created_at=NOW,
            )
            for one in attempts
        )
        correct_means(plan_id=plan.pk, at=NOW)
        client = Client()
        client.force_login(User.objects.get(username="lead"))
        answer = client.get(f"/api/v1/collections/{SLUG}/lists/main/estimates").json()
        (correction,) = answer["corrections"]
        assert correction["refused"] == ""
        means = [one["means"] for one in correction["runs"]]
        assert [one["people"]["n"] for one in means] == [FOR_PEOPLE] * len(RANKERS)
        assert {one["machine"]["n"] for one in means} == {len(QUERIES)}
        page = client.get(f"/c/{SLUG}/lists/main/leaderboard").content.decode()
        assert "rely on the machine alone" in page
        assert "per search" not in page
        transaction.set_rollback(True)


def test_serving_a_demo_starts_its_search_server_and_takes_a_first_snapshot(
    built, settings, tmp_path, monkeypatch
):
    settings.HOME = tmp_path
    # half a minute of answers; what it says of them is tested above
    monkeypatch.setattr(live_search, "have_judge", lambda *_, **__: None)
    assert live_search.make_server(0, at=NOW) is None  # this home has no demo
    keep_sign_ins([], tmp_path)
    with transaction.atomic():
        live_search._index()  # another thread sees nothing of this transaction
        for _ in ("./run demo", "./run serve, later"):
            settings.OUTGOING = ()
            server = live_search.make_server(0, at=NOW)
            server.start()
            try:
                while work_jobs():
                    pass
                snapshot = Snapshot.objects.get()
                assert (snapshot.state, snapshot.problem) == ("done", "")
                assert asked_once(snapshot.source).rows
            finally:
                server.close()
            assert "search" not in {thread.name for thread in threading.enumerate()}
        check_canaries(at=NOW)
        assert CanaryLook.objects.get().figures["difference"] == 0.0
        transaction.set_rollback(True)


def asked_once(source):
    """What the newest revision gets for one query."""
    return try_query(
        access=get_access(viewer=User.objects.get(username="lead"), slug=SLUG),
        ranker=source.ranker,
        configuration=Configuration.from_json(source.revisions.latest("number").configuration),
        secret="",
        qid="",
    )


def test_the_live_search_is_broken_and_repaired_with_an_incident_and_its_recovery(built, settings):
    """The demo's promise, from its buttons to the notices."""
    settings.OUTGOING = ()  # what the demo allows ends with the test
    with transaction.atomic():
        live_search._index()  # another thread sees nothing of this transaction
        server = live_search.SearchServer(0)
        live_search.allow(server)
        live_search.watch(server, at=NOW)
        server.start()
        client = Client()
        client.force_login(User.objects.get(username="researcher"))
        page = f"/c/{SLUG}/ranker/{live_search.RANKER}/live/canaries"
        try:
            for act, button in (("break", "Repair it"), ("repair", "Break it")):
                assert client.post(f"/demo/search/{act}").status_code == 302
                while work_jobs():
                    pass
                check_canaries(at=NOW)
                shown = client.get(page).content.decode()
                assert f">{button}</button>" in shown
                quality = Incident.objects.get(kind="quality")
                assert (quality.recovered_at is None) == (act == "break")
        finally:
            server.close()
        assert client.post("/demo/search/break").status_code == 404
        differences = [look.figures["difference"] for look in CanaryLook.objects.order_by("pk")]
        assert differences[0] < -0.2
        assert differences[1] == 0.0  # the values of the same ranking as a file, to the last bit
        transaction.set_rollback(True)
