"""Long work as rows, so that its progress is a fact and a killed worker loses nothing."""

import uuid

from django.conf import settings
from django.db import models

from judgments.models.collections import Collection


class Job(models.Model):
    """One import: what to do, how far it is, and who is at it.

    A worker takes a job by writing its own `token` where the heartbeat is old or null; every
    later write of that worker is conditional on its token, so one that was thought dead and
    comes back changes nothing.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=32)
    params = models.JSONField(default=dict)
    file = models.FileField(upload_to="jobs", blank=True)
    file_name = models.CharField(max_length=255, blank=True, default="")
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    done_units = models.BigIntegerField(default=0)
    total_units = models.BigIntegerField(default=0)
    result = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    attempts = models.PositiveSmallIntegerField(default=0)
    token = models.UUIDField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state__in=("queued", "running", "done", "failed")),
                name="job_state_known",
            ),
        )
        indexes = (
            models.Index(
                fields=("state", "id"),
                condition=models.Q(state__in=("queued", "running")),
                name="job_open",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.public_id}"


class Round(models.Model):
    """When work that is due every so often was last begun; claimed by a conditional update."""

    name = models.CharField(max_length=64, primary_key=True)
    begun_at = models.DateTimeField()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class WorkerBeat(models.Model):
    """When a worker was last heard of; every worker writes its own row now and then."""

    name = models.CharField(max_length=200, primary_key=True)
    beat_at = models.DateTimeField()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
