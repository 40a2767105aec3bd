"""Reading data sets: their evaluations, and the means of one by day and segment."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial, reduce
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q, Sum

from evaluation.canaries.queries import OpenIncident
from evaluation.canaries.words import WORDS, describe
from evaluation.data_sets.definition import columns_of
from evaluation.data_sets.places import OFF
from evaluation.models import (
    DataSet,
    DataSetEvaluation,
    DataSetFigures,
    DataSetLook,
    DataSetPortion,
    Incident,
)
from judgments.permissions import Access, NotFound, check_may_see_rankings, may_upload_runs
from touchstone.bulk.errors import BulkRefused, check_pyarrow
from touchstone.bulk.low_queries import LowDocument, Lowest, LowQuery
from touchstone.measures.exact import IntArray, add, as_integers, from_bytes, means, standard_errors
from touchstone.statistics.intervals import half_interval

State = DataSetEvaluation.State
Kind = DataSetPortion.Kind
SHOWN: Final = 30  # evaluations, and with a day column days in the table
DRAWN: Final = 400  # points of a time line
ALL: Final = ""  # of a choice of segments: all together
STEPS: Final = {
    Kind.LIST: "listing files",
    Kind.SPILL: "grouping rows by query",
    Kind.BUCKET: "evaluating",
}


@dataclass(frozen=True)
class MeanOf:
    """A measure's mean over some queries. half: half of its 95 % interval; None with fewer than
    two. total: the exact sum, times 2^60.
    """

    measure: str
    mean: float | None
    half: float | None
    total: int
    n: int

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.mean is None or self.half is None else self.mean - self.half

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.mean is None or self.half is None else self.mean + self.half


@dataclass(frozen=True)
class Group:
    """The means of a day, a segment, or both. shown: of the measure that was chosen."""

    name: str
    rows: int
    queries: int
    means: tuple[MeanOf, ...]
    shown: MeanOf


MakeGroup = Callable[[str, Iterable[DataSetFigures]], Group]


@dataclass(frozen=True)
class EvaluationProgress:
    """The step that a running evaluation is at. done, total: portions of it."""

    step: str
    done: int
    total: int


@dataclass(frozen=True)
class EvaluationRow:
    """An evaluation. progress: None where it is not running."""

    id: UUID
    state: str
    problem: str
    is_scheduled: bool
    files: int | None
    rows: int | None
    queries: int | None
    created_at: datetime
    ended_at: datetime | None
    progress: EvaluationProgress | None

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        return None if self.ended_at is None else (self.ended_at - self.created_at).total_seconds()


@dataclass(frozen=True)
class DataSetRow:
    """A data set in the list of them. mean: of its first measure, when evaluated last."""

    data_set: DataSet
    newest: EvaluationRow | None
    mean: MeanOf | None


@dataclass(frozen=True)
class DataSetsPage:
    """The data sets of a collection. problem: why none can be registered here."""

    rows: tuple[DataSetRow, ...]
    problem: str
    may_change: bool
    places: tuple[str, ...]


@dataclass(frozen=True)
class DataSetPage:
    """A data set, its evaluations, and the figures of the newest that is done.

    days: oldest first; of all evaluations where the data set has no column of days. segments: of
    the newest day. segment: which is shown; "" for all. has_segments: the data set has columns of
    them.
    """

    data_set: DataSet
    evaluations: tuple[EvaluationRow, ...]
    measures: tuple[str, ...]
    measure: str
    segment_names: tuple[str, ...]
    segment: str
    days: tuple[Group, ...]
    segments: tuple[Group, ...]
    whole: Group | None
    newest_day: str
    lowest: Lowest | None
    incidents: tuple[OpenIncident, ...]
    may_change: bool
    problem: str

    @property
    def is_running(self) -> bool:
        """Whether an evaluation runs."""
        return any(one.progress for one in self.evaluations)

    @property
    def has_days(self) -> bool:
        """Whether the data set says the day of each row."""
        return bool(self.data_set.day)

    @property
    def latest_days(self) -> tuple[Group, ...]:
        """The days of the table, newest first."""
        return tuple(reversed(self.days[-SHOWN:]))

    @property
    def segments_day(self) -> str:
        """Which day the segments are of."""
        return self.newest_day if self.has_days else ""

    @property
    def axis(self) -> tuple[float, float]:
        """Where the axis of the segments' intervals begins and ends."""
        means = [one.shown for one in self.segments]
        ends = [end for one in means for end in (one.low, one.high) if end is not None]
        return (min(ends), max(ends)) if ends and min(ends) < max(ends) else (0.0, 1.0)


def list_data_sets(*, access: Access) -> DataSetsPage:
    """The data sets that are not retired."""
    check_may_see_rankings(access)
    own = DataSet.objects.filter(collection=access.collection, retired_at=None)
    return DataSetsPage(
        rows=tuple(_row(data_set) for data_set in own.order_by("name", "pk")),
        problem=find_problem(),
        may_change=may_upload_runs(access),
        places=tuple(place.address for place in settings.DATA_SETS),
    )


def find_problem() -> str:
    """Why this server reads no data sets; "" if it does."""
    if not settings.DATA_SETS:
        return OFF
    try:
        check_pyarrow()
    except BulkRefused as error:
        return f"{error.message[:1].upper()}{error.message[1:]}"
    return ""


def get_data_set(*, access: Access, slug: str) -> DataSet:
    """A data set of the collection, also a retired one. Raises NotFound."""
    check_may_see_rankings(access)
    result = DataSet.objects.filter(collection=access.collection, slug=slug)
    data_set = result.select_related("collection").first()
    if data_set is None:
        raise NotFound("data set")
    return data_set


def get_evaluation(*, access: Access, slug: str, public_id: UUID) -> DataSetEvaluation:
    """An evaluation of a data set of the collection. Raises NotFound."""
    data_set = get_data_set(access=access, slug=slug)
    result = data_set.own_evaluations.filter(public_id=public_id)
    evaluation = result.select_related("data_set").first()
    if evaluation is None:
        raise NotFound("evaluation")
    return evaluation


def get_data_set_page(
    *, access: Access, slug: str, measure: str = "", segment: str = ALL
) -> DataSetPage:
    """A data set with the time line of a measure and a segment; unknown ones mean the usual."""
    data_set = get_data_set(access=access, slug=slug)
    names = list_measures(data_set)
    done = list(data_set.own_evaluations.filter(state=State.DONE).order_by("-pk")[:DRAWN])
    own = list(done[0].figures.order_by("day", "segment")) if done else []
    known = sorted({one.segment for one in own}) if data_set.segments else []
    segment = segment if segment in known else ALL
    measure = measure if measure in names else names[0]
    group = partial(_group, names, measure)
    if data_set.day:
        days = _by_day(group, [one for one in own if segment in (ALL, one.segment)])
    else:
        days = _by_evaluation(group, done, segment)
    newest_day = own[-1].day if own else ""
    newest = [one for one in own if one.day == newest_day]
    return DataSetPage(
        data_set=data_set,
        evaluations=tuple(row_of(one) for one in data_set.own_evaluations.order_by("-pk")[:SHOWN]),
        measures=names,
        measure=measure,
        segment_names=tuple(known),
        segment=segment,
        days=days[-DRAWN:],
        segments=tuple(
            group(name, own)
            for name in known
            if (own := [one for one in newest if one.segment == name])
        ),
        whole=group("all", newest) if newest else None,
        newest_day=newest_day,
        lowest=next((one for one in lowest_of(done[0]) if one.measure == measure), None)
        if done
        else None,
        incidents=list_open_incidents(data_set),
        may_change=may_upload_runs(access) and data_set.retired_at is None,
        problem=find_problem(),
    )


def list_open_incidents(data_set: DataSet) -> tuple[OpenIncident, ...]:
    """What its canaries found wrong that is not over, oldest first."""
    found = Incident.objects.filter(
        data_set_canary__data_set=data_set, data_set_canary__retired_at=None, recovered_at=None
    ).select_related("opened_by_day")
    return tuple(
        OpenIncident(WORDS[one.kind], describe_look(one.kind, look), one.opened_at)
        for one in found.order_by("pk")
        if (look := one.opened_by_day) is not None
    )


def describe_look(kind: str, look: DataSetLook) -> str:
    """The figures of a canary's look that concern a kind, as one sentence."""
    if kind == "availability" and "problem" not in look.figures:
        return "The evaluation succeeded."
    day = f"{look.day}: " if look.day else ""
    return f"{day}{describe(kind, '', look.figures)}"


def list_measures(data_set: DataSet) -> tuple[str, ...]:
    """The names of what is computed, in its order."""
    return tuple(one.name for one in columns_of(data_set).plan.asked)


def list_rule_measures(data_set: DataSet) -> tuple[str, ...]:
    """The same by the names that rules have for them."""
    return tuple(one.name for one in columns_of(data_set).plan.measures)


def list_segments(data_set: DataSet) -> tuple[str, ...]:
    """The segments of the newest evaluation that is done."""
    newest = data_set.own_evaluations.filter(state=State.DONE).order_by("-pk").first()
    if newest is None or not data_set.segments:
        return ()
    return tuple(sorted(set(newest.figures.values_list("segment", flat=True))))


def list_groups(
    data_set: DataSet, evaluation: DataSetEvaluation
) -> Sequence[tuple[DataSetFigures, Group]]:
    """The figures of an evaluation by day and segment, as they are stored, with their means."""
    names = list_measures(data_set)
    own = evaluation.figures.order_by("day", "segment")
    return [(one, _group(names, names[0], one.segment, [one])) for one in own]


def lowest_of(evaluation: DataSetEvaluation) -> tuple[Lowest, ...]:
    """The queries with low values that an evaluation keeps, by measure."""
    return tuple(
        Lowest(
            one["measure"],
            one["queries"],
            tuple(
                LowQuery(
                    low["query"],
                    low["segment"],
                    low["value"],
                    low["ranked"],
                    tuple(LowDocument(*document) for document in low["documents"]),
                )
                for low in one["lowest"]
            ),
        )
        for one in evaluation.lowest
    )


def row_of(evaluation: DataSetEvaluation) -> EvaluationRow:
    """An evaluation and its progress."""
    queries = None
    if evaluation.state == State.DONE:
        queries = evaluation.figures.aggregate(queries=Sum("queries"))["queries"]
    return EvaluationRow(
        id=evaluation.public_id,
        state=evaluation.state,
        problem=evaluation.problem,
        is_scheduled=evaluation.is_scheduled,
        files=evaluation.files,
        rows=evaluation.rows,
        queries=queries,
        created_at=evaluation.created_at,
        ended_at=evaluation.ended_at,
        progress=_progress(evaluation) if evaluation.state == State.RUNNING else None,
    )


def _progress(evaluation: DataSetEvaluation) -> EvaluationProgress:
    """Of the first step that is not done; of the last one if all are."""
    steps = list(
        evaluation.portions.order_by("kind")
        .values("kind")
        .annotate(total=Count("pk"), done=Count("pk", filter=Q(done_at__isnull=False)))
    )
    if not steps:
        return EvaluationProgress(STEPS[Kind.LIST], 0, 0)
    step = next((one for one in steps if one["done"] < one["total"]), steps[-1])
    return EvaluationProgress(STEPS[Kind(step["kind"])], step["done"], step["total"])


def _row(data_set: DataSet) -> DataSetRow:
    newest = data_set.own_evaluations.order_by("-pk").first()
    done = data_set.own_evaluations.filter(state=State.DONE).order_by("-pk").first()
    mean = None
    if done is not None:
        names = list_measures(data_set)
        mean = _group(names, names[0], "", done.figures.all()).shown
    return DataSetRow(data_set, None if newest is None else row_of(newest), mean)


def _by_day(group: MakeGroup, figures: Sequence[DataSetFigures]) -> tuple[Group, ...]:
    days: dict[str, list[DataSetFigures]] = {}
    for one in figures:
        days.setdefault(one.day, []).append(one)
    return tuple(group(day, own) for day, own in sorted(days.items()))


def _by_evaluation(
    group: MakeGroup, done: Sequence[DataSetEvaluation], segment: str
) -> tuple[Group, ...]:
    """One group for each evaluation that knows the segment, oldest first."""
    figures = DataSetFigures.objects.filter(evaluation__in=done)
    if segment != ALL:
        figures = figures.filter(segment=segment)
    by_evaluation: dict[int, list[DataSetFigures]] = {}
    for one in figures:
        by_evaluation.setdefault(one.evaluation_id, []).append(one)
    return tuple(
        group(f"{one.created_at:%Y-%m-%d %H:%M}", by_evaluation[one.pk])
        for one in reversed(done)
        if one.pk in by_evaluation
    )


def _group(
    names: Sequence[str], measure: str, name: str, figures: Iterable[DataSetFigures]
) -> Group:
    """The means over the queries of some figures together. measure: the one that is shown."""
    own = list(figures)
    sums: IntArray = reduce(add, (from_bytes(bytes(one.sums)) for one in own))
    result = [mean_of(each, row) for each, row in zip(names, sums, strict=True)]
    return Group(
        name,
        sum(one.rows for one in own),
        sum(one.queries for one in own),
        tuple(result),
        result[names.index(measure)],
    )


def mean_of(measure: str, sums: IntArray) -> MeanOf:
    """A measure's mean and interval. sums: its row, (6,)."""
    (mean,), (error,) = means(sums[None]), standard_errors(sums[None])
    n, total, _ = as_integers(sums.tolist())
    return MeanOf(measure, mean, half_interval(error, n), total, n)
