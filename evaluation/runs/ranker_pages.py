"""The pages of rankers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.core.paginator import Page
from django.db.models import Count, F, Max, Q

from evaluation.evaluations.due import list_failures
from evaluation.evaluations.measure_sets import get_leaderboard
from evaluation.evaluations.queries import (
    RunSums,
    chosen_measures,
    kept_measures,
    list_stored_sums,
    with_judged,
)
from evaluation.models import Ranker, Run
from evaluation.permissions import may_withdraw
from evaluation.runs.history import RankerHistory, get_ranker_history
from evaluation.runs.queries import get_ranker
from evaluation.runs.uploaders import list_uploaders
from judgments.content.queries import get_choice
from judgments.models import JudgmentList
from judgments.pages.paging import paginate, put_in_order
from judgments.permissions import Access, check_may_see_rankings, may_upload_runs
from touchstone.measures.asking import Asked, recognise
from touchstone.measures.definition import Measure
from touchstone.statistics.intervals import half_interval

MAIN: Final = 3  # measures that a ranker's page shows of each run, beside what is judged


@dataclass(frozen=True)
class NewestRun:
    """The run that a ranker was given last."""

    public_id: UUID
    name: str
    created_at: datetime
    who: str


@dataclass(frozen=True)
class RankerRow:
    """A ranker; runs: those that are not withdrawn."""

    slug: str
    name: str
    description: str
    runs: int
    newest: NewestRun | None


@dataclass(frozen=True)
class RankersPage:
    """The rankers of a collection. may_upload: the viewer may register and upload.

    sort: the column they are in the order of.
    """

    rows: "Page[RankerRow]"
    may_upload: bool
    sort: str


def get_rankers_page(*, access: Access, sort: str, page: str) -> RankersPage:
    """The rankers of the collection, each with its newest run; by name unless `sort` says else."""
    check_may_see_rankings(access)
    kept = Q(runs__withdrawn_at__isnull=True)
    rankers, sort = put_in_order(
        Ranker.objects.filter(collection=access.collection).annotate(
            run_count=Count("runs", filter=kept), newest_id=Max("runs", filter=kept)
        ),
        sort=sort,
        columns={"name": (F("name"),), "runs": (F("run_count"),), "uploaded": (F("newest_id"),)},
        last=("name", "slug"),
        default="name",
    )
    return RankersPage(
        paginate(rankers, page=page, show=lambda rows: _rows(access, rows)),
        may_upload_runs(access),
        sort,
    )


def list_ranker_choices(*, access: Access) -> list[tuple[str, str]]:
    """Slug and name of every ranker, for a form."""
    check_may_see_rankings(access)
    rankers = Ranker.objects.filter(collection=access.collection).order_by("name", "slug")
    return [
        (slug, name if name == slug else f"{name} ({slug})")
        for slug, name in rankers.values_list("slug", "name")
    ]


def _rows(access: Access, rankers: list[Any]) -> list[RankerRow]:
    """rankers: each with the number of its runs, and which is the newest."""
    newest = Run.objects.in_bulk([one.newest_id for one in rankers if one.newest_id is not None])
    names = list_uploaders(access=access, user_ids=[run.created_by_id for run in newest.values()])
    rows = []
    for ranker in rankers:
        shown = None
        if ranker.newest_id is not None:
            run = newest[ranker.newest_id]
            shown = NewestRun(run.public_id, run.name, run.created_at, names[run.created_by_id])
        count = ranker.run_count
        rows.append(RankerRow(ranker.slug, ranker.name, ranker.description, count, shown))
    return rows


@dataclass(frozen=True)
class Cell:
    """A run's mean of one measure. half: of its interval of 95 %, as a leaderboard has it."""

    measure: str
    is_judged: bool
    value: float | None
    half: float | None


@dataclass(frozen=True)
class RankerRunRow:
    """A run of a ranker, and its values at the list's head.

    aliases: its other names. version: the one that the values are of; None while there are none.
    """

    public_id: UUID
    name: str
    aliases: tuple[str, ...]
    created_at: datetime
    who: str
    queries: int
    version: int | None
    is_current: bool
    problem: str
    is_withdrawn: bool
    may_withdraw: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class RankerPage:
    """A ranker and its runs. lists: all there are; chosen: whose values are shown, if any.

    history: of one of the columns; None where no list has values.
    """

    ranker: Ranker
    who: str
    lists: list[JudgmentList]
    chosen: JudgmentList | None
    columns: tuple[Asked, ...]
    rows: "Page[RankerRunRow]"
    history: RankerHistory | None
    may_upload: bool


def get_ranker_page(
    *, access: Access, slug: str, list_slug: str, page: str, measure: str = ""
) -> RankerPage:
    """A ranker with its runs, the newest first, withdrawn ones too.

    measure: the column whose history is shown; the first for any other text.
    """
    ranker = get_ranker(access=access, slug=slug)
    choice = get_choice(access=access, list_slug=list_slug, version="")
    chosen = None if choice is None else choice.chosen
    columns = () if chosen is None else _columns(chosen)
    shown = tuple(map(recognise, columns))
    runs = Run.objects.filter(ranker=ranker).prefetch_related("aliases").order_by("-pk")
    names = list_uploaders(access=access, user_ids=[ranker.created_by_id])

    def show(rows: list[Run]) -> list[RankerRunRow]:
        return _run_rows(access, ranker, rows, chosen, columns)

    return RankerPage(
        ranker=ranker,
        who=names[ranker.created_by_id],
        lists=[] if choice is None else choice.lists,
        chosen=chosen,
        columns=shown,
        rows=paginate(runs, page=page, show=show),
        history=_history(ranker, chosen, shown, measure),
        may_upload=may_upload_runs(access),
    )


def _history(
    ranker: Ranker, chosen: JudgmentList | None, columns: Sequence[Asked], name: str
) -> RankerHistory | None:
    if chosen is None or not columns:
        return None
    measure = next((one for one in columns if one.canonical == name), columns[0])
    return get_ranker_history(ranker=ranker, judgment_list=chosen, measure=measure)


def _run_rows(
    access: Access,
    ranker: Ranker,
    runs: list[Run],
    chosen: JudgmentList | None,
    columns: Sequence[Measure],
) -> list[RankerRunRow]:
    stored = {} if chosen is None else _stored(chosen, runs, columns)
    problems = {} if chosen is None else _problems(chosen)
    names = list_uploaders(access=access, user_ids=[run.created_by_id for run in runs])
    rows = []
    for run in runs:
        run.ranker = ranker
        own = stored.get(run.pk, RunSums(run, None, (), None))
        rows.append(
            RankerRunRow(
                public_id=run.public_id,
                name=run.name,
                aliases=tuple(one.name for one in run.aliases.all()),
                created_at=run.created_at,
                who=names[run.created_by_id],
                queries=run.query_count,
                version=own.version,
                is_current=chosen is not None and own.version == chosen.head,
                problem=problems.get(run.pk, ""),
                is_withdrawn=run.withdrawn_at is not None,
                may_withdraw=may_withdraw(access, run),
                cells=_cells(own),
            )
        )
    return rows


def _columns(judgment_list: JudgmentList) -> tuple[Measure, ...]:
    """The first measures that the list keeps, and how much is judged to their cutoffs."""
    kept = kept_measures(judgment_list)
    wanted = with_judged(chosen_measures(judgment_list, "")[:MAIN])
    return tuple(measure for measure in wanted if measure in kept)


def _stored(
    judgment_list: JudgmentList, runs: list[Run], columns: Sequence[Measure]
) -> dict[int, RunSums]:
    leaderboard = get_leaderboard(judgment_list=judgment_list)
    if leaderboard is None or not runs:
        return {}
    kept = kept_measures(judgment_list)
    places = [kept.index(measure) for measure in columns]
    stored = list_stored_sums(judgment_list, leaderboard, runs, places)
    return {one.run.pk: one for one in stored}


def _cells(own: RunSums) -> tuple[Cell, ...]:
    if own.sums is None:
        return ()
    result = zip(own.measures, own.averages, strict=True)
    return tuple(
        Cell(
            recognise(m).canonical,
            m.family == "Judged",
            one.value,
            half_interval(one.error, one.n),
        )
        for m, one in result
    )


def _problems(judgment_list: JudgmentList) -> dict[int, str]:
    failures = list_failures(list_id=judgment_list.pk)
    return {failure.run_id: failure.problem for failure in failures if failure.is_given_up}
