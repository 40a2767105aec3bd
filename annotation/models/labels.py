"""Seats and the statements made in them."""

import uuid
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import models
from django.db.models.functions import Coalesce

from annotation.models.campaigns import GuidelineRevision
from annotation.models.pools import Pair
from judgments.models.side_texts import side_text_key, text_of


class Assignment(models.Model):
    """A seat of a pair: room for exactly one person's label.

    The overlap is these rows; the unique constraints decide who gets a seat, whatever the
    code that chooses believes. annotator is null until someone leases the seat.
    A lease that ends without a label voids its row, and a new free row takes the seat's number:
    so a public id belongs to one person for ever, and a label that comes late can be recognised.
    A seat that is set aside keeps its person and its label, which no longer counts; others sit
    elsewhere. Every change but free -> leased is made under the pair's row lock.
    seat: above 0; 0 outside the overlap, where no one else ever sits.
    stand_in: at this place of the person's order another pair is shown. Until it is labelled, the
    row is a seat of the pair that it replaces; with the label it becomes one of the pair shown.
    is_added: a seat beyond the overlap, because others had filled the pair when its label, or that
    of a stand-in, was taken back.
    order, place: under which order of the campaign it was handed to its annotator, and as their
    how many-th seat. With the campaign's seed they say what was met in which sequence; annotators
    never get them.
    """

    class Purpose(models.TextChoices):
        POOL = "pool", "pool"
        EXTRA = "extra", "extra"
        GOLD = "gold", "gold"
        REPEAT = "repeat", "repeat"
        TRAINING = "training", "training"

    class State(models.TextChoices):
        FREE = "free", "free"
        LEASED = "leased", "leased"
        DONE = "done", "done"
        VOIDED = "voided", "voided"
        ASIDE = "aside", "set aside"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="assignments")
    seat = models.PositiveSmallIntegerField()
    occasion = models.PositiveSmallIntegerField(default=0)
    purpose = models.CharField(max_length=8, choices=Purpose.choices, default=Purpose.POOL)
    state = models.CharField(max_length=8, choices=State.choices, default=State.FREE)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    leased_until = models.DateTimeField(null=True)
    stand_in = models.ForeignKey(
        "StandIn", null=True, on_delete=models.PROTECT, related_name="seats", db_index=False
    )
    is_added = models.BooleanField(default=False, db_default=False)
    order = models.CharField(max_length=16, blank=True, default="", db_default="")
    place = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("pair", "seat"),
                condition=~models.Q(state="voided") & models.Q(purpose__in=("pool", "extra")),
                name="assignment_seat_once",
            ),
            models.UniqueConstraint(
                fields=("pair", "annotator", "occasion"),
                condition=~models.Q(state="voided") & models.Q(annotator__isnull=False),
                name="assignment_annotator_once",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=("free", "leased", "done", "voided", "aside")),
                name="assignment_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(state="free", annotator__isnull=True, leased_until__isnull=True)
                | models.Q(state="leased", annotator__isnull=False, leased_until__isnull=False)
                | models.Q(state__in=("done", "aside"), annotator__isnull=False)
                | models.Q(state="voided"),
                name="assignment_lease_complete",
            ),
        )
        indexes = (
            models.Index(
                fields=("pair",), condition=models.Q(state="free"), name="assignment_free"
            ),
            models.Index(fields=("annotator", "state"), name="assignment_annotator"),
            models.Index(
                fields=("leased_until",),
                condition=models.Q(state="leased"),
                name="assignment_expiry",
            ),
            models.Index(
                fields=("pair",), condition=models.Q(purpose="gold"), name="assignment_gold"
            ),
            models.Index(
                fields=("stand_in",),
                condition=models.Q(stand_in__isnull=False),
                name="assignment_stand_in",
            ),
        )

    def __str__(self) -> str:
        return f"{self.pair_id} seat {self.seat}"


# The seats that count: whatever is planted stays out of grades, counts and disagreements.
OVERLAP_PURPOSES = (Assignment.Purpose.POOL, Assignment.Purpose.EXTRA)


class Label(models.Model):
    """One person's statement about one pair. Never changed: a correction supersedes it.

    id: made by the client at the key press; the same id again is the same label.
    assignment: null for a surplus label, which came after its lease was lost and the pair
    was filled: a fact, outside the overlap.
    Its texts are side texts, and the time it took is in LabelTiming.
    """

    class Outcome(models.TextChoices):
        GRADED = "graded", "graded"
        UNSURE = "unsure", "unsure"
        UNJUDGEABLE = "unjudgeable", "cannot be judged"
        RETRACTED = "retracted", "undone"

    id = models.UUIDField(primary_key=True)
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="labels")
    assignment = models.ForeignKey(
        Assignment, null=True, on_delete=models.PROTECT, related_name="labels"
    )
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    grade = models.SmallIntegerField(null=True)
    reason_text = side_text_key()
    note_text = side_text_key()
    spans = models.JSONField(default=list)
    guideline_revision = models.ForeignKey(
        GuidelineRevision, on_delete=models.PROTECT, related_name="+"
    )
    content_hash = models.CharField(max_length=64)
    received_at = models.DateTimeField()
    supersedes = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="superseded_by"
    )
    pair_seq = models.PositiveIntegerField()
    is_blind = models.BooleanField(default=True)

    class Meta:
        ordering = ("received_at", "id")
        constraints = (
            models.UniqueConstraint(fields=("pair", "pair_seq"), name="label_sequence_once"),
            models.UniqueConstraint(
                fields=("assignment",),
                condition=models.Q(supersedes__isnull=True, assignment__isnull=False),
                name="label_first_once_in_seat",
            ),
            models.CheckConstraint(
                condition=models.Q(outcome="graded", grade__isnull=False)
                | (~models.Q(outcome="graded") & models.Q(grade__isnull=True)),
                name="label_grade_iff_graded",
            ),
            models.CheckConstraint(
                condition=models.Q(outcome__in=("graded", "unsure", "unjudgeable", "retracted")),
                name="label_outcome_known",
            ),
        )
        indexes = (
            models.Index(fields=("annotator", "received_at"), name="label_annotator"),
            models.Index(
                fields=("pair",), condition=models.Q(assignment=None), name="label_surplus"
            ),
        )

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.grade}"

    @property
    def reason(self) -> str:
        """Why no grade was given, in a word or few; empty once that is erased."""
        return text_of(self, "reason_text")

    @property
    def note(self) -> str:
        """What the annotator wrote of the pair; empty once that is erased."""
        return text_of(self, "note_text")

    @property
    def seconds(self) -> float | None:
        """Active time spent on the pair; None where it was not measured, or is erased."""
        timing = getattr(self, "timing", None)
        return timing.seconds if timing else None

    @property
    def made_at(self) -> datetime:
        """When, by the annotator's clock; when it was received, once that is erased."""
        timing = getattr(self, "timing", None)
        made_at: datetime = timing.made_at if timing else self.received_at
        return made_at


MADE_AT: Final = Coalesce("timing__made_at", "received_at")  # Label.made_at, for querysets


class LabelTiming(models.Model):
    """When a label was made and how long that took. No fact: it can be erased, the label stays.

    made_at: by the annotator's clock. seconds: active time spent on the pair.
    """

    label = models.OneToOneField(
        Label, primary_key=True, on_delete=models.PROTECT, related_name="timing"
    )
    made_at = models.DateTimeField()
    seconds = models.FloatField(null=True)

    class Meta:
        ordering = ("label",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(seconds__isnull=True)
                | models.Q(seconds__gte=0, seconds__lte=86400),
                name="label_timing_seconds_of_a_day",
            ),
        )

    def __str__(self) -> str:
        return f"{self.label_id}: {self.seconds} s"


class Adjudication(models.Model):
    """A lead's decision about a pair; the newest wins over every label.

    content_hash: of the document's text at that time; empty for decisions of earlier releases.
    """

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="adjudications")
    grade = models.SmallIntegerField()
    reason_text = side_text_key()
    guideline_revision = models.ForeignKey(
        GuidelineRevision, on_delete=models.PROTECT, related_name="+"
    )
    content_hash = models.CharField(max_length=64, blank=True, default="", db_default="")
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    pair_seq = models.PositiveIntegerField()

    class Meta:
        ordering = ("pair", "pair_seq")
        constraints = (
            models.UniqueConstraint(fields=("pair", "pair_seq"), name="adjudication_sequence_once"),
        )

    def __str__(self) -> str:
        return f"{self.pair_id}: {self.grade}"

    @property
    def reason(self) -> str:
        """Why, in words; empty once they are erased."""
        return text_of(self, "reason_text")
