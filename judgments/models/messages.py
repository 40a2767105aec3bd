"""What people are told: notices in the application, messages to be sent, and what they chose."""

import uuid

from django.conf import settings
from django.db import models

from judgments.models.collections import Collection


class Notice(models.Model):
    """That someone is told of an event, in the application; one row a person and event.

    key: names the event, e.g. "campaign:7:adjudication". payload: plain values that its words are
    made of. page, page_args: the URL's name and arguments of the page that it is about. count: of
    a digest, how many things it is about when it was last changed; 0 otherwise. read_at: also set
    from the start where the person has switched notices of this kind off.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="notices"
    )
    collection = models.ForeignKey(
        Collection, null=True, on_delete=models.PROTECT, related_name="+"
    )
    kind = models.CharField(max_length=32)
    key = models.CharField(max_length=200)
    payload = models.JSONField(default=dict)
    page = models.CharField(max_length=64, blank=True, default="")
    page_args = models.JSONField(default=list)
    count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-changed_at", "-id")
        constraints = (
            models.UniqueConstraint(fields=("recipient", "key"), name="notice_once_a_person"),
        )
        indexes = (
            models.Index(
                fields=("recipient",), condition=models.Q(read_at=None), name="notice_unread"
            ),
            models.Index(fields=("key",), name="notice_event"),
        )

    def __str__(self) -> str:
        return f"{self.recipient_id}: {self.key}"


class OutboxMessage(models.Model):
    """A message that a worker sends; claimed by writing its own `token`.

    key: names the event. recipient: None where the message goes to an address alone. address:
    of a message that does not go to the account's own address. due_at: when it may be sent next;
    while a worker sends it, when another may take it over. payload and address are emptied once
    the message has ended. problem: why the last attempt failed.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENT = "sent", "sent"
        DROPPED = "dropped", "not sent: no longer wanted"
        GIVEN_UP = "given_up", "not sent: failed"

    channel = models.CharField(max_length=16)
    kind = models.CharField(max_length=32)
    key = models.CharField(max_length=200)
    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    address = models.CharField(max_length=254, blank=True, default="")
    collection = models.ForeignKey(
        Collection, null=True, on_delete=models.PROTECT, related_name="+"
    )
    payload = models.JSONField(default=dict)
    page = models.CharField(max_length=64, blank=True, default="")
    page_args = models.JSONField(default=list)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    token = models.UUIDField(null=True)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("channel", "key", "recipient"),
                condition=models.Q(recipient__isnull=False),
                name="outbox_once_a_person",
            ),
            models.UniqueConstraint(
                fields=("channel", "key"),
                condition=models.Q(recipient__isnull=True),
                name="outbox_once",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=("waiting", "sent", "dropped", "given_up")),
                name="outbox_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(state="waiting", ended_at__isnull=True)
                | (~models.Q(state="waiting") & models.Q(ended_at__isnull=False)),
                name="outbox_ended_or_waiting",
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at",), condition=models.Q(state="waiting"), name="outbox_due"
            ),
        )

    def __str__(self) -> str:
        return f"{self.channel} {self.key}"


class MessageChoice(models.Model):
    """That someone wants messages of a kind over a channel, or does not; else the default."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="message_choices"
    )
    kind = models.CharField(max_length=32)
    channel = models.CharField(max_length=16)
    is_on = models.BooleanField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("user", "kind", "channel"), name="message_choice_once"),
        )

    def __str__(self) -> str:
        return f"{self.user_id}: {self.kind} by {self.channel}"
