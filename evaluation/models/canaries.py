"""What is watched of live rankers: canaries, their looks, incidents, and marks of deployments."""

from django.conf import settings
from django.db import models

from evaluation.models.data_sets import DataSetCanary, DataSetLook
from evaluation.models.live import LiveSource, Snapshot
from evaluation.models.runs import Ranker, Run
from judgments.models import JudgmentList, SavedSet

KINDS = ("quality", "coverage", "latency", "availability", "threshold", "rules", "board")


class Canary(models.Model):
    """A comparison with a pinned baseline after every snapshot of a ranker.

    measure: its canonical name. saved_set: whose queries count; all judged ones without it.
    margin, coverage_margin: the largest fall of the mean, and of the share of judged documents.
    latency_limit: seconds of the 95th percentile; None for no limit. in_a_row: looks until people
    are told. floor: the lowest mean; None for none. rules: about single queries and boards, as
    evaluation/canaries/rules.py writes them. after_snapshot: the newest snapshot when it was made;
    only later ones count. Nothing of it changes but that it is retired.
    """

    rules = models.JSONField(default=list)  # above the field `list`, which hides the type
    source = models.ForeignKey(LiveSource, on_delete=models.PROTECT, related_name="canaries")
    list = models.ForeignKey(JudgmentList, on_delete=models.PROTECT, related_name="+")
    measure = models.CharField(max_length=200)
    saved_set = models.ForeignKey(
        SavedSet, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    baseline = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    margin = models.FloatField()
    coverage_margin = models.FloatField()
    latency_limit = models.FloatField(null=True)
    floor = models.FloatField(null=True)
    in_a_row = models.PositiveSmallIntegerField()
    after_snapshot = models.BigIntegerField()
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    retired_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(margin__gte=0, coverage_margin__gte=0, in_a_row__gte=1),
                name="canary_limits_sane",
            ),
        )

    def __str__(self) -> str:
        return f"{self.source}: {self.measure}"


class CanaryLook(models.Model):
    """What one snapshot said of a canary. Written once.

    version: of the list. figures, findings: as evaluation/canaries/looking.py makes them.
    """

    canary = models.ForeignKey(
        Canary, on_delete=models.PROTECT, related_name="looks", db_index=False
    )
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="looks")
    version = models.PositiveIntegerField()
    figures = models.JSONField()
    findings = models.JSONField()
    looked_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("canary", "snapshot"), name="canary_look_once"),
        )

    def __str__(self) -> str:
        return f"{self.canary_id} at {self.snapshot_id}"


class Incident(models.Model):
    """Something that people were told of, once; and that it is over.

    Of a live ranker it is the canary's, and looks opened it and ended it; of a data set all three
    are in the columns of their own.
    """

    canary = models.ForeignKey(
        Canary, null=True, on_delete=models.PROTECT, related_name="incidents"
    )
    data_set_canary = models.ForeignKey(
        DataSetCanary, null=True, on_delete=models.PROTECT, related_name="incidents"
    )
    kind = models.CharField(max_length=16)
    opened_at = models.DateTimeField()
    opened_by = models.ForeignKey(CanaryLook, null=True, on_delete=models.PROTECT, related_name="+")
    opened_by_day = models.ForeignKey(
        DataSetLook, null=True, on_delete=models.PROTECT, related_name="+"
    )
    recovered_at = models.DateTimeField(null=True)
    recovered_by = models.ForeignKey(
        CanaryLook, null=True, on_delete=models.PROTECT, related_name="+"
    )
    recovered_by_day = models.ForeignKey(
        DataSetLook, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("canary", "kind"),
                condition=models.Q(recovered_at__isnull=True),
                name="incident_one_at_a_time",
            ),
            models.UniqueConstraint(
                fields=("data_set_canary", "kind"),
                condition=models.Q(recovered_at__isnull=True),
                name="incident_of_data_set_one_at_a_time",
            ),
            models.CheckConstraint(condition=models.Q(kind__in=KINDS), name="incident_kind_known"),
            models.CheckConstraint(
                condition=models.Q(
                    canary__isnull=False,
                    opened_by__isnull=False,
                    data_set_canary=None,
                    opened_by_day=None,
                    recovered_by_day=None,
                )
                | models.Q(
                    canary=None,
                    opened_by=None,
                    recovered_by=None,
                    data_set_canary__isnull=False,
                    opened_by_day__isnull=False,
                ),
                name="incident_of_one_canary",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.canary_id or self.data_set_canary_id}"


class Deployment(models.Model):
    """That something was deployed, as a CI job says it: a mark on a ranker's time line."""

    ranker = models.ForeignKey(Ranker, on_delete=models.PROTECT, related_name="deployments")
    name = models.CharField(max_length=200)
    at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.name
