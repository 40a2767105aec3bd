"""Judgment lists, versioned like code: one temporal table holds every version of every list."""

from django.conf import settings
from django.db import models

from judgments.models.collections import SLUG, Collection, Document, Query
from judgments.models.side_texts import side_text_key, text_of


class Takes(models.TextChoices):
    """Where a list's grades come from. People's include those that were imported, and clicks'."""

    PEOPLE = "people", "people only"
    ELSEWHERE = "machine_elsewhere", "people where there are, a machine judge elsewhere"
    MACHINE = "machine", "a machine judge only"


def no_signals() -> list[list[str | int]]:
    """Of a version whose grades were grades already."""
    return []


class JudgmentList(models.Model):
    """What a collection's documents are worth for its queries, on one grade scale.

    `head` is the newest version's number; 0 before the first commit. archived_at: since when it is
    hidden from lists and can't be changed. changed_documents: what becomes of judgments whose
    labels were all given on another text than the document has today: they are kept, or treated
    as unjudged in a version of their own. takes, takes_from: what its next version takes; see
    `JudgmentVersion`. unfinished, unfinished_at: whose import is writing rows of the next version
    (judgments/versions/parts.py), and its last sign of life; null: no one's.
    """

    class ChangedDocuments(models.TextChoices):
        KEPT = "kept", "kept"
        UNJUDGED = "unjudged", "treated as unjudged"

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="lists")
    slug = models.CharField(max_length=64, validators=[SLUG])
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="")
    scale = models.JSONField()
    head = models.PositiveIntegerField(default=0)
    archived_at = models.DateTimeField(null=True)
    changed_documents = models.CharField(
        max_length=16,
        choices=ChangedDocuments.choices,
        default=ChangedDocuments.KEPT,
        db_default=ChangedDocuments.KEPT,
    )
    takes = models.CharField(
        max_length=24, choices=Takes.choices, default=Takes.PEOPLE, db_default=Takes.PEOPLE
    )
    takes_from = models.JSONField(null=True)
    unfinished = models.UUIDField(null=True, editable=False)
    unfinished_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "slug"), name="list_slug_once"),
        )

    def __str__(self) -> str:
        return f"{self.collection.slug}/{self.slug}"


class JudgmentVersion(models.Model):
    """One immutable state of a list: who made it, when, why, and what it changed.

    signals: for one whose grades were signals in a file, what each meant, as [["E", 3], …];
    `>=60` begins a range of numbers. Empty for any other.

    takes: where its grades come from. takes_from: the machine judge, as plain values:
    {"judge": "Model", "revision": 2, "key": "3.2", "list": "main"}: the revision's labels on the
    pairs of that list's campaigns; null without one, and for a version of before that was chosen.
    """

    class Source(models.TextChoices):
        LABELS = "labels", "labels"
        IMPORT = "import", "import"
        ADJUDICATION = "adjudication", "adjudication"
        REVERT = "revert", "revert"
        QUERIES = "queries", "queries"
        CHANGED = "changed", "changed documents"
        CLICKS = "clicks", "clicks"
        MACHINE = "machine", "machine judge"

    list = models.ForeignKey(
        JudgmentList, on_delete=models.PROTECT, related_name="versions", db_index=False
    )
    number = models.PositiveIntegerField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()
    source = models.CharField(max_length=16, choices=Source.choices)
    reason_text = side_text_key()
    added = models.PositiveIntegerField()
    changed = models.PositiveIntegerField()
    removed = models.PositiveIntegerField()
    signals = models.JSONField(default=no_signals)
    takes = models.CharField(
        max_length=24, choices=Takes.choices, default=Takes.PEOPLE, db_default=Takes.PEOPLE
    )
    takes_from = models.JSONField(null=True)

    class Meta:
        ordering = ("list", "number")
        constraints = (
            models.UniqueConstraint(fields=("list", "number"), name="version_number_once"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="version_number_from_1"),
        )

    def __str__(self) -> str:
        return f"{self.list_id} v{self.number}"

    @property
    def reason(self) -> str:
        """Why it was made, in words; empty once they are erased."""
        return text_of(self, "reason_text")


class Judgment(models.Model):
    """One grade and the versions it holds in: `since` <= v < `until` (null: still).

    evidence: plain values for those who ask why, e.g. {"votes": {"3": 2}, "labels": [ids],
    "guideline": 4}; never a reference upwards. Of a grade that comes from clicks, it has the key
    "clicks" (judgments/versions/click_grades.py), and from a machine judge "machine".

    While a large import is written in parts there are rows that begin or end in the version after
    the list's head. So readers name a version, or filter by `at_head` or `up_to_head`
    (judgments/versions/queries.py); `until` alone says nothing.
    """

    # The constraints' indexes begin with the list and the query. To check three keys for each row
    # took PostgreSQL two thirds of an import; all writers check their pairs at once instead
    # (judgments/versions/services.py), and `verify` those that are stored. No row that these name
    # is ever deleted, but with its collection.
    list = models.ForeignKey(
        JudgmentList,
        on_delete=models.PROTECT,
        related_name="judgments",
        db_index=False,
        db_constraint=False,
    )
    query = models.ForeignKey(
        Query, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    document = models.ForeignKey(
        Document, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    grade = models.SmallIntegerField()
    since = models.PositiveIntegerField()
    until = models.PositiveIntegerField(null=True)
    evidence = models.JSONField(default=dict)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("list", "query", "document"),
                condition=models.Q(until__isnull=True),
                name="judgment_current_once",
            ),
            models.UniqueConstraint(
                fields=("list", "query", "document", "since"), name="judgment_since_once"
            ),
            models.CheckConstraint(
                condition=models.Q(grade__gte=-128, grade__lte=127), name="judgment_grade_one_byte"
            ),
            models.CheckConstraint(
                condition=models.Q(since__gte=1)
                & (models.Q(until__isnull=True) | models.Q(until__gt=models.F("since"))),
                name="judgment_since_before_until",
            ),
        )
        indexes = (
            models.Index(fields=("list", "since"), name="judgment_since"),
            models.Index(
                fields=("list", "until"),
                condition=models.Q(until__isnull=False),
                name="judgment_until",
            ),
        )

    def __str__(self) -> str:
        return f"{self.query_id} {self.document_id} {self.grade}"


class QueryMetadataHistory(models.Model):
    """A query's segment and weight in versions `since` <= v < `until` of a list, as they were.

    Written when they change, for the lists that have judged the query. Where no row holds,
    `Query` says what they are: a collection whose queries never change has no rows.
    """

    # the constraints' indexes begin with the list
    list = models.ForeignKey(
        JudgmentList, on_delete=models.PROTECT, related_name="past_traits", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    segment = models.CharField(max_length=200, blank=True)
    weight = models.FloatField()
    since = models.PositiveIntegerField()
    until = models.PositiveIntegerField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("list", "query", "since"), name="traits_since_once"),
            models.UniqueConstraint(fields=("list", "until", "query"), name="traits_until_once"),
            models.CheckConstraint(
                condition=models.Q(since__gte=1, until__gt=models.F("since")),
                name="traits_since_before_until",
            ),
            models.CheckConstraint(
                condition=models.Q(weight__gt=0, weight__lt=1e12),
                name="traits_weight_positive_finite",
            ),
        )

    def __str__(self) -> str:
        return f"{self.query_id} {self.segment} {self.weight:g}"


class Release(models.Model):
    """A version with a name and a digest over its canonical qrels: what a paper cites.

    quality, quality_tone: the verdict on the list's labels when it was released, and its tone
    ("good", "warn", "bad"); empty where there was none.
    """

    list = models.ForeignKey(JudgmentList, on_delete=models.PROTECT, related_name="releases")
    version = models.ForeignKey(JudgmentVersion, on_delete=models.PROTECT, related_name="releases")
    name = models.CharField(max_length=64, validators=[SLUG])
    sha256 = models.CharField(max_length=64)
    notes_text = side_text_key()
    quality = models.TextField(blank=True, default="", db_default="")
    quality_tone = models.CharField(max_length=8, blank=True, default="", db_default="")
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("list", "name"), name="release_name_once"),)

    def __str__(self) -> str:
        return self.name

    @property
    def notes(self) -> str:
        """The notes of its author; empty once they are erased."""
        return text_of(self, "notes_text")
