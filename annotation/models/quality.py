"""What is known of how good a campaign's labels are, kept because it takes seconds to compute."""

from django.db import models

from annotation.models.campaigns import Campaign


class QualityReport(models.Model):
    """The figures of a campaign's labels; a cache that can be thrown away.

    seen: names what the figures were computed from; "" before the first time. revision: of the
    computation. steps_done, token, heartbeat_at: of a computation under way, whose worker says
    now and then that it is alive; token and heartbeat are null when there is none.
    problem: why the last computation failed.
    """

    campaign = models.OneToOneField(
        Campaign, on_delete=models.PROTECT, related_name="quality_report"
    )
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
        constraints = (
            models.CheckConstraint(
                condition=models.Q(token__isnull=True, heartbeat_at__isnull=True)
                | models.Q(token__isnull=False, heartbeat_at__isnull=False),
                name="quality_report_claim_complete",
            ),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.seen}"
