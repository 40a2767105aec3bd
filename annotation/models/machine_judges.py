"""Machine judges: how they are asked, in revisions; what they answered, and their labels."""

import secrets
import uuid
from typing import Final

from django.conf import settings
from django.db import models

from annotation.models.campaigns import Campaign, GuidelineRevision
from judgments.models import (
    Collection,
    Document,
    JudgmentList,
    Query,
    SamplePlan,
    SavedSet,
    Secret,
)
from judgments.models.sliced import SlicedWork

OUTCOMES: Final = (
    *("labelled", "declined", "truncated", "bad_json", "bad_schema", "off_scale", "bad_answer"),
    *("http_error", "timeout", "connect", "dns", "tls", "refused", "too_large"),
)


def make_salt() -> str:
    """128 bits that no one can guess."""
    return secrets.token_hex(16)


class MachineJudge(models.Model):
    """A language model that labels pairs of a collection; revisions say how it is asked.

    family: the tag of the rankers that are built on models of its family; "" where none is known.
    """

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="machine_judges"
    )
    name = models.CharField(max_length=200)
    family = models.CharField(max_length=40, blank=True, default="", db_default="")
    secret = models.ForeignKey(Secret, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "name"), name="machine_judge_name_once"),
        )

    def __str__(self) -> str:
        return self.name


class JudgeRevision(models.Model):
    """How a machine judge is asked, as annotation/machine_judges/configuration.py reads it.

    instructions: the template with the guideline revision, as sent. salt: makes the marks around
    documents unguessable.
    """

    judge = models.ForeignKey(MachineJudge, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    guideline_revision = models.ForeignKey(
        GuidelineRevision, on_delete=models.PROTECT, related_name="+"
    )
    configuration = models.JSONField()
    instructions = models.TextField()
    salt = models.CharField(max_length=32, default=make_salt, editable=False)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("judge", "number")
        constraints = (
            models.UniqueConstraint(fields=("judge", "number"), name="judge_revision_once"),
        )

    def __str__(self) -> str:
        return f"{self.judge} r{self.number}"


class JudgeCampaign(SlicedWork):
    """Pairs of a campaign that a machine judge labels.

    saved_set, plan: of these queries alone. last_pair: the highest id of a pair when it began;
    later ones are not asked. pairs: how many are to be labelled. cached: of them, how many had a
    label of this revision and the same texts. problem: why it ended before all was asked, in words.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    judge = models.ForeignKey(MachineJudge, on_delete=models.PROTECT, related_name="campaigns")
    revision = models.ForeignKey(JudgeRevision, on_delete=models.PROTECT, related_name="campaigns")
    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="machine_campaigns"
    )
    saved_set = models.ForeignKey(
        SavedSet, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    plan = models.ForeignKey(
        SamplePlan, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    pairs = models.PositiveIntegerField()
    cached = models.PositiveIntegerField(default=0)
    last_pair = models.BigIntegerField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("judge",),
                condition=models.Q(state="running"),
                name="judge_campaign_one_at_a_time",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=("running", "done", "failed", "stopped")),
                name="judge_campaign_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(state="running", ended_at=None)
                | (~models.Q(state="running") & models.Q(ended_at__isnull=False)),
                name="judge_campaign_ends_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.judge_id} on {self.campaign_id}"


class JudgeBatch(models.Model):
    """Requests of a campaign that are sent as one batch, and what it is waiting for.

    pairs: zlib of the pairs in the order of its lines. reserved_tokens, reserved_cost: what it may
    cost, counted against budgets until it ends. file_id, batch_id: the endpoint's names, stored
    before the next step; empty until then. status: as the endpoint says. polls, failures: looks at
    it, and failed ones in a row. problem: in words.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(JudgeCampaign, on_delete=models.PROTECT, related_name="batches")
    pairs = models.BinaryField()
    requests = models.PositiveIntegerField()
    reserved_tokens = models.PositiveBigIntegerField()
    reserved_cost = models.PositiveBigIntegerField()
    file_id = models.CharField(max_length=200, blank=True, default="")
    batch_id = models.CharField(max_length=200, blank=True, default="")
    status = models.CharField(max_length=32, blank=True, default="")
    is_cancelled = models.BooleanField(default=False)
    polls = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=500, blank=True, default="")
    next_at = models.DateTimeField()
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("campaign",),
                condition=models.Q(ended_at__isnull=True),
                name="judge_batch_one_at_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.requests}"


class JudgeAttempt(models.Model):
    """One request about a pair, and what became of it. Written once, as it comes.

    digest: SHA-256 of what was sent; with the revision it is the key under which an answer is
    found again. content_hash: of the document as it was shown. grade: of an answer that keeps to
    the schema, and of no other. is_last: the pair is asked no more in this campaign. cost: in
    10⁻¹⁰ of the currency. is_estimated: the endpoint did not count tokens. answer: zlib of the
    body. detail: the reason for the grade, or what was wrong.
    """

    campaign = models.ForeignKey(
        JudgeCampaign, on_delete=models.PROTECT, related_name="attempts", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    document = models.ForeignKey(
        Document, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    digest = models.CharField(max_length=64)
    content_hash = models.CharField(max_length=64)
    outcome = models.CharField(max_length=16)
    grade = models.SmallIntegerField(null=True)
    is_last = models.BooleanField()
    status = models.PositiveSmallIntegerField(null=True)
    seconds = models.FloatField()
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    is_estimated = models.BooleanField(default=False)
    cost = models.PositiveBigIntegerField(default=0)
    answer = models.BinaryField(default=b"")
    detail = models.CharField(max_length=500, blank=True, default="")
    ended_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(outcome__in=OUTCOMES), name="judge_attempt_outcome_known"
            ),
            # a failure is never a grade
            models.CheckConstraint(
                condition=models.Q(outcome="labelled", grade__isnull=False)
                | (~models.Q(outcome="labelled") & models.Q(grade=None)),
                name="judge_attempt_grade_iff_labelled",
            ),
        )
        indexes = (
            models.Index(
                fields=("campaign", "query", "document"),
                condition=models.Q(is_last=True),
                name="judge_attempt_last",
            ),
            models.Index(fields=("campaign", "outcome"), name="judge_attempt_outcome"),
        )

    def __str__(self) -> str:
        return f"{self.query_id} {self.document_id}: {self.outcome}"


class MachineCheck(models.Model):
    """What a list that takes a machine judge's grades has seen of it.

    newest_label: the highest id of the revision's labels; newest_pair: of the pairs of the list
    whose campaigns' pairs count; head: the list's newest version then.
    """

    list = models.OneToOneField(JudgmentList, on_delete=models.PROTECT, related_name="+")
    newest_label = models.BigIntegerField()
    newest_pair = models.BigIntegerField()
    head = models.PositiveIntegerField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.list_id} at {self.newest_label}"


class MachineLabel(models.Model):
    """A machine judge's grade of a pair, from an answer that keeps to the schema.

    attempt: the one that gave it; of a pair with the same texts, where that was asked before.
    """

    revision = models.ForeignKey(
        JudgeRevision, on_delete=models.PROTECT, related_name="labels", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    document = models.ForeignKey(
        Document, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    digest = models.CharField(max_length=64)
    content_hash = models.CharField(max_length=64)
    grade = models.SmallIntegerField()
    attempt = models.ForeignKey(JudgeAttempt, on_delete=models.PROTECT, related_name="labels")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("revision", "query", "document", "digest"), name="machine_label_once"
            ),
        )
        indexes = (
            models.Index(fields=("revision", "digest"), name="machine_label_digest"),
            models.Index(fields=("revision", "id"), name="machine_label_newest"),
        )

    def __str__(self) -> str:
        return f"{self.query_id} {self.document_id}: {self.grade}"
