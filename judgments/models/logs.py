"""What uploaded logs of a collection have in common."""

from django.conf import settings
from django.db import models


class UploadedLog(models.Model):
    """A log of a collection, by its number there; each content once.

    digest: of the content. is_simulated: it was made up, as the demo's are.
    """

    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    is_simulated = models.BooleanField(default=False)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        abstract = True
