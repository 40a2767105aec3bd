"""The outbox's channel for webhooks: one signed POST, and when to try again."""

import random
import time
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from judgments.messages.channels import Channel, Postponed, Undeliverable
from judgments.messages.services import list_leads, notify
from judgments.models import OutboxMessage, User, WebhookAttempt, WebhookDelivery, WebhookEndpoint
from judgments.outgoing.client import Answer, Client, Limits, Outcome, OutgoingError
from judgments.outgoing.retrying import retry_after
from judgments.outgoing.rules import find_origin
from judgments.secrets.keys import SecretRefused
from judgments.secrets.services import read_secret
from judgments.webhooks.queries import CHANNEL as NAME
from judgments.webhooks.services import mark_paused
from judgments.webhooks.signing import signed_headers

# the standard's: at once, then after these pauses
BACK_OFF: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
JITTER: Final = 0.1  # of a pause, at most, so that what failed together comes again apart
LONGEST_PAUSE: Final = timedelta(days=2)  # that a Retry-After is obeyed for
LIMITS: Final = Limits(seconds=20.0, size=64 * 1024, connections=1)
GONE: Final = 410


def is_on() -> bool:
    """Whether an administrator allows any requests."""
    return bool(settings.OUTGOING)


def send(message: OutboxMessage) -> None:
    """POST one event. Raises Postponed after a failure, and Undeliverable where none follows."""
    delivery = WebhookDelivery.objects.select_related(
        "endpoint__secret", "endpoint__old_secret", "endpoint__collection"
    ).get(pk=message.payload["delivery"])
    endpoint, now = delivery.endpoint, timezone.now()
    if endpoint.deleted_at is not None or endpoint.paused_at is not None:
        raise Undeliverable("The webhook was paused or deleted.")
    began = time.monotonic()
    try:
        answer = _post(endpoint, delivery, now)
    except SecretRefused as refusal:
        raise Undeliverable(refusal.message) from refusal
    except OutgoingError as error:
        status = error.answer.status if error.answer else None
        problem = error.message if status is None else f"Status {status}"
        _log(delivery, now, status, time.monotonic() - began, problem)
        _give_up_or_wait(message, endpoint, error, problem, now)
    else:
        _log(delivery, now, answer.status, answer.seconds, "")


def _post(endpoint: WebhookEndpoint, delivery: WebhookDelivery, now: datetime) -> Answer:
    body = delivery.body.encode()
    with Client(limits=LIMITS) as client:
        headers = signed_headers(
            _secrets(endpoint, now), message_id=delivery.message_id, at=now, body=body
        )
        return client.request(
            "POST",
            endpoint.url,
            headers=(("Content-Type", "application/json"), *headers),
            body=body,
        )


def _secrets(endpoint: WebhookEndpoint, now: datetime) -> list[str]:
    """Those that sign, the newest first. Raises SecretRefused, and OutgoingError where the server
    is not allowed any more.
    """
    try:
        origin = str(find_origin(endpoint.url, settings.OUTGOING)[0])
    except ValueError as error:
        raise OutgoingError(Outcome.REFUSED, str(error)) from error
    stored = [endpoint.secret]
    ends_at = endpoint.old_secret_ends_at
    if endpoint.old_secret is not None and ends_at is not None and ends_at > now:
        stored.append(endpoint.old_secret)
    return [read_secret(secret=secret, origin=origin) for secret in stored]


def _give_up_or_wait(
    message: OutboxMessage,
    endpoint: WebhookEndpoint,
    error: OutgoingError,
    problem: str,
    now: datetime,
) -> None:
    """Raises Undeliverable or Postponed."""
    answer = error.answer
    if answer is not None and answer.status == GONE:
        _disable(endpoint, now)
        raise Undeliverable("The receiver answered 410 Gone.")
    if error.outcome is Outcome.REFUSED:
        raise Undeliverable(error.message)
    place = min(message.attempts, len(BACK_OFF)) - 1
    pause = BACK_OFF[place].total_seconds() * (1 + JITTER * random.random())  # noqa: S311
    asked = None if answer is None else retry_after(answer.headers, now=now)
    if asked is not None:
        pause = max(pause, min(asked, LONGEST_PAUSE.total_seconds()))
    raise Postponed(problem, pause)


def _disable(endpoint: WebhookEndpoint, now: datetime) -> None:
    """Send nothing more, and notify leads, or administrators."""
    reason = "The receiver answered 410 Gone: it wants no more events."
    if not mark_paused(endpoint=endpoint, reason=reason, at=now):
        return
    collection, public_id = endpoint.collection, str(endpoint.public_id)
    if collection is None:
        people = list(User.objects.filter(is_active=True, is_superuser=True))
        page: tuple[str, *tuple[str, ...]] = ("site-webhook", public_id)
    else:
        people, page = list_leads(collection), ("webhook", collection.slug, public_id)
    notify(
        kind="webhook",
        key=f"webhook:{endpoint.pk}:{now.isoformat()}",
        people=people,
        payload={"url": endpoint.url},
        page=page,
        collection=collection,
        at=now,
    )


def _log(
    delivery: WebhookDelivery, at: datetime, status: int | None, seconds: float, problem: str
) -> None:
    WebhookAttempt.objects.create(
        delivery=delivery, at=at, status=status, seconds=seconds, problem=problem[:200]
    )


CHANNEL: Final = Channel(name=NAME, is_on=is_on, send=send, back_off=BACK_OFF)
