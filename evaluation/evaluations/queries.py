"""The sums of a list's runs, at any version, of any measures, of all queries or of a segment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.evaluations.due import list_latest
from evaluation.evaluations.measure_sets import (
    get_leaderboard,
    grades_of,
    is_of_this_arithmetic,
    measures_of,
)
from evaluation.evaluations.on_demand import PATIENCE, Wanted, find_nearest, get_sums
from evaluation.evaluations.sums import Board, RunSize
from evaluation.models import Evaluation, Leaderboard, MeasureSet, Run
from judgments.collections.query_metadata import list_segment_queries, list_segments
from judgments.models import JudgmentList, JudgmentVersion, SavedSet
from judgments.permissions import Access
from judgments.sets.queries import list_set_queries, list_sets
from judgments.versions.queries import get_judged
from touchstone.errors import DomainError
from touchstone.measures.asking import Asked, ask_all, recognise
from touchstone.measures.averages import (
    Average,
    averages,
    chosen_sums,
    plain_averages,
    segment_averages,
)
from touchstone.measures.defaults import DEFAULT_MEASURES
from touchstone.measures.definition import Measure
from touchstone.measures.errors import MeasureError
from touchstone.measures.exact import IntArray, from_bytes
from touchstone.measures.scoring import check_can_be_stored, check_fit

SHOWN_AT_FIRST: Final = 6  # columns, beside those that say how much is judged
MOST_COLUMNS: Final = 20


class FilterRefused(DomainError):
    """What a URL asks of a leaderboard makes no sense."""


@dataclass(frozen=True)
class SetChoice:
    """The saved sets that a page about a list offers.

    chosen: the one whose queries alone it is about; it may be an archived one.
    """

    list_slug: str
    options: tuple[SavedSet, ...]
    chosen: SavedSet | None

    @property
    def slug(self) -> str:
        """What addresses call the chosen one; "" for none."""
        return self.chosen.slug if self.chosen else ""


def choose_set(*, access: Access, judgment_list: JudgmentList, slug: str) -> SetChoice:
    """The sets of the collection and the one that an address names; "" for none.

    Raises FilterRefused for a name that no set has.
    """
    every = list_sets(access=access)
    chosen = next((one for one in every if one.slug == slug), None)
    if slug and chosen is None:
        raise FilterRefused("no_set", f"No saved set named {slug[:60]} in this collection.")
    offered = tuple(one for one in every if one.archived_at is None or one == chosen)
    return SetChoice(judgment_list.slug, offered, chosen)


@dataclass(frozen=True)
class RunSums:
    """A run's sums of the measures asked for, as `averages` lays them out, and their version."""

    run: Run
    version: int | None
    measures: tuple[Measure, ...]
    sums: IntArray | None

    @property
    def averages(self) -> tuple[Average, ...]:
        """Each measure's value; none where nothing is known yet."""
        return () if self.sums is None else averages(self.measures, self.sums)

    def plain(self, place: int) -> Average:
        """The unweighted mean over all queries of the measure at a position, for any average."""
        if self.sums is None:
            return Average(None, None, 0)
        return plain_averages(self.sums[place : place + 1])[0]

    def by_segment(self, place: int) -> tuple[Average, ...]:
        """The means over each segment of the measure at a place, which averages over segments."""
        return () if self.sums is None else segment_averages(self.measures, self.sums, place)


def kept_measures(judgment_list: JudgmentList) -> tuple[Measure, ...]:
    """The measures that the list keeps current."""
    leaderboard = get_leaderboard(judgment_list=judgment_list)
    return measures_of(leaderboard.measure_set) if leaderboard else DEFAULT_MEASURES


def chosen_measures(judgment_list: JudgmentList, text: str) -> tuple[Measure, ...]:
    """What `chosen_columns` computes; each measure once.

    Raises MeasureError for one that does not exist or can't be computed on this list.
    """
    if not text.strip():
        own = [m for m in kept_measures(judgment_list) if m.family != "Judged"]
        return tuple(own[:SHOWN_AT_FIRST]) or kept_measures(judgment_list)
    return tuple(dict.fromkeys(one.measure for one in chosen_columns(judgment_list, text)))


def chosen_columns(judgment_list: JudgmentList, text: str) -> tuple[Asked, ...]:
    """What a text asks for, tools' definitions among it, or else the first that the list keeps.

    Raises MeasureError for a measure that does not exist or can't be computed on this list.
    """
    if not text.strip():
        own = chosen_measures(judgment_list, "")
        return tuple(map(recognise, own))
    asked = tuple({one.canonical: one for one in ask_all(text)}.values())
    check_can_be_shown(judgment_list, [one.measure for one in asked])
    return asked


def check_can_be_shown(judgment_list: JudgmentList, measures: Sequence[Measure]) -> None:
    """MeasureError for too many measures, or one that can't be computed on this list."""
    if len(measures) > MOST_COLUMNS:
        raise MeasureError(f"at most {MOST_COLUMNS} measures can be shown at a time")
    for measure in measures:
        check_can_be_stored(measure)
        check_fit([measure], grades_of(judgment_list))


def with_judged(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """The measures, and behind them how much is judged to each of their cutoffs."""
    beside = [judged_shown(measure) for measure in measures]
    return tuple(dict.fromkeys([*measures, *(j for j in beside if j is not None)]))


def counting_measures(
    judgment_list: JudgmentList, columns: Sequence[Measure]
) -> tuple[Measure, Measure] | None:
    """Two measures whose means count the queries that a run answers, and all judged queries.

    Of the columns, or else of what the list keeps; None where these have no such two.
    """
    known = (*columns, *kept_measures(judgment_list))
    answered = next((m for m in known if m.family == "Judged" and m.queries == "returned"), None)
    every = next((m for m in known if m.queries == "judged" and not isinstance(m.empty, str)), None)
    return (answered, every) if answered is not None and every is not None else None


def judged_shown(measure: Measure) -> Measure | None:
    """The Judged@k beside a value: one a cutoff, however a measure orders ties and counts queries.

    So a leaderboard that keeps Judged@k has it for every measure. None beside Judged itself.
    """
    return None if measure.family == "Judged" else Measure(family="Judged", cutoff=measure.cutoff)


def list_run_sums(
    *,
    judgment_list: JudgmentList,
    version: JudgmentVersion | None,
    measures: Sequence[Measure],
    segment: str = "",
    saved_set: SavedSet | None = None,
    only_newest: bool = False,
    named: Sequence[Run] | None = None,
    patience: float = PATIENCE,
) -> list[RunSums]:
    """The runs of the collection that are not withdrawn, and their sums at a version.

    named: these runs instead.

    At the head, and for measures that the list keeps: what is stored, of an older version where
    a run's evaluation is still under way. Anything else is computed now, as far as the patience
    lasts (ranks to be read).
    """
    measures = tuple(measures)
    runs = _list_runs(judgment_list, only_newest=only_newest) if named is None else list(named)
    if version is None or not runs:
        return [RunSums(run, None, measures, None) for run in runs]
    leaderboard = get_leaderboard(judgment_list=judgment_list)
    if leaderboard is not None and not is_of_this_arithmetic(leaderboard.measure_set):
        leaderboard = None  # until a worker has replaced its set, what is stored is another thing
    kept = measures_of(leaderboard.measure_set) if leaderboard else ()
    query_ids = check_queries(
        list_id=judgment_list.pk, version=version.number, segment=segment, saved_set=saved_set
    )
    if leaderboard is None or query_ids is not None or not set(measures) <= set(kept):
        board = Board(judgment_list.pk, measures, grades_of(judgment_list))
        wanted = _wanted(board, version.number, runs, query_ids)
        result = get_sums(wanted=wanted, patience=patience)
        return [RunSums(run, version.number, measures, result.get(run.pk)) for run in runs]
    places = [kept.index(measure) for measure in measures]
    if version.number == judgment_list.head:
        return list_stored_sums(judgment_list, leaderboard, runs, places)
    board = Board(judgment_list.pk, kept, grades_of(judgment_list))
    nearest = find_nearest(
        list_id=judgment_list.pk,
        measure_set=leaderboard.measure_set,
        version=version.number,
        run_ids=[run.pk for run in runs],
    )
    wanted = _wanted(board, version.number, runs, None)
    result = get_sums(wanted=wanted, nearest=nearest, patience=patience)
    return [
        RunSums(
            run,
            version.number,
            measures,
            chosen_sums(kept, result[run.pk], places) if run.pk in result else None,
        )
        for run in runs
    ]


def list_means(
    *, judgment_list: JudgmentList, version: JudgmentVersion | None, measure: Measure
) -> dict[Run, float | None]:
    """The mean of every run of `list_run_sums`, best first; None, at the end, where none is known.

    Runs alike come as they were registered.
    """
    result = list_run_sums(judgment_list=judgment_list, version=version, measures=[measure])
    means = {own.run: own.averages[0].value if own.averages else None for own in result}
    ranked = sorted(means.items(), key=lambda one: (one[1] is None, -(one[1] or 0.0), one[0].pk))
    return dict(ranked)


def check_queries(
    *, list_id: int, version: int, segment: str, saved_set: SavedSet | None
) -> tuple[int, ...] | None:
    """The queries that numbers are asked of: a segment's, a saved set's, or both; None: all.

    Raises FilterRefused unless one of them is judged at the version.
    """
    in_segment = check_segment(list_id=list_id, version=version, segment=segment) if segment else ()
    if saved_set is None:
        return in_segment or None
    own = list_set_queries(set_id=saved_set.pk)
    if segment:
        own = sorted({*own}.intersection(in_segment))
    if not len(get_judged(list_id=list_id, version=version, query_ids=own)):
        where = f" and in the segment {segment[:60]}" if segment else ""
        message = f"No query of version {version} is in the set {saved_set.name}{where}."
        raise FilterRefused("nothing_in_set", message)
    return tuple(own)


def check_segment(*, list_id: int, version: int, segment: str) -> tuple[int, ...]:
    """The queries of a segment at a version; FilterRefused unless one of them is judged then."""
    if segment not in list_segments(list_id=list_id, version=version):
        message = f"No judged query is in the segment {segment[:60]}."
        raise FilterRefused("no_segment", message)
    return tuple(list_segment_queries(list_id=list_id, version=version, segment=segment))


def list_stored_sums(
    judgment_list: JudgmentList,
    leaderboard: Leaderboard,
    runs: Sequence[Run],
    places: Sequence[int],
) -> list[RunSums]:
    """Each run's newest stored sums of the measures at these places of the leaderboard's set."""
    is_current = is_of_this_arithmetic(leaderboard.measure_set)
    latest = list_latest(
        list_id=judgment_list.pk,
        measure_set_id=leaderboard.measure_set_id,
        run_ids=[run.pk for run in runs] if is_current else [],
        below=judgment_list.head + 1,
    )
    kept = measures_of(leaderboard.measure_set)
    measures = tuple(kept[place] for place in places)
    result = {
        run.pk: RunSums(run, own.version, measures, chosen_sums(kept, from_bytes(own.sums), places))
        for run in runs
        if (own := latest.get(run.pk)) is not None
    }
    missing = [run for run in runs if run.pk not in result]
    result |= _of_other_sets(judgment_list, missing, measures) if missing else {}
    return [result.get(run.pk, RunSums(run, None, measures, None)) for run in runs]


def _of_other_sets(
    judgment_list: JudgmentList, runs: Sequence[Run], measures: tuple[Measure, ...]
) -> dict[int, RunSums]:
    """The sums at the head that another set of measures has, which the list kept before perhaps.

    So a list that keeps another measure from now on shows the others meanwhile.
    """
    stored = Evaluation.objects.filter(
        version__list=judgment_list, version__number=judgment_list.head, run__in=runs
    ).order_by()
    sets = MeasureSet.objects.filter(pk__in=stored.values("measure_set")).order_by("-pk")
    for measure_set in sets:
        its = measures_of(measure_set) if is_of_this_arithmetic(measure_set) else ()
        if not set(measures) <= set(its):
            continue
        places = [its.index(measure) for measure in measures]
        rows = dict(stored.filter(measure_set=measure_set).values_list("run", "sums"))
        return {
            run.pk: RunSums(
                run,
                judgment_list.head,
                measures,
                chosen_sums(its, from_bytes(bytes(rows[run.pk])), places),
            )
            for run in runs
            if run.pk in rows
        }
    return {}


def _list_runs(judgment_list: JudgmentList, *, only_newest: bool) -> list[Run]:
    runs = Run.objects.filter(
        ranker__collection=judgment_list.collection_id, withdrawn_at__isnull=True
    ).select_related("ranker")
    if not only_newest:
        return list(runs.order_by("pk"))
    newest = {run.ranker_id: run for run in runs.order_by("pk")}
    return list(newest.values())


def _wanted(
    board: Board, version: int, runs: Sequence[Run], query_ids: tuple[int, ...] | None
) -> Wanted:
    return Wanted(
        board,
        version,
        tuple(RunSize(run.pk, run.row_count, run.query_count) for run in runs),
        {run.pk: str(run.public_id) for run in runs},
        query_ids,
    )
