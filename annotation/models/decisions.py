"""What becomes of a dispute besides a decision: one more label, or a decision taken back."""

from django.conf import settings
from django.db import models

from annotation.models.labels import Adjudication
from annotation.models.pools import Pair
from judgments.models.side_texts import side_text_key, text_of


class Reopening(models.Model):
    """A decision that holds no longer: the pair follows from its labels again."""

    adjudication = models.OneToOneField(
        Adjudication, on_delete=models.PROTECT, related_name="reopening"
    )
    reason_text = side_text_key()
    reopened_at = models.DateTimeField()
    reopened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.adjudication_id} reopened"

    @property
    def reason(self) -> str:
        """Why, in words; empty once they are erased."""
        return text_of(self, "reason_text")


class OneMoreLabel(models.Model):
    """A lead's wish that someone else labels a pair, beyond the campaign's overlap.

    batch: of those that were asked for together; null where one was asked for by itself.
    """

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="wishes")
    reason_text = side_text_key()
    batch = models.UUIDField(null=True, db_index=True)
    asked_at = models.DateTimeField()
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"one more for {self.pair_id}"

    @property
    def reason(self) -> str:
        """Why, or of what, in words; empty once they are erased."""
        return text_of(self, "reason_text")


class WithdrawnWish(models.Model):
    """One more label that is wanted no longer: the pair needs a seat less."""

    wish = models.OneToOneField(OneMoreLabel, on_delete=models.PROTECT, related_name="withdrawal")
    withdrawn_at = models.DateTimeField()
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.wish_id} withdrawn"
