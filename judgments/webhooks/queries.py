"""Reading webhooks: where events are sent, and the log of what was sent."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.core.paginator import Page
from django.db.models import Q, QuerySet

from judgments.models import (
    Collection,
    OutboxMessage,
    User,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
)
from judgments.pages.paging import Part, paginate, part_of
from judgments.permissions import (
    Access,
    NotFound,
    Viewer,
    check_administers,
    check_may_lead,
    get_access,
)
from judgments.webhooks.events import EVENTS, TEST

CHANNEL: Final = "webhook"
# the outbox's states in words
STATES: Final = {
    "waiting": "waiting",
    "sent": "delivered",
    "given_up": "failed",
    "dropped": "not sent",
}


@dataclass(frozen=True)
class Scope:
    """Whose webhooks: a collection's, for its leads, or the installation's, for administrators."""

    user: User
    access: Access | None

    @property
    def collection(self) -> Collection | None:
        return None if self.access is None else self.access.collection


@dataclass(frozen=True)
class EndpointRow:
    """A URL that gets events. paused_at: nothing is sent since. two_secrets_until: how long the
    secret before the last rotation signs as well.
    """

    id: UUID
    url: str
    events: tuple[str, ...]
    created_at: datetime
    paused_at: datetime | None
    pause_reason: str
    two_secrets_until: datetime | None


@dataclass(frozen=True)
class AttemptRow:
    """One request. status: None where there was no answer."""

    at: datetime
    status: int | None
    seconds: float
    problem: str


@dataclass(frozen=True)
class DeliveryRow:
    """An event that was sent, or will be. state: waiting, delivered, failed, or not sent.

    next_at: when it is sent next, while it waits. problem: why it was not accepted last.
    """

    id: UUID
    event: str
    created_at: datetime
    state: str
    next_at: datetime | None
    problem: str
    attempts: tuple[AttemptRow, ...]
    body: str


@dataclass(frozen=True)
class WebhooksPage:
    """The endpoints of a scope. is_off: the server makes no requests at all."""

    rows: tuple[EndpointRow, ...]
    events: tuple[tuple[str, str], ...]
    is_off: bool


@dataclass(frozen=True)
class WebhookPage:
    """An endpoint and its deliveries, the newest first."""

    row: EndpointRow
    deliveries: "Page[DeliveryRow]"
    is_off: bool


def get_scope(*, viewer: Viewer, slug: str | None) -> Scope:
    """Whose webhooks a viewer may manage: of a collection that they lead, or, without a slug, of
    the installation. Raises NotFound, and Archived.
    """
    if slug is not None:
        access = get_access(viewer=viewer, slug=slug)
        check_may_lead(access)
        return Scope(access.user, access)
    if not isinstance(viewer, User):
        raise NotFound
    check_administers(viewer)
    return Scope(viewer, None)


def get_webhooks_page(*, scope: Scope, now: datetime) -> WebhooksPage:
    """All endpoints of a scope."""
    return WebhooksPage(
        rows=tuple(_row(endpoint, now) for endpoint in _list(scope)),
        events=tuple(EVENTS.items()),
        is_off=not settings.OUTGOING,
    )


def list_endpoint_rows(*, scope: Scope, now: datetime, after: int, limit: int) -> Part[EndpointRow]:
    """The endpoints of a scope, one part after the other."""
    return part_of(_list(scope), after, limit, lambda rows: [_row(one, now) for one in rows])


def get_endpoint(*, scope: Scope, public_id: UUID) -> WebhookEndpoint:
    """An endpoint of a scope. Raises NotFound."""
    result = _list(scope).select_related("secret", "old_secret").filter(public_id=public_id).first()
    if result is None:
        raise NotFound("webhook")
    return result


def get_endpoint_row(*, endpoint: WebhookEndpoint, now: datetime) -> EndpointRow:
    """What is shown of an endpoint; the caller has checked who asks."""
    return _row(endpoint, now)


def get_webhook_page(*, endpoint: WebhookEndpoint, page: str, now: datetime) -> WebhookPage:
    """An endpoint with its log; the caller has checked who asks."""
    deliveries = endpoint.deliveries.order_by("-pk")
    return WebhookPage(
        row=_row(endpoint, now),
        deliveries=paginate(deliveries, page=page, show=_deliveries),
        is_off=not settings.OUTGOING,
    )


def list_deliveries(*, endpoint: WebhookEndpoint, after: int, limit: int) -> Part[DeliveryRow]:
    """The log of an endpoint, oldest first, one part after the other."""
    return part_of(endpoint.deliveries.all(), after, limit, _deliveries)


def get_delivery(*, endpoint: WebhookEndpoint, public_id: UUID) -> WebhookDelivery:
    """A delivery of an endpoint. Raises NotFound."""
    result = endpoint.deliveries.filter(public_id=public_id).first()
    if result is None:
        raise NotFound("delivery")
    result.endpoint = endpoint
    return result


def list_receivers(*, collection: Collection | None, event: str) -> list[WebhookEndpoint]:
    """The endpoints that get an event of a collection."""
    wanted = Q(collection=None) | Q(collection=collection)
    active_qs = WebhookEndpoint.objects.filter(wanted, paused_at=None, deleted_at=None)
    return [one for one in active_qs if event == TEST or event in one.events]


def _list(scope: Scope) -> QuerySet[WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(collection=scope.collection, deleted_at=None)


def _row(endpoint: WebhookEndpoint, now: datetime) -> EndpointRow:
    ends_at = endpoint.old_secret_ends_at
    return EndpointRow(
        id=endpoint.public_id,
        url=endpoint.url,
        events=tuple(endpoint.events),
        created_at=endpoint.created_at,
        paused_at=endpoint.paused_at,
        pause_reason=endpoint.pause_reason,
        two_secrets_until=ends_at if ends_at is not None and ends_at > now else None,
    )


def _deliveries(deliveries: Iterable[WebhookDelivery]) -> list[DeliveryRow]:
    rows = list(deliveries)
    messages = {
        message.key: message
        for message in OutboxMessage.objects.filter(
            channel=CHANNEL, key__in=[one.message_key for one in rows]
        )
    }
    attempts: dict[int, list[AttemptRow]] = {one.pk: [] for one in rows}
    for one in WebhookAttempt.objects.filter(delivery__in=rows):
        attempts[one.delivery_id].append(AttemptRow(one.at, one.status, one.seconds, one.problem))
    return [_delivery(one, messages[one.message_key], attempts[one.pk]) for one in rows]


def _delivery(
    delivery: WebhookDelivery, message: OutboxMessage, attempts: list[AttemptRow]
) -> DeliveryRow:
    is_waiting = message.state == OutboxMessage.State.WAITING
    return DeliveryRow(
        id=delivery.public_id,
        event=delivery.event,
        created_at=delivery.created_at,
        state=STATES[message.state],
        next_at=message.due_at if is_waiting else None,
        problem=message.problem,
        attempts=tuple(attempts),
        body=delivery.body,
    )
