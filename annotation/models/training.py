"""The stage before the pairs that count: attempts at it, and what was answered."""

from django.conf import settings
from django.db import models

from annotation.models.campaigns import Campaign
from annotation.models.gold import GoldItem
from annotation.models.labels import Assignment, Label


class TrainingAttempt(models.Model):
    """Someone's try to qualify: so many pairs with a known answer, so many percent right.

    number: from 1, of this person in this campaign. series: goes up when a lead lets someone
    begin again; tries are counted within it. right: known once it has ended. decided_by: the lead
    who ended it by hand.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        PASSED = "passed", "passed"
        FAILED = "failed", "not passed"

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="attempts")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    number = models.PositiveSmallIntegerField()
    series = models.PositiveSmallIntegerField(default=1)
    pairs = models.PositiveSmallIntegerField()
    percent = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    right = models.PositiveSmallIntegerField(null=True)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("campaign", "annotator", "number")
        constraints = (
            models.UniqueConstraint(
                fields=("campaign", "annotator", "number"), name="training_number_once"
            ),
            models.UniqueConstraint(
                fields=("campaign", "annotator"),
                condition=models.Q(state="open"),
                name="training_one_open",
            ),
            models.CheckConstraint(
                condition=models.Q(state="open", right=None, ended_at=None)
                | models.Q(
                    state__in=("passed", "failed"), right__isnull=False, ended_at__isnull=False
                ),
                name="training_ended_with_result",
            ),
        )

    def __str__(self) -> str:
        return f"{self.annotator_id} in {self.campaign_id}: {self.state}"


class TrainingAnswer(models.Model):
    """The first label of a training pair beside the right answer; never changed.

    What someone says of the pair after they were told is a label, but no answer. error: as in
    GoldCheck; null where the label gives no grade, which is not right.
    """

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="answer")
    label = models.OneToOneField(Label, on_delete=models.PROTECT, related_name="training_answer")
    attempt = models.ForeignKey(TrainingAttempt, on_delete=models.PROTECT, related_name="answers")
    item = models.ForeignKey(GoldItem, on_delete=models.PROTECT, related_name="answers")
    error = models.SmallIntegerField(null=True)
    answered_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.label_id}: {self.error}"
