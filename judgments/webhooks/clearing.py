"""Old deliveries of webhooks are deleted, with their attempts and messages."""

from datetime import datetime
from typing import Final

from django.db import transaction

from judgments.models import OutboxMessage, WebhookAttempt, WebhookDelivery
from judgments.webhooks.queries import CHANNEL

PORTION: Final = 200  # deliveries in one transaction
PORTIONS: Final = 50  # of one call; the next round goes on


def clear_deliveries(*, before: datetime) -> int:
    """Delete deliveries that are older and no longer wait; at most PORTION × PORTIONS; how many."""
    cleared = last = 0
    for _ in range(PORTIONS):
        old_qs = WebhookDelivery.objects.filter(created_at__lt=before, pk__gt=last)
        rows = list(old_qs.order_by("pk")[:PORTION])
        if not rows:
            break
        last = rows[-1].pk
        cleared += _clear(rows)
    return cleared


def _clear(rows: list[WebhookDelivery]) -> int:
    with transaction.atomic():
        messages_qs = OutboxMessage.objects.filter(channel=CHANNEL)
        waiting_qs = messages_qs.filter(
            key__in=[row.message_key for row in rows], state=OutboxMessage.State.WAITING
        )
        waiting = set(waiting_qs.values_list("key", flat=True))
        done = [row for row in rows if row.message_key not in waiting]
        keys = [
            f"webhook:{row.public_id.hex}:{replay}"
            for row in done
            for replay in range(row.replays + 1)
        ]
        messages_qs.filter(key__in=keys).delete()
        pks = [row.pk for row in done]
        WebhookAttempt.objects.filter(delivery__in=pks).delete()
        WebhookDelivery.objects.filter(pk__in=pks).delete()
    return len(done)
