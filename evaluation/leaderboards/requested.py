"""Measures that a list does not keep, computed by a worker for every run on request.

They are kept in the cache by run and version, where the leaderboard of these measures finds them:
neither ever changes. What the cache has lost is computed again on the next request.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from typing import Final, Literal

from evaluation.evaluations.due import LARGEST
from evaluation.evaluations.queries import FilterRefused, list_run_sums
from evaluation.evaluations.sums import cost_of
from evaluation.leaderboards.queries import board_measures
from evaluation.models import Run
from judgments.lists.queries import get_list, get_version
from judgments.models import JudgmentList, JudgmentVersion
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, check_may_see_rankings
from judgments.storage.caches import wake_once, write_cached
from touchstone.measures.asking import ask_all
from touchstone.measures.definition import Measure
from touchstone.measures.errors import MeasureError

TASK: Final = "evaluation.compute_measures"
DEBOUNCE: Final = 60  # seconds without progress, after which a worker is woken again


@dataclass(frozen=True)
class RequestedMeasures:
    """A worker's progress in computing measures at a version.

    state: computing, or ready if every run has its values. done: number of runs with values, of
    `total`.
    """

    version: int
    measures: tuple[str, ...]
    state: Literal["computing", "ready"]
    done: int
    total: int
    list_id: int = field(metadata=ON_PAGES)


def get_requested(*, access: Access, slug: str, measures: str, version: str) -> RequestedMeasures:
    """The progress of measures at a version of a list.

    Raises MeasureError for what can't be computed here, FilterRefused where nothing is named,
    NotFound for a version.
    """
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    if not measures.strip():
        raise FilterRefused("no_measures", "Name at least one measure.")
    own = board_measures(judgment_list, measures)
    names = dict.fromkeys(one.canonical for one in ask_all(measures))
    result = get_version(judgment_list=judgment_list, name=version)
    every = list_run_sums(judgment_list=judgment_list, version=result, measures=own, patience=0)
    done = sum(one.sums is not None and one.version == result.number for one in every)
    return RequestedMeasures(
        version=result.number,
        measures=tuple(names),
        state="ready" if done == len(every) else "computing",
        done=done,
        total=len(every),
        list_id=judgment_list.pk,
    )


def enqueue(found: RequestedMeasures) -> None:
    """Wake a worker where something is left to compute; again where none has got on with it."""
    if found.state == "ready":
        return
    message = (found.list_id, found.version, " ".join(found.measures))
    wake_once(_flag(*message), DEBOUNCE, TASK, *message)


def compute_requested(*, list_id: int, version: int, measures: str) -> int:
    """Compute measures of every run at a version, some runs at a time; how many runs there were.

    What no one can ask for any more is left alone.
    """
    result = JudgmentVersion.objects.select_related("list").filter(list=list_id, number=version)
    version_row = result.first()
    if version_row is None:
        return 0
    judgment_list = version_row.list
    try:
        own = board_measures(judgment_list, measures)
    except MeasureError:
        return 0
    runs = _missing(judgment_list, version_row, own)
    for some in _parts(runs, own):
        list_run_sums(
            judgment_list=judgment_list,
            version=version_row,
            measures=own,
            named=some,
            patience=inf,
        )
        write_cached(_flag(list_id, version, measures), True, DEBOUNCE)
    return len(runs)


def _missing(
    judgment_list: JudgmentList, version: JudgmentVersion, measures: Sequence[Measure]
) -> list[Run]:
    every = list_run_sums(
        judgment_list=judgment_list, version=version, measures=measures, patience=0
    )
    return [one.run for one in every if one.sums is None]


def _parts(runs: Sequence[Run], measures: Sequence[Measure]) -> Iterator[list[Run]]:
    """The runs, as many at a time as some seconds are enough for."""
    cost = cost_of(measures)
    part: list[Run] = []
    work = 0.0
    for run in runs:
        if part and work + run.row_count * cost > LARGEST:
            yield part
            part, work = [], 0.0
        part.append(run)
        work += run.row_count * cost
    if part:
        yield part


def _flag(list_id: int, version: int, measures: str) -> str:
    # names of measures have blanks and quotes, which no key of a cache should have
    return f"measures-sent:{list_id}:{version}:{sha256(measures.encode()).hexdigest()}"
