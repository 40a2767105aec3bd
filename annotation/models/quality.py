"""What takes seconds to compute from a campaign's labels, and is kept therefore."""

from django.db import models

from annotation.models.campaigns import Campaign
from judgments.models.kept import KeptFigures, claim_complete


class QualityReport(KeptFigures):
    """The figures of a campaign's labels."""

    campaign = models.OneToOneField(
        Campaign, on_delete=models.PROTECT, related_name="quality_report"
    )

    class Meta:
        constraints = (claim_complete("quality_report_claim_complete"),)

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.seen}"


class AsidePreview(KeptFigures):
    """What a campaign would be without some people's labels. people: their ids, ascending."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="aside_previews")
    people = models.CharField(max_length=2_000)

    class Meta:
        constraints = (
            claim_complete("aside_preview_claim_complete"),
            models.UniqueConstraint(fields=("campaign", "people"), name="aside_preview_unique"),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.people}"


class RulePreview(KeptFigures):
    """What another rule would make of a campaign's labels."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="rule_previews")
    rule = models.CharField(max_length=20, choices=Campaign.Rule.choices)

    class Meta:
        constraints = (
            claim_complete("rule_preview_claim_complete"),
            models.UniqueConstraint(fields=("campaign", "rule"), name="rule_preview_unique"),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.rule}"
