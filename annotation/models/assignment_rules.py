"""Who may label which queries of a campaign."""

from django.conf import settings
from django.db import models

from annotation.models.campaigns import Campaign
from judgments.models import Query


class AssignmentRule(models.Model):
    """That some queries of a campaign are labelled only by named people, or people with tags.

    scope: all queries, those of the segment, or the queries listed. A person meets the rule who is
    among `people`, or has all of the tags, where there are tags. No one gets a query of which they
    do not meet every rule.
    """

    class Scope(models.TextChoices):
        ALL = "all", "All queries"
        SEGMENT = "segment", "A segment"
        QUERIES = "queries", "Listed queries"

    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="assignment_rules"
    )
    scope = models.CharField(max_length=8, choices=Scope.choices)
    segment = models.CharField(max_length=200, blank=True, default="")
    queries = models.ManyToManyField(Query, related_name="+")
    people = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")
    tags = models.JSONField(default=list)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(scope="segment") & ~models.Q(segment="")
                | models.Q(scope__in=("all", "queries"), segment=""),
                name="assignment_rule_scope_known",
            ),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.scope} {self.segment}"
