"""Managing webhooks, and queueing the events that they get.

Call `publish_event` in the transaction of the event: then an event that happened is sent, and one
that did not is not.
"""

import json
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction

from judgments.audit import services as audit
from judgments.messages.services import queue_message, withdraw_messages
from judgments.models import Collection, OutboxMessage, Secret, WebhookDelivery, WebhookEndpoint
from judgments.outgoing.rules import find_origin
from judgments.secrets.services import erase_secret, store_secret
from judgments.webhooks.events import EVENTS, TEST
from judgments.webhooks.queries import CHANNEL, Scope, list_receivers
from judgments.webhooks.signing import new_secret
from touchstone.errors import DomainError

MOST: Final = 20  # endpoints of a collection, and of the installation
OVERLAP: Final = timedelta(hours=24)  # that two secrets sign after a rotation


class WebhookRefused(DomainError):
    """The webhook can't be made or changed like this. field: where; empty for the whole."""

    def __init__(self, code: str, message: str, field: str = "") -> None:
        super().__init__(code, message)
        self.field = field


def publish_event(
    *, event: str, key: str, collection: Collection, data: Mapping[str, Any], at: datetime
) -> None:
    """Queue an event for every endpoint that wants it; once, however often.

    event: one of EVENTS. key: names the event. data: plain values, without names of people.
    """
    if event not in EVENTS:
        raise ValueError(f"unknown event {event!r}")
    for endpoint in list_receivers(collection=collection, event=event):
        _queue(endpoint, event, key, {"collection": collection.slug, **data}, at)


def _queue(
    endpoint: WebhookEndpoint, event: str, key: str, data: Mapping[str, Any], at: datetime
) -> None:
    moment = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    body = json.dumps({"type": event, "timestamp": moment, "data": data}, ensure_ascii=False)
    with transaction.atomic():
        delivery, is_new = WebhookDelivery.objects.get_or_create(
            endpoint=endpoint,
            key=key,
            defaults={"event": event, "body": body, "created_at": at},
        )
        if is_new:
            _send(delivery, at)


def _send(delivery: WebhookDelivery, at: datetime) -> None:
    queue_message(
        channel=CHANNEL,
        kind=delivery.event,
        key=delivery.message_key,
        address="",
        payload={"delivery": delivery.pk},
        at=at,
    )


def create_endpoint(
    *, scope: Scope, url: str, events: Iterable[str], at: datetime
) -> tuple[WebhookEndpoint, str]:
    """Send these events to a URL from now on; the endpoint, and its secret, which is not shown
    again. Raises WebhookRefused, and SecretRefused where the server can't encrypt.
    """
    chosen, origin = _check_events(events), _origin_of(url)
    if WebhookEndpoint.objects.filter(collection=scope.collection, deleted_at=None).count() >= MOST:
        raise WebhookRefused("too_many", f"At most {MOST} webhooks. Delete one first.")
    with transaction.atomic():
        stored, value = _new_secret(scope, origin, at)
        endpoint = WebhookEndpoint.objects.create(
            collection=scope.collection,
            url=url,
            events=chosen,
            secret=stored,
            created_at=at,
            created_by=scope.user,
        )
        _audit(scope, "webhook.created", endpoint, at, after={"events": chosen})
    return endpoint, value


def change_endpoint(
    *, scope: Scope, endpoint: WebhookEndpoint, url: str, events: Iterable[str], at: datetime
) -> None:
    """Another URL on the same server, or other events. Raises WebhookRefused."""
    chosen, origin = _check_events(events), _origin_of(url)
    if origin != endpoint.secret.origin:
        message = f"The secret is for {endpoint.secret.origin}. Create another webhook."
        raise WebhookRefused("other_server", message, "url")
    before = {"url": endpoint.url, "events": endpoint.events}
    after = {"url": url, "events": chosen}
    if before == after:
        return
    with transaction.atomic():
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**after)
        _audit(scope, "webhook.changed", endpoint, at, before=before, after=after)
    endpoint.url, endpoint.events = url, chosen


def rotate_secret(*, scope: Scope, endpoint: WebhookEndpoint, at: datetime) -> str:
    """A new secret; the one before signs as well for a day, one before that no more."""
    with transaction.atomic():
        stored, value = _new_secret(scope, endpoint.secret.origin, at)
        if endpoint.old_secret is not None:
            erase_secret(secret=endpoint.old_secret)
        endpoint.secret, endpoint.old_secret = stored, endpoint.secret
        endpoint.old_secret_ends_at = at + OVERLAP
        endpoint.save(update_fields=["secret", "old_secret", "old_secret_ends_at"])
        _audit(scope, "webhook.rotated", endpoint, at)
    return value


def pause_endpoint(*, scope: Scope, endpoint: WebhookEndpoint, at: datetime) -> None:
    """Send nothing until it is resumed; what waits is not sent."""
    with transaction.atomic():
        if mark_paused(endpoint=endpoint, reason="", at=at):
            _audit(scope, "webhook.paused", endpoint, at)


def mark_paused(*, endpoint: WebhookEndpoint, reason: str, at: datetime) -> bool:
    """Write down that nothing more is sent; False where that is so already."""
    active_qs = WebhookEndpoint.objects.filter(pk=endpoint.pk, paused_at=None)
    return bool(active_qs.update(paused_at=at, pause_reason=reason[:200]))


def resume_endpoint(*, scope: Scope, endpoint: WebhookEndpoint, at: datetime) -> None:
    """Send events again; those that happened meanwhile are not sent."""
    with transaction.atomic():
        paused_qs = WebhookEndpoint.objects.filter(pk=endpoint.pk).exclude(paused_at=None)
        if paused_qs.update(paused_at=None, pause_reason=""):
            _audit(scope, "webhook.resumed", endpoint, at)


def delete_endpoint(*, scope: Scope, endpoint: WebhookEndpoint, at: datetime) -> None:
    """Send nothing more, and erase its secrets; that there was one stays in the audit log."""
    with transaction.atomic():
        left_qs = WebhookEndpoint.objects.filter(pk=endpoint.pk, deleted_at=None)
        if not left_qs.update(deleted_at=at):
            return
        for secret in (endpoint.secret, endpoint.old_secret):
            if secret is not None:
                erase_secret(secret=secret)
        _audit(scope, "webhook.deleted", endpoint, at)


def send_test(*, scope: Scope, endpoint: WebhookEndpoint, at: datetime) -> None:
    """Send one event that says nothing but that it is a test."""
    _check_active(endpoint)
    slug = None if scope.collection is None else scope.collection.slug
    _queue(endpoint, TEST, f"test:{secrets.token_hex(8)}", {"collection": slug}, at)


def replay(*, endpoint: WebhookEndpoint, delivery: WebhookDelivery, at: datetime) -> None:
    """Send an event again, with the same id and body; one that still waits is sent now."""
    _check_active(endpoint)
    with transaction.atomic():
        waiting_qs = OutboxMessage.objects.filter(key=delivery.message_key, channel=CHANNEL)
        if waiting_qs.filter(state=OutboxMessage.State.WAITING).exists():
            withdraw_messages(key=delivery.message_key, at=at)
        claim = WebhookDelivery.objects.filter(pk=delivery.pk, replays=delivery.replays)
        if claim.update(replays=delivery.replays + 1):
            delivery.replays += 1
            _send(delivery, at)


def _check_active(endpoint: WebhookEndpoint) -> None:
    if endpoint.paused_at is not None:
        raise WebhookRefused("paused", "This webhook is paused. Resume it first.")


def _check_events(events: Iterable[str]) -> list[str]:
    chosen = set(events)
    if not chosen or not chosen <= EVENTS.keys():
        raise WebhookRefused("events_invalid", "Choose at least one of the events.", "events")
    return [name for name in EVENTS if name in chosen]


def _origin_of(url: str) -> str:
    if not settings.OUTGOING:
        message = (
            "This server makes no requests to other servers. An administrator allows yours by "
            "listing it in TOUCHSTONE_OUTGOING."
        )
        raise WebhookRefused("outgoing_off", message, "url")
    try:
        return str(find_origin(url, settings.OUTGOING)[0])
    except ValueError as error:
        message = f"{str(error)[:1].upper()}{str(error)[1:]}. Ask an administrator to allow it."
        raise WebhookRefused("url_not_allowed", message, "url") from error


def _new_secret(scope: Scope, origin: str, at: datetime) -> tuple[Secret, str]:
    value = new_secret()
    stored = store_secret(
        collection=scope.collection, value=value, origin=origin, by=scope.user, at=at
    )
    return stored, value


def _audit(
    scope: Scope, action: str, endpoint: WebhookEndpoint, at: datetime, **values: Any
) -> None:
    audit.record(
        collection=scope.collection,
        actor=scope.user,
        at=at,
        action=action,
        subject=endpoint.url,
        **values,
    )
