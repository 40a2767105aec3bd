"""What a leaderboard's page shows, and what its address asks for."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.core.paginator import Page, Paginator

from evaluation.evaluations.queries import SetChoice
from evaluation.leaderboards.offers import Offers
from judgments.lists.queries import HEAD
from touchstone.measures.asking import Asked
from touchstone.measures.defaults import CutoffUse
from touchstone.measures.wording import answers_words
from touchstone.statistics.intervals import half_interval, mean_interval

ROWS: Final = 100  # of a page
FEW: Final = 20  # runs that one sees at a glance


@dataclass(frozen=True)
class Filters:
    """What the page's address asks for. version: a number, a release's name, or "head".

    set: the queries of a saved set alone. baseline: a run, as ranker/run. since: a version or a
    release. group: "tag" or "". find: a part of a ranker's or a run's name. page: of the rows.
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
class Value:
    """One number: the mean over n queries, and its standard error. None: unknown."""

    value: float | None
    error: float | None
    n: int
    is_best: bool = False

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of 95 %; None below two queries, and where all have the same value."""
        return mean_interval(self.value, self.error, self.n)

    @property
    def half(self) -> float | None:
        """Half of it; 0 where all queries have the same value."""
        return half_interval(self.error, self.n)


@dataclass(frozen=True)
class Row:
    """One run. version: the one that its values are of; None while there are none.

    answered: how many it answers of the queries that are judged then (`queries`); None where the
    list keeps nothing that says so. group: the first of its ranker's tags.
    """

    place: int
    run_id: UUID
    run_name: str
    ranker_slug: str
    ranker_name: str
    version: int | None
    is_current: bool
    problem: str
    values: tuple[Value, ...]
    answered: int | None = None
    queries: int | None = None
    group: str = ""
    is_baseline: bool = False
    cells: tuple["Cell", ...] = ()

    @property
    def name(self) -> str:
        """What addresses call it."""
        return f"{self.ranker_slug}/{self.run_name}"

    @property
    def label(self) -> str:
        """What pages call it in words."""
        return f"{self.ranker_name} {self.run_name}"

    @property
    def answers_words(self) -> str:
        """How many queries it answers; "" where it answers all, or nobody knows."""
        if self.answered is None or self.queries is None:
            return ""
        return answers_words(self.answered, self.queries)

    @property
    def stale_words(self) -> str:
        return f"still of version {self.version}"


@dataclass(frozen=True)
class Cell:
    """One number of one run. judged: the share of the documents that it looks at that is judged.

    None beside a number that is such a share itself.
    difference: to the baseline's value. change: since the version asked for.
    """

    column: "Column"
    value: Value
    judged: Value | None
    difference: float | None = None
    change: float | None = None


@dataclass(frozen=True)
class Column:
    """One measure. is_judged: it says how much of what is shown is judged, not how good it is.

    name: as `asking.ask` reads it. heading: the name in two words, so that it can be broken:
    "nDCG@10 gain='exp2'", "nDCG@10 lightgbm". definition: what is computed. preset: the tool whose
    definition it is, if any; caveat: where that can't be followed.
    """

    name: str
    heading: str
    description: str
    is_judged: bool
    queries: int
    definition: str
    preset: str
    caveat: str

    @property
    def title(self) -> str:
        """What it says, and where the tool can't be followed."""
        return f"{self.description} {self.caveat}".strip()


@dataclass(frozen=True)
class VersionShown:
    """The version of the page. releases: the names it has been given."""

    number: int
    created_at: datetime
    releases: tuple[str, ...]
    is_head: bool


@dataclass(frozen=True)
class Picker:
    """What the form that chooses the columns offers.

    kept: the measures that the list keeps current, and whether each is shown. others: the rest.
    offers: every family, and every tool's definition of the first measure shown.
    """

    kept: tuple[tuple[str, bool], ...]
    others: str
    offers: "Offers"
    uses: tuple[CutoffUse, ...]


@dataclass(frozen=True)
class BoardLink:
    """A list, as the page of all leaderboards shows it."""

    slug: str
    name: str
    head: int


@dataclass(frozen=True)
class LeaderboardPage:
    """waiting: runs whose values are of an older version, or not there yet.

    runs: those that can be a baseline, as addresses and as pages call them. tags: of their
    rankers. since: the number of the version that changes are shown since.

    state: changes whenever the table does. version: None on a list without one.
    """

    list_slug: str
    list_name: str
    version: VersionShown | None
    columns: tuple[Column, ...]
    asked: tuple[Asked, ...]
    rows: tuple[Row, ...]
    waiting: int
    filters: Filters
    sort: str
    releases: tuple[str, ...]
    picker: Picker
    segments: tuple[str, ...]
    sets: SetChoice
    runs: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]
    since: int | None
    state: str

    @property
    def shown(self) -> "Page[Row]":
        """The rows of the page that is asked for."""
        return Paginator(self.rows, ROWS).get_page(self.filters.page)

    @property
    def offers_find(self) -> bool:
        """Whether there are so many runs that one looks for one of them."""
        return bool(self.filters.find) or len(self.rows) > FEW

    @property
    def waiting_words(self) -> str:
        return f"computing {self.waiting} runs"
