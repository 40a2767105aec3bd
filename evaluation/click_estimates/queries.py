"""The DCG of runs, estimated from clicks on the pages of a log, corrected for position."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from evaluation.models import Run
from evaluation.runs.names import list_named_runs, list_newest_runs, name_of, run_label
from evaluation.runs.queries import list_ranked_documents
from judgments.clicks.packing import Ints, StoredEvidence
from judgments.clicks.queries import LogRow, get_log, list_applications, load_evidence, show_log
from judgments.clicks.scoring import known_examination, main_application
from judgments.models import ClickBlock, Document, Query
from judgments.permissions import Access
from touchstone.clicks.evidence import Evidence
from touchstone.clicks.rankings import Floats, Influence, Ranking, RankingReport, ranking_report
from touchstone.statistics.clustered import Estimate

FLOORS: Final = (0.05, 0.1, 0.2, 0.3, 0.5)
USUAL_K: Final = 10
MOST_K: Final = 100
MOST_RUNS: Final = 50
FEWEST_ESS: Final = 100
OTHERS: Final = 1 << 31  # documents that the collection lacks are numbered from here


@dataclass(frozen=True)
class ClickEstimate:
    """A value with its 95 % interval, clustered by query; null where it is unknown."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ClippedEstimate:
    """The estimate with exposure raised to a floor. floored: the share of clicks below it."""

    floor: float
    floored: float
    dcg: ClickEstimate

    @property
    def largest_weight(self) -> float:
        return 1 / self.floor


@dataclass(frozen=True)
class InfluentialClicks:
    """Clicks on a document, and which share of the estimate rests on them.

    exposure: the chance that a page of the query had it examined.
    """

    query_id: str
    doc_id: str
    clicks: int
    exposure: float
    weight: float
    share: float


@dataclass(frozen=True)
class RunByClicks:
    """What a log says of a run. clicks: on documents of its first k.

    dcg: by inverse exposure, relative: position 1 counts as always examined; null where no page
    showed any of its first k, so nothing is known. snips: the mean discount of a weighted click.
    ess: effective sample size of the clicks; below 100, do not rely on the figures.
    never_shown: the share of its first k that no page of the query showed: they count as never
    clicked. clipped: by rising floors of examination. largest: what most of dcg rests on.
    """

    run: str
    label: str
    clicks: int
    dcg: ClickEstimate | None
    snips: ClickEstimate | None
    ess: float
    largest_weight: float
    never_shown: float
    clipped: list[ClippedEstimate]
    largest: list[InfluentialClicks]

    @property
    def effective_n(self) -> int:
        return round(self.ess)

    @property
    def is_thin(self) -> bool:
        return self.ess < FEWEST_ESS


@dataclass(frozen=True)
class ClickEstimates:
    """Runs by the clicks of a log. k: cutoff of DCG. pages, queries: of the log that count.

    application: whose pages. examination: of each position; null where it is refused: clicks there
    are left out. is_known: it did not have to be estimated. problem: why there is no estimate.
    """

    log: LogRow
    k: int
    application: str
    pages: int
    queries: int
    examination: list[float | None]
    is_known: bool
    problem: str
    runs: list[RunByClicks]


def get_click_estimates(
    *, access: Access, number: int, k: int = USUAL_K, names: Sequence[str] = ()
) -> ClickEstimates:
    """The newest run of every ranker, or the named ones, by the clicks of a log.

    Raises FilterRefused for an unknown run.
    """
    log = get_log(access=access, number=number)
    applications = list_applications(log)
    code = main_application(applications)
    examination = known_examination(applications[code], log.examination)
    stored = load_evidence(log=log, kind=ClickBlock.Kind.PAGES).of_application(code)
    pages = _of_known(stored, examination)
    shown = pages.impressions[pages.rank == 1]
    result = ClickEstimates(
        log=show_log(log),
        k=k,
        application=applications[code].name,
        pages=int(shown.sum()),
        queries=len(np.unique(pages.query)),
        examination=examination,
        is_known=log.examination is not None,
        problem=_problem(pages, examination),
        runs=[],
    )
    runs = list_named_runs(access=access, names=names) if names else list_newest_runs(access)
    if result.problem or not runs:
        return result
    rankings = _rankings(runs[:MOST_RUNS], pages, k)
    curve = np.array([1.0 if one is None else one for one in examination])
    rows = [_estimate(run, pages, curve, rankings[run.pk], k=k) for run in runs[:MOST_RUNS]]
    best = sorted(rows, key=lambda row: -math.inf if row.dcg is None else row.dcg.value)
    return replace(result, runs=best[::-1])


def _problem(pages: Evidence, examination: Sequence[float | None]) -> str:
    if not len(pages):
        return "No result page of this log is of a query of the collection."
    if sum(one is not None for one in examination) < 2:
        return "The position bias of this log is refused: too few interventions."
    return ""


def _of_known(stored: StoredEvidence, examination: Sequence[float | None]) -> Evidence:
    """Pages of the collection's queries, at positions with an examination; codes are keys."""
    own = stored.evidence
    query, document = stored.queries[own.query], stored.documents[own.document]
    known = np.array([False, *(one is not None and one > 0 for one in examination)])
    keep = (query > 0) & (own.rank < len(known))
    keep[keep] &= known[own.rank[keep]]
    keys = np.where(document > 0, document, OTHERS - document)
    return replace(own, query=query, document=keys).select(keep)


def _rankings(runs: Sequence[Run], pages: Evidence, k: int) -> dict[int, Ranking]:
    """The first k documents of each run, for the pages' queries."""
    rows: dict[int, list[tuple[int, int, int]]] = {run.pk: [] for run in runs}
    for one in list_ranked_documents(
        run_ids=rows, depth=k, query_ids=np.unique(pages.query).tolist()
    ):
        rows[one.run_id] += (
            (one.query_id, document, rank) for rank, document in enumerate(one.document_ids, 1)
        )
    return {run: Ranking(*_columns(own)) for run, own in rows.items()}


def _columns(rows: list[tuple[int, int, int]]) -> tuple[Ints, Ints, Ints]:
    query, document, rank = np.array(rows, np.int64).reshape(-1, 3).T
    return query, document, rank


def _estimate(
    run: Run,
    pages: Evidence,
    examination: Floats,
    ranking: Ranking,
    *,
    k: int,
) -> RunByClicks:
    result = ranking_report(pages, examination, ranking, k=k)
    name = name_of(run)
    label = run_label(run.ranker.name, name)
    if result is None:
        return RunByClicks(name, label, 0, None, None, 0.0, 0.0, 1.0, [], [])
    return RunByClicks(
        run=name,
        label=label,
        clicks=result.clicks,
        dcg=_shown(result.dcg),
        snips=_shown(result.snips) if result.clicks else None,
        ess=result.ess,
        largest_weight=result.largest_weight,
        never_shown=result.never_shown,
        clipped=[
            _clipped(floor, report)
            for floor in FLOORS
            if (report := ranking_report(pages, examination, ranking, k=k, floor=floor))
        ],
        largest=_influences(result.largest),
    )


def _clipped(floor: float, report: RankingReport) -> ClippedEstimate:
    return ClippedEstimate(floor, report.floored, _shown(report.dcg))


def _shown(estimate: Estimate) -> ClickEstimate:
    return ClickEstimate(estimate.value, estimate.low, estimate.high)


def _influences(found: Sequence[Influence]) -> list[InfluentialClicks]:
    queries = Query.objects.only("qid").in_bulk([one.query for one in found])
    documents = Document.objects.only("docid").in_bulk([one.document for one in found])
    return [
        InfluentialClicks(
            query_id=queries[one.query].qid,
            doc_id=documents[one.document].docid,
            clicks=one.clicks,
            exposure=one.exposure,
            weight=one.weight,
            share=one.share,
        )
        for one in found
    ]
