"""How often one person may ask: programs get 429 and when to come back, labelling never does."""

import pytest
from django.conf import settings as project_settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from judgments import rate_limits
from judgments.models import Collection
from judgments.rate_limits import RATES, WINDOW, RequestCounts, seconds_to_wait
from tests.api.callers import BOOKS, ROOT, by_session, by_token, is_problem, post_json
from tests.builders import make_user
from tests.builders_annotation import make_campaign

PEOPLE = 32
LABELS_A_SECOND = 365


class Clock:
    """A time that only the test moves."""

    now = 1_000 * WINDOW

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(settings, monkeypatch) -> Clock:
    settings.THROTTLE = 1
    monkeypatch.setattr(rate_limits, "counts", RequestCounts())
    clock = Clock()
    monkeypatch.setattr(rate_limits, "time", clock)
    return clock


def allow(monkeypatch, **changed: int) -> None:
    monkeypatch.setattr(rate_limits, "RATES", RATES | changed)


def test_without_a_setting_of_its_own_an_installation_is_throttled():
    # the suite switches it off for itself, in conftest
    source = (project_settings.BASE_DIR / "config/settings.py").read_text()
    assert 'env.float("TOUCHSTONE_THROTTLE", default=1.0)' in source


def test_whoever_labels_never_waits(clock):
    """365 labels a second by 32 people, each alone in a request, asking for pairs between, and then
    everyone sends an hour of offline work in batches of one."""
    a_minute = LABELS_A_SECOND * 60 // PEOPLE
    offline = 3_600
    for person in range(PEOPLE):
        for _ in range(2 * a_minute + offline):
            assert seconds_to_wait(scope="labelling", person=person) is None


def test_all_that_a_labelling_page_asks_for_counts_as_labelling(world, clock, monkeypatch):
    allow(monkeypatch, rest=0, labelling=6)
    campaign = make_campaign(world=world)
    ben = by_session("ben")
    for what, body in (
        ("next", {"count": 1}),
        ("labels", {"labels": [], "count": 1}),
        ("release", {}),
        ("skips", {}),
    ):
        url = reverse(f"api-campaign-{what}", args=[campaign.public_id])
        assert post_json(ben, url, body).status_code != 429, what
    url = reverse("api-campaign-labels", args=[campaign.public_id])
    assert [ben.get(url).status_code for _ in range(3)] == [200, 200, 429]
    assert by_session("cem").get(url).status_code == 200


def test_a_program_that_asks_too_often_is_told_when_to_come_back(world, clock, monkeypatch):
    allow(monkeypatch, rest=2)
    clock.now += 12.5
    dora = by_token("dora")
    assert [dora.get(BOOKS).status_code for _ in range(2)] == [200, 200]
    refused = dora.get(BOOKS)
    is_problem(refused, 429, "throttled")
    assert refused.headers["Retry-After"] == "48"
    # by another token it is the same person, another person is not held up
    assert by_token("dora").get(BOOKS).status_code == 429
    assert by_token("ada").get(BOOKS).status_code == 200
    clock.now += 48
    assert dora.get(BOOKS).status_code == 200


def test_what_takes_long_to_compute_may_be_asked_for_less_often(world, clock, monkeypatch):
    allow(monkeypatch, costly=1)
    dora = by_token("dora")
    url = f"{BOOKS}lists/main/compare"
    assert [dora.get(url).status_code for _ in range(2)] == [200, 429]
    assert dora.get(BOOKS).status_code == 200
    ada = by_session("ada")
    preview = reverse("guideline-preview", args=["books"])
    assert ada.post(preview, {"text": "*a*"}).status_code == 200
    refused = ada.post(preview, {"text": "*a*"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert ada.get(reverse("home") + "?all").status_code == 200


def test_pages_are_counted_by_person(world, clock, monkeypatch):
    allow(monkeypatch, pages=1)
    home = reverse("home") + "?all"
    ada = by_session("ada")
    assert [ada.get(home).status_code for _ in range(2)] == [200, 429]
    assert by_session("dora").get(home).status_code == 200
    assert [Client().get(reverse("login")).status_code for _ in range(3)] == [200] * 3


def test_zero_switches_the_limits_off(world, clock, settings, monkeypatch):
    allow(monkeypatch, rest=0)
    settings.THROTTLE = 0
    assert by_token("dora").get(BOOKS).status_code == 200


def test_counts_of_a_past_minute_are_forgotten():
    counts = RequestCounts()
    for person in range(100):
        counts.add("rest", person, 0.0)
    counts.add("rest", 1, WINDOW)
    assert len(counts._counts) == 1


# who may create collections


def test_where_administrators_make_collections_page_rest_and_command_follow(world, settings):
    settings.MAKES_COLLECTIONS = "administrators"
    make_user(username="root", is_superuser=True)
    body = {"slug": "new", "name": "New"}
    url = reverse("collection-create")
    dora = by_session("dora")
    assert url not in dora.get(reverse("home")).content.decode()
    assert dora.get(url).status_code == 404
    assert dora.post(url, body).status_code == 404
    is_problem(post_json(by_token("dora"), f"{ROOT}collections/", body), 422, "administrators_only")
    with pytest.raises(SystemExit):
        call_command("create_collection", "new", "--by", "dora")
    assert not Collection.objects.filter(slug="new").exists()

    root = by_session("root")
    assert url in root.get(reverse("home")).content.decode()
    assert root.post(url, body).status_code == 302
    made = post_json(by_token("root"), f"{ROOT}collections/", body | {"slug": "rest"})
    assert made.status_code == 201
    call_command("create_collection", "by-root", "--by", "root")
    call_command("create_collection", "by-nobody")
    slugs = {"new", "rest", "by-root", "by-nobody"}
    assert set(Collection.objects.values_list("slug", flat=True)) >= slugs


def test_unless_it_is_switched_everybody_makes_collections(world):
    body = {"slug": "new", "name": "New"}
    assert post_json(by_token("eve"), f"{ROOT}collections/", body).status_code == 201
