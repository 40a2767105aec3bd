"""How far other measures, and other tools' definitions, agree about the order of a list's runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import kept_measures, list_run_sums
from judgments.models import JudgmentList, JudgmentVersion
from touchstone.measures.asking import Asked, every_preset, recognise
from touchstone.measures.scoring import can_be_stored, fits
from touchstone.statistics.ranks import kendall_tau

FEWEST: Final = 3  # runs that have an order worth the name
PATIENCE: Final = 2_000_000  # ranks that a page reads for what is not stored: half a second
SAME: Final = 1 - 1e-9


@dataclass(frozen=True)
class MeasureOrder:
    """Kendall's tau-b between the list's runs ordered by another measure and by this one.

    is_dialect: the same measure by another tool's definition.
    """

    name: str
    tau: float
    is_dialect: bool


@dataclass(frozen=True)
class MeasureOrders:
    """Other measures, those that agree least first. runs: all that have a value."""

    runs: int
    orders: tuple[MeasureOrder, ...]

    @property
    def same(self) -> tuple[str, ...]:
        """Measures with the very same order."""
        return tuple(one.name for one in self.orders if one.tau > SAME)

    @property
    def different(self) -> tuple[MeasureOrder, ...]:
        """The others."""
        return tuple(one for one in self.orders if one.tau <= SAME)


def get_measure_orders(
    *, judgment_list: JudgmentList, version: int, asked: Asked
) -> MeasureOrders | None:
    """The list's other measures and this one's dialects, by how far they agree with it.

    Of all runs that are not withdrawn and have a value at the version by every measure; what
    takes too long to compute for that is left out. None for fewer than three runs.
    """
    own = JudgmentVersion.objects.filter(list=judgment_list, number=version).first()
    if own is None:
        return None
    kept = [one for one in kept_measures(judgment_list) if one.family != "Judged"]
    others = [recognise(one) for one in kept if one != asked.measure]
    known = {asked.measure, *kept}
    grades = grades_of(judgment_list)
    dialects = {
        one.measure: one
        for one in every_preset(asked.plain)
        if one.measure not in known and can_be_stored(one.measure) and fits(one.measure, grades)
    }
    values = _values(judgment_list, own, [asked]) | _values(judgment_list, own, others)
    values |= _values(judgment_list, own, list(dialects.values()))
    board = values.get(asked.canonical, {})
    if len(board) < FEWEST:
        return None
    result = [
        MeasureOrder(one.canonical, tau, one.measure in dialects)
        for one in (*others, *dialects.values())
        if values.get(one.canonical, {}).keys() == board.keys()
        and (tau := _tau(board, values[one.canonical])) is not None
    ]
    return MeasureOrders(len(board), tuple(sorted(result, key=lambda one: one.tau)))


def _values(
    judgment_list: JudgmentList, version: JudgmentVersion, asked: Sequence[Asked]
) -> dict[str, dict[int, float]]:
    """Each measure's value of each run."""
    if not asked:
        return {}
    result = list_run_sums(
        judgment_list=judgment_list,
        version=version,
        measures=[one.measure for one in asked],
        patience=PATIENCE,
    )
    return {
        one.canonical: {
            row.run.pk: value
            for row in result
            if row.averages and (value := row.averages[position].value) is not None
        }
        for position, one in enumerate(asked)
    }


def _tau(board: dict[int, float], other: dict[int, float]) -> float | None:
    runs = sorted(board)
    return kendall_tau([board[run] for run in runs], [other[run] for run in runs])
