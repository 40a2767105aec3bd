"""Two or more runs side by side: which ones, and every query's value of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.http import QueryDict

from evaluation.evaluations.queries import (
    FilterRefused,
    SetChoice,
    check_queries,
    choose_set,
    chosen_columns,
    list_means,
)
from evaluation.evaluations.query_values import Mean, QueryValues, get_mean, get_query_values
from evaluation.models import Run
from evaluation.runs.names import AT_FIRST, find_runs, name_of, pick_run, run_below, run_label
from judgments.lists.queries import HEAD, get_list, get_version
from judgments.models import JudgmentList, JudgmentVersion, SavedSet
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, check_may_see_rankings
from touchstone.measures.asking import Asked, recognise
from touchstone.measures.averages import reads_traits
from touchstone.measures.defaults import DEFAULT_MEASURES
from touchstone.measures.definition import Measure

DEFAULT_DEPTH: Final = 10  # ranks held against each other, for a measure without a cutoff


@dataclass(frozen=True)
class RunMean:
    """A run and its mean over `n` queries. name: ranker/run, as in parameters.

    judged: mean share of judged documents over the queries that the run answers. answered: how many
    of the `queries` it answers.
    """

    name: str
    id: UUID
    mean: float | None
    n: int
    judged: float | None
    answered: int
    queries: int
    ranker: str = field(metadata=ON_PAGES)
    run: str = field(metadata=ON_PAGES)

    @property
    def label(self) -> str:
        """What pages call it."""
        return run_label(self.ranker, self.name)

    @property
    def run_below(self) -> str:
        """What pages call it where its ranker's name stands beside it."""
        return run_below(self.ranker, self.name)


@dataclass(frozen=True)
class ComparedRun:
    """A run, by the name that addresses use for it, and its values."""

    run: Run
    name: str
    mean: Mean
    values: QueryValues

    @property
    def label(self) -> str:
        """What pages call it."""
        return run_label(self.run.ranker.name, self.name)

    @property
    def shown(self) -> RunMean:
        """The run and its mean, without its values."""
        mean = self.mean
        return RunMean(
            name=self.name,
            id=self.run.public_id,
            mean=mean.value,
            n=mean.queries,
            judged=mean.judged,
            answered=mean.answered,
            queries=mean.of,
            ranker=self.run.ranker.name,
            run=self.run.name,
        )


@dataclass(frozen=True)
class RunsFilters:
    """What an address asks for of a page about some runs of a list; "" and () are the usual."""

    runs: tuple[str, ...] = ()
    measure: str = ""
    version: str = HEAD
    segment: str = ""
    set: str = ""


@dataclass(frozen=True)
class ChosenRuns:
    """Some runs of a list, and their values by one measure at a version.

    version: 0 on a list without any; then nothing is compared. segment: "" for all queries.
    """

    list: JudgmentList
    version: int
    asked: Asked
    segment: str
    sets: SetChoice
    compared: Sequence[ComparedRun]

    @property
    def is_head(self) -> bool:
        return self.version == self.list.head

    @property
    def pinned(self) -> int | None:
        """The version, where addresses must name it; None at the head."""
        return None if self.is_head else self.version

    @property
    def depth(self) -> int:
        """How many ranks of two rankings are held against each other."""
        return self.asked.measure.cutoff or DEFAULT_DEPTH


def runs_filters_of(parameters: QueryDict) -> RunsFilters:
    """Which runs an address asks for, by what and over which queries."""
    return RunsFilters(
        runs=tuple(name for name in parameters.getlist("runs") if name.strip()),
        measure=parameters.get("measure", ""),
        version=parameters.get("version", "").strip() or HEAD,
        segment=parameters.get("segment", ""),
        set=parameters.get("set", ""),
    )


def compared_measure(judgment_list: JudgmentList, text: str) -> Asked:
    """The measure asked for, or the first of the list's that is a plain mean over queries.

    Raises MeasureError or FilterRefused for what runs can't be compared by.
    """
    asked = chosen_columns(judgment_list, text)
    if not text.strip():
        usual = recognise(DEFAULT_MEASURES[0])
        return next((one for one in asked if is_plain_mean(one.measure)), usual)
    if len(asked) != 1:
        raise FilterRefused(
            "one_measure", "Choose one measure: runs are compared by one at a time."
        )
    if not is_plain_mean(asked[0].measure):
        message = (
            f"{asked[0].name} is not a plain mean over queries and can’t be used for comparisons."
        )
        raise FilterRefused("no_plain_mean", message)
    return asked[0]


def is_plain_mean(measure: Measure) -> bool:
    """Whether every query counts the same in it, as tests of differences have it."""
    return measure.is_mean and measure.average == "macro"


def get_chosen_runs(
    *, access: Access, slug: str, filters: RunsFilters, baseline: str = ""
) -> ChosenRuns:
    """The runs, the measure and the version that an address asks for, with their values.

    Without runs: the first four of the leaderboard by the measure, and the baseline, if one is
    named.
    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    judgment_list.collection = access.collection
    asked = compared_measure(judgment_list, filters.measure)
    sets = choose_set(access=access, judgment_list=judgment_list, slug=filters.set)
    compared: list[ComparedRun] = []
    number = 0
    names = filters.runs
    if not judgment_list.head and filters.version == HEAD:
        find_runs(access=access, names=names)  # a name that nothing has is refused all the same
    else:
        version = get_version(judgment_list=judgment_list, name=filters.version)
        number = version.number
        result = [] if names else _leaders(version, asked.measure, baseline)
        result = result or find_runs(access=access, names=names)
        compared = get_compared(
            runs=result,
            judgment_list=judgment_list,
            version=number,
            measure=asked.measure,
            segment=filters.segment,
            saved_set=sets.chosen,
        )
    return ChosenRuns(
        list=judgment_list,
        version=number,
        asked=asked,
        segment=filters.segment,
        sets=sets,
        compared=compared,
    )


def _leaders(version: JudgmentVersion, measure: Measure, baseline: str) -> list[Run]:
    """The baseline, if one is named, and the first runs of the leaderboard.

    None where it has fewer than two values.
    """
    means = list_means(judgment_list=version.list, version=version, measure=measure)
    known = [run for run, mean in means.items() if mean is not None]
    if len(known) < 2:
        return []
    pinned = pick_run(list(means), baseline) if baseline else None
    return list(dict.fromkeys([*([pinned] if pinned else []), *known[:AT_FIRST]]))


def get_compared(
    *,
    runs: Sequence[Run],
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    segment: str = "",
    saved_set: SavedSet | None = None,
) -> list[ComparedRun]:
    """Every query's value of each run, of all judged queries, of a segment's or of a saved set's.

    Raises FilterRefused where none of these is judged, and for a measure whose average does
    not count every query the same: tests of differences do.
    """
    if reads_traits([measure]):
        message = f"Comparisons use the plain mean: leave out average={measure.average!r}."
        raise FilterRefused("not_plain", message)
    own = check_queries(
        list_id=judgment_list.pk, version=version, segment=segment, saved_set=saved_set
    )
    return list(
        list_compared(
            runs=runs,
            judgment_list=judgment_list,
            version=version,
            measure=measure,
            query_ids=own,
        )
    )


def list_compared(
    *,
    runs: Sequence[Run],
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    query_ids: Sequence[int] | None,
) -> Iterator[ComparedRun]:
    """Each run with its values of some queries; None: of all judged ones."""
    for run in runs:
        values = get_query_values(
            run=run, judgment_list=judgment_list, version=version, measure=measure
        )
        if query_ids is not None:
            values = values.within(query_ids)
        mean = get_mean(found=values, judgment_list=judgment_list, version=version, measure=measure)
        yield ComparedRun(run, name_of(run), mean, values)
