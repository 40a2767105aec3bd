"""Live rankers: how an engine is asked, in revisions, and what it answered, in snapshots."""

import uuid

from django.conf import settings
from django.db import models

from evaluation.models.runs import Ranker, Run
from judgments.models import Query, Secret
from judgments.models.sliced import SlicedWork

OUTCOMES = (
    *("ok", "empty", "partial", "timeout", "connect", "dns", "tls", "refused", "http_error"),
    *("too_large", "bad_answer"),
)


class LiveSource(models.Model):
    """That a ranker is asked, with what changes without a new revision: its secret and schedule.

    cron: when snapshots begin, in `time_zone`; empty for none. next_at: when the next is due.
    """

    ranker = models.OneToOneField(Ranker, on_delete=models.PROTECT, related_name="live")
    secret = models.ForeignKey(Secret, null=True, on_delete=models.PROTECT, related_name="+")
    cron = models.CharField(max_length=100, blank=True, default="")
    time_zone = models.CharField(max_length=64, default="UTC")
    next_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(cron="", next_at=None)
                | (~models.Q(cron="") & models.Q(next_at__isnull=False)),
                name="live_schedule_has_a_time",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_at",),
                condition=models.Q(next_at__isnull=False),
                name="live_source_due",
            ),
        )

    def __str__(self) -> str:
        return str(self.ranker)


class LiveRevision(models.Model):
    """How a ranker's engine is asked, as evaluation/live_rankers/configuration.py reads it."""

    source = models.ForeignKey(LiveSource, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    configuration = models.JSONField()
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("source", "number"), name="live_revision_once"),
        )

    def __str__(self) -> str:
        return f"{self.source} r{self.number}"


class QueryVectors(models.Model):
    """Vectors of a ranker's queries, as they were uploaded at one time; never changed.

    dimensions: of each. queries: how many have one. sha256: of what is stored.
    """

    ranker = models.ForeignKey(Ranker, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()
    dimensions = models.PositiveIntegerField()
    queries = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("ranker", "number"), name="query_vectors_once"),
        )

    def __str__(self) -> str:
        return f"{self.ranker} v{self.number}"


class QueryVector(models.Model):
    """The vector of a query. values: 32-bit floats, little-endian."""

    vectors = models.ForeignKey(
        QueryVectors, on_delete=models.PROTECT, related_name="own", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    values = models.BinaryField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("vectors", "query"), name="query_vector_once"),
        )

    def __str__(self) -> str:
        return f"{self.vectors_id} {self.query_id}"


class Snapshot(SlicedWork):
    """All queries of a collection, asked of one revision; a run, once enough are answered.

    last_query: the highest id of a query when it began; later ones are not asked. queries: how
    many are to be asked. problem: why there is no run, in words.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    source = models.ForeignKey(LiveSource, on_delete=models.PROTECT, related_name="snapshots")
    revision = models.ForeignKey(LiveRevision, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=200)
    is_scheduled = models.BooleanField(default=False)
    queries = models.PositiveIntegerField()
    last_query = models.BigIntegerField()
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="snapshots")

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("source",),
                condition=models.Q(state="running"),
                name="snapshot_one_at_a_time",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=("running", "done", "failed", "stopped")),
                name="snapshot_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(state="running", ended_at=None)
                | (~models.Q(state="running") & models.Q(ended_at__isnull=False)),
                name="snapshot_ends_once",
            ),
            models.CheckConstraint(
                condition=models.Q(run=None) | models.Q(state="done"),
                name="snapshot_run_when_done",
            ),
        )

    def __str__(self) -> str:
        return self.name


class SnapshotAnswer(models.Model):
    """What became of one query. Written once, as it comes.

    status: of the HTTP answer, where there was one. seconds: of the last attempt, from sending to
    its last byte. rows: zlib of JSON, [[document id, score or null], …] in the engine's order; of a
    query that was not answered, none. detail: what was wrong, for those who configure.
    """

    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.PROTECT, related_name="answers", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    outcome = models.CharField(max_length=16)
    status = models.PositiveSmallIntegerField(null=True)
    seconds = models.FloatField(null=True)
    attempts = models.PositiveSmallIntegerField()
    row_count = models.PositiveIntegerField(default=0)
    rows = models.BinaryField(default=b"")
    detail = models.CharField(max_length=300, blank=True, default="")
    answered_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("snapshot", "query"), name="snapshot_answer_once"),
            models.CheckConstraint(
                condition=models.Q(outcome__in=OUTCOMES), name="snapshot_outcome_known"
            ),
            # failed is never empty, and empty has no rows
            models.CheckConstraint(
                condition=models.Q(outcome="ok", row_count__gt=0)
                | (~models.Q(outcome="ok") & models.Q(row_count=0)),
                name="snapshot_rows_when_answered",
            ),
        )

    def __str__(self) -> str:
        return f"{self.snapshot_id} {self.query_id}: {self.outcome}"
