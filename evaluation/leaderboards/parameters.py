"""How a list's runs were made beside what they are worth: parameters and values in one view."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.evaluations.queries import SetChoice
from evaluation.leaderboards.board import Filters, LeaderboardTable, Row
from evaluation.leaderboards.queries import get_leaderboard
from evaluation.models import Run
from evaluation.runs.details import Scalar
from judgments.permissions import Access

MOST_AXES: Final = 8  # of the drawing; the table has all
MOST_MEASURES: Final = 3  # of them
MOST_TEXTS: Final = 12  # values of a parameter that is no number
MOST_LINES: Final = 60


@dataclass(frozen=True)
class ParallelAxis:
    """A parameter or a measure. low, high: what its ends are called.

    places: of each run, from 0 (low) to 1; None where it says nothing of it.
    """

    name: str
    low: str
    high: str
    places: tuple[float | None, ...]


@dataclass(frozen=True)
class MadeRun:
    """A run of the board, and its parameters in the order of the columns; None where unknown."""

    row: Row
    commit: str
    tags: tuple[str, ...]
    parameters: tuple[Scalar, ...]


@dataclass(frozen=True)
class ParametersPage:
    """names: of parameters, those of most runs first. runs: in the board's order.

    axes: parameters that differ between the first runs, and then measures; none below two runs.
    """

    board: LeaderboardTable
    names: tuple[str, ...]
    runs: tuple[MadeRun, ...]
    axes: tuple[ParallelAxis, ...]

    @property
    def sets(self) -> SetChoice:
        """The saved sets to choose from."""
        return self.board.sets

    @property
    def drawn(self) -> tuple[MadeRun, ...]:
        """The runs that the axes have places of."""
        return self.runs[:MOST_LINES]


def get_parameters_page(*, access: Access, slug: str, filters: Filters) -> ParametersPage:
    """The runs of the leaderboard that an address asks for, with their parameters.

    Raises what `get_leaderboard` raises.
    """
    board = get_leaderboard(access=access, slug=slug, filters=filters)
    made = Run.objects.in_bulk([row.id for row in board.runs], field_name="public_id")
    counts = Counter(name for run in made.values() for name in run.parameters)
    names = tuple(sorted(counts, key=lambda name: (-counts[name], name)))
    runs = tuple(
        MadeRun(
            row,
            made[row.id].commit,
            tuple(made[row.id].tags),
            tuple(made[row.id].parameters.get(name) for name in names),
        )
        for row in board.runs
    )
    return ParametersPage(board, names, runs, _axes(board, names, runs[:MOST_LINES]))


def _axes(
    board: LeaderboardTable, names: Sequence[str], runs: Sequence[MadeRun]
) -> tuple[ParallelAxis, ...]:
    columns = [column for column in board.measures if not column.is_judged][:MOST_MEASURES]
    measures = [
        axis
        for column in columns
        if (axis := _number_axis(column.name, [_mean(run.row, column.name) for run in runs], 4))
    ]
    parameters = [
        axis
        for position, name in enumerate(names)
        if (axis := _axis(name, [run.parameters[position] for run in runs]))
    ]
    if not parameters or not measures:
        return ()
    return (*parameters[: MOST_AXES - len(measures)], *measures)


def _mean(row: Row, column: str) -> float | None:
    value = row.values.get(column)
    return None if value is None else value.mean


def _axis(name: str, values: Sequence[Scalar]) -> ParallelAxis | None:
    """Numbers by their size, anything else by its words; None where nothing differs."""
    numbers = [one for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numbers) == sum(one is not None for one in values):
        return _number_axis(name, [None if one is None else float(one) for one in values])
    texts = [None if one is None else str(one) for one in values]
    distinct = sorted({one for one in texts if one is not None})
    if not 2 <= len(distinct) <= MOST_TEXTS:
        return None
    last = len(distinct) - 1
    places = tuple(None if one is None else distinct.index(one) / last for one in texts)
    return ParallelAxis(name, distinct[0], distinct[-1], places)


def _number_axis(
    name: str, values: Sequence[float | None], digits: int | None = None
) -> ParallelAxis | None:
    known = [one for one in values if one is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if low == high:
        return None
    ends = [f"{end:g}" if digits is None else f"{end:.{digits}f}" for end in (low, high)]
    places = tuple(None if one is None else (one - low) / (high - low) for one in values)
    return ParallelAxis(name, ends[0], ends[1], places)
