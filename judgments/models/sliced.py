"""Work that jobs do in slices, one after the other, until it ends once."""

from django.conf import settings
from django.db import models

from judgments.models.jobs import Job


class SlicedWork(models.Model):
    """job: the one that is at work, or the last that was. problem: why it failed or stopped, in
    words.
    """

    class State(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        STOPPED = "stopped", "stopped"

    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    job = models.ForeignKey(Job, null=True, on_delete=models.PROTECT, related_name="+")
    problem = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
