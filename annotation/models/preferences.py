"""How a person likes to work."""

from django.conf import settings
from django.db import models


class LabellingPreferences(models.Model):
    """A person's keys and view of the labelling page, on every machine.

    keys: {action: key}, only those that differ from the usual ones; annotation/pages/keys.py.
    text_size: in percent.
    """

    class Width(models.TextChoices):
        NARROW = "narrow", "narrow"
        NORMAL = "normal", "normal"
        WIDE = "wide", "wide"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", primary_key=True
    )
    keys = models.JSONField(default=dict)
    text_size = models.PositiveSmallIntegerField(default=100)
    line_width = models.CharField(max_length=8, choices=Width.choices, default=Width.NORMAL)
    marks_terms = models.BooleanField(default=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(text_size__in=(85, 100, 115, 130, 150, 175, 200)),
                name="preferences_text_size_known",
            ),
            models.CheckConstraint(
                condition=models.Q(line_width__in=("narrow", "normal", "wide")),
                name="preferences_line_width_known",
            ),
        )

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"
