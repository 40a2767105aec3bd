"""What is searched: a collection with its queries and documents."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Length

models.CharField.register_lookup(Length)
models.TextField.register_lookup(Length)

SLUG = RegexValidator(
    r"\A[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z",
    "Use lower-case letters, digits and hyphens, at most 64, beginning and ending without one.",
)


def check_free_slug(slug: str) -> None:
    """Refuse (ValidationError) what is no slug, and the word whose address makes a new one."""
    SLUG(slug)
    if slug == "new":
        raise ValidationError("“new” is reserved. Choose another short name.")


class Collections(models.Manager["Collection"]):
    """Those that were not purged."""

    def get_queryset(self) -> models.QuerySet["Collection"]:
        return super().get_queryset().filter(purged_at=None)


class Collection(models.Model):
    """A set of documents and the queries asked of it; everything else hangs below one.

    `objects` holds those that are there; `ever` also those that were purged: the row stays,
    emptied, because sealed audit entries hold its number.

    picture_fields: [{"field": "image", "size": "medium"}, …], in the order to show them in.
    archived_at: since when it is hidden from lists and can't be changed.
    purged_at: since when nothing is left of it but this row.
    """

    slug = models.CharField(max_length=64, unique=True, validators=[SLUG])
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="")
    picture_fields = models.JSONField(default=list, blank=True)
    archived_at = models.DateTimeField(null=True)
    purged_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = Collections()
    ever: "models.Manager[Collection]" = models.Manager()

    class Meta:
        ordering = ("slug",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(purged_at=None) | models.Q(archived_at__isnull=False),
                name="purged_is_archived",
            ),
        )

    def __str__(self) -> str:
        return self.slug


class Query(models.Model):
    """An information need (TREC: topic). A stub where only its id is known."""

    # the unique constraint's index serves it; a second one lures PostgreSQL, before it has
    # statistics, into reading the whole collection for every id that is looked up
    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="queries", db_index=False
    )
    qid = models.CharField(max_length=200)
    text = models.TextField(blank=True, default="")
    description = models.TextField(blank=True, default="")
    segment = models.CharField(max_length=200, blank=True, default="")
    weight = models.FloatField(default=1.0)
    is_stub = models.BooleanField(default=False)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "qid"), name="query_id_once"),
            models.CheckConstraint(
                # also refuses NaN and infinity, which both databases would keep
                condition=models.Q(weight__gt=0, weight__lt=1e12),
                name="query_weight_positive_finite",
            ),
        )
        indexes = (models.Index(fields=("collection", "segment"), name="query_segment"),)

    def __str__(self) -> str:
        return self.qid


class Document(models.Model):
    """A thing that is ranked. A stub where only its id is known."""

    # 32 bits on purpose: rankings pack these ids as int32
    id = models.AutoField(primary_key=True)
    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="documents", db_index=False
    )
    docid = models.CharField(max_length=200)
    title = models.TextField(blank=True, default="")
    body = models.TextField(blank=True, default="")
    url = models.TextField(blank=True, default="")
    fields = models.JSONField(default=dict, blank=True)
    # of the field `html`, as it may be shown; follows from it, so it is not in the hash
    clean_html = models.TextField(blank=True, default="", db_default="")
    content_hash = models.CharField(max_length=64)
    is_stub = models.BooleanField(default=False)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "docid"), name="document_id_once"),
        )

    def __str__(self) -> str:
        return self.docid
