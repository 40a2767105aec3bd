"""How many queries people judge for the interval wanted."""

from dataclasses import dataclass, field
from typing import Any, Final

from evaluation.corrected.drawing import list_population
from evaluation.corrected.figures import from_json
from evaluation.evaluations.queries import FilterRefused
from evaluation.models import CorrectedEvaluation
from judgments.lists.queries import get_list
from judgments.models import JudgmentList
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, check_may_lead
from judgments.samples.designs import USUAL_SPREAD
from judgments.versions.machine_sources import MachineSource, list_sources
from touchstone.statistics.three_means import queries_for


@dataclass(frozen=True)
class DrawFilters:
    """What is wanted, as an address has it. half: of the 95 % interval."""

    key: str = ""
    half: str = ""


NOTHING: Final = DrawFilters()


@dataclass(frozen=True)
class DrawPage:
    """What drawing queries for people takes.

    sources: machine judges with labels on the list. source: the chosen one, null where there is
    none. size: queries that it judged. spread: the standard deviation expected of people's values
    less λ times the machine's; is_known: from a sample that people judged, else the usual 0.3.
    half: of the 95 % interval, as asked for. n: queries to draw for it; null where it is "".
    """

    sources: tuple[MachineSource, ...]
    list: JudgmentList = field(metadata=ON_PAGES)
    source: MachineSource | None
    size: int
    spread: float
    is_known: bool
    half: str
    n: int | None


def get_draw_page(*, access: Access, slug: str, filters: DrawFilters = NOTHING) -> DrawPage:
    """The page; for leads. Raises FilterRefused for what is no half width."""
    check_may_lead(access)
    judgment_list = get_list(access=access, slug=slug)
    half = _half(filters.half) if filters.half else None
    sources = tuple(list_sources(judgment_list.pk))
    source = next((one for one in sources if filters.key in ("", one.key)), None)
    if source is None:
        return DrawPage(sources, judgment_list, None, 0, 0.0, False, filters.half, None)
    size = len(list_population(judgment_list, source.key))
    known = _spread(judgment_list, source)
    spread = USUAL_SPREAD if known is None else known
    n = None if half is None else queries_for(half, spread=spread, size=size)
    return DrawPage(
        sources, judgment_list, source, size, spread, known is not None, filters.half, n
    )


def _spread(judgment_list: JudgmentList, source: MachineSource) -> float | None:
    """The largest of the runs, by the list's first measure and its newest corrected sample."""
    rows: Any = CorrectedEvaluation.objects.filter(plan__list=judgment_list, source=source.key)
    spreads: dict[int, list[float]] = {}
    for plan_id, means in rows.order_by("pk").values_list("plan", "means"):
        own = from_json(means[:1])
        if own and own[0].means:
            spreads.setdefault(plan_id, []).append(own[0].means.spread)
    return max(spreads[max(spreads)]) if spreads else None


def _half(typed: str) -> float:
    try:
        result = float(typed)
    except ValueError:
        result = 0.0
    if not 0 < result < 1:
        raise FilterRefused("no_half_width", "Half an interval is a number between 0 and 1.")
    return result
