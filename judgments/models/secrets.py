"""Secrets for other servers, and those that apps share with this one, encrypted."""

import uuid

from django.conf import settings
from django.db import models

from judgments.models.collections import Collection


class Secret(models.Model):
    """A password or API key that requests to one server carry, or the key of a second factor.

    collection: None for a secret of the installation. origin: scheme, host and port of that server,
    or whose second factor it is. ciphertext: as judgments/secrets/services.py makes it; empty once
    the value has been removed.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(
        Collection, null=True, on_delete=models.PROTECT, related_name="+"
    )
    origin = models.CharField(max_length=300)
    ciphertext = models.TextField()
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"secret for {self.origin}"
