"""Click logs: what was shown and clicked, counted; no event and no person is kept."""

from django.db import models

from judgments.models.collections import Collection
from judgments.models.lists import JudgmentList, JudgmentVersion
from judgments.models.logs import UploadedLog


class ClickLog(UploadedLog):
    """An imported click log: a ledger of its records, and their evidence in blocks.

    applications: for each, as judgments/clicks/applications.py has it: its ledger, its result pages
    and its position bias. queries, documents: how many different ones the evidence has;
    known_queries, known_documents: of those, how many the collection has.
    digest: SHA-256 over the ledger and the evidence.
    examination: of each position, where it is known; null where it has to be estimated.
    """

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="click_logs", db_index=False
    )
    records = models.BigIntegerField()
    impressions = models.BigIntegerField()
    clicks = models.BigIntegerField()
    queries = models.BigIntegerField()
    documents = models.BigIntegerField()
    known_queries = models.BigIntegerField()
    known_documents = models.BigIntegerField()
    applications = models.JSONField()
    examination = models.JSONField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "number"), name="click_log_number_once"),
            models.UniqueConstraint(fields=("collection", "digest"), name="click_log_content_once"),
        )

    def __str__(self) -> str:
        return f"{self.collection_id} clicks {self.number}"


class ClickBlock(models.Model):
    """65,536 rows of a log's evidence, or the rest, packed by judgments/clicks/packing.py.

    A row is an application, query, document and rank with its impressions and clicks: of events
    by the rank as it was logged, of result pages by the position from 1.
    """

    class Kind(models.TextChoices):
        EVENTS = "events", "events"
        PAGES = "pages", "result pages"

    log = models.ForeignKey(
        ClickLog, on_delete=models.PROTECT, related_name="blocks", db_index=False
    )
    kind = models.CharField(max_length=8, choices=Kind.choices)
    position = models.PositiveIntegerField()
    rows = models.BinaryField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("log", "kind", "position"), name="click_block_once"),
        )

    def __str__(self) -> str:
        return f"{self.log_id} {self.kind} block {self.position}"


class ClickGrading(models.Model):
    """A version whose grades a log's clicks made: by which score, and its agreement with people.

    fewest: impressions that a pair needed. basis, basis_version: the people's grades that the
    score was binned against. figures: agreement with them, as judgments/clicks/scoring.py has it.
    """

    version = models.OneToOneField(
        JudgmentVersion, on_delete=models.PROTECT, related_name="click_grading"
    )
    log = models.ForeignKey(ClickLog, on_delete=models.PROTECT, related_name="gradings")
    score = models.CharField(max_length=16)
    fewest = models.PositiveIntegerField()
    basis = models.ForeignKey(JudgmentList, on_delete=models.PROTECT, related_name="+")
    basis_version = models.PositiveIntegerField()
    figures = models.JSONField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.version_id} by clicks"


class InterleavingExperiment(UploadedLog):
    """An interleaving log's outcome; of its pages and users nothing is kept.

    rankers: the two names; outcome is about the first. pages: all that were interleaved.
    without_credit: clicks that nothing says the credit of. outcome: as
    judgments/clicks/interleaving.py has it. digest: SHA-256 over the credits of the pages.
    """

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="interleavings", db_index=False
    )
    rankers = models.JSONField()
    pages = models.BigIntegerField()
    without_credit = models.BigIntegerField()
    outcome = models.JSONField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("collection", "number"), name="interleaving_number_once"
            ),
            models.UniqueConstraint(
                fields=("collection", "digest"), name="interleaving_content_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.collection_id} interleaving {self.number}"
