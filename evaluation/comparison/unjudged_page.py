"""The page of what nobody has judged: what it leaves open of each run, and of their differences."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from evaluation.comparison.unjudged import PATIENCE, Unjudged, get_unjudged
from evaluation.evaluations.queries import SetChoice
from evaluation.runs.selection import (
    ChosenRuns,
    ComparedRun,
    RunsFilters,
    get_chosen_runs,
    uneven_judging,
)
from judgments.permissions import Access
from touchstone.measures.definition import Measure


@dataclass(frozen=True)
class OpenDifference:
    """A run against the first: the difference as it is, and what unjudged documents allow.

    low, high: the one run at its least and the other at its most, and the other way round; no
    grades at all can leave that range. warning: why the difference may be about judging.
    """

    name: str
    first: str
    difference: float
    low: float | None
    high: float | None
    warning: str

    @property
    def is_settled(self) -> bool:
        """Whether no grade of an unjudged document can turn its sign round."""
        return self.low is not None and self.high is not None and self.low * self.high > 0


@dataclass(frozen=True)
class UnjudgedPage:
    """rows: a run each. differences: of every other run from the first."""

    chosen: ChosenRuns
    filters: RunsFilters
    rows: tuple[Unjudged, ...]
    differences: tuple[OpenDifference, ...]

    @property
    def sets(self) -> SetChoice:
        """The saved sets to choose from."""
        return self.chosen.sets

    @property
    def measure(self) -> Measure:
        """What is computed."""
        return self.chosen.asked.measure

    @property
    def patience(self) -> float:
        """The p of the residuals."""
        return self.measure.p if self.measure.family == "RBP" else PATIENCE

    @property
    def high(self) -> float:
        """Where the drawings' axis ends."""
        return max((one.high for one in self.rows if one.high is not None), default=1.0) or 1.0

    @property
    def is_bounded(self) -> bool:
        return any(one.high is not None for one in self.rows)

    @property
    def same_address(self) -> str:
        """The parameters of the pages that compare these runs, and say what to judge next."""
        runs = [("runs", one.name) for one in self.rows]
        more = {"measure": self.chosen.asked.canonical, "segment": self.filters.segment}
        return urlencode([*runs, *((name, value) for name, value in more.items() if value)])


def get_unjudged_page(*, access: Access, slug: str, filters: RunsFilters) -> UnjudgedPage:
    """What unjudged documents leave open, as an address asks for it.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    chosen = get_chosen_runs(access=access, slug=slug, filters=filters)
    rows = tuple(
        get_unjudged(
            compared=one,
            judgment_list=chosen.list,
            version=chosen.version,
            measure=chosen.asked.measure,
        )
        for one in chosen.compared
    )
    return UnjudgedPage(
        chosen=chosen,
        filters=filters,
        rows=rows,
        differences=_differences(chosen.compared, rows),
    )


def _differences(
    compared: Sequence[ComparedRun], rows: tuple[Unjudged, ...]
) -> tuple[OpenDifference, ...]:
    found = []
    for one, own in zip(compared[1:], rows[1:], strict=True):
        first = rows[0]
        if own.zeros is None or first.zeros is None:
            continue
        low = high = None
        if own.low is not None and own.high is not None:
            assert first.low is not None
            assert first.high is not None
            low, high = own.low - first.high, own.high - first.low
        warning = uneven_judging(compared[0], one)
        found.append(
            OpenDifference(own.label, first.label, own.zeros - first.zeros, low, high, warning)
        )
    return tuple(found)
