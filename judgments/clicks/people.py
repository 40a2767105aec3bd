"""Clicks against people: how a log's scores agree with people's grades, overall and by segment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from judgments.clicks.queries import LogRow, get_log, list_applications, load_evidence, show_log
from judgments.clicks.scoring import (
    EXAMINED,
    FEWEST_IMPRESSIONS,
    SCORES,
    Agreement,
    Grades,
    Scored,
    agreement,
    known_examination,
    main_application,
    scored,
)
from judgments.lists.queries import find_version_number, get_list
from judgments.models import (
    ClickBlock,
    ClickGrading,
    ClickLog,
    Judgment,
    JudgmentList,
    Query,
)
from judgments.pages.paging import Part, part_of
from judgments.permissions import Access, NotFound
from judgments.versions.click_grades import KEY, click_grades_qs
from judgments.versions.machine_grades import list_not_from_people
from judgments.versions.queries import get_judged
from touchstone.scales import Scale
from touchstone.statistics.clustered import Estimate

MOST_SEGMENTS: Final = 100
FEWEST_CLUSTERS: Final = 5  # queries, below which an interval would say nothing


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval; null where there is none."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class AgreementRow:
    """How a score agrees with people's grades.

    name: of the score, or of a segment of queries. pairs, queries: that have both.
    auc: how often clicks order two documents of a query as people do; 0.5 is chance.
    tau: Kendall's tau-b, the mean over queries. kappa: quadratically weighted, of binned scores, on
    the half of the queries that the bins were not learned from: `judged` pairs.
    """

    key: str
    name: str
    pairs: int
    queries: int
    auc: Interval | None
    tau: Interval | None
    kappa: Interval | None
    learned: int
    judged: int


@dataclass(frozen=True)
class GradingRow:
    """A version that a log's clicks made."""

    list_slug: str
    list_name: str
    version: int
    score: str
    fewest: int
    basis: str
    basis_version: int
    kappa: Interval | None
    judged: int


@dataclass(frozen=True)
class PeoplePage:
    """Clicks against people. basis: the slug of the list with people's grades; null without any.

    scores: each score over all queries. segments: `score` by the segments of the queries.
    gradings: the versions that this log made. fewest_clusters: queries that an interval needs.
    """

    log: LogRow
    basis: str | None
    score: str
    fewest: int
    scores: list[AgreementRow]
    segments: list[AgreementRow]
    gradings: list[GradingRow]
    fewest_clusters: int = FEWEST_CLUSTERS


@dataclass(frozen=True)
class ClickGradeRow:
    """A grade that comes from clicks. log: the number of the click log; score: which of its scores.

    value: the score's posterior mean, with its central 95 %; impressions, clicks: what it rests on.
    """

    query_id: str
    doc_id: str
    grade: int
    log: int
    score: str
    value: float
    low: float
    high: float
    impressions: int
    clicks: int


def list_click_grades(
    *, judgment_list: JudgmentList, version: str, after: int, limit: int
) -> Part[ClickGradeRow]:
    """The grades of a version that come from clicks."""
    number = find_version_number(judgment_list=judgment_list, name=version)
    rows = click_grades_qs(list_id=judgment_list.pk, version=number)
    return part_of(rows.select_related("query", "document"), after, limit, _click_grades)


def _click_grades(rows: list[Judgment]) -> list[ClickGradeRow]:
    return [
        ClickGradeRow(
            query_id=row.query.qid, doc_id=row.document.docid, grade=row.grade, **row.evidence[KEY]
        )
        for row in rows
    ]


def load_scored(*, log: ClickLog, kind: str, fewest: int) -> Scored:
    """A log's scores of a kind, by the application with most result pages."""
    applications = list_applications(log)
    code = main_application(applications)
    stored = load_evidence(
        log=log, kind=ClickBlock.Kind.PAGES if kind == EXAMINED else ClickBlock.Kind.EVENTS
    )
    return scored(
        kind,
        stored.of_application(code),
        known_examination(applications[code], log.examination),
        fewest=fewest,
    )


def basis_of(judgment_list: JudgmentList) -> Grades:
    """The places on the scale of the grades at the head that come from people."""
    head = judgment_list.head
    codes = Scale.from_json(judgment_list.scale).codes
    judged = get_judged(list_id=judgment_list.pk, version=head).pairs()
    others = list_not_from_people(list_id=judgment_list.pk, version=head)
    return {pair: codes.index(code) for pair, code in judged.items() if pair not in others}


def get_people_page(
    *,
    access: Access,
    number: int,
    list_slug: str = "",
    score: str = EXAMINED,
    fewest: int = FEWEST_IMPRESSIONS,
) -> PeoplePage:
    """How a log's scores agree with the grades of a list, the collection's first unless named."""
    log = get_log(access=access, number=number)
    if score not in SCORES:
        raise NotFound("score")
    chosen = _list(access, list_slug)
    page = PeoplePage(
        log=show_log(log),
        basis=None if chosen is None else chosen.slug,
        score=score,
        fewest=fewest,
        scores=[],
        segments=[],
        gradings=list_gradings(log),
    )
    if chosen is None:
        return page
    grades = basis_of(chosen)
    values = [grade.value for grade in Scale.from_json(chosen.scale).grades]
    result = {kind: load_scored(log=log, kind=kind, fewest=fewest) for kind in SCORES}
    page.scores.extend(
        _row(kind, name, agreement(result[kind], grades, values)) for kind, name in SCORES.items()
    )
    page.segments.extend(_segments(result[score], grades, values))
    return page


def list_gradings(log: ClickLog) -> list[GradingRow]:
    """The versions that a log's clicks made, the newest first."""
    rows = ClickGrading.objects.filter(log=log).select_related("version__list", "basis")
    return [
        GradingRow(
            list_slug=row.version.list.slug,
            list_name=row.version.list.name,
            version=row.version.number,
            score=SCORES.get(row.score, row.score),
            fewest=row.fewest,
            basis=row.basis.name,
            basis_version=row.basis_version,
            kappa=None if row.figures["kappa"] is None else Interval(*row.figures["kappa"]),
            judged=row.figures["judged"],
        )
        for row in rows.order_by("-pk")
    ]


def _list(access: Access, slug: str) -> JudgmentList | None:
    if slug:
        return get_list(access=access, slug=slug)
    lists = JudgmentList.objects.filter(collection=access.collection, archived_at=None, head__gt=0)
    return lists.order_by("pk").first()


def _segments(found: Scored, grades: Grades, values: list[float]) -> list[AgreementRow]:
    names: Mapping[int, str] = dict(
        Query.objects.filter(pk__in={pk for pk, _ in grades}).values_list("pk", "segment")
    )
    own = np.array([names.get(pk, "") for pk in found.query.tolist()], dtype=object)
    segments = sorted({name for name in names.values() if name})[:MOST_SEGMENTS]
    return [
        _row(name, name, agreement(_part(found, own == name), grades, values, bins=False))
        for name in segments
    ]


def _part(found: Scored, keep: Any) -> Scored:
    return Scored(*(column[keep] for column in vars(found).values()))


def _row(key: str, name: str, found: Agreement) -> AgreementRow:
    kappa = None if found.binned is None else found.binned.kappa
    return AgreementRow(
        key=key,
        name=name,
        pairs=found.pairs,
        queries=found.queries,
        auc=None if found.auc is None else _within(found.auc.auc, found.auc.queries, least=0.0),
        tau=None if found.tau is None else _within(*found.tau, least=-1.0),
        kappa=None
        if kappa is None or kappa.value is None
        else Interval(kappa.value, kappa.low, kappa.high),
        learned=0 if found.binned is None else found.binned.learned,
        judged=0 if found.binned is None else found.binned.judged,
    )


def _within(estimate: Estimate, queries: int, *, least: float) -> Interval:
    """An estimate from `least` to 1; without an interval where too few queries are behind it."""
    if queries < FEWEST_CLUSTERS or estimate.low is None or estimate.high is None:
        return Interval(estimate.value, None, None)
    return Interval(estimate.value, max(estimate.low, least), min(estimate.high, 1.0))
