"""Questions of annotators about pairs, what leads answer, and what leads announce to everyone."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy

from annotation.models.campaigns import Campaign
from annotation.models.labels import Assignment
from annotation.models.pools import Pair
from judgments.models.side_texts import side_text_key, text_of


class Question(models.Model):
    """A thread between an annotator and the leads, about a pair as the annotator is shown it.

    pair, occasion: what is shown at the seat `assignment`, and for the how many-th time: a repeat
    has a thread of its own, because a shared one would give it away.
    has_news: a lead has answered, and the asker has not read it yet.
    changed_at: of the last message.
    """

    class State(models.TextChoices):
        WAITING = "waiting", gettext_lazy("waiting for an answer")
        ANSWERED = "answered", gettext_lazy("answered")
        CLOSED = "closed", gettext_lazy("closed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="questions")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="questions")
    occasion = models.PositiveSmallIntegerField(default=0)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="questions")
    asker = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    has_news = models.BooleanField(default=False)
    asked_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("pair", "asker", "occasion"),
                condition=~models.Q(state="closed"),
                name="question_one_open_of_a_pair",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=("waiting", "answered", "closed")),
                name="question_state_known",
            ),
        )
        indexes = (
            models.Index(fields=("campaign", "state"), name="question_state"),
            models.Index(fields=("asker", "campaign"), name="question_asker"),
        )

    def __str__(self) -> str:
        return f"{self.asker_id} about {self.pair_id}"


class Message(models.Model):
    """One message of a thread; never changed.

    is_answer: a lead wrote it as such, or a reviewer. is_return: a label was sent back by it.
    """

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="messages")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    is_answer = models.BooleanField()
    is_return = models.BooleanField(default=False, db_default=False)
    words = side_text_key()
    written_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.question_id}: {self.author_id}"

    @property
    def text(self) -> str:
        """What was written; empty once that is erased."""
        return text_of(self, "words")


class Announcement(models.Model):
    """What a lead says to all annotators of a campaign; never changed.

    It is for those who were in the campaign at that time.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="announcements")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    words = side_text_key()
    announced_at = models.DateTimeField()

    class Meta:
        ordering = ("announced_at", "id")

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.announced_at}"

    @property
    def text(self) -> str:
        """What was announced; empty once that is erased."""
        return text_of(self, "words")


class WithdrawnAnnouncement(models.Model):
    """That a lead has withdrawn an announcement: no annotator sees it any more; never changed."""

    announcement = models.OneToOneField(
        Announcement, on_delete=models.PROTECT, related_name="withdrawal"
    )
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    withdrawn_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.announcement_id}: {self.by_id}"


class AnnouncementRead(models.Model):
    """That an annotator has read an announcement; never changed."""

    announcement = models.ForeignKey(Announcement, on_delete=models.PROTECT, related_name="reads")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    read_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("announcement", "annotator"), name="announcement_read_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.announcement_id}: {self.annotator_id}"
