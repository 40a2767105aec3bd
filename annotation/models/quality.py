"""What takes seconds to compute from a campaign's labels, and is kept therefore."""

from django.db import models

from annotation.models.campaigns import Campaign


def _claimed(name: str) -> models.CheckConstraint:
    return models.CheckConstraint(
        condition=models.Q(token__isnull=True, heartbeat_at__isnull=True)
        | models.Q(token__isnull=False, heartbeat_at__isnull=False),
        name=name,
    )


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


class QualityReport(KeptFigures):
    """The figures of a campaign's labels."""

    campaign = models.OneToOneField(
        Campaign, on_delete=models.PROTECT, related_name="quality_report"
    )

    class Meta:
        constraints = (_claimed("quality_report_claim_complete"),)

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.seen}"


class RulePreview(KeptFigures):
    """What another rule would make of a campaign's labels."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="rule_previews")
    rule = models.CharField(max_length=20, choices=Campaign.Rule.choices)

    class Meta:
        constraints = (
            _claimed("rule_preview_claim_complete"),
            models.UniqueConstraint(fields=("campaign", "rule"), name="rule_preview_unique"),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.rule}"
