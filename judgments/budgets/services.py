"""Setting budgets, and noting what was used of them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db import transaction

from judgments.audit import services as audit
from judgments.budgets.rules import MOST, Standing, in_words, month_of, standing_of
from judgments.messages.services import list_leads, notify
from judgments.models import Budget
from judgments.permissions import Access, check_may_lead
from touchstone.errors import DomainError

COLLECTION: Final = "collection"
Limits = Mapping[tuple[str, str], int | None]  # by unit and period; None: no limit


class BudgetRefused(DomainError):
    """There can't be such a budget."""


def set_budgets(
    *,
    access: Access,
    subject: str,
    name: str,
    limits: Limits,
    warn_percent: int,
    stops: bool,
    at: datetime,
) -> None:
    """Set or end budgets of a subject; for leads. What is not named stays.

    name: of the subject, for the audit log. Raises BudgetRefused for a limit or a warning out of
    bounds.
    """
    check_may_lead(access)
    if not 1 <= warn_percent <= 100:
        raise BudgetRefused("warning_invalid", "A warning comes at 1 to 100 percent.")
    if any(limit is not None and not 1 <= limit <= MOST for limit in limits.values()):
        raise BudgetRefused("limit_invalid", "A limit must be above 0, and at most ten trillion.")
    with transaction.atomic():
        own_qs = Budget.objects.filter(collection=access.collection, subject=subject)
        before = _worded(own_qs.select_for_update(no_key=True))
        for (unit, period), limit in limits.items():
            if limit is None:
                own_qs.filter(unit=unit, period=period).delete()
                continue
            Budget.objects.update_or_create(
                collection=access.collection,
                subject=subject,
                unit=unit,
                period=period,
                defaults={
                    "limit": limit,
                    "warn_percent": warn_percent,
                    "stops": stops,
                    "changed_at": at,
                },
            )
        after = _worded(own_qs.all())
        if before != after:
            audit.record_by(access, at, "budget.changed", name, before=before, after=after)


def note_use(
    *,
    budget: Budget,
    used: int,
    each: int,
    name: str,
    page: tuple[str, *tuple[str, ...]],
    at: datetime,
) -> Standing:
    """Keep what was used of a budget, and tell leads once when it is nearly or wholly used.

    used: in the budget's period. each: what one thing more costs. name: of the subject. page: of
    the message.
    """
    month = month_of(at) if budget.period == Budget.Period.MONTH else ""
    result = standing_of(limit=budget.limit, used=used, each=each, warn_percent=budget.warn_percent)
    if (budget.used, budget.used_in) != (used, month):
        Budget.objects.filter(pk=budget.pk).update(used=used, used_in=month)
    if result.state != "ok":
        currency = settings.CURRENCY
        notify(
            kind="budget",
            key=f"budget:{budget.pk}:{month}:{budget.limit}:{result.state}",
            people=list_leads(budget.collection),
            payload={
                "name": name,
                "percent": f"{100 * result.share:.0f}",
                "used": in_words(used, budget.unit, currency),
                "limit": in_words(budget.limit, budget.unit, currency),
                "what": _say_what_follows(budget, result),
            },
            page=page,
            collection=budget.collection,
            at=at,
        )
    return result


def _say_what_follows(budget: Budget, found: Standing) -> str:
    if found.state == "over":
        return "Nothing more is begun." if budget.stops else "Work goes on."
    return "Work stops when it is used up." if budget.stops else ""


def _worded(budgets: Any) -> dict[str, Any]:
    """Budgets as the audit log keeps them."""
    return {
        f"{budget.unit} {budget.get_period_display()}": {
            "limit": budget.limit,
            "warn_percent": budget.warn_percent,
            "stops": budget.stops,
        }
        for budget in budgets.order_by("unit", "period")
    }
