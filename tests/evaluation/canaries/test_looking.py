"""Canaries against a live engine: one incident, one alert, one recovery."""

from copy import deepcopy

import pytest
from django.test import override_settings
from django.urls import reverse

from config.sweep import list_due
from evaluation.canaries.looking import check_canaries
from evaluation.canaries.services import CanaryRefused, create_canary, retire_canary
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Canary, CanaryLook, Incident, Run
from evaluation.tasks import look_at_snapshots
from judgments.models import Notice
from judgments.outgoing.rules import read_origins
from judgments.permissions import NotFound
from tests.builders import NOW, commit, make_access, make_set, make_world
from tests.evaluation.browsing import signed_in, text_of
from tests.evaluation.builders import make_ranker
from tests.evaluation.live_rankers.engine import make_live, results, running
from tests.evaluation.live_rankers.test_snapshots import take
from touchstone.measures.defaults import DEFAULT_MEASURES

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
WAKE = ("evaluation.check_canaries", ())
QUERIES = 9  # after ten failures in a row the engine is left alone for seconds


class Search:
    """An engine that is good, worse, slow to be judged, or down; good differs by query a little."""

    baseline: Run

    def __init__(self):
        self.mode = "good"

    def __call__(self, text):
        number = int(text.split()[-1])
        if self.mode == "down":
            return (500, {}, b"")
        if self.mode == "worse":
            order = ["d4", "d5", "d6", "d1"] if number % 3 else ["d4", "d5", "d1", "d6"]
        elif self.mode == "other":  # documents that no one judged, above the same judged ones
            order = ["d11", "d12", "d13", "d1", "d2"]
        else:
            order = ["d1", "d2", "d4"]
        return results([(docid, 10.0 - rank) for rank, docid in enumerate(order)])


@pytest.fixture(scope="module")
def built(shared_rows, tmp_path_factory):
    """A world, and its engine with a first snapshot while it was good."""
    world = make_world(queries=QUERIES, documents=14)
    grades = {}
    for query in world.queries:
        for place in range(6):
            grades[query, world.documents[place]] = 3 if place < 2 else 0
    commit(judgment_list=world.judgments, grades=grades)
    search = Search()
    with running(search) as engine:
        own = {"HOME": tmp_path_factory.mktemp("home"), "OUTGOING": read_origins([engine.entry])}
        with override_settings(**own):
            make_live(world, engine.url, attempts=1)
            dora = make_access(collection=world.collection, username="dora")
            search.baseline = take(world, dora).run
            yield world, search


@pytest.fixture
def world(built):
    return deepcopy(built[0])


@pytest.fixture
def dora(world):
    return make_access(collection=world.collection, username="dora")


@pytest.fixture
def search(built):
    search = built[1]
    search.mode = "good"
    return search


def watch(world, dora, baseline, **given):
    usual = {
        "judgment_list": world.judgments,
        "measure": "nDCG@10",
        "saved_set": None,
        "baseline": baseline,
        "margin": 0.05,
        "coverage_margin": 0.2,
        "latency_limit": None,
        "in_a_row": 2,
    }
    ranker = make_ranker(collection=world.collection, slug="live")
    return create_canary(access=dora, ranker=ranker, at=NOW, **(usual | given))


def looks(world, dora, search, *modes):
    """Take a snapshot in each mode, and look at it; the kinds that were bad."""
    found = []
    for mode in modes:
        search.mode = mode
        take(world, dora)
        look_at_snapshots()
        findings = CanaryLook.objects.latest("pk").findings
        found.append({kind for kind, finding in findings.items() if finding == "bad"})
    return found


def told(kind):
    return sorted(Notice.objects.filter(kind=kind).values_list("recipient__username", flat=True))


def test_a_regression_is_one_incident_one_alert_and_one_recovery(world, dora, search):
    watch(world, dora, search.baseline)
    assert looks(world, dora, search, "good", "worse") == [set(), {"quality"}]
    look_at_snapshots()  # which were looked at
    assert not Incident.objects.exists()
    assert looks(world, dora, search, "worse") == [{"quality"}]
    incident = Incident.objects.get()
    assert (incident.kind, incident.recovered_at) == ("quality", None)
    assert told("incident") == ["ada", "dora"]
    looks(world, dora, search, "good")
    assert told("recovered") == []
    looks(world, dora, search, "good", "good")
    incident.refresh_from_db()
    assert incident.recovered_at is not None
    assert (told("incident"), told("recovered")) == (["ada", "dora"], ["ada", "dora"])
    page = text_of(signed_in(dora.user).get(reverse("canaries", args=["books", "live"])))
    assert "quality fell incident starts" in page
    assert "quality fell recovered" in page


def test_looking_is_due_once_for_each_snapshot(world, dora, search):
    watch(world, dora, search.baseline)
    for _ in range(2):
        take(world, dora)
        assert WAKE in set(list_due())
        look_at_snapshots()
        assert WAKE not in set(list_due())


def test_a_fall_that_unjudged_documents_explain_is_told_as_coverage(world, dora, search):
    watch(world, dora, search.baseline, coverage_margin=0.1)
    assert looks(world, dora, search, "other", "other") == [{"coverage"}] * 2
    figures = CanaryLook.objects.latest("pk").figures
    assert figures["high"] < -0.05
    assert figures["judged_high"] > -0.05
    assert Incident.objects.get().kind == "coverage"


def test_an_outage_is_no_fall_of_quality(world, dora, search):
    watch(world, dora, search.baseline)
    assert looks(world, dora, search, "down", "down") == [{"availability"}] * 2
    assert Incident.objects.get().kind == "availability"
    notice = Notice.objects.filter(kind="incident").first()
    assert f"0 of {QUERIES} queries were answered" in notice.payload["words"]
    look = CanaryLook.objects.latest("pk")
    assert look.findings["quality"] is None
    assert "difference" not in look.figures


def test_slow_answers_are_an_alert_of_their_own(world, dora, search):
    watch(world, dora, search.baseline, latency_limit=0.000001, in_a_row=1)
    assert looks(world, dora, search, "good") == [{"latency"}]
    assert Incident.objects.get().kind == "latency"


def test_only_the_queries_of_its_set_count(world, dora, search):
    saved = make_set(world=world, qids=["q1", "q2", "q3"])
    watch(world, dora, search.baseline, saved_set=saved)
    looks(world, dora, search, "good")
    assert CanaryLook.objects.get().figures["n"] == 3


def test_a_canary_that_makes_no_sense_is_refused_at_its_field(world, dora, search):
    held_out = make_set(world=world, qids=["q1"], is_held_out=True)
    for given, field in (
        ({"measure": "nope@10"}, "measure"),
        ({"saved_set": held_out}, "saved_set"),
    ):
        with pytest.raises(CanaryRefused) as refused:
            watch(world, dora, search.baseline, **given)
        assert refused.value.field == field
    ben = make_access(collection=world.collection, username="ben")
    with pytest.raises(NotFound):
        watch(world, ben, search.baseline)
    canary = watch(world, dora, search.baseline)
    retire_canary(access=dora, canary=canary, at=NOW)
    with pytest.raises(CanaryRefused, match="retired already"):
        retire_canary(access=dora, canary=canary, at=NOW)
    take(world, dora)
    assert check_canaries(at=NOW) == 0


def test_the_page_makes_a_canary_and_rest_tells_its_state_and_marks_deployments(
    world, dora, search
):
    client = signed_in(dora.user)
    page = reverse("canaries", args=["books", "live"])
    form = {
        "judgment_list": world.judgments.slug,
        "measure": "nDCG@10",
        "saved_set": "",
        "baseline": str(search.baseline.public_id),
        "margin": "0.05",
        "in_a_row": "1",
        "coverage_margin": "20",
    }
    assert (
        "nope"
        in client.post(page, form | {"measure": "nope@10"})
        .content.decode()
        .partition("id_measure_error")[2]
    )
    assert client.post(page, form).status_code == 302
    canary = Canary.objects.get()
    assert (canary.coverage_margin, canary.in_a_row) == (0.2, 1)
    looks(world, dora, search, "worse")
    address = reverse("api-canaries", args=["books", "live"])
    state = client.get(address).json()
    assert (state["is_ok"], state["canaries"][0]["incidents"][0]["what"]) == (
        False,
        "quality fell",
    )
    marked = client.post(
        reverse("api-ranker-events", args=["books", "live"]),
        {"name": "deploy 3f2a"},
        content_type="application/json",
    )
    assert marked.status_code == 201
    shown = text_of(client.get(page))
    assert "deployment deploy 3f2a" in shown
    assert "Quality fell since" in shown
    client.post(reverse("canary-retire", args=["books", "live", canary.pk]))
    assert client.get(address).json() == {"is_ok": True, "canaries": []}


def test_a_mean_below_its_threshold_is_an_alert_with_hysteresis(world, dora, search):
    watch(world, dora, search.baseline, margin=2.0, floor=0.9, in_a_row=1)
    assert looks(world, dora, search, "good", "worse") == [set(), {"threshold"}]
    assert Incident.objects.get().kind == "threshold"
    notice = Notice.objects.filter(kind="incident").first()
    assert "the threshold is 0.9" in notice.payload["words"]


def test_rules_about_single_queries_are_one_incident_that_names_those_that_are_broken(
    world, dora, search
):
    rules = ["q1: d1 in top 1", "q2:  at least 0.9", "q3: d9 in top 3", ""]
    watch(world, dora, search.baseline, margin=2.0, rules=rules[:2], in_a_row=1)
    assert looks(world, dora, search, "good", "worse", "good") == [set(), {"rules"}, set()]
    incident = Incident.objects.get()
    assert (incident.kind, incident.recovered_at is None) == ("rules", False)
    notice = Notice.objects.filter(kind="incident").first()
    assert "2 of 2 rules are broken: q1: d1 in top 1 (rank" in notice.payload["words"]
    looks(world, dora, search, "down")
    assert CanaryLook.objects.latest("pk").findings["rules"] is None
    for wrong in ("q1: d1", "q1: d1 in top 0", "q1: at least 1.2.3", "nope: at least 1"):
        with pytest.raises(CanaryRefused) as refused:
            watch(world, dora, search.baseline, rules=[wrong])
        assert refused.value.field == "rules"


def test_a_query_may_fall_by_no_more_than_its_rule_allows(world, dora, search):
    rules = ["q1: at most 0.05 below baseline", "q2: at most 1 below baseline"]
    watch(world, dora, search.baseline, margin=2.0, rules=rules, in_a_row=1)
    assert looks(world, dora, search, "good", "worse") == [set(), {"rules"}]
    notice = Notice.objects.filter(kind="incident").first()
    assert "1 of 2 rules are broken: q1: at most 0.05 below baseline" in notice.payload["words"]


def test_a_board_rule_is_an_incident_of_its_own_with_its_alert_and_recovery(world, dora, search):
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    rules = ["board: every  measure at most 0.05 below baseline"]
    watch(world, dora, search.baseline, margin=2.0, rules=rules)
    assert looks(world, dora, search, "good", "worse") == [set(), {"board"}]
    assert not Incident.objects.exists()
    assert looks(world, dora, search, "worse") == [{"board"}]
    incident = Incident.objects.get()
    assert (incident.kind, told("incident")) == ("board", ["ada", "dora"])
    checked = {one["rule"]: one for one in CanaryLook.objects.latest("pk").figures["board"]}
    # every measure of the leaderboard that grades move
    assert len(checked) == sum(one.family != "Judged" for one in DEFAULT_MEASURES)
    assert checked["board: RR@10 at most 0.05 below baseline"]["finding"] == "bad"
    notice = Notice.objects.filter(kind="incident").first()
    assert "rules are broken: board: nDCG@10 at most 0.05 below baseline" in notice.payload["words"]
    client = signed_in(dora.user)
    page = text_of(client.get(reverse("canaries", args=["books", "live"])))
    own = checked["board: RR@10 at most 0.05 below baseline"]
    assert f"{own['rule']} : {own['found']} broken" in page
    assert looks(world, dora, search, "good", "good") == [set()] * 2
    assert told("recovered") == ["ada", "dora"]
    page = text_of(client.get(reverse("canaries", args=["books", "live"])))
    assert "board rule broken recovered" in page
    assert f"{own['rule']} : +0.0000, +0.0000 to +0.0000 board:" in page


def test_a_board_below_its_threshold_alerts_and_the_interval_covers_all_measures(
    world, dora, search
):
    rules = [f"board: {name} at most 0.05 below baseline" for name in ("nDCG@10", "RR@10", "P@2")]
    rules.append("board: nDCG@10 at least 0.9")
    watch(world, dora, search.baseline, margin=0.05, rules=rules, in_a_row=1)
    assert looks(world, dora, search, "worse") == [{"quality", "board"}]
    figures = CanaryLook.objects.latest("pk").figures
    own, below, least = figures["board"][0], figures["difference"], figures["board"][-1]
    low, high = map(float, own["found"].split(", ")[1].split(" to "))
    # the same difference with a wider interval than the canary's own
    assert own["found"].startswith(f"{below:+.4f}")
    assert low < figures["low"] < figures["high"] < high
    assert (least["finding"], least["found"]) == ("bad", f"{figures['mean']:.4f}")


def test_thresholds_and_rules_that_unjudged_documents_explain_are_told_as_coverage(
    world, dora, search
):
    rules = [
        "q1: at least 0.9",
        "q1: at most 0.05 below baseline",
        "board: nDCG@10 at least 0.9",
        "board: nDCG@10 at most 0.05 below baseline",
    ]
    given = {"rules": rules, "floor": 0.9, "coverage_margin": 0.1, "in_a_row": 1}
    watch(world, dora, search.baseline, **given)
    assert looks(world, dora, search, "other") == [{"coverage"}]
    figures = CanaryLook.objects.latest("pk").figures
    assert figures["mean"] < 0.9 <= figures["judged_mean"]
    assert [one["is_kept"] for one in figures["rules"]] == [None, None]
    assert Incident.objects.get().kind == "coverage"


@pytest.mark.parametrize("measure", ["Judged@10", "Bpref"])
def test_a_measure_that_can_not_leave_out_unjudged_documents_is_watched(
    world, dora, search, measure
):
    watch(world, dora, search.baseline, measure=measure, floor=0.1, rules=["q1: at least 0.1"])
    assert looks(world, dora, search, "good") == [set()]


def test_a_line_that_is_no_rule_is_refused(world, dora, search):
    for wrong in (
        "board: nope@10 at least 0.5",
        "board: nDCG@10",
        "board: at most x below baseline",
        "q1: at most 0.1.2 below baseline",
        "board: every measure at least .",
    ):
        with pytest.raises(CanaryRefused) as refused:
            watch(world, dora, search.baseline, rules=[wrong])
        assert refused.value.field == "rules"
    lines = ["board: nDCG(rel=1)@10 at least 0.50", "board: at least 0.5"]
    with pytest.raises(CanaryRefused, match="no board"):  # a query of that name
        watch(world, dora, search.baseline, rules=lines)


def test_rest_creates_and_retires_a_canary_and_sets_a_schedule(world, dora, search):
    client, path = signed_in(dora.user), "/api/v1/collections/books/rankers/live"
    form = {
        "list": world.judgments.slug,
        "baseline": str(search.baseline.public_id),
        "rules": ["q1: d1 in top 3", "board: nDCG@10 at most 0.02 below baseline"],
        "floor": 0.5,
    }
    made = client.post(f"{path}/canaries/", form, "application/json")
    assert made.status_code == 201, made.content
    assert (made.json()["rules"], made.json()["in_a_row"]) == (form["rules"], 2)
    wrong = client.post(f"{path}/canaries/", form | {"rules": ["q1"]}, "application/json")
    assert (wrong.status_code, "rules" in wrong.content.decode()) == (400, True)
    assert client.delete(f"{path}/canaries/{made.json()['id']}").status_code == 204
    assert client.get(f"{path}/canaries/").json()["canaries"] == []
    schedule = {"cron": "0 3 * * *", "time_zone": "Europe/Berlin"}
    assert client.put(f"{path}/live/schedule", schedule, "application/json").json()["next_at"]
    refused = client.put(f"{path}/live/schedule", {"cron": "x"}, "application/json")
    assert refused.status_code == 400
