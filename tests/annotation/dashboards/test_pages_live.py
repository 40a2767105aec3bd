"""The live page of a campaign: what a lead sees while people label, and takes or gives back."""

import base64
import uuid
import zlib
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.adjudication.services import adjudicate
from annotation.campaigns import cached_counts
from annotation.campaigns.queries import Dashboard, get_campaign, get_dashboard
from annotation.campaigns.services import change_campaign, remove_annotator
from annotation.consolidation.services import consolidate
from annotation.dashboards.monitoring import MonitorPage, get_monitor_page
from annotation.dashboards.overview import list_standings
from annotation.gold.services import mark_gold
from annotation.labelling.leasing import release_expired
from annotation.labelling.reassigning import reassign_leases, release_leases_of
from annotation.labelling.services import submit_label
from annotation.labelling.skipping import skip_query
from annotation.models import Assignment, Campaign
from judgments.collections.overview_parts import Standing
from judgments.live import Part, read_ticket
from judgments.models import AuditEntry, User
from judgments.pages import streams
from judgments.permissions import NotFound
from tests.annotation.page_reading import words
from tests.builders import NOW, World, make_access, make_member, make_user, make_world
from tests.builders_annotation import LEASE, context_of, held, label, lease, make_campaign, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    world = make_world(queries=3, documents=10)
    make_member(collection=world.collection, username="fay", role="annotator")
    return world


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world, people=("ben", "cem", "fay"))


@pytest.fixture
def ada() -> Client:
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    return client


def of(name: str, campaign: Campaign, *more: object) -> str:
    return reverse(name, args=[campaign.list.collection.slug, campaign.public_id, *more])


def user(username: str) -> User:
    return User.objects.get(username=username)


def test_the_page_says_who_is_at_work_how_fast_and_until_when(
    world: World, campaign: Campaign
) -> None:
    pairs = list(campaign.pairs.select_related("campaign")[:6])
    for minute, pair in enumerate(pairs):
        label(pair=pair, username="ben", grade=1, at=NOW + timedelta(minutes=10 * minute))
    label(pair=pairs[0], username="cem", grade=1, at=NOW)
    now = NOW + timedelta(minutes=55)
    access = make_access(collection=world.collection)
    page = get_monitor_page(access=access, campaign=campaign, now=now)
    ben, cem, fay = page.workers
    assert [one.username for one in page.workers] == ["ben", "cem", "fay"]
    assert (ben.is_at_work, ben.last_hour, ben.an_hour) == (True, 6, 800)
    assert (cem.is_at_work, cem.last_hour, fay.last_seen_at) == (False, 1, None)
    assert page.at_work == 1
    assert page.pace.left == 60 - 7
    assert (page.pace.last_hour, sum(page.pace.by_hour)) == (7, 7)
    assert page.pace.hours_of_work == pytest.approx(53 * 4.5 / 3600)
    assert page.pace.ends_at == now + timedelta(hours=1) / 7 * 53
    later = get_monitor_page(access=access, campaign=campaign, now=NOW + timedelta(hours=30))
    assert (later.at_work, later.pace.last_hour, later.pace.ends_at) == (0, 0, None)


def test_what_came_too_late_is_counted_as_surplus(world: World) -> None:
    campaign = make_campaign(world=world, overlap=1)
    seat = lease(campaign=campaign, username="ben")[0]
    late = NOW + LEASE + timedelta(minutes=1)
    release_expired(at=late)
    label(pair=seat.pair, username="cem", grade=1, at=late)
    submit_label(context=context_of(campaign, "ben"), submission=said(seat=seat, grade=2), at=late)
    access = make_access(collection=world.collection)
    assert get_monitor_page(access=access, campaign=campaign, now=late).surplus == 1


def test_leases_taken_back_are_free_and_the_log_says_so(world: World, campaign: Campaign) -> None:
    seats = lease(campaign=campaign, username="ben")
    access = make_access(collection=world.collection)
    ended = release_leases_of(access=access, campaign=campaign, person=user("ben"), at=NOW)
    assert ended == len(seats)
    assert held(campaign=campaign, username="ben") == []
    entry = AuditEntry.objects.get(action="campaign.leases_released")
    assert entry.after == {"person": "ben", "seats": ended}


def test_leases_are_given_to_somebody_else_but_no_pair_twice_and_no_skipped_query(
    world: World, campaign: Campaign
) -> None:
    seats = lease(campaign=campaign, username="ben", count=10)
    pairs = {seat.pair_id for seat in seats}
    access = make_access(collection=world.collection)
    label(pair=seats[0].pair, username="cem", grade=1)
    taken = reassign_leases(
        access=access, campaign=campaign, person=user("ben"), to=user("cem"), at=NOW
    )
    now_cems = held(campaign=campaign, username="cem")
    assert {seat.pair_id for seat in now_cems} == pairs - {seats[0].pair_id}
    assert taken == len(now_cems) == len(pairs) - 1
    assert held(campaign=campaign, username="ben") == []
    entry = AuditEntry.objects.get(action="campaign.leases_reassigned")
    assert entry.after == {"person": "ben", "to": "cem", "seats": len(pairs), "taken": taken}
    seat = lease(campaign=campaign, username="fay", count=10)[0]
    skip_query(
        context=context_of(campaign, "fay"), assignment=seat.public_id, reason="other", at=NOW
    )
    again = lease(campaign=campaign, username="cem")
    reassign_leases(access=access, campaign=campaign, person=user("cem"), to=user("fay"), at=NOW)
    skipped = {one.pair_id for one in again if one.pair.query_id == seat.pair.query_id}
    assert not skipped & {one.pair_id for one in held(campaign=campaign, username="fay")}
    assert Assignment.objects.filter(state="leased", annotator=user("cem")).count() == 0


def test_nothing_is_given_to_somebody_outside_or_by_somebody_who_does_not_lead(
    world: World, campaign: Campaign
) -> None:
    before = lease(campaign=campaign, username="ben")
    lead, dora = (make_access(collection=world.collection, username=n) for n in ("ada", "dora"))
    for access, to in ((lead, "dora"), (dora, "cem")):
        with pytest.raises(NotFound):
            reassign_leases(
                access=access, campaign=campaign, person=user("ben"), to=user(to), at=NOW
            )
    with pytest.raises(NotFound):
        release_leases_of(access=dora, campaign=campaign, person=user("ben"), at=NOW)
    assert held(campaign=campaign, username="ben") == before


def test_a_lead_does_all_of_it_on_the_page(campaign: Campaign, ada: Client) -> None:
    now = timezone.now()
    seats = lease(campaign=campaign, username="ben", at=now)
    label(pair=seats[0].pair, username="ben", grade=1, at=now)
    skipped = skip_query(
        context=context_of(campaign, "ben"),
        assignment=seats[1].public_id,
        reason="unfamiliar",
        note='<b>"Gaff"?</b>',
        at=now,
    )
    lease(campaign=campaign, username="cem", at=now)
    page = ada.get(of("campaign-live", campaign))
    text = words(page)
    assert "Active now" in text
    assert "I don’t know the topic" in text
    assert "&lt;b&gt;" in page.content.decode()
    part = ada.get(of("campaign-live", campaign), headers={"HX-Request": "true"})
    assert b"<html" not in part.content
    assert "hx-trigger" in part.content.decode()
    form = ada.get(of("campaign-leases-release", campaign, "cem"))
    assert "Reassign to" in words(form)
    ada.post(of("campaign-leases-release", campaign, "cem"), {"to": "fay"})
    assert held(campaign=campaign, username="cem") == []
    answer = ada.post(of("campaign-leases-release", campaign, "fay"), follow=True)
    assert "released" in words(answer)
    back = of("campaign-skip-give-back", campaign, skipped.skip.public_id)
    assert "No skipped queries" in words(ada.post(back, follow=True))
    assert ada.post(back).status_code == 404
    assert ada.get(of("campaign-leases-release", campaign, "nobody")).status_code == 404
    missing = of("campaign-skip-give-back", campaign, uuid.uuid4())
    assert ada.post(missing).status_code == 404


def test_a_small_campaign_is_counted_at_every_look(world: World, campaign: Campaign) -> None:
    access = make_access(collection=world.collection)
    before = get_dashboard(access=access, campaign=campaign, now=NOW)
    label(pair=campaign.pairs.select_related("campaign")[0], username="ben", grade=1)
    after = get_dashboard(access=access, campaign=campaign, now=NOW)
    assert (before.counts.labels, after.counts.labels) == (0, 1)


def test_a_large_campaign_is_not_counted_anew_at_every_look(
    world: World, campaign: Campaign, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_counts, "LARGE", 30)
    monkeypatch.setattr(cached_counts, "TIMES", 100_000)
    access = make_access(collection=world.collection)
    pairs = campaign.pairs.select_related("campaign")
    for username, grade in (("ben", 0), ("cem", 3)):
        label(pair=pairs[0], username=username, grade=grade)

    def look() -> tuple[Dashboard, MonitorPage, list[Standing]]:
        page = get_monitor_page(access=access, campaign=campaign, now=NOW)
        dashboard = get_dashboard(access=access, campaign=campaign, now=NOW)
        return dashboard, page, list(list_standings(access))

    dashboard, page, standings = look()
    assert (dashboard.counts.labels, dashboard.disagreements) == (2, 1)
    assert dashboard.widest == (pairs[0].pk,)
    assert page.workers[0].last_seen_at == NOW
    label(pair=pairs[1], username="ben", grade=1)
    again, page_again, standings_again = look()
    assert again == dashboard
    assert (page_again.pace, page_again.workers) == (page.pace, page.workers)
    fresh = get_monitor_page(access=access, campaign=campaign, now=NOW, is_fresh=True)
    assert fresh.pace.last_hour == page.pace.last_hour + 1
    # and what was counted then is shown to those who look afterwards
    assert get_monitor_page(access=access, campaign=campaign, now=NOW).pace == fresh.pace
    assert standings_again == standings
    assert ada.get(of("campaign", campaign)).status_code == 200
    assert ada.get(of("campaign-live", campaign)).status_code == 200


def labelled(world: World, campaign: Campaign) -> None:
    pair = campaign.pairs.select_related("campaign")[1]
    label(pair=pair, username="ben", grade=1)


def taken_back(world: World, campaign: Campaign) -> None:
    pair = campaign.pairs.select_related("campaign")[0]
    label(pair=pair, username="ben", outcome="retracted")


def said_otherwise(world: World, campaign: Campaign) -> None:
    pair = campaign.pairs.select_related("campaign")[0]
    label(pair=pair, username="cem", grade=3)
    consolidate(list_id=campaign.list_id, at=NOW)


def decided(world: World, campaign: Campaign) -> None:
    access, pair = make_access(collection=world.collection), campaign.pairs.all()[0]
    adjudicate(access=access, pair=pair, grade=2, reason="because", at=NOW)


def made_gold(world: World, campaign: Campaign) -> None:
    access, pair = make_access(collection=world.collection), campaign.pairs.all()[2]
    mark_gold(access=access, pair=pair, low=1, high=1, reason="Plain.", at=NOW)


def sent_away(world: World, campaign: Campaign) -> None:
    access = make_access(collection=world.collection)
    remove_annotator(access=access, campaign=campaign, person=user("fay"), at=NOW)


def widened(world: World, campaign: Campaign) -> None:
    access = make_access(collection=world.collection)
    change_campaign(access=access, campaign=campaign, at=NOW, overlap=3)


@pytest.mark.parametrize(
    "change", [labelled, taken_back, said_otherwise, decided, made_gold, sent_away, widened]
)
def test_a_large_campaign_is_counted_anew_once_its_counts_are_out_of_date(
    world: World,
    campaign: Campaign,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[World, Campaign], None],
) -> None:
    access = make_access(collection=world.collection)
    label(pair=campaign.pairs.select_related("campaign")[0], username="ben", grade=1)
    monkeypatch.setattr(cached_counts, "LARGE", 30)

    def look() -> Dashboard:
        fresh = get_campaign(access=access, campaign_id=campaign.public_id)
        return get_dashboard(access=access, campaign=fresh, now=NOW)

    monkeypatch.setattr(cached_counts, "TIMES", 100_000)
    first = look()
    change(world, campaign)
    assert look().counts == first.counts
    cache.clear()  # as once the time is over
    after = look()
    assert after != first
    monkeypatch.setattr(cached_counts, "LARGE", 1_000)
    assert after == look()


def test_an_events_page_lets_leads_of_its_campaign_have_the_newest_counts(
    world: World,
    campaign: Campaign,
    monkeypatch: pytest.MonkeyPatch,
    settings: object,
) -> None:
    settings.LIVE = True  # type: ignore[attr-defined]
    monkeypatch.setattr(cached_counts, "LARGE", 30)
    monkeypatch.setattr(cached_counts, "TIMES", 100_000)
    cache.clear()
    announced: list[Part] = []
    monkeypatch.setattr(streams, "announce_part", announced.append)
    make_user(username="root", is_superuser=True)

    def ask(name: str, event: str, **more: str) -> tuple[str, str]:
        client = Client()
        client.force_login(User.objects.get(username=name))
        headers = {"HX-Request": "true", "X-Live-Event": event} | more
        answer = client.get(of("campaign-live", campaign), headers=headers)
        ticket = read_ticket(answer.headers.get("X-Live-Ticket", ""))
        return answer.text, ticket.key if ticket else ""

    ask("ada", "0")
    ask("ada", "an_event", **{"HX-Request": "false"})
    assert ask("ben", "an_event")[1] == ask("dora", "an_event")[1] == ""
    assert not announced
    label(pair=campaign.pairs.select_related("campaign")[0], username="ben", grade=1)
    html, key = ask("ada", "an_event")
    (part,) = announced
    assert (part.key, part.event) == (key, "an_event")
    assert zlib.decompress(base64.b64decode(part.body)).decode() == html
    assert ask("root", "an_event")[1] not in ("", key)  # an admin may release nothing
    assert announced[1].key != key


def test_no_count_is_older_than_it_may_be(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = make_access(collection=world.collection)
    for name, value in (("LARGE", 30), ("TIMES", 100_000), ("LONGEST", 0)):
        monkeypatch.setattr(cached_counts, name, value)
    first = get_dashboard(access=access, campaign=campaign, now=NOW)
    label(pair=campaign.pairs.select_related("campaign")[0], username="ben", grade=1)
    second = get_dashboard(access=access, campaign=campaign, now=NOW)
    assert (first.counts.labels, second.counts.labels) == (0, 1)


def test_whoever_skipped_a_query_asks_for_it_again_on_the_campaigns_page(
    campaign: Campaign,
) -> None:
    seat = lease(campaign=campaign, username="ben")[0]
    skipped = skip_query(
        context=context_of(campaign, "ben"), assignment=seat.public_id, reason="language", at=NOW
    )
    ben = Client()
    ben.force_login(user("ben"))
    page = ben.get(of("campaign", campaign))
    assert seat.pair.query.text in words(page)
    assert "I don’t read this language" in words(page)
    url = reverse("skip-return", args=[campaign.public_id, skipped.skip.public_id])
    answer = ben.post(url, follow=True)
    assert "Query unskipped." in words(answer)
    assert "Skipped queries" not in words(answer)
    assert ben.post(url).status_code == 404
