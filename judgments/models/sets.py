"""Saved sets of queries, and who looked at the numbers of those that are held out."""

from django.conf import settings
from django.db import models

from judgments.models.collections import SLUG, Collection, Query
from judgments.models.lists import JudgmentList


class SavedSet(models.Model):
    """Some queries of a collection, under a name: the head, the tail, a feature's canaries.

    is_held_out: kept for the last word; looks at its numbers are counted.
    archived_at: since when it is no longer offered; None while it is. Its addresses stay.
    """

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="saved_sets")
    slug = models.CharField(max_length=64, validators=[SLUG])
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="")
    is_held_out = models.BooleanField(default=False)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "slug"), name="set_slug_once"),
        )

    def __str__(self) -> str:
        return self.slug


class SavedSetQuery(models.Model):
    """A query that is in a set."""

    # the constraint's index begins with the set
    saved_set = models.ForeignKey(
        SavedSet, on_delete=models.PROTECT, related_name="members", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("saved_set", "query"), name="set_query_once"),
        )

    def __str__(self) -> str:
        return f"{self.saved_set_id} {self.query_id}"


class SetLook(models.Model):
    """That someone was shown numbers of a held-out set, on which page and of which list."""

    class Page(models.TextChoices):
        LEADERBOARD = "leaderboard", "leaderboard"
        BOARD_FILE = "board_file", "file of the leaderboard"
        COMPARISON = "comparison", "comparison"
        UNJUDGED = "unjudged", "unjudged documents"
        JUDGE_NEXT = "judge_next", "what to judge next"
        DOCUMENTS = "documents", "documents that moved"
        RUN = "run", "run"
        MOVES = "moves", "why a run changed"
        REST_LEADERBOARD = "rest_leaderboard", "leaderboard over REST"
        REST_COMPARISON = "rest_comparison", "comparison over REST"
        REST_UNJUDGED = "rest_unjudged", "unjudged documents over REST"
        REST_JUDGE_NEXT = "rest_judge_next", "what to judge next over REST"
        REST_DOCUMENTS = "rest_documents", "documents that moved over REST"
        REST_RUN = "rest_run", "run over REST"
        REST_MOVES = "rest_moves", "why a run changed over REST"

    saved_set = models.ForeignKey(SavedSet, on_delete=models.PROTECT, related_name="looks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    list = models.ForeignKey(JudgmentList, on_delete=models.PROTECT, related_name="+")
    page = models.CharField(max_length=32, choices=Page.choices)
    at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.user_id} at {self.saved_set_id}"
