"""A body of annotation work, the people in it, and the guideline they follow."""

import uuid

from django.conf import settings
from django.db import models

from judgments.models import Collection, JudgmentList


class Guideline(models.Model):
    """How to grade, in a collection; its text lives in immutable revisions."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="guidelines")
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "name"), name="guideline_name_once"),
        )

    def __str__(self) -> str:
        return self.name


class GuidelineRevision(models.Model):
    """One state of a guideline.

    text: Markdown. grades: [{"code": 0, "name": …, "definition": …, "examples": [..],
    "counter_examples": [..]}, …], one entry for each grade of the scale, lowest first.
    """

    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True, default="")
    grades = models.JSONField()
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("guideline", "number")
        constraints = (
            models.UniqueConstraint(fields=("guideline", "number"), name="revision_number_once"),
        )

    def __str__(self) -> str:
        return f"{self.guideline_id} r{self.number}"


class Campaign(models.Model):
    """Pairs of one list to be labelled by so many people each, under one guideline."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        CLOSED = "closed", "closed"

    class Rule(models.TextChoices):
        MAJORITY = "majority", "majority (a tie goes to adjudication)"
        MEDIAN = "median", "median"
        MEAN = "mean", "mean, rounded half up"

    class Commit(models.TextChoices):
        LIVE = "live", "as soon as a pair is complete"
        APPROVAL = "approval", "when the lead approves"

    class Order(models.TextChoices):
        BY_QUERY = "query", "query by query"
        SHUFFLED = "shuffled", "shuffled"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    list = models.ForeignKey(JudgmentList, on_delete=models.PROTECT, related_name="campaigns")
    name = models.CharField(max_length=200)
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="campaigns")
    state = models.CharField(max_length=8, choices=State.choices, default=State.DRAFT)
    overlap = models.PositiveSmallIntegerField(default=2)
    depth = models.PositiveIntegerField(default=10)
    rule = models.CharField(max_length=16, choices=Rule.choices, default=Rule.MAJORITY)
    commit = models.CharField(max_length=16, choices=Commit.choices, default=Commit.LIVE)
    order = models.CharField(max_length=16, choices=Order.choices, default=Order.BY_QUERY)
    seed = models.BigIntegerField()
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("list", "name"), name="campaign_name_once"),
            models.CheckConstraint(
                condition=models.Q(overlap__gte=1, overlap__lte=20), name="campaign_overlap_1_to_20"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=("draft", "open", "closed")),
                name="campaign_state_known",
            ),
        )

    def __str__(self) -> str:
        return self.name


class CampaignAnnotator(models.Model):
    """A person's place in a campaign. is_blind: False for a lead, who can see everything else."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="annotators")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    is_blind = models.BooleanField(default=True)
    is_active = models.BooleanField(default=True)
    joined_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "user"), name="campaign_annotator_once"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} in {self.campaign_id}"
