"""What is older than an administrator wants is deleted once an hour, and nothing newer."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from axes.models import AccessAttempt

from config.sweep import list_due
from judgments.accounts.retention import EVERY, TASK, Cleared, clear_old
from judgments.audit.services import record
from judgments.models import (
    AuditEntry,
    OutboxMessage,
    Secret,
    SideText,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
)
from judgments.tasks import clear_old_records
from judgments.webhooks import clearing
from judgments.webhooks.queries import CHANNEL
from tests.builders import NOW, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def days(settings: Any) -> None:
    settings.KEEP_SIGN_INS, settings.KEEP_DELIVERIES = 30, 10


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def sign_in(at: datetime) -> AuditEntry:
    after = {"address": "192.0.2.7"}
    said: dict[str, Any] = {"collection": None, "actor": make_user(username="ben"), "after": after}
    return record(at=at, action="sign_in.succeeded", subject="ben", **said)


def deliver(at: datetime, *, is_waiting: bool = False) -> WebhookDelivery:
    secret = Secret.objects.create(origin="https://a.example", ciphertext="x", created_at=at)
    endpoint = WebhookEndpoint.objects.create(url="u", events=[], secret=secret, created_at=at)
    delivery = WebhookDelivery.objects.create(
        endpoint=endpoint, key=uuid4().hex, event="webhook.test", body="{}", created_at=at
    )
    WebhookAttempt.objects.create(delivery=delivery, at=at, seconds=0.1)
    OutboxMessage.objects.create(
        channel=CHANNEL,
        kind="webhook.test",
        key=delivery.message_key,
        state="waiting" if is_waiting else "sent",
        ended_at=None if is_waiting else at,
        created_at=at,
        due_at=at,
    )
    return delivery


def test_old_sign_ins_lose_address_and_browser_and_stay_in_the_log() -> None:
    make_user(username="ben")
    old, new = sign_in(days_ago(31)), sign_in(days_ago(29))
    other = record(collection=None, actor=None, at=days_ago(31), action="a.test", subject="x")
    AccessAttempt.objects.create(username="ben", ip_address="192.0.2.7", failures_since_start=1)
    AccessAttempt.objects.update(attempt_time=days_ago(31))
    AccessAttempt.objects.create(username="cem", ip_address="192.0.2.7", failures_since_start=1)
    assert clear_old(at=NOW) == Cleared(deliveries=0, failures=1, sign_ins=1, uploads=0)
    assert AuditEntry.objects.get(pk=old.pk).after is None
    assert AuditEntry.objects.get(pk=new.pk).after == {"address": "192.0.2.7"}
    assert SideText.objects.filter(pk=other.detail_id).exists()
    assert list(AccessAttempt.objects.values_list("username", flat=True)) == ["cem"]


def test_old_deliveries_go_with_their_attempts_and_messages_unless_they_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clearing, "PORTION", 2)  # more than one of them
    for _ in range(4):
        deliver(days_ago(11))
    waiting, new = deliver(days_ago(11), is_waiting=True), deliver(days_ago(9))
    done = clear_old(at=NOW)
    assert done is not None
    assert done.deliveries == 4
    assert set(WebhookDelivery.objects.all()) == {waiting, new}
    assert set(WebhookAttempt.objects.values_list("delivery", flat=True)) == {waiting.pk, new.pk}
    assert OutboxMessage.objects.count() == 2


def test_it_is_due_once_an_hour_and_one_worker_does_it() -> None:
    assert (TASK, ()) in list_due()
    clear_old_records()
    assert (TASK, ()) not in list_due()
    assert clear_old(at=NOW + timedelta(days=3650)) is not None
    assert clear_old(at=NOW + timedelta(days=3650) + EVERY / 2) is None
