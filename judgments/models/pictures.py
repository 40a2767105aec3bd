"""Pictures of documents: where each comes from, what became of it, and its stored copy."""

import uuid

from django.db import models

from judgments.models.collections import Collection, Document


class Picture(models.Model):
    """A picture that documents of a collection name.

    source: an address, `picture:<sha256>` for one that came inside a document, or a file's name.
    key: SHA-256 of the whole source, as 64 hexadecimal digits. public_id: names the stored copy in
    its address; a new one each time that another copy is stored. reason: why it was refused.
    status: of the answer of the picture's server, where that was the reason. attempts: counted
    before each, so that a picture that ends its worker is not tried for ever. bytes: that it takes
    in the store.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        MISSING = "missing", "not uploaded"
        STORED = "stored", "stored"
        REFUSED = "refused", "refused"

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="pictures", db_index=False
    )
    key = models.CharField(max_length=64)
    source = models.CharField(max_length=2000)
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    state = models.CharField(max_length=8, choices=State.choices)
    reason = models.CharField(max_length=32, blank=True, default="")
    status = models.PositiveSmallIntegerField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    width = models.PositiveSmallIntegerField(default=0)
    height = models.PositiveSmallIntegerField(default=0)
    bytes = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "key"), name="picture_once"),
            models.CheckConstraint(
                condition=models.Q(state__in=("waiting", "missing", "stored", "refused")),
                name="picture_state_known",
            ),
        )
        indexes = (
            models.Index(
                fields=("collection", "attempts", "id"),
                condition=models.Q(state="waiting"),
                name="picture_waiting",
            ),
        )

    def __str__(self) -> str:
        return self.source


class PictureContent(models.Model):
    """The bytes of a stored picture, re-encoded; of a waiting one, as they were uploaded."""

    picture = models.OneToOneField(
        Picture, on_delete=models.CASCADE, primary_key=True, related_name="content"
    )
    data = models.BinaryField()

    class Meta:
        ordering = ("picture",)

    def __str__(self) -> str:
        return str(self.picture_id)


class DocumentPicture(models.Model):
    """That a field of a document names a picture. position: in the field, from 0."""

    # the constraint's index begins with the document
    document = models.ForeignKey(
        Document, on_delete=models.PROTECT, related_name="pictures", db_index=False
    )
    field = models.CharField(max_length=200)
    position = models.PositiveSmallIntegerField()
    picture = models.ForeignKey(Picture, on_delete=models.PROTECT, related_name="documents")

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("document", "field", "position"), name="document_picture_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.document_id} {self.field} {self.position}"
