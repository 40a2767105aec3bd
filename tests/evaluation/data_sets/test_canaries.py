"""Canaries of data sets: one incident, one message, one recovery."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from config.sweep import list_due
from evaluation.canaries.services import CanaryRefused
from evaluation.data_set_canaries.queries import get_data_set_canaries
from evaluation.data_set_canaries.services import create_data_set_canary, retire_data_set_canary
from evaluation.data_sets.places import read_places
from evaluation.data_sets.services import start_evaluation
from evaluation.models import DataSet, DataSetCanary, DataSetLook, Incident
from evaluation.tasks import look_at_data_sets
from judgments.models import Notice, WebhookDelivery
from judgments.outgoing.rules import read_origins
from judgments.permissions import Access
from judgments.webhooks.queries import Scope
from judgments.webhooks.services import create_endpoint
from tests.builders import NOW, make_access, make_world
from tests.evaluation.data_sets.test_pages import address
from tests.evaluation.data_sets.test_pages import work as work_portions
from tests.touchstone.bulk.builders import table, written

pytestmark = pytest.mark.django_db
WAKE = ("evaluation.check_data_sets", ())
USUAL: dict[str, Any] = {"days": 1, "fewest": 2, "in_a_row": 1, "at": NOW}


@pytest.fixture
def ada(tmp_path: Path, settings) -> Access:
    settings.DATA_SETS = read_places([str(tmp_path / "lake")])
    settings.DATA_SETS_FOLDER = str(tmp_path / "work")
    return make_access(collection=make_world().collection)


def make_data_set(ada: Access, lake: Path, **more: Any) -> DataSet:
    columns = {
        "query": ["query"],
        "document": "document",
        "score": "score",
        "grade": "grade",
        "measures": "P(rel=1)@1 nDCG@2",
        "segments": ["country"],
        "day": "day",
    }
    return DataSet.objects.create(
        collection=ada.collection,
        slug="nightly",
        name="Nightly",
        rankings=str(lake),
        created_at=NOW,
        **columns | more,
    )


def write_day(lake: Path, day: int, *, right: int, wrong_country: str = "") -> None:
    """100 users, of whom so many have a good first document; half of them in each country."""
    rows = []
    for user in range(100):
        country = "DE" if user % 2 else "FR"
        is_right = (user * 37) % 100 < right and country != wrong_country
        rows += [
            (user, "d1", 2.0, int(is_right), country),
            (user, "d2", 1.0, 1, country),
        ]
    own = table(rows, "country")
    written(own, lake / f"day=2026-11-{day:02}" / "a.parquet")


def evaluate(ada: Access, data_set: DataSet) -> None:
    """An evaluation, and the look at it that the sweep announces."""
    start_evaluation(access=ada, data_set=data_set, at=NOW)
    work_portions()
    assert WAKE in list(list_due())
    look_at_data_sets()
    assert WAKE not in list(list_due())


def states(ada: Access) -> list[tuple[str, bool | None]]:
    (row,) = get_data_set_canaries(access=ada, slug="nightly").rows
    return [(one.rule, one.is_broken) for one in row.rule_states]


def test_a_day_below_the_threshold_opens_an_incident_that_the_next_ends(
    ada: Access, tmp_path: Path, settings
) -> None:
    settings.OUTGOING = ()
    lake = tmp_path / "lake"
    data_set = make_data_set(ada, lake)
    create_data_set_canary(
        access=ada, data_set=data_set, rules=["board: P(rel=1)@1 at least 0.5"], **USUAL
    )
    write_day(lake, 1, right=80)
    evaluate(ada, data_set)
    assert not Incident.objects.exists()
    write_day(lake, 2, right=30)
    for _ in range(2):  # the second look at the same day tells no one again
        evaluate(ada, data_set)
    incident = Incident.objects.get()
    assert (incident.kind, incident.recovered_at) == ("board", None)
    (notice,) = Notice.objects.filter(kind="incident", recipient=ada.user)
    assert notice.payload["words"] == (
        "2026-11-02: 1 of 1 rules are broken: board: P@1 at least 0.5 (0.3000)."
    )
    client = Client()
    client.force_login(ada.user, "django.contrib.auth.backends.ModelBackend")
    for name in ("data-set", "data-set-canaries"):
        assert "Board rule broken" in client.get(address(name, "nightly")).content.decode()
    write_day(lake, 3, right=70)
    evaluate(ada, data_set)
    incident.refresh_from_db()
    assert incident.recovered_at is not None
    assert Notice.objects.filter(kind="recovered", recipient=ada.user).count() == 1
    assert not client.get(address("data-set", "nightly")).context["page"].incidents
    days = DataSetLook.objects.order_by("pk").values_list("day", flat=True)
    assert list(days) == ["2026-11-01", "2026-11-02", "2026-11-02", "2026-11-03"]


def test_drops_below_the_day_before_and_below_seven_days(ada: Access, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    data_set = make_data_set(ada, lake)
    for day, right in enumerate([80, 81, 79, 80, 60, 45], start=1):
        write_day(lake, day, right=right)
    rule = ["board: P(rel=1)@1 at most 0.1 below baseline"]
    last = create_data_set_canary(access=ada, data_set=data_set, rules=rule, **USUAL)
    week = create_data_set_canary(access=ada, data_set=data_set, rules=rule, **USUAL | {"days": 7})
    evaluate(ada, data_set)
    found = {
        one.canary_id: one.figures["board"][0] for one in DataSetLook.objects.order_by("canary")
    }
    assert found[last.pk]["found"].startswith("-0.1500, ")
    assert found[last.pk]["finding"] == "unclear"  # an interval of two days of 100 users is wide
    assert found[week.pk]["found"].startswith("-0.3100, ")
    assert found[week.pk]["finding"] == "bad"
    assert [one.data_set_canary_id for one in Incident.objects.all()] == [week.pk]


def test_one_segment_or_every_segment(ada: Access, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    data_set = make_data_set(ada, lake)
    write_day(lake, 1, right=90, wrong_country="FR")
    rule = ["board: P(rel=1)@1 at least 0.4"]
    for chosen in ({}, {"segment": "DE"}, {"segment": "FR"}, {"is_by_segment": True}):
        create_data_set_canary(access=ada, data_set=data_set, rules=rule, **USUAL, **chosen)
    evaluate(ada, data_set)
    found = [one.figures["board"][0] for one in DataSetLook.objects.order_by("canary")]
    assert [one["finding"] for one in found] == ["good", "good", "bad", "bad"]
    assert [one["found"] for one in found[2:]] == ["0.0000", "FR: 0.0000; broken in 1 of 2"]
    few = create_data_set_canary(
        access=ada, data_set=data_set, rules=rule, **USUAL | {"fewest": 51}, segment="FR"
    )
    evaluate(ada, data_set)
    assert DataSetLook.objects.get(canary=few).figures["board"][0]["finding"] is None


def test_without_days_the_evaluations_before_are_the_baseline(ada: Access, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    data_set = make_data_set(ada, lake, day="", segments=[])
    rule = ["board: every measure at most 0.1 below baseline"]
    create_data_set_canary(access=ada, data_set=data_set, rules=rule, **USUAL)
    for right, broken in ((90, None), (88, False), (30, True)):
        write_day(lake, 1, right=right)
        evaluate(ada, data_set)
        assert states(ada)[0] == ("board: P@1 at most 0.1 below baseline", broken)


def test_an_evaluation_that_fails_is_an_outage(ada: Access, tmp_path: Path, settings) -> None:
    settings.OUTGOING = ()
    lake = tmp_path / "lake"
    data_set = make_data_set(ada, lake)
    create_data_set_canary(
        access=ada, data_set=data_set, rules=["board: nDCG@2 at least 0.1"], **USUAL
    )
    own = table([(1, "d1", float("nan"), 1, "DE")], "country")
    written(own, lake / "day=2026-11-01" / "a.parquet")
    evaluate(ada, data_set)
    assert Incident.objects.get().kind == "availability"
    assert "The evaluation failed: " in Notice.objects.get(recipient=ada.user).payload["words"]
    write_day(lake, 1, right=90)
    evaluate(ada, data_set)
    assert Incident.objects.get().recovered_at is not None


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"rules": ["nDCG@2 of 0.5"]}, "rules", "is not a rule"),
        ({"rules": [" "]}, "rules", "needs a rule"),
        ({"rules": ["q1: at least 0.5"]}, "rules", "begin with “board:”"),
        ({"rules": ["board: RR at least 0.5"]}, "rules", "has no RR; its measures are"),
        ({"segment": "DE", "is_by_segment": True}, "segment", "not both"),
    ],
)
def test_what_is_no_canary_is_refused(
    ada: Access, tmp_path: Path, given: dict[str, Any], field: str, words: str
) -> None:
    data_set = make_data_set(ada, tmp_path / "lake")
    usual = {"rules": ["board: nDCG@2 at least 0.5"]} | USUAL
    with pytest.raises(CanaryRefused, match=words) as refused:
        create_data_set_canary(access=ada, data_set=data_set, **usual | given)
    assert refused.value.field == field
    data_set.segments = []
    with pytest.raises(CanaryRefused, match="no segments"):
        create_data_set_canary(access=ada, data_set=data_set, **usual, segment="DE")


def test_pages_and_rest_make_and_retire_canaries(ada: Access, tmp_path: Path) -> None:
    data_set = make_data_set(ada, tmp_path / "lake")
    write_day(tmp_path / "lake", 1, right=90)
    start_evaluation(access=ada, data_set=data_set, at=NOW)
    work_portions()
    client = Client()
    client.force_login(ada.user, "django.contrib.auth.backends.ModelBackend")
    form = {"rules": "board: nDCG@2 at least 0.5", "days": "7", "in_a_row": 1, "fewest": 5}
    page = address("data-set-canaries", "nightly")
    assert client.post(page, form | {"segment": "=DE"}).status_code == 302
    assert client.post(page, form | {"segment": "*"}).status_code == 302
    assert client.post(page, form | {"rules": "board: RR at least 1"}).status_code == 400
    api = address("api-data-set-canaries", "nightly")
    found = client.get(api).json()
    assert (found["is_ok"], len(found["canaries"])) == (True, 2)
    assert [(one["segment"], one["by_segment"]) for one in found["canaries"]] == [
        ("DE", False),
        ("", True),
    ]
    assert not list(DataSetLook.objects.all())  # only later evaluations count
    canary = DataSetCanary.objects.order_by("pk")[0]
    retire_data_set_canary(access=ada, canary=canary, at=NOW)
    gone = client.delete(address("api-data-set-canary", "nightly", canary.pk))
    assert gone.status_code == 422
    wrong = client.post(api, {"rules": ["board: RR at least 1"]}, content_type="application/json")
    assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid")


def test_receivers_of_webhooks_hear_of_both(ada: Access, tmp_path: Path, settings) -> None:
    settings.OUTGOING = read_origins(["http://127.0.0.1:9"])
    events = ("incident.opened", "incident.recovered")
    create_endpoint(
        scope=Scope(ada.user, ada), url="http://127.0.0.1:9/hook", events=events, at=NOW
    )
    data_set = make_data_set(ada, tmp_path / "lake")
    create_data_set_canary(
        access=ada, data_set=data_set, rules=["board: P(rel=1)@1 at least 0.5"], **USUAL
    )
    for day, right in enumerate([20, 90], start=1):
        write_day(tmp_path / "lake", day, right=right)
        evaluate(ada, data_set)
    sent = WebhookDelivery.objects.order_by("pk")
    assert [one.event for one in sent] == list(events)
