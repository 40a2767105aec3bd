"""How a ranker's means went: run by run at the newest grades, and of one run as grades changed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from evaluation.evaluations.measure_sets import (
    get_leaderboard,
    is_of_this_arithmetic,
    measures_of,
)
from evaluation.evaluations.queries import list_stored_sums
from evaluation.models import Evaluation, Leaderboard, Ranker, Run
from judgments.models import JudgmentList
from touchstone.measures.asking import Asked
from touchstone.measures.averages import Average, averages, chosen_sums
from touchstone.measures.exact import from_bytes
from touchstone.statistics.intervals import mean_interval

MOST: Final = 60  # values of one line, the newest


@dataclass(frozen=True)
class Past:
    """A run's mean at a version of a list.

    at: when the run was uploaded, or in a history of versions when the version was made.
    low, high: the mean's 95 % interval (Student's t over queries); None below two queries, and
    where all have the same value.
    """

    run: UUID
    name: str
    version: int
    at: datetime
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class RankerHistory:
    """A ranker's means of one measure, the oldest first. Each line is empty below two values.

    runs: the runs that are not withdrawn, each at the newest version it is evaluated at.
    versions: of the newest of them, at the versions whose evaluation is still stored.
    """

    measure: Asked
    runs: tuple[Past, ...]
    versions: tuple[Past, ...]

    @property
    def newest(self) -> str:
        """The run that `versions` is about."""
        return self.versions[-1].name if self.versions else ""


def get_ranker_history(
    *, ranker: Ranker, judgment_list: JudgmentList, measure: Asked
) -> RankerHistory:
    """What is stored of the ranker's runs. measure: one that the list keeps."""
    leaderboard = get_leaderboard(judgment_list=judgment_list)
    runs = list(Run.objects.filter(ranker=ranker, withdrawn_at=None).order_by("-pk")[:MOST])[::-1]
    if leaderboard is None or not runs:
        return RankerHistory(measure, (), ())
    place = measures_of(leaderboard.measure_set).index(measure.measure)
    stored = list_stored_sums(judgment_list, leaderboard, runs, [place])
    by_run = (
        _past(own.run, own.version, own.run.created_at, own.averages[0])
        for own in stored
        if own.version is not None and own.averages
    )
    by_version = _list_versions(judgment_list, leaderboard, runs[-1], place)
    return RankerHistory(measure, _line(by_run), _line(by_version))


def _list_versions(
    judgment_list: JudgmentList, leaderboard: Leaderboard, run: Run, place: int
) -> list[Past | None]:
    if not is_of_this_arithmetic(leaderboard.measure_set):
        return []
    kept = measures_of(leaderboard.measure_set)
    stored = (
        Evaluation.objects.filter(
            run=run, measure_set=leaderboard.measure_set_id, version__list=judgment_list
        )
        .select_related("version")
        .order_by("-version__number")[:MOST]
    )
    return [
        _past(
            run,
            one.version.number,
            one.version.created_at,
            averages(
                (kept[place],),
                chosen_sums(kept, from_bytes(bytes(one.sums)), [place]),
            )[0],
        )
        for one in reversed(stored)
    ]


def _past(run: Run, version: int, at: datetime, mean: Average) -> Past | None:
    """None where no query is in the mean."""
    if mean.value is None:
        return None
    low, high = mean_interval(mean.value, mean.error, mean.n) or (None, None)
    return Past(run.public_id, run.name, version, at, mean.value, low, high)


def _line(points: Iterable[Past | None]) -> tuple[Past, ...]:
    known = tuple(one for one in points if one is not None)
    return known if len(known) > 1 else ()
