"""A list's runs in each segment of its queries: one measure, a column a segment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import RunSums, chosen_columns, kept_measures, list_run_sums
from evaluation.evaluations.sums import Board, segments_of
from evaluation.leaderboards.board import Value
from judgments.lists.queries import HEAD, get_list, get_version
from judgments.models import JudgmentList, JudgmentVersion
from judgments.permissions import Access, check_may_see_rankings
from touchstone.measures.asking import Asked, recognise
from touchstone.measures.averages import Average
from touchstone.measures.definition import Measure
from touchstone.measures.errors import MeasureError
from touchstone.measures.scoring import check_can_be_stored
from touchstone.measures.wording import describe


@dataclass(frozen=True)
class SegmentFilters:
    """What an address asks for; "" is the usual: the list's first measure, its newest version."""

    measure: str = ""
    version: str = HEAD


@dataclass(frozen=True)
class SegmentColumn:
    """A segment, and how many of its queries are in a mean. name: "" for queries without one."""

    name: str
    queries: int


@dataclass(frozen=True)
class SegmentCell:
    """A run's mean in a segment."""

    segment: str
    average: Value
    is_best: bool


@dataclass(frozen=True)
class SegmentRow:
    """A run. every: its mean over all queries; of_means: the mean of its segments' means.

    cells: none while it is being computed.
    """

    run_id: UUID
    run_name: str
    ranker_slug: str
    ranker_name: str
    every: Value
    of_means: Value
    cells: tuple[SegmentCell, ...]


@dataclass(frozen=True)
class SegmentsPage:
    """version: None on a list without one. waiting: runs without their values yet."""

    list_slug: str
    list_name: str
    version: int | None
    is_head: bool
    asked: Asked
    offered: tuple[str, ...]
    columns: tuple[SegmentColumn, ...]
    rows: tuple[SegmentRow, ...]
    waiting: int

    @property
    def description(self) -> str:
        """The measure in plain words, and where a tool can't be followed."""
        caveat = self.asked.preset.caveat if self.asked.preset else ""
        return f"{describe(self.asked.measure)} {caveat}".strip()

    @property
    def has_segments(self) -> bool:
        """Whether any judged query is in a segment."""
        return any(column.name for column in self.columns)


def get_segments_page(*, access: Access, slug: str, filters: SegmentFilters) -> SegmentsPage:
    """Every run's mean in each segment, as an address asks for it.

    Raises MeasureError for what can't be asked for, NotFound for a version.
    """
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    asked = _asked(judgment_list, filters.measure)
    split = replace(asked.measure, average="segments")
    check_can_be_stored(split)
    version = None
    if judgment_list.head or filters.version != HEAD:
        version = get_version(judgment_list=judgment_list, name=filters.version)
    found = list_run_sums(judgment_list=judgment_list, version=version, measures=[split])
    names = _names(judgment_list, split, version)
    current = [
        own for own in found if version and own.version == version.number and own.by_segment(0)
    ]
    rows = sorted(_rows(current, names), key=lambda row: (-(row.every.value or 0.0), row.run_name))
    late = [_row(own, ()) for own in found if own not in current]
    return SegmentsPage(
        list_slug=judgment_list.slug,
        list_name=judgment_list.name,
        version=None if version is None else version.number,
        is_head=version is None or version.number == judgment_list.head,
        asked=asked,
        offered=tuple(recognise(own).canonical for own in kept_measures(judgment_list)),
        columns=tuple(
            SegmentColumn(name, max((row.cells[i].average.n for row in rows), default=0))
            for i, name in enumerate(names)
        ),
        rows=(*rows, *late),
        waiting=len(late) if version else 0,
    )


def _asked(judgment_list: JudgmentList, text: str) -> Asked:
    asked = chosen_columns(judgment_list, text)
    if text.strip() and len(asked) != 1:
        raise MeasureError("this page shows one measure at a time")
    return asked[0]


def _names(
    judgment_list: JudgmentList, split: Measure, version: JudgmentVersion | None
) -> tuple[str, ...]:
    if version is None:
        return ()
    board = Board(judgment_list.pk, (split,), grades_of(judgment_list))
    return segments_of(board=board, version=version.number)


def _rows(found: Sequence[RunSums], names: Sequence[str]) -> list[SegmentRow]:
    """The rows, with the best value of each segment marked where there are several."""
    every = [own.by_segment(0) for own in found]
    best = [
        max((value for row in every if (value := row[place].value) is not None), default=None)
        for place in range(len(names))
    ]
    return [
        _row(
            own,
            tuple(
                SegmentCell(
                    name, _value(average), len(found) > 1 and average.value == top is not None
                )
                for name, average, top in zip(names, averages, best, strict=True)
            ),
        )
        for own, averages in zip(found, every, strict=True)
    ]


def _row(own: RunSums, cells: tuple[SegmentCell, ...]) -> SegmentRow:
    nothing = Average(None, None, 0)
    return SegmentRow(
        run_id=own.run.public_id,
        run_name=own.run.name,
        ranker_slug=own.run.ranker.slug,
        ranker_name=own.run.ranker.name,
        every=_value(own.plain(0) if cells else nothing),
        of_means=_value(own.averages[0] if cells else nothing),
        cells=cells,
    )


def _value(average: Average) -> Value:
    return Value(average.value, average.error, average.n)
