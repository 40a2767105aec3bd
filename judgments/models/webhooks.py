"""Webhooks: where events are sent, what was sent, and what was answered."""

import uuid

from django.conf import settings
from django.db import models

from judgments.models.collections import Collection
from judgments.models.secrets import Secret


class WebhookEndpoint(models.Model):
    """A URL that gets events of a collection, or of all of them (collection None).

    events: the types of event that it gets, as judgments/webhooks/events.py names them.
    secret: signs. old_secret: signs as well until old_secret_ends_at, after a rotation.
    paused_at, pause_reason: nothing is sent since; the reason is the product's own sentence, empty
    where a person paused. deleted_at: gone for good; its deliveries stay.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(
        Collection, null=True, on_delete=models.PROTECT, related_name="webhooks"
    )
    url = models.CharField(max_length=2000)
    events = models.JSONField(default=list)
    secret = models.ForeignKey(Secret, on_delete=models.PROTECT, related_name="+")
    old_secret = models.ForeignKey(Secret, null=True, on_delete=models.PROTECT, related_name="+")
    old_secret_ends_at = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True)
    pause_reason = models.CharField(max_length=200, blank=True, default="")
    deleted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(old_secret=None, old_secret_ends_at=None)
                | models.Q(old_secret__isnull=False, old_secret_ends_at__isnull=False),
                name="webhook_old_secret_ends",
            ),
        )

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(models.Model):
    """An event that one endpoint gets; its state is that of the outbox message `message_key`.

    message_id: `webhook-id`, the same for every attempt. key: names the event. body: the bytes
    that are signed, as text. replays: how often it was sent again on request.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    endpoint = models.ForeignKey(
        WebhookEndpoint, on_delete=models.PROTECT, related_name="deliveries", db_index=False
    )
    key = models.CharField(max_length=200)
    event = models.CharField(max_length=32)
    body = models.TextField()
    replays = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("endpoint", "key"), name="webhook_event_once"),
        )

    def __str__(self) -> str:
        return f"{self.event} to {self.endpoint_id}"

    @property
    def message_id(self) -> str:
        return f"msg_{self.public_id.hex}"

    @property
    def message_key(self) -> str:
        return f"webhook:{self.public_id.hex}:{self.replays}"


class WebhookAttempt(models.Model):
    """One request of a delivery. Written once.

    status: of the answer; None where there was none. problem: why it was not accepted.
    """

    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.PROTECT, related_name="attempts")
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True)
    seconds = models.FloatField()
    problem = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.delivery_id}: {self.status or self.problem}"
