"""The page of how stable the order of a leaderboard is, or of some of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.evaluations.queries import FilterRefused, SetChoice, choose_set
from evaluation.models import Run
from evaluation.runs.choices import offered_measures
from evaluation.runs.names import list_named_runs, list_newest_runs
from evaluation.runs.selection import RunsFilters, compared_measure
from evaluation.stability.reports import Stability, ask_order, get_stability
from judgments.collections.query_metadata import list_segments
from judgments.lists.queries import HEAD, get_list, get_version
from judgments.models import JudgmentList
from judgments.permissions import Access, check_may_see_rankings
from touchstone.measures.asking import Asked
from touchstone.measures.wording import describe

MOST: Final = 400  # runs of one order


@dataclass(frozen=True)
class StabilityPage:
    """version: 0 on a list without any. stability: None then, and for fewer than two runs."""

    list: JudgmentList
    version: int
    asked: Asked
    filters: RunsFilters
    offered: tuple[str, ...]
    segments: tuple[str, ...]
    sets: SetChoice
    runs: int
    stability: Stability | None

    @property
    def is_head(self) -> bool:
        return self.version == self.list.head

    @property
    def description(self) -> str:
        """The measure in plain words."""
        return describe(self.asked.measure)


def get_stability_page(*, access: Access, slug: str, filters: RunsFilters) -> StabilityPage:
    """How stable an order is, as an address asks for it; without runs of every ranker's newest.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    judgment_list.collection = access.collection
    asked = compared_measure(judgment_list, filters.measure)
    sets = choose_set(access=access, judgment_list=judgment_list, slug=filters.set)
    runs = _runs(access, filters.runs)
    number, segments, stability = 0, [], None
    if judgment_list.head or filters.version != HEAD:
        number = get_version(judgment_list=judgment_list, name=filters.version).number
        segments = list_segments(list_id=judgment_list.pk, version=number)
    if number and len(runs) > 1:
        order = ask_order(
            judgment_list=judgment_list,
            version=number,
            asked=asked,
            runs=runs,
            segment=filters.segment,
            saved_set=sets.chosen,
        )
        stability = get_stability(asked=order, named=filters.runs)
    return StabilityPage(
        list=judgment_list,
        version=number,
        asked=asked,
        filters=filters,
        offered=offered_measures(judgment_list, asked),
        segments=tuple(segments),
        sets=sets,
        runs=len(runs),
        stability=stability,
    )


def _runs(access: Access, names: Sequence[str]) -> list[Run]:
    found = list_named_runs(access=access, names=names) if names else list_newest_runs(access)
    if len(found) > MOST:
        raise FilterRefused("too_many_runs", f"At most {MOST} runs can be in one order.")
    return found
