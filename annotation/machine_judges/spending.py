"""What machine judges have cost, and whether their budgets leave room for another request."""

from dataclasses import dataclass, field
from datetime import datetime
from math import ceil

from django.db.models import Count, F, Sum, Value

from annotation.machine_judges.configuration import PER_HUNDREDTH
from annotation.models import JudgeAttempt, JudgeBatch, MachineJudge
from judgments.budgets.queries import list_budgets, used_now
from judgments.budgets.rules import month_of, month_start
from judgments.budgets.services import COLLECTION, note_use
from judgments.models import Budget

USED_UP = "A budget of this machine judge, or of the collection, is used up."


@dataclass(frozen=True)
class Spent:
    """Of some requests. cost: in 10⁻¹⁰ of the currency."""

    requests: int = 0
    tokens: int = 0
    cost: int = 0

    def plus(self, other: "Spent") -> "Spent":
        """Both together."""
        return Spent(
            self.requests + other.requests, self.tokens + other.tokens, self.cost + other.cost
        )

    def of(self, unit: str) -> int:
        """In what a budget of this unit counts with here: tokens, or 10⁻¹⁰ of the currency."""
        return self.tokens if unit == Budget.Unit.TOKENS else self.cost


def subject_of(judge: MachineJudge) -> str:
    """What the budgets of a machine judge are filed under."""
    return f"judge:{judge.pk}"


def count_spent(judge: MachineJudge, *, since: datetime | None = None) -> Spent:
    """What all requests of a machine judge have cost, or those since a time."""
    own_qs = JudgeAttempt.objects.filter(campaign__judge=judge)
    if since is not None:
        own_qs = own_qs.filter(ended_at__gte=since)
    result = own_qs.aggregate(
        requests=Count("pk"),
        tokens=Sum(F("prompt_tokens") + F("completion_tokens")),
        cost=Sum("cost"),
    )
    return Spent(result["requests"], result["tokens"] or 0, result["cost"] or 0)


def count_cost(*, collection_id: int, since: datetime | None = None) -> int:
    """What all machine judges of a collection have cost, in hundredths of the currency."""
    own_qs = JudgeAttempt.objects.filter(campaign__judge__collection=collection_id)
    if since is not None:
        own_qs = own_qs.filter(ended_at__gte=since)
    return ceil((own_qs.aggregate(cost=Sum("cost"))["cost"] or 0) / PER_HUNDREDTH)


@dataclass
class _Limit:
    unit: str
    most: int
    used: int


@dataclass
class RemainingBudget:
    """What the budgets that stop leave to one machine judge, while one job spends it.

    A request is begun only while what was used, and what those in flight will cost by the average
    so far, are below every limit: so no limit is exceeded by more than what is in flight.
    """

    limits: list[_Limit]
    before: Spent
    added: Spent = field(default_factory=Spent)

    def add(self, spent: Spent) -> None:
        """Some requests have ended."""
        self.added = self.added.plus(spent)

    def may_ask(self, in_flight: int) -> bool:
        """Whether another request may be begun beside so many."""
        return all(self._left(one) > in_flight * self._mean(one.unit) for one in self.limits)

    def fits(self, spent: Spent) -> bool:
        """Whether every limit leaves as much as this."""
        return all(self._left(one) >= spent.of(one.unit) for one in self.limits)

    @property
    def is_empty(self) -> bool:
        """Whether some limit is reached."""
        return any(self._left(one) <= 0 for one in self.limits)

    def _left(self, limit: _Limit) -> int:
        return limit.most - limit.used - self.added.of(limit.unit)

    def _mean(self, unit: str) -> float:
        count = self.before.requests + self.added.requests
        return (self.before.of(unit) + self.added.of(unit)) / count if count else 0.0


def get_remaining_budget(judge: MachineJudge, *, at: datetime) -> RemainingBudget:
    """What is left to a judge, as its budgets, the stored requests and the batches under way say.

    Budgets of the collection in money stop it too, by what was used of them when counted last.
    """
    reserved = _count_reserved(campaign__judge=judge)
    total, month = count_spent(judge), count_spent(judge, since=month_start(at))
    limits = [
        _Limit(
            unit=budget.unit,
            most=budget.limit * (PER_HUNDREDTH if budget.unit == Budget.Unit.MONEY else 1),
            used=(month if budget.period == Budget.Period.MONTH else total)
            .plus(reserved)
            .of(budget.unit),
        )
        for budget in list_budgets(judge.collection, subject_of(judge))
        if budget.stops
    ]
    for budget in _list_shared(judge):
        if budget.stops:
            shared = _count_reserved(campaign__judge__collection=judge.collection_id)
            used, most = used_now(budget, at) * PER_HUNDREDTH, budget.limit * PER_HUNDREDTH
            used += shared.cost
            limits.append(_Limit(unit=budget.unit, most=most, used=used))
    return RemainingBudget(limits, before=total)


def _count_reserved(**own: object) -> Spent:
    """What batches that have not ended may cost."""
    result = JudgeBatch.objects.filter(ended_at=None, **own).aggregate(
        tokens=Sum("reserved_tokens"), cost=Sum("reserved_cost")
    )
    return Spent(0, result["tokens"] or 0, result["cost"] or 0)


def _list_shared(judge: MachineJudge) -> list[Budget]:
    """The collection's budgets in money: those in labels are of people's."""
    shared = list_budgets(judge.collection, COLLECTION)
    return [one for one in shared if one.unit == Budget.Unit.MONEY]


def note_spent(judge: MachineJudge, *, at: datetime, added: Spent | None = None) -> None:
    """Keep what was used of a judge's budgets, and tell leads when one is nearly or wholly used.

    added: what a job has just spent; also added to the collection's budgets, which a worker counts
    again every few seconds.
    """
    if added is not None and added.cost:
        more = ceil(added.cost / PER_HUNDREDTH)
        for shared in _list_shared(judge):
            month = month_of(at) if shared.period == Budget.Period.MONTH else ""
            before = F("used") if shared.used_in == month else Value(0)
            Budget.objects.filter(pk=shared.pk).update(used=before + more, used_in=month)
    for budget in list_budgets(judge.collection, subject_of(judge)):
        is_month = budget.period == Budget.Period.MONTH
        spent = count_spent(judge, since=month_start(at) if is_month else None)
        used = spent.of(budget.unit)
        if budget.unit == Budget.Unit.MONEY:
            used = ceil(used / PER_HUNDREDTH)
        note_use(
            budget=budget,
            used=used,
            each=0,
            name=judge.name,
            page=("machine-judge", judge.collection.slug, str(judge.pk)),
            at=at,
        )
