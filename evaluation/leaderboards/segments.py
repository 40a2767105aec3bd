"""A list's runs in each segment of its queries: one measure, a column a segment."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import RunSums, chosen_columns, list_run_sums
from evaluation.evaluations.sums import Board, segments_of
from evaluation.leaderboards.board import Column, column_of
from judgments.lists.queries import HEAD, get_list, get_version
from judgments.models import JudgmentList
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, check_may_see_rankings
from touchstone.measures.averages import Average
from touchstone.measures.errors import MeasureError
from touchstone.measures.scoring import check_can_be_stored
from touchstone.statistics.intervals import half_interval


@dataclass(frozen=True)
class SegmentFilters:
    """What an address asks for; "" is the usual: the list's first measure, its newest version."""

    measure: str = ""
    version: str = HEAD


@dataclass(frozen=True)
class Segment:
    """A segment and the number of its queries in a mean. name: "" for queries without a segment."""

    name: str
    queries: int


@dataclass(frozen=True)
class SegmentMean:
    """A mean over `n` queries and its standard error; null if undefined."""

    mean: float | None = None
    standard_error: float | None = None
    n: int = 0
    is_best: bool = field(default=False, metadata=ON_PAGES)

    @property
    def half(self) -> float | None:
        """Half of the interval of 95 %; 0 where all queries have the same value."""
        return half_interval(self.standard_error, self.n)


@dataclass(frozen=True)
class SegmentRow:
    """A run. every: mean over all queries; of_segments: mean of the segments' means.

    segments: mean per segment, by name; empty while they are being computed.
    """

    ranker: str
    run: str
    id: UUID
    every: SegmentMean
    of_segments: SegmentMean
    segments: Mapping[str, SegmentMean]
    ranker_name: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class SegmentTable:
    """One measure of every run, by segment. version: null if the list has none.

    computing: some runs have no values yet. runs: best first over all queries.

    On pages, waiting: how many.
    """

    version: int | None
    is_head: bool
    computing: bool
    measure: Column
    segments: tuple[Segment, ...]
    runs: tuple[SegmentRow, ...]
    list: JudgmentList = field(metadata=ON_PAGES)
    waiting: int = field(metadata=ON_PAGES)

    @property
    def has_segments(self) -> bool:
        """Whether any judged query is in a segment."""
        return any(segment.name for segment in self.segments)


def get_segment_table(*, access: Access, slug: str, filters: SegmentFilters) -> SegmentTable:
    """Every run's mean in each segment, as an address asks for it.

    Raises MeasureError for what can't be asked for, NotFound for a version.
    """
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    columns = chosen_columns(judgment_list, filters.measure)
    if filters.measure.strip() and len(columns) != 1:
        raise MeasureError("this page shows one measure at a time")
    asked = columns[0]
    split = replace(asked.measure, average="segments")
    check_can_be_stored(split)
    version = None
    names: tuple[str, ...] = ()
    if judgment_list.head or filters.version != HEAD:
        version = get_version(judgment_list=judgment_list, name=filters.version)
        board = Board(judgment_list.pk, (split,), grades_of(judgment_list))
        names = segments_of(board=board, version=version.number)
    every = list_run_sums(judgment_list=judgment_list, version=version, measures=[split])
    result = [
        own for own in every if version and own.version == version.number and own.by_segment(0)
    ]
    values = [dict(zip(names, own.by_segment(0), strict=True)) for own in result]
    best = {
        name: max((mean for own in values if (mean := own[name].value) is not None), default=None)
        for name in names
        if len(result) > 1
    }
    rows = [_row(own, in_each, best) for own, in_each in zip(result, values, strict=True)]
    rows.sort(key=lambda row: (-(row.every.mean or 0.0), row.run))
    late = [_row(own, {}, best) for own in every if own not in result]
    return SegmentTable(
        version=version.number if version else None,
        is_head=version is None or version.number == judgment_list.head,
        computing=bool(version and late),
        measure=column_of(asked, queries=max((row.every.n for row in rows), default=0)),
        segments=tuple(
            Segment(name, max((row.segments[name].n for row in rows), default=0)) for name in names
        ),
        runs=(*rows, *late),
        list=judgment_list,
        waiting=len(late) if version else 0,
    )


def _row(
    own: RunSums, values: Mapping[str, Average], best: Mapping[str, float | None]
) -> SegmentRow:
    """values: none where they are being computed."""
    return SegmentRow(
        ranker=own.run.ranker.slug,
        run=own.run.name,
        id=own.run.public_id,
        every=_mean(own.plain(0)) if values else SegmentMean(),
        of_segments=_mean(own.averages[0]) if values else SegmentMean(),
        segments={name: _mean(one, best.get(name)) for name, one in values.items()},
        ranker_name=own.run.ranker.name,
    )


def _mean(average: Average, best: float | None = None) -> SegmentMean:
    is_best = best is not None and average.value == best
    return SegmentMean(average.value, average.error, average.n, is_best)
