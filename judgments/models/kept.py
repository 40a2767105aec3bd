"""What takes seconds to compute, and is kept therefore."""

from django.db import models


class KeptFigures(models.Model):
    """Figures that a worker computes; a cache that can be thrown away.

    seen: names what the figures were computed from; "" before the first time. revision: of the
    computation. steps_done, token, heartbeat_at: of a computation under way, whose worker says
    now and then that it is alive; token and heartbeat are null when there is none.
    problem: why the last computation failed.
    """

    seen = models.CharField(max_length=64, blank=True, default="")
    revision = models.PositiveSmallIntegerField(default=0)
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField(null=True)
    took_seconds = models.FloatField(default=0)
    steps_done = models.PositiveSmallIntegerField(default=0)
    token = models.UUIDField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True, default="")

    class Meta:
        abstract = True


def claim_complete(name: str) -> models.CheckConstraint:
    """That someone who computes is known by a token and by a sign of life, or no one does."""
    return models.CheckConstraint(
        condition=models.Q(token__isnull=True, heartbeat_at__isnull=True)
        | models.Q(token__isnull=False, heartbeat_at__isnull=False),
        name=name,
    )
