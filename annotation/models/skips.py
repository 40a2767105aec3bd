"""Queries that someone would rather not label."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy

from annotation.models.campaigns import Campaign
from judgments.models import Query


class QuerySkip(models.Model):
    """A person's wish not to be asked about a query of a campaign, and why.

    It holds until it is returned, by the person or by a lead; then the query comes again.
    """

    class Reason(models.TextChoices):
        UNCLEAR = "unclear", gettext_lazy("I don’t understand the query")
        UNFAMILIAR = "unfamiliar", gettext_lazy("I don’t know the topic")
        LANGUAGE = "language", gettext_lazy("I don’t read this language")
        UPSETTING = "upsetting", gettext_lazy("I’d rather not read this")
        OTHER = "other", gettext_lazy("Other")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="skips")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.CharField(max_length=16, choices=Reason.choices)
    note = models.TextField(blank=True, default="")
    skipped_at = models.DateTimeField()
    returned_at = models.DateTimeField(null=True)
    returned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("campaign", "annotator", "query"),
                condition=models.Q(returned_at=None),
                name="query_skipped_once",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    reason__in=("unclear", "unfamiliar", "language", "upsetting", "other")
                ),
                name="skip_reason_known",
            ),
            models.CheckConstraint(
                condition=models.Q(returned_at=None, returned_by=None)
                | models.Q(returned_at__isnull=False, returned_by__isnull=False),
                name="skip_returned_by_somebody",
            ),
        )

    def __str__(self) -> str:
        return f"{self.annotator_id} skips {self.query_id}"
