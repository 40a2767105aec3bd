"""What is to be judged: pairs, and the pools that brought them in."""

from django.conf import settings
from django.db import models

from annotation.models.campaigns import Campaign
from judgments.models import Document, JudgmentList, Query, SamplePlan, SavedSet


class Pair(models.Model):
    """A query and a document in a campaign.

    label_seq rises by one under this row's lock with every label or adjudication;
    consolidated_seq is the value that the last consolidation had seen. Ahead means due.
    committed_seq is the value whose conclusion stands in the list: the same in a live campaign,
    behind in one whose grades still wait for approval.
    grade: what consolidation last concluded (null: nothing yet, or a tie); for pages only.
    is_open mirrors the campaign's state, so that the database can see to it that a pair of a
    list is open in one campaign at a time.
    """

    class State(models.TextChoices):
        OPEN = "open", "to be labelled"
        COMPLETE = "complete", "complete"
        TIED = "tied", "needs adjudication"
        ADJUDICATED = "adjudicated", "adjudicated"

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="pairs")
    list = models.ForeignKey(JudgmentList, on_delete=models.PROTECT, related_name="+")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    document = models.ForeignKey(
        Document, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    is_open = models.BooleanField(default=False)
    state = models.CharField(max_length=12, choices=State.choices, default=State.OPEN)
    grade = models.SmallIntegerField(null=True)
    label_seq = models.PositiveIntegerField(default=0)
    consolidated_seq = models.PositiveIntegerField(default=0)
    committed_seq = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("campaign", "query", "document"), name="pair_once_in_campaign"
            ),
            models.UniqueConstraint(
                fields=("list", "query", "document"),
                condition=models.Q(is_open=True),
                name="pair_open_once_in_list",
            ),
            models.CheckConstraint(
                condition=models.Q(consolidated_seq__lte=models.F("label_seq")),
                name="pair_consolidated_not_ahead",
            ),
            models.CheckConstraint(
                condition=models.Q(committed_seq__lte=models.F("consolidated_seq")),
                name="pair_committed_not_ahead",
            ),
        )
        indexes = (
            models.Index(
                fields=("campaign",),
                condition=models.Q(label_seq__gt=models.F("consolidated_seq")),
                name="pair_due",
            ),
            models.Index(fields=("campaign", "state"), name="pair_state"),
        )

    def __str__(self) -> str:
        return f"{self.query_id} {self.document_id}"


class Pool(models.Model):
    """One act of gathering pairs: by what strategy, from which runs, with which seed.

    runs: [{"ranker": slug, "run": name}, …], plain values.
    """

    class Strategy(models.TextChoices):
        DEPTH_K = "depth", "the top of each run"
        SAMPLE = "sample", "a uniform sample of the top of each run"
        NEXT = "next", "pairs that could change the order of the runs"

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="pools")
    strategy = models.CharField(max_length=16, choices=Strategy.choices)
    depth = models.PositiveIntegerField()
    only_unjudged = models.BooleanField(default=False)
    sample_size = models.PositiveIntegerField(null=True)
    seed = models.BigIntegerField()
    runs = models.JSONField(default=list)
    # of these queries alone; of every query where there is none
    saved_set = models.ForeignKey(
        SavedSet, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    # of the queries that this sample drew, alone
    plan = models.ForeignKey(
        SamplePlan, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    pair_count = models.PositiveIntegerField()
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.strategy} {self.depth}"


class SnapshotPool(models.Model):
    """A pool that waits for snapshots of live rankers, of which evaluation knows.

    snapshots: their public ids. message: what became of it, in words.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="snapshot_pools")
    snapshots = models.JSONField(default=list)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    message = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("campaign",),
                condition=models.Q(state="waiting"),
                name="snapshot_pool_one_at_a_time",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=("waiting", "done", "failed")),
                name="snapshot_pool_state_known",
            ),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.state}"


class PoolEntry(models.Model):
    """Why a pair is in a campaign. sources: [[ranker, run, rank], …]; annotators never get it."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="entries")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="entries")
    sources = models.JSONField(default=list)

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("pool", "pair"), name="pool_entry_once"),)

    def __str__(self) -> str:
        return f"{self.pool_id} {self.pair_id}"
