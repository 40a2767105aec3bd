"""What people wrote, beside the facts that it was written about."""

from typing import Any

from django.db import models


class SideText(models.Model):
    """A text that a fact names by its salted digest; the one part of a fact that can be erased.

    digest: SHA-256 over the salt and the text, in hexadecimal digits. It is all that the fact
    holds, so deleting this row changes no fact, and without the salt no one can try which text
    it was of. A row whose text was changed no longer has its own digest, which `verify` names.
    salt: 128 random bits, in hexadecimal digits.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    salt = models.CharField(max_length=32)
    text = models.TextField()

    class Meta:
        ordering = ("digest",)

    def __str__(self) -> str:
        return self.digest[:12]


def side_text_key() -> Any:
    """The column of a fact that names a side text; null where nothing was written.

    Without a constraint, because the text may go and the fact stays as it is.
    """
    return models.ForeignKey(
        SideText,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )


def text_of(fact: models.Model, key: str) -> str:
    """The text that the fact's column `key` names; empty where there is none, or none any more."""
    try:
        side: SideText | None = getattr(fact, key)
    except SideText.DoesNotExist:
        return ""
    return side.text if side else ""
