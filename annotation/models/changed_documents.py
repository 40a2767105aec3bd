"""When the judgments of a list were last compared with the texts of their documents."""

from django.db import models

from judgments.models import JudgmentList


class DocumentCheck(models.Model):
    """Of a list that treats judgments on changed documents as unjudged.

    loaded: the newest upload of documents that was seen, by its audit entry; 0 for none. head: the
    list's newest version at that time.
    """

    list = models.OneToOneField(JudgmentList, on_delete=models.PROTECT, related_name="+")
    loaded = models.BigIntegerField()
    head = models.PositiveIntegerField()
    checked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.list_id} at {self.loaded}"
