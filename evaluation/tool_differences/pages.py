"""The Rosetta pages: a run's nDCG in every dialect, and a list's order of runs in each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from evaluation.diagnosis.run_page import RunHead, get_run_head
from evaluation.evaluations.queries import FilterRefused, list_means
from evaluation.evaluations.query_values import Mean, get_mean, get_query_values
from evaluation.models import Run
from evaluation.runs.queries import get_run
from evaluation.tool_differences.queries import is_too_long, list_spoken
from judgments.content.queries import get_choice
from judgments.lists.queries import get_list, get_version
from judgments.models import JudgmentList
from judgments.permissions import Access, check_may_see_rankings
from touchstone.measures.asking import as_meant, recognise
from touchstone.measures.definition import Measure
from touchstone.measures.presets import ARRAYS_CAVEAT, PRESETS
from touchstone.measures.rosetta import (
    MOST_CUTOFF,
    Spoken,
    disputed_pairs,
    places,
)
from touchstone.measures.wording import describe
from touchstone.scales import Scale

USUAL_CUTOFF: Final = 10
MOST_RUNS: Final = 60
MOST_PAIRS: Final = 50
OWN: Final = "this list"


@dataclass(frozen=True)
class RosettaFilters:
    """What an address asks for; "" is the usual: the first list, its head, 10."""

    list_slug: str = ""
    version: str = ""
    cutoff: str = ""


@dataclass(frozen=True)
class RosettaView:
    """What a page looks at.

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
    def own_name(self) -> str:
        """What the list's own nDCG is called."""
        return recognise(self.measure).canonical

    @property
    def own_words(self) -> str:
        """The list's own nDCG in plain words."""
        return describe(self.measure)

    @property
    def run_address(self) -> str:
        """The parameters of a run's page that looks at the list's own number."""
        return self.address_of(self.own_name)

    @property
    def rosetta_address(self) -> str:
        """The parameters of the Rosetta page of a run that looks at just this."""
        own = {"list": self.judgment_list.slug, "version": self.version, "k": self.cutoff}
        return urlencode(own)

    def address_of(self, name: str) -> str:
        """The parameters of a run's page that shows a measure of this name at this version."""
        own = {"list": self.judgment_list.slug, "version": self.version, "measure": name}
        return urlencode(own)


@dataclass(frozen=True)
class DialectRow:
    """One preset's mean. difference: to the list's own.

    matters: whether the caveat can change a number of this list.
    queries_address: the parameters of a run's page that shows it query by query; "" where the tool
    can't read these judgments.
    """

    spoken: Spoken
    tool: str
    reading: str
    measure: str
    words: str
    caveat: str
    matters: bool
    difference: float | None
    queries_address: str

    @property
    def measure_address(self) -> str:
        """The parameters of the page of measures that takes the definition apart."""
        return urlencode({"measure": self.measure})


@dataclass(frozen=True)
class RunRosettaPage:
    """A run in every dialect. view: None without a list; rows: none where nothing is judged."""

    run: RunHead
    view: RosettaView | None
    own: Mean | None
    rows: tuple[DialectRow, ...]
    is_too_long: bool

    @property
    def range(self) -> tuple[float, float] | None:
        """The lowest and the highest mean."""
        means = [row.spoken.mean for row in self.rows if row.spoken.mean is not None]
        return (min(means), max(means)) if means else None


@dataclass(frozen=True)
class RankedRun:
    """A run and its place in each of the page's orders; None where an order does not know it."""

    public_id: UUID
    name: str
    ranker_slug: str
    ranker_name: str
    places: tuple[int | None, ...]

    @property
    def cells(self) -> list[tuple[int | None, bool]]:
        """Each place, and whether it differs from that in the list's own order."""
        return [(place, place != self.places[0]) for place in self.places]


@dataclass(frozen=True)
class SharedOrder:
    """An order of the runs, and the presets that agree on it. is_own: the list's own is among."""

    number: int
    presets: tuple[str, ...]
    is_own: bool


@dataclass(frozen=True)
class DisputedPair:
    """Two runs whose order depends on the dialect."""

    first: RankedRun
    second: RankedRun
    for_first: tuple[str, ...]
    for_second: tuple[str, ...]


@dataclass(frozen=True)
class ListRosettaPage:
    """The orders of a list's runs. waiting: runs still to be computed. left_out: worse runs.

    too_long: runs that no page waits for. silent: presets that can't read this list, with why.
    """

    view: RosettaView
    runs: tuple[RankedRun, ...]
    orders: tuple[SharedOrder, ...]
    pairs: tuple[DisputedPair, ...]
    disputed: int
    waiting: int
    left_out: int
    has_runs: bool
    too_long: tuple[str, ...]
    silent: tuple[Spoken, ...]


def get_run_rosetta_page(
    *, access: Access, public_id: UUID, filters: RosettaFilters
) -> RunRosettaPage:
    """A run's nDCG in every dialect. Raises FilterRefused for a cutoff that is none."""
    run = get_run(access=access, public_id=public_id)
    run.ranker.collection = access.collection
    head = get_run_head(access=access, run=run)
    view = _view(access, filters)
    if view is None:
        return RunRosettaPage(head, None, None, (), False)
    own = _own(view, run)
    spoken: tuple[Spoken, ...] = ()
    if own.judged is not None:
        spoken = _spoken(view, [run]).get(run.pk, ())
    rows = [_row(view, one, own.value) for one in spoken]
    rows.sort(key=lambda row: (row.spoken.mean is None, -(row.spoken.mean or 0.0)))
    return RunRosettaPage(head, view, own, tuple(rows), is_too_long(run))


def get_list_rosetta_page(*, access: Access, slug: str, filters: RosettaFilters) -> ListRosettaPage:
    """The orders of a list's runs under every preset. Raises FilterRefused as for a run."""
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    view = _view(access, RosettaFilters(judgment_list.slug, filters.version, filters.cutoff))
    if view is None:  # there is a list
        raise FilterRefused("no_list", "There is no list to look at.")
    every = _own_means(view)
    own = dict(list(every.items())[:MOST_RUNS])
    spoken = _spoken(view, list(own))
    known = [run for run in own if run.pk in spoken]
    means = _means(known, own, spoken)
    orders = _orders(means)
    shown = _ranked(known, means, orders)
    disputed = disputed_pairs(means)
    too_long = tuple(run.name for run in own if run.pk not in spoken and is_too_long(run))
    return ListRosettaPage(
        view=view,
        runs=shown,
        orders=orders,
        pairs=tuple(
            DisputedPair(shown[one.first], shown[one.second], one.for_first, one.for_second)
            for one in disputed[:MOST_PAIRS]
        ),
        disputed=len(disputed),
        waiting=len(own) - len(spoken) - len(too_long) if spoken else 0,
        left_out=len(every) - len(own),
        has_runs=bool(own),
        too_long=too_long,
        silent=tuple(one for one in spoken[known[0].pk] if one.problem) if known else (),
    )


def _view(access: Access, filters: RosettaFilters) -> RosettaView | None:
    choice = get_choice(access=access, list_slug=filters.list_slug, version=filters.version)
    if choice is None:
        return None
    choice.chosen.collection = access.collection
    scale = Scale.from_json(choice.chosen.scale)
    return RosettaView(
        lists=choice.lists,
        judgment_list=choice.chosen,
        version=choice.version,
        is_head=choice.is_head,
        measure=Measure(family="nDCG", cutoff=_cutoff(filters.cutoff)),
        has_values=any(grade.code != grade.value for grade in scale.grades),
        has_negatives=any(grade.code < 0 for grade in scale.grades),
    )


def _cutoff(text: str) -> int:
    text = text.strip()
    if not text:
        return USUAL_CUTOFF
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise FilterRefused("no_cutoff", f"{text[:20]!r} is no cutoff: k is a whole number.")
    if not 1 <= int(text) <= MOST_CUTOFF:
        raise FilterRefused("no_cutoff", f"A cutoff is from 1 to {MOST_CUTOFF}, not {text}.")
    return int(text)


def _own(view: RosettaView, run: Run) -> Mean:
    found = get_query_values(
        run=run, judgment_list=view.judgment_list, version=view.version, measure=view.measure
    )
    return get_mean(
        found=found,
        judgment_list=view.judgment_list,
        version=view.version,
        measure=view.measure,
    )


def _own_means(view: RosettaView) -> dict[Run, float | None]:
    """Every run's mean of the list's own nDCG, best first, as a leaderboard has it.

    None where it is not known yet.
    """
    version = None
    if view.version:
        version = get_version(judgment_list=view.judgment_list, name=str(view.version))
    means = list_means(judgment_list=view.judgment_list, version=version, measure=view.measure)
    for run in means:
        run.ranker.collection = view.judgment_list.collection
    return means


def _spoken(view: RosettaView, runs: Sequence[Run]) -> dict[int, tuple[Spoken, ...]]:
    return list_spoken(
        runs=runs,
        judgment_list=view.judgment_list,
        version=view.version,
        cutoff=view.cutoff,
    )


def _row(view: RosettaView, spoken: Spoken, own: float | None) -> DialectRow:
    chosen = PRESETS[spoken.preset]
    asked = as_meant(spoken.preset, view.measure, chosen)
    return DialectRow(
        spoken=spoken,
        tool=chosen.tool,
        reading=chosen.reading,
        measure=asked.measure.name,
        words=describe(asked.measure),
        caveat=chosen.caveat,
        matters=chosen.caveat != ARRAYS_CAVEAT or view.has_negatives,
        difference=None if spoken.mean is None or own is None else spoken.mean - own,
        queries_address="" if spoken.problem else view.address_of(asked.canonical),
    )


def _means(
    runs: Sequence[Run],
    own: Mapping[Run, float | None],
    spoken: Mapping[int, tuple[Spoken, ...]],
) -> dict[str, list[float | None]]:
    """By preset, and first by the list itself, the mean of each run."""
    means: dict[str, list[float | None]] = {OWN: [own[run] for run in runs]}
    for run in runs:
        for one in spoken[run.pk]:
            if not one.problem:
                means.setdefault(one.preset, []).append(one.mean)
    return means


def _orders(means: Mapping[str, Sequence[float | None]]) -> tuple[SharedOrder, ...]:
    """The distinct orders, the list's own first, then by how many presets agree."""
    groups: dict[tuple[int | None, ...], list[str]] = {}
    for name, values in means.items():
        groups.setdefault(places(values), []).append(name)
    ranked = sorted(groups.values(), key=lambda names: (OWN not in names, -len(names)))
    return tuple(
        SharedOrder(number, tuple(name for name in names if name != OWN), OWN in names)
        for number, names in enumerate(ranked, start=1)
    )


def _ranked(
    runs: Sequence[Run],
    means: Mapping[str, Sequence[float | None]],
    orders: Sequence[SharedOrder],
) -> tuple[RankedRun, ...]:
    columns = [places(means[OWN if order.is_own else order.presets[0]]) for order in orders]
    return tuple(
        RankedRun(
            run.public_id,
            run.name,
            run.ranker.slug,
            run.ranker.name,
            tuple(column[row] for column in columns),
        )
        for row, run in enumerate(runs)
    )
