"""Reviewers of a campaign, and what they said of labels."""

from django.conf import settings
from django.db import models

from annotation.models.campaigns import Campaign
from annotation.models.labels import Label
from annotation.models.questions import Question


class Reviewer(models.Model):
    """A member who reviews labels of a campaign, and does not annotate in it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="reviewers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    is_active = models.BooleanField(default=True)
    added_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("campaign", "user"), name="reviewer_once"),)

    def __str__(self) -> str:
        return f"{self.user_id} reviews {self.campaign_id}"


class Review(models.Model):
    """What a reviewer said of a label; never changed.

    question: the thread in which the annotator reads why it was sent back; null where it was
    accepted. The label that they give instead is reviewed again.
    """

    class Verdict(models.TextChoices):
        ACCEPTED = "accepted", "accepted"
        RETURNED = "returned", "sent back"

    label = models.OneToOneField(Label, on_delete=models.PROTECT, related_name="review")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    question = models.ForeignKey(
        Question, null=True, on_delete=models.PROTECT, related_name="reviews"
    )
    reviewed_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(verdict="accepted", question__isnull=True)
                | models.Q(verdict="returned", question__isnull=False),
                name="review_thread_iff_returned",
            ),
        )

    def __str__(self) -> str:
        return f"{self.label_id}: {self.verdict}"
