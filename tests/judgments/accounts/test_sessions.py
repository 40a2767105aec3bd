"""Expired sessions are found by the sweep and cleared in portions."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from config.sweep import list_due
from judgments.accounts import expired_sessions as sessions
from judgments.accounts.expired_sessions import clear_sessions
from judgments.models import Session
from judgments.tasks import clear_expired_sessions

pytestmark = pytest.mark.django_db
WAKE = ("judgments.clear_sessions", ())


def make_sessions(*, expired: int, live: int) -> None:
    now = timezone.now()
    ends = [now - timedelta(minutes=1)] * expired + [now + timedelta(days=1)] * live
    Session.objects.bulk_create(
        Session(session_key=f"key-{number}", session_data="", expire_date=end)
        for number, end in enumerate(ends)
    )


def test_sessions_that_live_are_left_alone() -> None:
    make_sessions(expired=0, live=2)
    assert WAKE not in list_due()
    assert clear_sessions(at=timezone.now()) == 0
    assert Session.objects.count() == 2


def test_expired_sessions_are_due_and_the_task_clears_them() -> None:
    make_sessions(expired=3, live=1)
    assert WAKE in list_due()
    clear_expired_sessions()
    clear_expired_sessions()
    assert Session.objects.count() == 1
    assert WAKE not in list_due()


def test_one_wake_up_clears_so_many_portions_and_leaves_the_rest_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "PORTION", 3)
    monkeypatch.setattr(sessions, "PORTIONS", 2)
    make_sessions(expired=8, live=1)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert clear_sessions(at=timezone.now()) == 6
    assert sum(one["sql"].startswith("DELETE") for one in asked) == 2
    assert WAKE in list_due()
    assert clear_sessions(at=timezone.now()) == 2
    assert Session.objects.count() == 1
