"""Reading budgets."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from judgments.budgets.rules import Standing, in_words, month_of, standing_of
from judgments.models import Budget, Collection


@dataclass(frozen=True)
class BudgetShown:
    """A budget with how far it is used. used, limit, left: in words."""

    period: str
    standing: Standing
    used: str
    limit: str
    left: str
    stops: bool


def list_budgets(collection: Collection, subject: str) -> list[Budget]:
    """The budgets of a subject."""
    return list(Budget.objects.filter(collection=collection, subject=subject).order_by("pk"))


def show_budgets(budgets: Iterable[Budget], *, each: int, now: datetime) -> list[BudgetShown]:
    """Budgets as pages show them. each: what a label costs; 0 where no one said."""
    return [_show(budget, each, now) for budget in budgets]


def used_now(budget: Budget, now: datetime) -> int:
    """What is used of a budget, as last counted; of a new month nothing is yet."""
    is_month = budget.period == Budget.Period.MONTH
    return 0 if is_month and budget.used_in != month_of(now) else budget.used


def _show(budget: Budget, each: int, now: datetime) -> BudgetShown:
    step = each if budget.unit == Budget.Unit.MONEY else 1
    result = standing_of(
        limit=budget.limit, used=used_now(budget, now), each=step, warn_percent=budget.warn_percent
    )
    currency = settings.CURRENCY
    return BudgetShown(
        period=budget.get_period_display(),
        standing=result,
        used=in_words(result.used, budget.unit, currency),
        limit=in_words(budget.limit, budget.unit, currency),
        left=in_words(result.left, budget.unit, currency),
        stops=budget.stops,
    )
