"""Reading comparisons of data sets: paired differences by day and segment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Final
from uuid import UUID

from evaluation.data_sets.definition import columns_of
from evaluation.data_sets.queries import (
    SHOWN,
    EvaluationRow,
    MeanOf,
    find_problem,
    get_data_set,
    mean_of,
    row_of,
)
from evaluation.models import DataSet, DataSetEvaluation, DataSetFigures
from judgments.permissions import Access, NotFound, may_upload_runs
from touchstone.measures.exact import IntArray, add, from_bytes

State = DataSetEvaluation.State
PARTS: Final = 5  # rows of a measure's sums, as touchstone/bulk/paired.py has them


@dataclass(frozen=True)
class PairedMean:
    """A measure of the queries that are in both data sets: the means, and of their difference,
    this data set's minus the other's. n_own, n_other: queries in each data set's own mean.
    """

    measure: str
    own: float | None
    other: float | None
    difference: MeanOf
    n_own: int
    n_other: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves 0 out."""
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and (low > 0 or high < 0)


@dataclass(frozen=True)
class PairedGroup:
    """A day, a segment, or both. common: queries that are in both data sets."""

    name: str
    day: str
    segment: str
    common: int
    measures: tuple[PairedMean, ...]


@dataclass(frozen=True)
class ComparisonRow:
    """A comparison. evaluation: its state and progress."""

    other: DataSet
    evaluation: EvaluationRow


@dataclass(frozen=True)
class ComparisonsPage:
    """The comparisons of a data set. others: to choose from."""

    data_set: DataSet
    rows: tuple[ComparisonRow, ...]
    others: tuple[DataSet, ...]
    may_change: bool
    problem: str


@dataclass(frozen=True)
class ComparisonPage:
    """A comparison with the differences of one measure by day and by segment of the newest day."""

    data_set: DataSet
    other: DataSet
    evaluation: EvaluationRow
    measure: str
    measures: tuple[str, ...]
    whole: PairedGroup | None
    newest_day: str
    days: tuple[PairedGroup, ...]
    segments: tuple[PairedGroup, ...]
    may_change: bool

    @cached_property
    def shown_segments(self) -> tuple[tuple[PairedGroup, PairedMean], ...]:
        """The segments with the chosen measure."""
        return self._chosen(self.segments)

    @cached_property
    def shown_days(self) -> tuple[tuple[PairedGroup, PairedMean], ...]:
        """The days with the chosen measure, newest first."""
        return self._chosen(reversed(self.days))

    @property
    def axis(self) -> float:
        """Half the width of the axis of the intervals, which has 0 in its middle."""
        groups = [*self.segments, *self.days, *([self.whole] if self.whole else [])]
        ends = [
            abs(end)
            for group in groups
            for one in group.measures
            for end in (one.difference.low, one.difference.high)
            if end is not None
        ]
        return max([*ends, 1e-6])

    @property
    def axis_start(self) -> float:
        """Where the axis begins."""
        return -self.axis

    def _chosen(self, groups: Iterable[PairedGroup]) -> tuple[tuple[PairedGroup, PairedMean], ...]:
        return tuple(
            (group, one)
            for group in groups
            for one in group.measures
            if one.measure == self.measure
        )


def get_comparisons_page(*, access: Access, slug: str) -> ComparisonsPage:
    """A data set's comparisons with others, newest first."""
    data_set = get_data_set(access=access, slug=slug)
    made = DataSetEvaluation.objects.filter(data_set=data_set, other__isnull=False)
    others = DataSet.objects.filter(collection=access.collection, retired_at=None)
    return ComparisonsPage(
        data_set=data_set,
        rows=tuple(
            ComparisonRow(one.other, row_of(one))
            for one in made.select_related("other").order_by("-pk")[:SHOWN]
            if one.other is not None
        ),
        others=tuple(others.exclude(pk=data_set.pk).order_by("name", "pk")),
        may_change=may_upload_runs(access) and data_set.retired_at is None,
        problem=find_problem(),
    )


def get_comparison(*, access: Access, slug: str, public_id: UUID) -> DataSetEvaluation:
    """A comparison of a data set of the collection. Raises NotFound."""
    data_set = get_data_set(access=access, slug=slug)
    made = DataSetEvaluation.objects.filter(
        data_set=data_set, other__isnull=False, public_id=public_id
    )
    comparison = made.select_related("data_set", "other").first()
    if comparison is None:
        raise NotFound("comparison")
    return comparison


def get_comparison_page(
    *, access: Access, slug: str, public_id: UUID, measure: str = ""
) -> ComparisonPage:
    """A comparison; an unknown measure means the first."""
    comparison = get_comparison(access=access, slug=slug, public_id=public_id)
    names = list_common_measures(comparison)
    figures = list(comparison.figures.order_by("day", "segment"))
    newest_day = figures[-1].day if figures else ""
    newest = [one for one in figures if one.day == newest_day]
    days: dict[str, list[DataSetFigures]] = {}
    for one in figures:
        days.setdefault(one.day, []).append(one)
    has_segments = bool(comparison.data_set.segments)
    return ComparisonPage(
        data_set=comparison.data_set,
        other=_other(comparison),
        evaluation=row_of(comparison),
        measure=measure if measure in names else names[0],
        measures=names,
        whole=_paired(names, newest_day or "all", newest) if newest else None,
        newest_day=newest_day,
        days=tuple(_paired(names, day, own) for day, own in days.items()) if len(days) > 1 else (),
        segments=tuple(_paired(names, one.segment, [one]) for one in newest)
        if has_segments
        else (),
        may_change=may_upload_runs(access),
    )


def list_paired_groups(comparison: DataSetEvaluation) -> Sequence[PairedGroup]:
    """The differences of every day and segment."""
    names = list_common_measures(comparison)
    own = comparison.figures.order_by("day", "segment")
    return [_paired(names, one.segment, [one]) for one in own]


def list_common_measures(comparison: DataSetEvaluation) -> tuple[str, ...]:
    """The names of the measures that both data sets have, as the first calls them."""
    other = {one.name for one in columns_of(_other(comparison)).plan.measures}
    asked = columns_of(comparison.data_set).plan.asked
    return tuple(one.name for one in asked if one.measure.name in other)


def _other(comparison: DataSetEvaluation) -> DataSet:
    assert comparison.other is not None
    return comparison.other


def _paired(names: Sequence[str], name: str, figures: Sequence[DataSetFigures]) -> PairedGroup:
    sums: IntArray = reduce(add, (from_bytes(bytes(one.sums)) for one in figures))
    parts = sums.reshape(PARTS, len(names), -1)
    measures = []
    for place, measure in enumerate(names):
        difference, own, other, all_own, all_other = (
            mean_of(measure, parts[part, place]) for part in range(PARTS)
        )
        measures.append(
            PairedMean(measure, own.mean, other.mean, difference, all_own.n, all_other.n)
        )
    return PairedGroup(
        name,
        figures[0].day,
        figures[0].segment,
        sum(one.queries for one in figures),
        tuple(measures),
    )
