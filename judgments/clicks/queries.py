"""Reading click logs: which there are, their ledgers, position bias and pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from judgments.clicks.applications import (
    CurvePoint,
    ModelFigure,
    PositionCounts,
    StoredApplication,
)
from judgments.clicks.packing import StoredEvidence, unpack
from judgments.collections.queries import map_queries
from judgments.models import ClickBlock, ClickLog, Document, Query
from judgments.permissions import Access, NotFound, check_may_see_rankings
from touchstone.clicks.coec import Coec, coec
from touchstone.clicks.interventions import FEWEST_CLICKS, FEWEST_DOCUMENTS
from touchstone.clicks.ledger import DESCRIPTIONS, Outcome
from touchstone.clicks.model_fits import FEWEST_PAGES, FEWEST_PAGES_EACH, FEWEST_QUERIES
from touchstone.clicks.sessions import FEWEST_RESULTS, MOST_RESULTS

SHOWN: Final = 50  # pairs of a page
MOST_PAIRS: Final = 1000  # of an answer over REST
ESTIMATORS: Final = {
    "all_pairs": "AllPairs",
    "pivot_one": "PivotOne",
    "adjacent_chain": "AdjacentChain",
    "pbm": "PBM",
    "sdbn": "SDBN",
}
DROPPED: Final = {
    "gap": "with a gap between ranks",
    "too_short": f"with fewer than {FEWEST_RESULTS} results",
    "too_long": f"with more than {MOST_RESULTS} results",
}
MODELS: Final = {
    "rank_ctr": "Rank CTR",
    "document_ctr": "Document CTR",
    "pbm": "PBM",
    "sdbn": "SDBN",
}
USUAL_REASON: Final = (
    "too few documents were shown both there and at positions that it can be compared with"
)
REASONS: Final = {
    "sdbn": f"fewer than {FEWEST_CLICKS} clicks, or documents shown on fewer than "
    f"{FEWEST_PAGES_EACH} pages on average"
}
EVIDENCE: Final = frozenset(
    outcome.key for outcome in Outcome if outcome.name.startswith(("IMPRESSION", "CLICK"))
)


@dataclass(frozen=True)
class LogRow:
    """A click log, with totals of its evidence."""

    number: int
    name: str
    is_simulated: bool
    records: int
    impressions: int
    clicks: int
    queries: int
    documents: int
    known_queries: int
    known_documents: int
    created_at: datetime


@dataclass(frozen=True)
class OutcomeRow:
    """A class of the ledger, and how many records are in it. is_evidence: they count."""

    outcome: str
    description: str
    records: int
    is_evidence: bool


@dataclass(frozen=True)
class Curve:
    """An estimator's examination of each position, relative to the first."""

    estimator: str
    name: str
    points: list[CurvePoint]

    @property
    def has_estimate(self) -> bool:
        """Whether it gives any position but the first."""
        return any(point.examination is not None for point in self.points[1:])


@dataclass(frozen=True)
class ModelRow:
    """How a click model predicts the half of the pages that it was not fitted to.

    perplexity: the mean of by_rank, one entry for each position: 1 is best, 2 a coin.
    """

    model: str
    name: str
    log_likelihood: ModelFigure
    perplexity: ModelFigure
    by_rank: list[float]


@dataclass(frozen=True)
class PositionRow:
    """A position: points of the estimators in their order; its interventions with each other
    position, and whether they are enough."""

    rank: PositionCounts
    points: list[CurvePoint]
    known: float | None
    interventions: list[tuple[int, bool]]


@dataclass(frozen=True)
class Refusal:
    """The positions that an estimator refuses."""

    name: str
    positions: list[int]
    reason: str


@dataclass(frozen=True)
class ApplicationRow:
    """An application of a log.

    rank_base: the rank of its first results; null where it is unknown: no result pages.
    pages, dropped: its result pages, and how many were left out.
    known: the examination of each position, where it need not be estimated.
    interventions: for each two positions, the documents that both showed; supported: whether they
    are enough to compare the two. models: click models, none where there are too few pages; fitted
    to and evaluated on halves of `sampled` pages.
    """

    name: str
    records: int
    outcomes: list[OutcomeRow]
    actions: dict[str, int]
    smallest_rank: int | None
    rank_base: int | None
    pages: int
    dropped: dict[str, int]
    ranks: list[PositionCounts]
    curves: list[Curve]
    known: list[float] | None
    interventions: list[list[int]]
    supported: list[list[bool]]
    models: list[ModelRow]
    sampled: int

    @property
    def table(self) -> list[PositionRow]:
        """The positions, with what every estimator says of each."""
        return [
            PositionRow(
                rank,
                [curve.points[position] for curve in self.curves],
                self.known[position] if self.known and position < len(self.known) else None,
                list(zip(self.interventions[position], self.supported[position], strict=True)),
            )
            for position, rank in enumerate(self.ranks)
        ]

    @property
    def refusals(self) -> list[Refusal]:
        """The estimators that refuse positions."""
        result = (
            Refusal(
                one.name,
                [point.position for point in one.points if point.examination is None],
                REASONS.get(one.estimator, USUAL_REASON),
            )
            for one in self.curves
        )
        return [one for one in result if one.positions]

    @property
    def left_out(self) -> int:
        return sum(self.dropped.values())

    @property
    def why_left_out(self) -> list[str]:
        """The reasons, each with its number of pages."""
        return [
            f"{self.dropped[why]:,} {words}"
            for why, words in DROPPED.items()
            if self.dropped.get(why)
        ]

    @property
    def drawn(self) -> list[Curve]:
        """The curves that have something to show."""
        return [curve for curve in self.curves if curve.has_estimate]


@dataclass(frozen=True)
class PairRow:
    """A pair of the collection. expected: clicks at the ranks' mean click-through rates.

    coec: clicks over expected clicks; null where none are expected.
    """

    query_id: str
    query_text: str
    doc_id: str
    title: str
    impressions: int
    clicks: int
    expected: float
    coec: float | None


@dataclass(frozen=True)
class LogPage:
    """A log: what became of every record, and the position bias of each application.

    fewest_documents, fewest_clicks: what two positions need to be compared. fewest_held_out,
    fewest_queries: pages and queries that click models are evaluated on, at least.
    """

    log: LogRow
    digest: str
    outcomes: list[OutcomeRow]
    applications: list[ApplicationRow]
    fewest_documents: int = FEWEST_DOCUMENTS
    fewest_clicks: int = FEWEST_CLICKS
    fewest_held_out: int = FEWEST_PAGES
    fewest_queries: int = FEWEST_QUERIES


@dataclass(frozen=True)
class PairsPage:
    """Pairs of a log whose query and document the collection has, the most shown first.

    total: of them all.
    """

    log: LogRow
    query_id: str
    rows: list[PairRow]
    total: int


def get_log(*, access: Access, number: int) -> ClickLog:
    """A click log of the collection, for those who may see rankings."""
    check_may_see_rankings(access)
    result = ClickLog.objects.filter(collection=access.collection, number=number).first()
    if result is None:
        raise NotFound("click log")
    result.collection = access.collection
    return result


def list_logs(*, access: Access) -> list[LogRow]:
    """The collection's click logs, the newest first."""
    check_may_see_rankings(access)
    logs = ClickLog.objects.filter(collection=access.collection).defer("applications")
    return [show_log(one) for one in logs.order_by("-number")]


def load_evidence(*, log: ClickLog, kind: str) -> StoredEvidence:
    """A log's evidence, of events or of result pages."""
    blocks = ClickBlock.objects.filter(log=log, kind=kind).order_by("position")
    return unpack(bytes(rows) for rows in blocks.values_list("rows", flat=True))


def list_applications(log: ClickLog) -> list[StoredApplication]:
    """A log's applications, by their codes."""
    return [StoredApplication.from_json(values) for values in log.applications]


def get_log_page(*, access: Access, number: int) -> LogPage:
    """A log's ledger and position bias."""
    log = get_log(access=access, number=number)
    applications = list_applications(log)
    totals: dict[str, int] = {}
    for one in applications:
        for key, count in one.outcomes.items():
            totals[key] = totals.get(key, 0) + count
    return LogPage(
        log=show_log(log),
        digest=log.digest,
        outcomes=_outcomes(totals),
        applications=[
            _application(log, one) for one in sorted(applications, key=lambda one: -one.pages)
        ],
    )


def get_pairs_page(
    *, access: Access, number: int, query_id: str = "", most: int = SHOWN
) -> PairsPage:
    """What the pairs of a log got. query_id: only those of this query."""
    log = get_log(access=access, number=number)
    stored = load_evidence(log=log, kind=ClickBlock.Kind.EVENTS)
    result = coec(stored.evidence)
    queries, documents = stored.queries[result.query], stored.documents[result.document]
    keep = (queries > 0) & (documents > 0)
    if query_id:
        asked = map_queries(collection=log.collection, qids=[query_id]).get(query_id, 0)
        keep &= queries == asked
    rows = np.flatnonzero(keep)
    shown = rows[np.argsort(-result.impressions[rows], kind="stable")][:most]
    return PairsPage(
        log=show_log(log),
        query_id=query_id,
        rows=_pairs(result, shown.tolist(), queries[shown].tolist(), documents[shown].tolist()),
        total=len(rows),
    )


def _pairs(
    found: Coec, rows: Sequence[int], queries: Sequence[int], documents: Sequence[int]
) -> list[PairRow]:
    texts = Query.objects.only("qid", "text").in_bulk(queries)
    titles = Document.objects.only("docid", "title").in_bulk(documents)
    return [
        PairRow(
            query_id=texts[query].qid,
            query_text=texts[query].text,
            doc_id=titles[document].docid,
            title=titles[document].title,
            impressions=int(found.impressions[row]),
            clicks=int(found.clicks[row]),
            expected=float(found.expected[row]),
            coec=float(found.coec[row]) if found.expected[row] > 0 else None,
        )
        for row, query, document in zip(rows, queries, documents, strict=True)
    ]


def _application(log: ClickLog, one: StoredApplication) -> ApplicationRow:
    return ApplicationRow(
        name=one.name,
        records=one.records,
        outcomes=_outcomes(one.outcomes),
        actions=dict(one.actions),
        smallest_rank=one.smallest_rank,
        rank_base=one.rank_base,
        pages=one.pages,
        dropped=dict(one.dropped),
        ranks=list(one.ranks),
        curves=[
            Curve(key, name, list(one.curves[key]))
            for key, name in ESTIMATORS.items()
            if key in one.curves
        ],
        known=log.examination,
        interventions=[list(row) for row in one.interventions],
        supported=[list(row) for row in one.supported],
        models=[
            ModelRow(key, name, fit.log_likelihood, fit.perplexity, list(fit.by_rank))
            for key, name in MODELS.items()
            for fit in (one.models.get(key),)
            if fit is not None
        ],
        sampled=one.sampled,
    )


def _outcomes(counts: Mapping[str, int]) -> list[OutcomeRow]:
    return [
        OutcomeRow(outcome.key, DESCRIPTIONS[outcome], counts[outcome.key], outcome.key in EVIDENCE)
        for outcome in Outcome
        if counts.get(outcome.key)
    ]


def show_log(log: ClickLog) -> LogRow:
    """A log as pages show it."""
    return LogRow(
        number=log.number,
        name=log.name,
        is_simulated=log.is_simulated,
        records=log.records,
        impressions=log.impressions,
        clicks=log.clicks,
        queries=log.queries,
        documents=log.documents,
        known_queries=log.known_queries,
        known_documents=log.known_documents,
        created_at=log.created_at,
    )
