"""Machine judges: language models that label pairs; how they are asked, in revisions."""

import secrets
from typing import Final

from django.conf import settings
from django.db import models

from annotation.models.campaigns import GuidelineRevision
from judgments.models import Collection, Secret

OUTCOMES: Final = (
    *("labelled", "declined", "truncated", "bad_json", "bad_schema", "off_scale", "bad_answer"),
    *("http_error", "timeout", "connect", "dns", "tls", "refused", "too_large"),
)


def make_salt() -> str:
    """128 bits that no one can guess."""
    return secrets.token_hex(16)


class MachineJudge(models.Model):
    """A language model that labels pairs of a collection; how it is asked lies in revisions."""

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="machine_judges"
    )
    name = models.CharField(max_length=200)
    secret = models.ForeignKey(Secret, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "name"), name="machine_judge_name_once"),
        )

    def __str__(self) -> str:
        return self.name


class JudgeRevision(models.Model):
    """How a machine judge is asked, as annotation/machine_judges/configuration.py reads it.

    instructions: the template with the guideline revision, as sent. salt: makes the marks around
    documents unguessable.
    """

    judge = models.ForeignKey(MachineJudge, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    guideline_revision = models.ForeignKey(
        GuidelineRevision, on_delete=models.PROTECT, related_name="+"
    )
    configuration = models.JSONField()
    instructions = models.TextField()
    salt = models.CharField(max_length=32, default=make_salt, editable=False)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("judge", "number")
        constraints = (
            models.UniqueConstraint(fields=("judge", "number"), name="judge_revision_once"),
        )

    def __str__(self) -> str:
        return f"{self.judge} r{self.number}"
