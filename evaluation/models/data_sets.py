"""Data sets in a lake, their evaluations, and the exact sums of those by day and segment."""

import uuid

from django.conf import settings
from django.db import models

from judgments.models import Collection


class DataSet(models.Model):
    """Rankings in Parquet with their grades, and what is computed of them.

    Nothing of it changes but its schedule, and that it is retired. rankings, judgments: addresses;
    without judgments the grades are in the rankings. query, segments: names of columns. day: the
    column with the day of a row, which then is a part of its query; "" for none. signals: what a
    value of the grade's column means as a grade. measures: as `touchstone bulk` takes them.
    cron: when evaluations begin, in `time_zone`; empty for none. next_at: when the next is due.
    """

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="data_sets")
    slug = models.SlugField(max_length=64)
    name = models.CharField(max_length=200)
    rankings = models.CharField(max_length=1_000)
    judgments = models.CharField(max_length=1_000, blank=True, default="")
    query = models.JSONField()
    document = models.CharField(max_length=200)
    score = models.CharField(max_length=200)
    grade = models.CharField(max_length=200)
    signals = models.TextField(blank=True, default="")
    measures = models.TextField()
    segments = models.JSONField(default=list)
    day = models.CharField(max_length=200, blank=True, default="")
    cron = models.CharField(max_length=100, blank=True, default="")
    time_zone = models.CharField(max_length=64, default="UTC")
    next_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    retired_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "slug"), name="data_set_slug_once"),
            models.CheckConstraint(
                condition=models.Q(cron="", next_at=None)
                | (~models.Q(cron="") & models.Q(next_at__isnull=False)),
                name="data_set_schedule_has_a_time",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_at",),
                condition=models.Q(next_at__isnull=False),
                name="data_set_due",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def own_evaluations(self) -> "models.QuerySet[DataSetEvaluation]":
        """Those of it alone, without comparisons."""
        return DataSetEvaluation.objects.filter(data_set=self, other=None)


class DataSetEvaluation(models.Model):
    """All rows of a data set, read and evaluated once.

    buckets: into how many its queries are hashed; None until its files are listed. rows: of
    rankings. limit: bytes that its rows may take on disk meanwhile. problem: why there are no
    figures, in words. lowest: a few queries with low values of each measure, of those in one
    bucket; as evaluation/data_sets/lowest.py writes them. other: with which it is compared, query
    by query; None for an evaluation of the data set alone.
    """

    class State(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        STOPPED = "stopped", "stopped"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    data_set = models.ForeignKey(DataSet, on_delete=models.PROTECT, related_name="evaluations")
    other = models.ForeignKey(
        DataSet, null=True, on_delete=models.PROTECT, related_name="comparisons"
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    is_scheduled = models.BooleanField(default=False)
    buckets = models.PositiveIntegerField(null=True)
    files = models.PositiveIntegerField(null=True)
    rows = models.BigIntegerField(null=True)
    limit = models.BigIntegerField(null=True)
    problem = models.TextField(blank=True, default="")
    lowest = models.JSONField(default=list)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("data_set",),
                condition=models.Q(state="running", other=None),
                name="data_set_evaluation_one_at_a_time",
            ),
            models.UniqueConstraint(
                fields=("data_set", "other"),
                condition=models.Q(state="running"),
                name="data_set_comparison_one_at_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.data_set} {self.created_at:%Y-%m-%d %H:%M}"


class DataSetPortion(models.Model):
    """A piece of an evaluation's work, which one task does; gone when the evaluation ends.

    kind: list the files; spill some of their rows into buckets; evaluate a bucket. row_groups:
    what is spilled, as evaluation/data_sets/working.py writes it. result: of a bucket, packed.
    size: bytes that were spilled. announced_at: when a worker was last told. leased_until: while
    one is at it.
    """

    class Kind(models.IntegerChoices):
        LIST = 1
        SPILL = 2
        BUCKET = 3

    evaluation = models.ForeignKey(
        DataSetEvaluation, on_delete=models.CASCADE, related_name="portions", db_index=False
    )
    kind = models.PositiveSmallIntegerField(choices=Kind.choices)
    number = models.PositiveIntegerField()
    row_groups = models.JSONField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    announced_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)
    size = models.BigIntegerField(default=0)
    result = models.BinaryField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("evaluation", "kind", "number"), name="data_set_portion_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.evaluation_id}: {self.get_kind_display()} {self.number}"


class DataSetFigures(models.Model):
    """The sums of an evaluation for one day and segment. Written once.

    day, segment: "" where the data set has no such column, and where it is null. sums: exact, of
    every measure, as touchstone.measures.exact packs them; of a comparison, those of
    touchstone/bulk/paired.py, and the queries are those that are in both.
    """

    evaluation = models.ForeignKey(
        DataSetEvaluation, on_delete=models.PROTECT, related_name="figures", db_index=False
    )
    day = models.CharField(max_length=40, blank=True)
    segment = models.CharField(max_length=200, blank=True)
    rows = models.BigIntegerField()
    queries = models.BigIntegerField()
    sums = models.BinaryField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("evaluation", "day", "segment"), name="data_set_figures_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.evaluation_id}: {self.day} {self.segment}"


class DataSetCanary(models.Model):
    """Rules for the means of a data set, held against every day, or every evaluation, of it.

    rules: about boards, as evaluation/canaries/rules.py writes them. segment: whose queries count;
    "" for all together. is_by_segment: each segment must keep the rules. days: how many days, or
    evaluations, before it are the baseline. fewest: queries; of fewer nothing is said. in_a_row:
    looks until people are told. after_evaluation: the newest when it was made; only later ones
    count. Nothing of it changes but that it is retired.
    """

    data_set = models.ForeignKey(DataSet, on_delete=models.PROTECT, related_name="canaries")
    rules = models.JSONField()
    segment = models.CharField(max_length=200, blank=True, default="")
    is_by_segment = models.BooleanField(default=False)
    days = models.PositiveSmallIntegerField()
    fewest = models.PositiveIntegerField()
    in_a_row = models.PositiveSmallIntegerField()
    after_evaluation = models.BigIntegerField()
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    retired_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(days__gte=1, in_a_row__gte=1)
                & (models.Q(segment="") | models.Q(is_by_segment=False)),
                name="data_set_canary_sane",
            ),
        )

    def __str__(self) -> str:
        return f"{self.data_set}: {', '.join(self.rules)}"


class DataSetLook(models.Model):
    """What a day of an evaluation said of a canary. Written once.

    day: "" where the data set has no such column, and where the evaluation failed. figures,
    findings: as evaluation/data_set_canaries/looking.py makes them.
    """

    canary = models.ForeignKey(
        DataSetCanary, on_delete=models.PROTECT, related_name="looks", db_index=False
    )
    evaluation = models.ForeignKey(
        DataSetEvaluation, on_delete=models.PROTECT, related_name="looks"
    )
    day = models.CharField(max_length=40, blank=True)
    figures = models.JSONField()
    findings = models.JSONField()
    looked_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("canary", "evaluation", "day"), name="data_set_look_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.canary_id} at {self.evaluation_id} {self.day}"
