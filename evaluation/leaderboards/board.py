"""A leaderboard: what an address asks for, and the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from evaluation.evaluations.queries import SetChoice
from evaluation.runs.names import run_below, run_label
from evaluation.samples.queries import EstimatedRun, Estimates
from judgments.lists.queries import HEAD
from judgments.models import JudgmentList
from judgments.pages.answers import ON_PAGES
from touchstone.measures.asking import Asked
from touchstone.statistics.intervals import half_interval


@dataclass(frozen=True)
class Filters:
    """What the page's address asks for. version: a number, a release's name, or "head".

    set: the queries of a saved set alone. runs: "", "newest", or names as `list_named_runs` reads
    them. baseline: a run, as ranker/run. since: a version or a release. group: "tag" or "". find: a
    part of a ranker's or a run's name. page: of the rows.
    """

    measures: str = ""
    version: str = HEAD
    segment: str = ""
    set: str = ""
    runs: str = ""
    sort: str = ""
    baseline: str = ""
    since: str = ""
    tag: str = ""
    group: str = ""
    find: str = ""
    page: str = ""


@dataclass(frozen=True)
class Column:
    """A measure. definition: full name of what is computed; description: in words.

    preset: the tool whose definition it is, "" for none; caveat: what can't be reproduced.

    On pages, queries: the most that are in a run's mean of it.
    """

    name: str
    definition: str
    preset: str
    caveat: str
    asked: Asked = field(metadata=ON_PAGES)
    queries: int = field(metadata=ON_PAGES)

    @property
    def is_judged(self) -> bool:
        """Whether it says how much of what is shown is judged, not how good it is."""
        return self.asked.measure.family == "Judged"


def column_of(asked: Asked, *, queries: int) -> Column:
    """The column of a measure."""
    preset = "" if asked.preset is None else asked.preset.name
    return Column(asked.canonical, asked.measure.name, preset, asked.caveat, asked, queries)


@dataclass(frozen=True)
class Value:
    """A mean over `n` queries, its standard error and 95 % interval; null if undefined.

    judged: share of judged documents down to the measure's cutoff, as a mean over the queries that
    the run answers; null for such a share itself. difference: from the baseline's mean. change:
    since the version `since`.
    """

    mean: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    difference: float | None
    change: float | None
    n: int
    judged: float | None
    column: Column = field(metadata=ON_PAGES)
    is_best: bool = field(metadata=ON_PAGES)

    @property
    def half(self) -> float | None:
        """Half of the interval; 0 where all queries have the same value."""
        return half_interval(self.standard_error, self.n)


@dataclass(frozen=True)
class Row:
    """A run. version: the version of its values; null if there are none.

    computing: values of the requested version are still being computed. problem: why they can't be.
    answered: number of judged `queries` that it answers; null if unknown. values: by the names in
    `measures`.

    On pages, place: in the order of the page, from 1. group: the first of its ranker's tags.
    estimate: from the list's newest sample; None where the page shows none.
    """

    ranker: str
    run: str
    id: UUID
    version: int | None
    computing: bool
    problem: str
    answered: int | None
    queries: int | None
    values: Mapping[str, Value]
    ranker_name: str = field(metadata=ON_PAGES)
    group: str = field(metadata=ON_PAGES)
    is_baseline: bool = field(metadata=ON_PAGES)
    place: int = field(default=0, metadata=ON_PAGES)
    estimate: EstimatedRun | None = field(default=None, metadata=ON_PAGES)

    @property
    def name(self) -> str:
        """What addresses call it."""
        return f"{self.ranker}/{self.run}"

    @property
    def run_below(self) -> str:
        """What pages call it where its ranker's name stands above."""
        return run_below(self.ranker_name, self.name)

    @property
    def label(self) -> str:
        """What pages call it in words."""
        return run_label(self.ranker_name, self.name)


@dataclass(frozen=True)
class LeaderboardTable:
    """A leaderboard. version: null on a list without any.

    computing: some runs wait for their values, or show those of an older version.
    runs: best first by the first measure.

    On pages, waiting: how many. since: the version that changes are shown since. state: changes
    whenever the table does. estimates: what the list's newest sample says; None where it says
    nothing of what is shown.
    """

    version: int | None
    is_head: bool
    releases: tuple[str, ...]
    segment: str
    computing: bool
    measures: tuple[Column, ...]
    runs: tuple[Row, ...]
    list: JudgmentList = field(metadata=ON_PAGES)
    created_at: datetime | None = field(metadata=ON_PAGES)
    sets: SetChoice = field(metadata=ON_PAGES)
    sort: str = field(metadata=ON_PAGES)
    waiting: int = field(metadata=ON_PAGES)
    since: int | None = field(metadata=ON_PAGES)
    state: str = field(metadata=ON_PAGES)
    estimates: Estimates | None = field(default=None, metadata=ON_PAGES)
