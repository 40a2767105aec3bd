"""Planning a sample: what a difference or a month's labels takes, from past paired differences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np

from evaluation.evaluations.queries import FilterRefused
from evaluation.runs.selection import ComparedRun, RunsFilters, get_chosen_runs
from judgments.budgets.queries import BudgetShown, list_budgets, show_budgets, used_now
from judgments.budgets.rules import HUNDREDTHS
from judgments.budgets.services import COLLECTION
from judgments.models import Budget, JudgmentList, SampledQuery, TrafficFrame
from judgments.permissions import Access
from judgments.samples.designs import PER_QUERY, PER_SEARCH, spreads_of_target
from judgments.traffic.queries import CUTS, format_cuts, get_concentration, parse_cuts
from touchstone.measures.asking import Asked
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.planning import (
    ExpectedPrecision,
    PlannedStrata,
    plan_for_budget,
    plan_for_difference,
)
from touchstone.sampling.traffic import TrafficStrata, traffic_strata

FEWEST: Final = 10  # differences of a stratum, below which all differences stand for it
USUAL_COST: Final = 20.0  # labels per query: ten documents, twice


@dataclass(frozen=True)
class PlanFilters:
    """What is to be planned, as an address has it.

    frame: its number; "" for the newest. runs: two, the baseline first; () for the leaderboard's
    first two. difference, labels: one of them is the goal, "" for neither. cost: labels per query,
    one or one per stratum. price: of a label, in the currency.
    Without a goal it is what the collection's budgets leave.
    """

    frame: str = ""
    cuts: str | None = None
    measure: str = ""
    runs: tuple[str, ...] = ()
    target: str = PER_SEARCH
    cost: str = ""
    price: str = ""
    difference: str = ""
    labels: str = ""


@dataclass(frozen=True)
class PlannedStratum:
    """A stratum. spread: the standard deviation of paired differences that is expected of it.

    differences: past ones of the stratum that it comes from; 0 where all of the list stand for it.
    n: queries to draw; cost: labels, for all of them.
    """

    name: str
    queries: int
    search_share: float
    spread: float
    differences: int
    n: int
    cost: float


@dataclass(frozen=True)
class SamplePlanned:
    """What a goal takes. detectable: the minimum detectable difference, 80 % power.

    cost: labels; money: what they cost, null without a price. left: labels that the collection's
    budgets leave; null where none says, or who asks may not see them.
    """

    strata: tuple[PlannedStratum, ...]
    n: int
    cost: float
    money: float | None
    left: int | None
    standard_error: float
    detectable: float
    cuts: str
    spreads: str
    costs: str

    @property
    def is_over(self) -> bool:
        """Whether the budgets do not leave as many labels."""
        return self.left is not None and self.cost > self.left


@dataclass(frozen=True)
class PlanPage:
    """frames: the collection's logs, newest first. budgets: the collection's, for leads. left: the
    labels that they leave, None where they do not say. planned: None until a goal is given, or
    where `problem` says why there is none.
    """

    list: JudgmentList
    frames: tuple[TrafficFrame, ...]
    frame: TrafficFrame | None
    asked: PlanFilters
    asked_measure: Asked
    compared: Sequence[ComparedRun]
    budgets: Sequence[BudgetShown]
    left: int | None
    planned: SamplePlanned | None
    problem: str

    @property
    def measure(self) -> str:
        """The measure's name, as addresses have it."""
        return self.asked_measure.canonical


def get_plan_page(*, access: Access, slug: str, filters: PlanFilters, now: datetime) -> PlanPage:
    """A planned sample of a list.

    Raises FilterRefused or MeasureError for what can't be asked for.
    """
    wanted = RunsFilters(runs=filters.runs, measure=filters.measure)
    chosen = get_chosen_runs(access=access, slug=slug, filters=wanted, baseline="")
    frames_qs = TrafficFrame.objects.filter(collection=access.collection, of_list=None)
    frames = tuple(frames_qs.order_by("-number"))
    frame = next((one for one in frames if filters.frame in ("", str(one.number))), None)
    if filters.frame and frame is None:
        raise FilterRefused("no_traffic", f"No traffic {filters.frame[:20]} in this collection.")
    if filters.target not in (PER_QUERY, PER_SEARCH):
        raise FilterRefused("no_target", "Means are per query or per search.")
    cuts = format_cuts(CUTS) if filters.cuts is None else filters.cuts
    asked = replace(filters, cuts=cuts, cost=filters.cost or f"{USUAL_COST:g}")
    budgets = list_budgets(access.collection, COLLECTION) if access.is_lead else []
    planned, problem, left, price = None, "", None, None
    try:
        price = _number(asked.price, "price") if asked.price else None
        left = _labels_left(budgets, price, now)
        if left is not None and not (asked.difference or asked.labels):
            asked = replace(asked, labels=str(left))
        if frame is not None and (asked.difference or asked.labels):
            planned = _planned(chosen.list, frame, asked, chosen.compared)
            money = None if price is None else planned.cost * price
            planned = replace(planned, money=money, left=left)
    except SamplingError as error:
        problem = error.message
    return PlanPage(
        chosen.list,
        frames,
        frame,
        asked,
        chosen.asked,
        chosen.compared,
        show_budgets(budgets, each=round(HUNDREDTHS * (price or 0)), now=now),
        left,
        planned,
        problem,
    )


def _labels_left(budgets: Sequence[Budget], price: float | None, now: datetime) -> int | None:
    """The labels that all budgets leave; those in money count where a label's price is given."""
    result = []
    for budget in budgets:
        left = max(0, budget.limit - used_now(budget, now))
        if budget.unit == Budget.Unit.LABELS:
            result.append(left)
        elif price is not None:
            result.append(int(left / (HUNDREDTHS * price)))
    return min(result, default=None)


def _planned(
    judgment_list: JudgmentList,
    frame: TrafficFrame,
    asked: PlanFilters,
    compared: Sequence[ComparedRun],
) -> SamplePlanned:
    concentration = get_concentration(frame)
    strata = traffic_strata(concentration, parse_cuts(asked.cuts or ""))
    spreads, counts = _spreads(judgment_list, strata, compared)
    costs = _numbers(asked.cost, len(strata.names))
    weights = strata.searches if asked.target == PER_SEARCH else strata.queries
    own = spreads_of_target(spreads, asked.target, concentration, strata)
    wanted = PlannedStrata.of(strata.names, strata.queries, own, costs, weights)
    result = _for_goal(wanted, asked)
    rows = zip(
        strata.names,
        strata.queries.tolist(),
        (strata.searches / strata.searches.sum()).tolist(),
        spreads,
        counts,
        result.n.tolist(),
        (result.n * wanted.costs).tolist(),
        strict=True,
    )
    return SamplePlanned(
        tuple(PlannedStratum(*row) for row in rows),
        int(result.n.sum()),
        result.cost,
        None,
        None,
        result.standard_error,
        result.detectable,
        asked.cuts or "",
        ", ".join(f"{one:.4f}" for one in spreads),
        ", ".join(f"{one:g}" for one in costs),
    )


def _for_goal(strata: PlannedStrata, asked: PlanFilters) -> ExpectedPrecision:
    if asked.difference and asked.labels:
        raise SamplingError("give a difference or a number of labels, not both")
    if asked.labels:
        return plan_for_budget(strata, _number(asked.labels, "labels"))
    return plan_for_difference(strata, _number(asked.difference, "difference"))


def _spreads(
    judgment_list: JudgmentList, strata: TrafficStrata, compared: Sequence[ComparedRun]
) -> tuple[list[float], list[int]]:
    """The standard deviation of paired differences in each stratum, and of how many.

    A query's stratum follows from its searches in the newest sample that has it.
    """
    if len(compared) < 2:
        raise SamplingError("past differences need two runs that are evaluated on this list")
    first, second = compared[0].values, compared[1].values
    counted = first.counted & second.counted
    differences = (second.values - first.values)[counted]
    if len(differences) < 2:
        raise SamplingError("past differences need two queries that both runs are judged on")
    members = SampledQuery.objects.filter(plan__list=judgment_list).order_by("plan")
    searches = dict(members.values_list("query", "searches"))
    own = np.array([searches.get(pk, 0) for pk in first.query_ids[counted].tolist()], np.int64)
    codes = np.where(own > 0, strata.codes(own), -1)
    every = float(np.std(differences, ddof=1))
    spreads, counts = [], []
    for code in range(len(strata.names)):
        of_stratum = differences[codes == code]
        is_enough = len(of_stratum) >= FEWEST
        spreads.append(float(np.std(of_stratum, ddof=1)) if is_enough else every)
        counts.append(len(of_stratum) if is_enough else 0)
    return spreads, counts


def _numbers(typed: str, count: int) -> list[float]:
    result = [_number(part, "labels per query") for part in typed.split(",") if part.strip()]
    if len(result) == 1:
        return result * count
    if len(result) != count:
        raise SamplingError(f"give one number of labels per query, or one for each of {count}")
    return result


def _number(typed: str, what: str) -> float:
    try:
        result = float(typed.replace(",", ""))
    except ValueError as error:
        raise SamplingError(f"{typed[:40]!r} is no number of {what}") from error
    if not 0 < result < 1e9:
        raise SamplingError(f"a number of {what} is above 0")
    return result
