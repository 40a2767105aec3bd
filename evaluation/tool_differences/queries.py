"""How tools differ: a run's nDCG as each prints it, and a list's order of runs by each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from evaluation.evaluations.queries import FilterRefused, list_means
from evaluation.evaluations.query_values import get_mean, get_query_values
from evaluation.models import Run
from evaluation.runs.queries import get_run
from evaluation.tool_differences.tool_values import list_tool_values
from judgments.content.queries import ListChoice, get_choice
from judgments.lists.queries import get_list, get_version
from judgments.models import JudgmentList
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, check_may_see_rankings
from judgments.versions.queries import list_judged_queries
from touchstone.measures.asking import Asked, as_meant, recognise
from touchstone.measures.definition import Measure
from touchstone.measures.presets import ARRAYS_CAVEAT, PRESETS
from touchstone.measures.tool_differences import MOST_CUTOFF, PresetMean, places, rank_reversals
from touchstone.scales import Scale

USUAL_CUTOFF: Final = 10
MOST_PAIRS: Final = 50
OWN: Final = "this list"


@dataclass(frozen=True)
class ToolFilters:
    """What an address asks for; "" is the usual: the first list, its head, 10."""

    list_slug: str = ""
    version: str = ""
    cutoff: str = ""


@dataclass(frozen=True)
class NdcgOfList:
    """A list at a version, and its own nDCG.

    has_values: a grade's code and its value are not the same number. has_negatives: a grade is
    below 0.
    """

    lists: list[JudgmentList]
    judgment_list: JudgmentList
    version: int
    is_head: bool
    measure: Measure
    has_values: bool
    has_negatives: bool

    @property
    def cutoff(self) -> int:
        return self.measure.cutoff or USUAL_CUTOFF

    @property
    def is_judged(self) -> bool:
        """Whether there is anything that a tool could be given."""
        at = {"list_id": self.judgment_list.pk, "version": self.version}
        return self.version > 0 and bool(list_judged_queries(**at))

    @property
    def name(self) -> str:
        """What the list's own nDCG is called."""
        return recognise(self.measure).canonical


@dataclass(frozen=True)
class ToolValue:
    """A tool's value. mean: over `n` queries; null if the tool has none, with the reason in
    `problem`.

    difference: from the list's own definition. caveat: what can't be reproduced.

    On pages, matters: whether the caveat can change a number of this list.
    """

    preset: str
    tool: str
    definition: str
    mean: float | None
    n: int
    difference: float | None
    problem: str
    caveat: str
    asked: Asked = field(metadata=ON_PAGES)
    reading: str = field(metadata=ON_PAGES)
    matters: bool = field(metadata=ON_PAGES)


@dataclass(frozen=True, kw_only=True)
class RunToolValues:
    """mean: of the list's own nDCG. dialects: highest mean first; empty if nothing is judged.
    computing: a worker is still computing them; poll again.

    On pages, looked_at: None in a collection without a list.
    """

    version: int = 0
    measure: str = ""
    mean: float | None = None
    n: int = 0
    computing: bool = False
    dialects: tuple[ToolValue, ...] = ()
    run: Run = field(metadata=ON_PAGES)
    looked_at: NdcgOfList | None = field(metadata=ON_PAGES)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The lowest and the highest mean."""
        means = [one.mean for one in self.dialects if one.mean is not None]
        return (min(means), max(means)) if means else None


@dataclass(frozen=True)
class SharedOrder:
    """An order of the runs. presets: the tools with this order. is_own: the list's own order."""

    presets: tuple[str, ...]
    is_own: bool
    number: int = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class RunPlaces:
    """A run. places: its rank in each order, from 1; null if it is not in that order."""

    ranker: str
    run: str
    id: UUID
    places: tuple[int | None, ...]
    ranker_name: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class ReversedPair:
    """Two runs whose order depends on the tool, with the tools that put each ahead."""

    first: UUID
    second: UUID
    for_first: tuple[str, ...]
    for_second: tuple[str, ...]
    runs: tuple[RunPlaces, RunPlaces] = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class ListToolOrders:
    """orders: the distinct orders, the list's own first. runs: best first by the list's own.

    computing: number of runs still to be computed and not in `runs` yet; poll again. disputed:
    number of pairs of runs that swap ranks; pairs: the first 50 of them.

    On pages, unread: presets that can't read this list, with why.
    """

    version: int
    measure: str
    computing: int
    orders: tuple[SharedOrder, ...]
    runs: tuple[RunPlaces, ...]
    disputed: int
    pairs: tuple[ReversedPair, ...]
    looked_at: NdcgOfList = field(metadata=ON_PAGES)
    has_runs: bool = field(metadata=ON_PAGES)
    unread: tuple[PresetMean, ...] = field(metadata=ON_PAGES)


def get_run_tool_values(*, access: Access, public_id: UUID, filters: ToolFilters) -> RunToolValues:
    """A run's nDCG as every tool prints it. Raises FilterRefused for a cutoff that is none."""
    run = get_run(access=access, public_id=public_id)
    run.ranker.collection = access.collection
    choice = get_choice(access=access, list_slug=filters.list_slug, version=filters.version)
    if choice is None:
        return RunToolValues(run=run, looked_at=None)
    own = _looked_at(access, choice, filters.cutoff)
    at: dict[str, Any] = {
        "judgment_list": own.judgment_list,
        "version": own.version,
        "measure": own.measure,
    }
    mean = get_mean(found=get_query_values(run=run, **at), **at)
    means = _preset_means(own, [run]).get(run.pk, ())
    rows = [_tool_value(own, one, mean.value) for one in means]
    return RunToolValues(
        version=own.version,
        measure=own.name,
        mean=mean.value,
        n=mean.queries,
        computing=not means and own.is_judged,
        dialects=tuple(sorted(rows, key=lambda row: (row.mean is None, -(row.mean or 0.0)))),
        run=run,
        looked_at=own,
    )


def get_list_tool_orders(*, access: Access, slug: str, filters: ToolFilters) -> ListToolOrders:
    """The orders of a list's runs under every preset. Raises FilterRefused as for a run."""
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    choice = get_choice(access=access, list_slug=judgment_list.slug, version=filters.version)
    if choice is None:  # there is a list
        raise FilterRefused("no_list", "This collection has no judgment list yet.")
    own = _looked_at(access, choice, filters.cutoff)
    every = _own_means(own)
    result = _preset_means(own, list(every))
    known = [run for run in every if run.pk in result]
    means: dict[str, list[float | None]] = {OWN: [every[run] for run in known]}
    for run in known:
        for one in result[run.pk]:
            if not one.problem:
                means.setdefault(one.preset, []).append(one.mean)
    orders = _orders(means)
    runs = _placed(known, means, orders)
    reversals = rank_reversals(means, MOST_PAIRS)
    return ListToolOrders(
        version=own.version,
        measure=own.name,
        computing=len(every) - len(result) if own.is_judged else 0,
        orders=orders,
        runs=runs,
        disputed=reversals.count,
        pairs=tuple(
            ReversedPair(
                first=runs[one.first].id,
                second=runs[one.second].id,
                for_first=one.for_first,
                for_second=one.for_second,
                runs=(runs[one.first], runs[one.second]),
            )
            for one in reversals.pairs
        ),
        looked_at=own,
        has_runs=bool(every),
        unread=tuple(one for one in result[known[0].pk] if one.problem) if known else (),
    )


def _looked_at(access: Access, choice: ListChoice, cutoff: str) -> NdcgOfList:
    choice.chosen.collection = access.collection
    grades = Scale.from_json(choice.chosen.scale).grades
    return NdcgOfList(
        lists=choice.lists,
        judgment_list=choice.chosen,
        version=choice.version,
        is_head=choice.is_head,
        measure=Measure(family="nDCG", cutoff=_cutoff(cutoff)),
        has_values=any(grade.code != grade.value for grade in grades),
        has_negatives=any(grade.code < 0 for grade in grades),
    )


def _cutoff(text: str) -> int:
    text = text.strip()
    if not text:
        return USUAL_CUTOFF
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise FilterRefused(
            "no_cutoff", f"{text[:20]!r} is not a cutoff: k must be a whole number."
        )
    if not 1 <= int(text) <= MOST_CUTOFF:
        raise FilterRefused("no_cutoff", f"The cutoff must be 1 to {MOST_CUTOFF}, not {text}.")
    return int(text)


def _own_means(own: NdcgOfList) -> dict[Run, float | None]:
    """Every run's mean of the list's own nDCG, best first, as a leaderboard has it.

    None where it is not known yet.
    """
    version = None
    if own.version:
        version = get_version(judgment_list=own.judgment_list, name=str(own.version))
    means = list_means(judgment_list=own.judgment_list, version=version, measure=own.measure)
    for run in means:
        run.ranker.collection = own.judgment_list.collection
    return means


def _preset_means(own: NdcgOfList, runs: Sequence[Run]) -> dict[int, tuple[PresetMean, ...]]:
    return list_tool_values(
        runs=runs,
        judgment_list=own.judgment_list,
        version=own.version,
        cutoff=own.cutoff,
    )


def _tool_value(own: NdcgOfList, found: PresetMean, mean: float | None) -> ToolValue:
    chosen = PRESETS[found.preset]
    asked = as_meant(found.preset, own.measure, chosen)
    return ToolValue(
        preset=found.preset,
        tool=chosen.tool,
        definition=asked.measure.name,
        mean=found.mean,
        n=found.queries,
        difference=None if found.mean is None or mean is None else found.mean - mean,
        problem=found.problem,
        caveat=chosen.caveat,
        asked=asked,
        reading=chosen.reading,
        matters=chosen.caveat != ARRAYS_CAVEAT or own.has_negatives,
    )


def _orders(means: Mapping[str, Sequence[float | None]]) -> tuple[SharedOrder, ...]:
    """The distinct orders, the list's own first, then by how many presets agree."""
    groups: dict[tuple[int | None, ...], list[str]] = {}
    for name, values in means.items():
        groups.setdefault(places(values), []).append(name)
    ranked = sorted(groups.values(), key=lambda names: (OWN not in names, -len(names)))
    return tuple(
        SharedOrder(tuple(name for name in names if name != OWN), OWN in names, number)
        for number, names in enumerate(ranked, start=1)
    )


def _placed(
    runs: Sequence[Run],
    means: Mapping[str, Sequence[float | None]],
    orders: Sequence[SharedOrder],
) -> tuple[RunPlaces, ...]:
    columns = [places(means[OWN if order.is_own else order.presets[0]]) for order in orders]
    return tuple(
        RunPlaces(
            ranker=run.ranker.slug,
            run=run.name,
            id=run.public_id,
            places=tuple(column[row] for column in columns),
            ranker_name=run.ranker.name,
        )
        for row, run in enumerate(runs)
    )
