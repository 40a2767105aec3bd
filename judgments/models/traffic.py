"""Traffic frames: every query that could be judged, with its searches; and samples of them."""

from django.conf import settings
from django.db import models

from judgments.models.collections import Collection, Query
from judgments.models.lists import JudgmentList
from judgments.models.logs import UploadedLog


class TrafficFrame(UploadedLog):
    """A traffic log: millions of queries that are no rows. The queries lie in blocks.

    digest: `touchstone.sampling.frames.frame_digest`, of the queries with segment and searches.
    segments: their names, by the codes that the blocks have; [""] where the log has none.
    histogram: two int64 arrays, packed and compressed: every number of searches that a query has,
    and how many queries have it. of_list: the list whose queries these are, each with one search,
    made to draw some of them for people; null for traffic.
    """

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="frames", db_index=False
    )
    queries = models.BigIntegerField()
    searches = models.BigIntegerField()
    segments = models.JSONField()
    histogram = models.BinaryField()
    of_list = models.ForeignKey(
        JudgmentList, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "number"), name="frame_number_once"),
            models.UniqueConstraint(fields=("collection", "digest"), name="frame_content_once"),
        )

    def __str__(self) -> str:
        return f"{self.collection_id} traffic {self.number}"


class TrafficBlock(models.Model):
    """65,536 queries of a frame, or the rest, packed by judgments/traffic/packing.py.

    texts: the queries in UTF-8, a line each. searches: int64. segments: uint16, places in the
    frame's segments; empty where it has one. All compressed with zlib.
    """

    frame = models.ForeignKey(
        TrafficFrame, on_delete=models.PROTECT, related_name="blocks", db_index=False
    )
    position = models.PositiveIntegerField()
    texts = models.BinaryField()
    searches = models.BinaryField()
    segments = models.BinaryField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("frame", "position"), name="traffic_block_once"),
        )

    def __str__(self) -> str:
        return f"{self.frame_id} block {self.position}"


class SamplePlan(models.Model):
    """A sample of a frame, to be judged on a list. Drawn once; the same seed draws the same.

    refresh: how it goes with the list's newest sample before it by the same seed, as
    judgments/samples/refreshing.py has it; null for a first one.
    design: what was asked for, and the strata with what was drawn of each, as
    judgments/samples/designs.py has them. digest: SHA-256 over the frame's, the seed, the design
    and every drawn query with its stratum and probability.
    """

    list = models.ForeignKey(JudgmentList, on_delete=models.PROTECT, related_name="plans")
    frame = models.ForeignKey(TrafficFrame, on_delete=models.PROTECT, related_name="plans")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    seed = models.BigIntegerField()
    design = models.JSONField()
    size = models.PositiveIntegerField()
    refresh = models.JSONField(null=True)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("list", "number"), name="plan_number_once"),
            models.CheckConstraint(condition=models.Q(seed__gte=0), name="plan_seed_from_0"),
        )

    def __str__(self) -> str:
        return f"{self.list_id} sample {self.number}"


class SampledQuery(models.Model):
    """A query that a plan drew.

    row: its place in the frame. stratum: a place in the design's strata. pi: its inclusion
    probability. searches: in the frame.
    """

    plan = models.ForeignKey(
        SamplePlan, on_delete=models.PROTECT, related_name="members", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    row = models.BigIntegerField()
    stratum = models.PositiveSmallIntegerField()
    pi = models.FloatField()
    searches = models.BigIntegerField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("plan", "query"), name="sampled_query_once"),
            models.CheckConstraint(
                condition=models.Q(pi__gt=0, pi__lte=1), name="sampled_query_pi_probability"
            ),
        )

    def __str__(self) -> str:
        return f"{self.plan_id} {self.query_id}"


class ZeroResultQuery(models.Model):
    """A lead said that rankers were asked this drawn query, and that none returns anything.

    It needs no judgment, and counts with the value of an empty ranking, unless some run returns
    documents for it after all.
    """

    plan = models.ForeignKey(
        SamplePlan, on_delete=models.PROTECT, related_name="zero_results", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("plan", "query"), name="zero_result_query_once"),
        )

    def __str__(self) -> str:
        return f"{self.plan_id} {self.query_id}"


class QueryOrigin(models.Model):
    """How a query came to be judged on a list, the first time that it came this way.

    A judged query without any was imported with its grades.
    """

    class Origin(models.TextChoices):
        SAMPLE = "sample", "drawn by a sample"
        JUDGE_NEXT = "judge_next", "added by Judge next"
        CHOSEN = "chosen", "chosen by hand"

    list = models.ForeignKey(
        JudgmentList, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    origin = models.CharField(max_length=16, choices=Origin.choices)
    at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("list", "query", "origin"), name="query_origin_once"),
        )

    def __str__(self) -> str:
        return f"{self.list_id} {self.query_id}: {self.origin}"
