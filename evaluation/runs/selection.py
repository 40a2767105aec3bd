"""Two or more runs side by side: which ones, and every query's value of each."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt
from django.db.models import Max, Q, QuerySet
from django.http import QueryDict

from evaluation.evaluations.queries import (
    FilterRefused,
    SetChoice,
    check_queries,
    choose_set,
    chosen_columns,
    kept_measures,
)
from evaluation.evaluations.query_values import KEPT, Mean, QueryValues, get_mean, get_query_values
from evaluation.models import Run
from evaluation.runs.queries import list_runs
from judgments.collections.query_metadata import list_segments
from judgments.lists.queries import HEAD, get_list, get_version
from judgments.models import JudgmentList, SavedSet
from judgments.permissions import Access, check_may_see_rankings
from judgments.storage.caches import get_or_compute
from touchstone.measures.asking import Asked, recognise
from touchstone.measures.averages import reads_traits
from touchstone.measures.defaults import DEFAULT_MEASURES
from touchstone.measures.definition import Measure
from touchstone.statistics.named_tests import Test
from touchstone.statistics.paired import Comparison, compare, holm
from touchstone.statistics.resampling import FloatArray

MOST: Final = 12  # runs at once
MOST_NAMES: Final = 100  # in one request
AT_FIRST: Final = 4  # runs that a page without a choice compares
DEFAULT_DEPTH: Final = 10  # ranks held against each other, for a measure without a cutoff
RESAMPLES: Final = 10_000
UNLIKE: Final = 0.1  # a larger gap between two runs' shares of judged documents is told


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
        return label_of(self.run)


@dataclass(frozen=True)
class RunOption:
    """A run that can be chosen. name: as addresses have it."""

    name: str
    label: str
    is_chosen: bool


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
    """What an address asks for of a page about some runs of a list, and what else it could.

    version: 0 on a list without any; then nothing is compared.
    """

    list: JudgmentList
    version: int
    asked: Asked
    compared: Sequence[ComparedRun]
    offered: tuple[str, ...]
    segments: tuple[str, ...]
    sets: SetChoice
    options: tuple[RunOption, ...]

    @property
    def is_head(self) -> bool:
        return self.version == self.list.head

    @property
    def depth(self) -> int:
        """How many ranks of two rankings are held against each other."""
        return self.asked.measure.cutoff or DEFAULT_DEPTH


@dataclass(frozen=True, eq=False)
class Differences:
    """What one run has more than the baseline, query by query; three arrays of one length.

    query_ids: the queries that are in both means, ascending. first, second: the values of the
    baseline and of the other run.
    """

    query_ids: npt.NDArray[np.int64]
    first: FloatArray
    second: FloatArray

    @property
    def values(self) -> FloatArray:
        """second − first."""
        return self.second - self.first

    def within(self, query_ids: Sequence[int]) -> "Differences":
        """Only those of some queries."""
        own = np.isin(self.query_ids, np.array(query_ids, np.int64))
        return Differences(self.query_ids[own], self.first[own], self.second[own])

    def without(self, query_ids: npt.NDArray[np.int64]) -> "Differences":
        """Only those of other queries than some."""
        return self.within(np.setdiff1d(self.query_ids, query_ids).tolist())


def runs_filters_of(parameters: QueryDict) -> RunsFilters:
    """Which runs an address asks for, by what and over which queries."""
    return RunsFilters(
        runs=tuple(name for name in parameters.getlist("runs") if name.strip()),
        measure=parameters.get("measure", ""),
        version=parameters.get("version", "").strip() or HEAD,
        segment=parameters.get("segment", ""),
        set=parameters.get("set", ""),
    )


def pick_run(runs: Sequence[Run], name: str) -> Run | None:
    """Which of some runs a name means: ranker/run, an id, or a ranker (its newest among them)."""
    public_id = _as_id(name)
    matching = [
        run for run in runs if name in (name_of(run), run.ranker.slug) or run.public_id == public_id
    ]
    return max(matching, key=lambda run: run.pk, default=None)


def list_run_options(*, access: Access, chosen: Sequence[str]) -> tuple[RunOption, ...]:
    """The runs of the collection, to choose from. chosen: the names of those that are."""
    return tuple(
        RunOption(name, f"{run.ranker_name} {run.name}", name in chosen)
        for run in list_runs(access=access)
        for name in [f"{run.ranker_slug}/{run.name}"]
    )


def name_of(run: Run) -> str:
    """How addresses call a run: ranker/run, as commands do."""
    return f"{run.ranker.slug}/{run.name}"


def label_of(run: Run) -> str:
    """How pages call a run where it is named in words: as leaderboards do."""
    return f"{run.ranker.name} {run.name}"


def compared_measure(judgment_list: JudgmentList, text: str) -> Asked:
    """The measure asked for, or the first of the list's that is a plain mean over queries.

    Raises MeasureError or FilterRefused for what runs can't be compared by.
    """
    asked = chosen_columns(judgment_list, text)
    if not text.strip():
        usual = recognise(DEFAULT_MEASURES[0])
        return next((one for one in asked if is_plain_mean(one.measure)), usual)
    if len(asked) != 1:
        raise FilterRefused("one_measure", "Runs are compared by one measure at a time.")
    if not is_plain_mean(asked[0].measure):
        message = f"{asked[0].name} is no plain mean over queries, which comparisons are about."
        raise FilterRefused("no_plain_mean", message)
    return asked[0]


def is_plain_mean(measure: Measure) -> bool:
    """Whether every query counts the same in it, as tests of differences have it."""
    return measure.is_mean and measure.average == "macro"


def offered_measures(judgment_list: JudgmentList, shown: Asked) -> tuple[str, ...]:
    """The measures that a page about some runs offers: those that the list keeps, and its own."""
    return tuple(
        dict.fromkeys(
            shown.canonical if one == shown.measure else recognise(one).canonical
            for one in (*kept_measures(judgment_list), shown.measure)
            if (is_plain_mean(one) and one.family != "Judged") or one == shown.measure
        )
    )


def find_runs(*, access: Access, names: Sequence[str]) -> list[Run]:
    """The runs that are meant by these names, in their order, none twice.

    A name is ranker/run, a ranker alone (its newest run), the run's id, or several apart by
    commas. Without names: the newest run of each ranker, four at most. Withdrawn runs are found by
    their full name or id.
    Raises FilterRefused for a name that nothing has, and for more than twelve.
    """
    if not names:
        return list_newest_runs(access)[:AT_FIRST]
    found = list_named_runs(access=access, names=names)
    if len(found) > MOST:
        raise FilterRefused("too_many_runs", f"At most {MOST} runs can be compared at once.")
    return found


def list_newest_runs(access: Access) -> list[Run]:
    """The newest run of each ranker, the oldest ranker first."""
    newest = {
        run.ranker_id: run for run in _runs_qs(access).filter(withdrawn_at=None).order_by("pk")
    }
    return [newest[ranker_id] for ranker_id in sorted(newest)]


def list_named_runs(*, access: Access, names: Sequence[str]) -> list[Run]:
    """What `find_runs` says of names, up to a hundred different ones, in one query.

    Raises FilterRefused for a name that nothing has, and for more names.
    """
    whole = list(dict.fromkeys(names))
    parts = {name: [part.strip() for part in name.split(",") if part.strip()] for name in whole}
    texts = set(whole).union(*parts.values())
    if len(texts) > MOST_NAMES:
        raise FilterRefused("too_many_names", f"Name at most {MOST_NAMES} runs at once.")
    by_name = _runs_by_name(access, texts)
    found: dict[int, Run] = {}
    for name in whole:
        # a run's own name may have a comma in it
        for text in [name] if name in by_name else parts[name]:
            run = by_name.get(text)
            if run is None:
                raise FilterRefused("no_run", f"There is no run called {text[:60]} here.")
            found[run.pk] = run
    return list(found.values())


def _runs_by_name(access: Access, texts: Collection[str]) -> dict[str, Run]:
    """The run of each text that is ranker/run, a ranker (its newest run) or a run's id."""
    named = {text: text.split("/", 1) for text in texts if "/" in text}
    ids = {text: public_id for text in texts if (public_id := _as_id(text))}
    rankers = set(texts) - named.keys() - ids.keys()
    newest = (
        Run.objects.filter(
            ranker__collection=access.collection, ranker__slug__in=rankers, withdrawn_at=None
        )
        .values("ranker")
        .annotate(newest=Max("pk"))
        .values("newest")
    )
    wanted = Q(public_id__in=ids.values()) | Q(pk__in=newest)
    for ranker, name in named.values():
        wanted |= Q(ranker__slug=ranker, name=name)
    runs = list(_runs_qs(access).filter(wanted).order_by("pk"))
    by_id = {run.public_id: run for run in runs}
    by_full_name = {name_of(run): run for run in runs}
    # the last of a ranker in this order is its newest; a withdrawn one is never meant
    by_ranker = {run.ranker.slug: run for run in runs if run.withdrawn_at is None}
    found = {text: by_id.get(public_id) for text, public_id in ids.items()}
    found |= {text: by_full_name.get(text) for text in named}
    found |= {text: by_ranker.get(text) for text in rankers}
    return {text: run for text, run in found.items() if run is not None}


def _runs_qs(access: Access) -> "QuerySet[Run]":
    check_may_see_rankings(access)
    return Run.objects.select_related("ranker").filter(ranker__collection=access.collection)


def get_chosen_runs(*, access: Access, slug: str, filters: RunsFilters) -> ChosenRuns:
    """The runs, the measure and the version that an address asks for, with their values.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    judgment_list.collection = access.collection
    asked = compared_measure(judgment_list, filters.measure)
    found = find_runs(access=access, names=filters.runs)
    sets = choose_set(access=access, judgment_list=judgment_list, slug=filters.set)
    compared: list[ComparedRun] = []
    segments: list[str] = []
    number = 0
    if judgment_list.head or filters.version != HEAD:
        number = get_version(judgment_list=judgment_list, name=filters.version).number
        compared = get_compared(
            runs=found,
            judgment_list=judgment_list,
            version=number,
            measure=asked.measure,
            segment=filters.segment,
            saved_set=sets.chosen,
        )
        segments = list_segments(list_id=judgment_list.pk, version=number)
    return ChosenRuns(
        list=judgment_list,
        version=number,
        asked=asked,
        compared=compared,
        offered=offered_measures(judgment_list, asked),
        segments=tuple(segments),
        sets=sets,
        options=list_run_options(access=access, chosen=[name_of(run) for run in found]),
    )


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
        message = f"Runs are compared by the plain mean; leave out average={measure.average!r}."
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


def differences_of(baseline: ComparedRun, other: ComparedRun) -> Differences:
    """Query by query, over those that are in both means."""
    both = baseline.values.counted & other.values.counted
    return Differences(
        baseline.values.query_ids[both], baseline.values.values[both], other.values.values[both]
    )


def uneven_judging(baseline: ComparedRun, other: ComparedRun) -> str:
    """Why the difference of two runs may be about judging; "" where they are judged alike."""
    first, second = baseline.mean.judged, other.mean.judged
    if first is None or second is None or abs(first - second) <= UNLIKE:
        return ""
    less, more = (baseline, other) if first < second else (other, baseline)
    return (
        f"{less.label} shows {100 * min(first, second):.0f} % judged documents, {more.label} "
        f"{100 * max(first, second):.0f} %. What nobody has judged counts as not relevant, so this "
        "difference may be about judging, not about ranking."
    )


def compare_with_baseline(
    found: Sequence[Differences], *, test: Test
) -> list[tuple[Comparison, float | None]]:
    """Each comparison with its p-value after Holm's correction for all of them.

    Comparisons without a p-value (too few queries) take no part in the correction.
    """
    comparisons = [get_comparison(one.values, test=test) for one in found]
    places = [place for place, one in enumerate(comparisons) if one.p_value is not None]
    corrected = holm([comparisons[place].p_value or 0.0 for place in places])
    p_values: list[float | None] = [None] * len(comparisons)
    for place, p_value in zip(places, corrected.tolist(), strict=True):
        p_values[place] = p_value
    return list(zip(comparisons, p_values, strict=True))


def get_comparison(
    differences: FloatArray, *, test: Test, resamples: int = RESAMPLES
) -> Comparison:
    """The comparison, best known from the cache; the seed is fixed, so the answer is too."""
    digest = hashlib.sha256(np.ascontiguousarray(differences).tobytes()).hexdigest()
    name = f"compared:2:{test}:{resamples}:{digest}"
    return get_or_compute(
        name, Comparison, KEPT, lambda: compare(differences, test=test, resamples=resamples)
    )


def by_segment(
    found: Differences, segments: Sequence[tuple[str, Sequence[int]]], *, test: Test
) -> list[tuple[str, Differences, Comparison]]:
    """The same comparison within each segment that has a query in it."""
    parts = [(name, found.within(query_ids)) for name, query_ids in segments]
    resamples = RESAMPLES // 5
    return [
        (name, own, get_comparison(own.values, test=test, resamples=resamples))
        for name, own in parts
        if len(own.query_ids)
    ]


def _as_id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
