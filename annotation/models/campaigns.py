"""A body of annotation work, the people in it, and the guideline they follow."""

import secrets
import uuid
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import models

from judgments.models import Collection, JudgmentList

LEASE_MINUTES: Final = 240  # of a campaign that does not say otherwise: a long train ride
SHORTEST_LEASE: Final = 5
LONGEST_LEASE: Final = 24 * 60


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


def make_secret() -> str:
    """256 bits that no one can guess."""
    return secrets.token_hex(32)


class Campaign(models.Model):
    """Pairs of one list to be labelled by so many people each, under one guideline.

    seed never changes: with an annotator and an order it gives that person's sequence of pairs.
    secret never changes and is shown to no one: what is planted for whom follows from it.
    lease_minutes: how long a seat is kept for an annotator who sends nothing.
    shows_images: annotators see the images that a document's HTML holds.
    archived_at: since when it is hidden from lists and can't be changed; it is not open then.
    due_on: the day by whose end it should be done. daily_target: labels of a person. label_price:
    in hundredths of the currency. stopped: why nothing more is handed out, in words for
    annotators; empty while something is. most_leases: how many seats a person may hold, where a
    budget leaves few. Both are kept by annotation/budgets. is_assigned: whether there are rules of
    who labels which queries. review_percent: the share of each person's labels that is reviewed.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        CLOSED = "closed", "closed"

    class Rule(models.TextChoices):
        MAJORITY = "majority", "majority (ties go to adjudication)"
        MEDIAN = "median", "median"
        MEAN = "mean", "mean, rounded half up"
        DAWID_SKENE = (
            "dawid_skene",
            "Dawid-Skene (labels weighted by what their annotator confuses)",
        )
        RELIABILITY = "reliability", "vote weighted by each annotator’s accuracy"

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
    secret = models.CharField(max_length=64, default=make_secret, editable=False)
    lease_minutes = models.PositiveSmallIntegerField(default=LEASE_MINUTES)
    shows_images = models.BooleanField(default=False)
    due_on = models.DateField(null=True)
    daily_target = models.PositiveIntegerField(null=True)
    label_price = models.PositiveIntegerField(null=True)
    stopped = models.TextField(blank=True, default="", db_default="")
    most_leases = models.PositiveSmallIntegerField(null=True)
    is_assigned = models.BooleanField(default=False, db_default=False)
    review_percent = models.PositiveSmallIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    archived_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("list", "name"), name="campaign_name_once"),
            models.CheckConstraint(
                condition=models.Q(overlap__gte=1, overlap__lte=20), name="campaign_overlap_1_to_20"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    lease_minutes__gte=SHORTEST_LEASE, lease_minutes__lte=LONGEST_LEASE
                ),
                name="campaign_lease_5_minutes_to_a_day",
            ),
            models.CheckConstraint(
                condition=models.Q(review_percent__lte=100), name="campaign_review_percent"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=("draft", "open", "closed")),
                name="campaign_state_known",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def lease(self) -> timedelta:
        """How long a seat is kept for an annotator who sends nothing."""
        return timedelta(minutes=self.lease_minutes)


class CampaignAnnotator(models.Model):
    """A person's place in a campaign. is_blind: False for a lead, who can see everything else.

    handed: how many seats they have been handed so far.
    chunk: the part of their order (seats/ordering.py) that had the first free seats for them when
    they were last handed some; only where to look first.
    paused: what they are told while they get nothing more to label; empty for those who go on.
    news: how many answers and announcements they have not read. Counted where one is written or
    read, because it is told with every label, which must not ask for it.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="annotators")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    is_blind = models.BooleanField(default=True)
    is_active = models.BooleanField(default=True)
    joined_at = models.DateTimeField()
    handed = models.PositiveIntegerField(default=0)
    chunk = models.BigIntegerField(null=True)
    paused = models.TextField(blank=True, default="")
    news = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "user"), name="campaign_annotator_once"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} in {self.campaign_id}"
