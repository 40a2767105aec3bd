"""Budgets: how much may be spent on what, and how much was when a worker looked last."""

from django.db import models

from judgments.models.collections import Collection


class Budget(models.Model):
    """A limit on what evidence for a collection may cost; changes of it are in the audit log.

    subject: what it is for, named by the app that spends: "collection", "campaign:7". limit: in
    labels, tokens of a language model, or hundredths of the installation's currency. used: of it,
    as `used_in` counted: a month such as "2026-11", or "" for all time. stops: nothing more is
    begun once it is used up.
    """

    class Unit(models.TextChoices):
        LABELS = "labels", "labels"
        MONEY = "money", "money"
        TOKENS = "tokens", "tokens"

    class Period(models.TextChoices):
        TOTAL = "total", "in total"
        MONTH = "month", "a month"

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="budgets")
    subject = models.CharField(max_length=64)
    unit = models.CharField(max_length=8, choices=Unit.choices)
    period = models.CharField(max_length=8, choices=Period.choices)
    limit = models.PositiveBigIntegerField()
    warn_percent = models.PositiveSmallIntegerField(default=80)
    stops = models.BooleanField(default=True)
    used = models.PositiveBigIntegerField(default=0)
    used_in = models.CharField(max_length=7, blank=True, default="")
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ("collection", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("collection", "subject", "unit", "period"), name="budget_once"
            ),
            models.CheckConstraint(
                condition=models.Q(unit__in=("labels", "money", "tokens")), name="budget_unit_known"
            ),
            models.CheckConstraint(
                condition=models.Q(period__in=("total", "month")), name="budget_period_known"
            ),
            models.CheckConstraint(
                condition=models.Q(warn_percent__gte=1, warn_percent__lte=100),
                name="budget_warns_from_1_to_100_percent",
            ),
        )

    def __str__(self) -> str:
        return f"{self.subject}: {self.limit} {self.unit}"
