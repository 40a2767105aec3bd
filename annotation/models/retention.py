"""For how long a collection keeps some records, and what stays of them."""

from django.db import models

from annotation.models.campaigns import Campaign
from judgments.models import Collection

LONGEST = 3650  # days


class Retention(models.Model):
    """What a collection's leads chose; without a row, both are kept.

    timing_days: for how many days when and how fast each label was made is kept; null: until the
    person is erased. answer_days: what machine judges answered, and why; null: for good.
    """

    collection = models.OneToOneField(
        Collection, primary_key=True, on_delete=models.PROTECT, related_name="retention"
    )
    timing_days = models.PositiveSmallIntegerField(null=True)
    answer_days = models.PositiveSmallIntegerField(null=True)

    class Meta:
        ordering = ("collection",)
        constraints = tuple(
            models.CheckConstraint(
                condition=models.Q(**{f"{name}__isnull": True})
                | models.Q(**{f"{name}__gte": 1, f"{name}__lte": LONGEST}),
                name=f"retention_{name}_within_ten_years",
            )
            for name in ("timing_days", "answer_days")
        )

    def __str__(self) -> str:
        return f"{self.collection_id}: {self.timing_days}, {self.answer_days}"


class LabelTimingDay(models.Model):
    """What stays of times that were deleted: how many labels of a day had one, and their sum.

    Of all annotators together, so that figures of time outlive the times of single labels. day: in
    UTC, of when the label came.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="timing_days", db_index=False
    )
    day = models.DateField()
    labels = models.PositiveIntegerField()
    seconds = models.FloatField()

    class Meta:
        ordering = ("campaign", "day")
        constraints = (
            models.UniqueConstraint(fields=("campaign", "day"), name="label_timing_day_once"),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id} {self.day}: {self.labels} labels, {self.seconds} s"
