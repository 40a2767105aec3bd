"""One's own sessions: listed, ended, and how long they last."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judgments.accounts.own_sessions import browser_of
from judgments.accounts.sessions import RENEWED, SEEN, STARTED
from judgments.models import AuditEntry, Session, User
from tests.builders import World, make_world

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0"
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/156.0 Safari/537.36 Edg/156.0"
)
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1"
)
PASSWORD = "a long enough password"


@pytest.fixture
def world() -> World:
    world = make_world()
    world.ben.set_password(PASSWORD)
    world.ben.save(update_fields=["password"])
    return world


def browser(agent: str = FIREFOX, username: str = "ben") -> Client:
    """A browser in which Ben has signed in."""
    client = Client(headers={"User-Agent": agent})
    client.post(reverse("login"), {"username": username, "password": PASSWORD})
    return client


def rows_of(client: Client) -> Any:
    return client.get(reverse("sessions")).context["page"]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (EDGE, "Edge on Windows"),
        (SAFARI, "Safari on iPhone"),
        ("curl/8.5.0", "Unknown browser"),
        ("", "Unknown browser"),
    ],
)
def test_a_browser_is_named_by_what_it_calls_itself(agent: str, words: str) -> None:
    assert browser_of(agent) == words


def test_somebody_sees_where_they_are_signed_in(world: World) -> None:
    browser(EDGE)
    here = browser(FIREFOX)
    rows = rows_of(here)
    assert {(row.browser, row.is_current) for row in rows} == {
        ("Firefox on Linux", True),
        ("Edge on Windows", False),
    }
    assert not {row.key for row in rows} & set(Session.objects.values_list("pk", flat=True))


def test_one_session_is_ended_and_the_others_go_on(world: World) -> None:
    lost, here = browser(EDGE), browser(FIREFOX)
    (other,) = (row.key for row in rows_of(here) if not row.is_current)
    assert here.post(reverse("session-end", args=[other])).status_code == 302
    assert lost.get(reverse("tokens")).status_code == 302
    assert here.get(reverse("tokens")).status_code == 200
    assert AuditEntry.objects.get(action="sessions.ended").after == {"sessions": 1}


def test_nobody_ends_a_session_of_somebody_else(world: World) -> None:
    (own,) = (row.key for row in rows_of(browser()))
    eve = Client()
    eve.force_login(world.eve)
    assert eve.post(reverse("session-end", args=[own])).status_code == 404
    assert Session.objects.filter(user=world.ben).count() == 1


def test_all_other_browsers_are_signed_out_together(world: World) -> None:
    first, second, here = browser(), browser(), browser()
    here.post(reverse("sessions-end"))
    assert [client.get(reverse("tokens")).status_code for client in (first, second, here)] == [
        302,
        302,
        200,
    ]


def test_a_session_ends_when_it_is_not_used(world: World, settings: Any) -> None:
    settings.SESSION_COOKIE_AGE = 3600
    client = browser()
    row = Session.objects.get(user=world.ben)
    assert row.started_at is not None
    left = row.expire_date - row.started_at
    assert timedelta(minutes=59) < left <= timedelta(hours=1, minutes=1)
    Session.objects.update(expire_date=row.started_at)
    assert client.get(reverse("tokens")).status_code == 302


def test_using_a_session_prolongs_it_but_not_beyond_its_lifetime(
    world: World, settings: Any
) -> None:
    settings.SESSION_COOKIE_AGE, settings.SESSION_LIFETIME = 3600, 5400
    client = browser()

    def used_after(minutes: int) -> Session:
        """Ben's session, used again as if it had begun so long ago."""
        store = client.session
        store[STARTED], store[SEEN] = int(time.time()) - minutes * 60, 0
        store.save()
        client.get(reverse("tokens"))
        return Session.objects.get(user=world.ben)

    def minutes_left(row: Session) -> float:
        return (row.expire_date.timestamp() - time.time()) / 60

    assert minutes_left(used_after(20)) == pytest.approx(60, abs=1)
    assert minutes_left(used_after(60)) == pytest.approx(30, abs=1)


def test_a_use_is_written_down_every_few_minutes_only(
    world: World, django_assert_num_queries: Any
) -> None:
    client = browser()
    client.get(reverse("tokens"))
    with django_assert_num_queries(4) as often:
        client.get(reverse("tokens"))
    assert not [one for one in often.captured_queries if one["sql"].startswith("UPDATE")]
    store = client.session
    store[SEEN] = int(time.time()) - RENEWED - 1
    store.save()
    client.get(reverse("tokens"))
    assert time.time() - client.session[SEEN] < 60


def test_a_request_that_outlives_its_session_is_answered(world: World) -> None:
    client = browser()
    store = client.session
    store[SEEN] = 0
    store.save()
    loaded = type(store)(store.session_key)
    assert loaded["_auth_user_id"] == str(world.ben.pk)
    Session.objects.all().delete()
    loaded.save()  # nothing to renew: the next request is asked to sign in
    assert not Session.objects.exists()
    assert client.get(reverse("tokens")).status_code == 302


def test_an_administrators_end_of_sessions_reaches_every_browser(world: World) -> None:
    eve = User.objects.get(username="eve")
    eve.is_superuser = True
    eve.save(update_fields=["is_superuser"])
    first, second = browser(), browser(EDGE)
    admin = Client()
    admin.force_login(eve)
    admin.post(reverse("account-act", args=["ben", "end-sessions"]))
    assert [client.get(reverse("tokens")).status_code for client in (first, second)] == [302, 302]
