"""Reading live rankers and their snapshots."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.conf import settings
from django.core.paginator import Page
from django.db.models import Count, Q

from evaluation.live_rankers.configuration import Configuration
from evaluation.live_rankers.outcomes import ANSWERED, WORDS, Outcome
from evaluation.live_rankers.vectors import VectorsRow, list_vectors
from evaluation.models import LiveRevision, LiveSource, Ranker, Snapshot, SnapshotAnswer
from evaluation.runs.queries import get_ranker
from evaluation.runs.uploaders import list_uploaders
from judgments.models import Query
from judgments.pages.paging import Part, paginate, part_of
from judgments.permissions import Access, NotFound, may_upload_runs

FAILED: Final = ~Q(outcome__in=ANSWERED)
SCHEDULE: Final = "schedule"


@dataclass(frozen=True)
class SnapshotRow:
    """A snapshot in a list. asked: queries that have an outcome. run: the id of its run."""

    id: UUID
    name: str
    state: str
    revision: int
    created_at: datetime
    who: str
    queries: int
    asked: int
    failed: int
    run: UUID | None
    problem: str


@dataclass(frozen=True)
class LivePage:
    """How a ranker is asked, and its snapshots. revision: the newest; None where it is not live.

    secret_for: the server that the stored secret is for; "" without one. is_off: the server makes
    no requests at all. vectors: those of its queries that were uploaded last.
    """

    ranker: Ranker
    revision: LiveRevision | None
    configuration: Configuration | None
    secret_for: str
    source: LiveSource | None
    rows: "Page[SnapshotRow] | None"
    may_change: bool
    is_off: bool
    is_running: bool
    vectors: VectorsRow | None


@dataclass(frozen=True)
class OutcomeCount:
    """How many queries had an outcome. is_failed: it is no answer."""

    outcome: str
    words: str
    count: int
    is_failed: bool


@dataclass(frozen=True)
class SnapshotState:
    """How far a snapshot is. asked: queries that have an outcome, of `queries`.

    median, p95: seconds of the answered requests; None where there are none.
    """

    id: UUID
    name: str
    state: str
    revision: int
    created_at: datetime
    ended_at: datetime | None
    queries: int
    asked: int
    answered: int
    outcomes: tuple[OutcomeCount, ...]
    median: float | None
    p95: float | None
    problem: str
    run: UUID | None


@dataclass(frozen=True)
class FailedQuery:
    """A query without an answer. detail: "" for those who may not configure the ranker."""

    qid: str
    text: str
    words: str
    status: int | None
    attempts: int
    detail: str


@dataclass(frozen=True)
class SnapshotPage:
    """A snapshot and the queries that failed."""

    ranker: Ranker
    state: SnapshotState
    who: str
    failed: "Page[FailedQuery]"
    may_change: bool


def get_live_page(*, access: Access, slug: str, page: str) -> LivePage:
    """A ranker as it is asked, with its snapshots, the newest first."""
    ranker = get_ranker(access=access, slug=slug)
    source = LiveSource.objects.filter(ranker=ranker).select_related("secret").first()
    revision = None if source is None else source.revisions.order_by("-number").first()
    snapshots = Snapshot.objects.filter(source=source).order_by("-pk")
    secret = None if source is None else source.secret
    return LivePage(
        ranker=ranker,
        revision=revision,
        configuration=None if revision is None else Configuration.from_json(revision.configuration),
        secret_for=secret.origin if secret is not None and secret.ciphertext else "",
        source=source,
        rows=None
        if source is None
        else paginate(_counted(snapshots), page=page, show=lambda rows: _rows(access, rows)),
        may_change=may_upload_runs(access),
        is_off=not settings.OUTGOING,
        is_running=snapshots.filter(state=Snapshot.State.RUNNING).exists(),
        vectors=next(iter(list_vectors(ranker=ranker)), None),
    )


def _counted(snapshots: Any) -> Any:
    return snapshots.select_related("revision", "run").annotate(
        asked=Count("answers"), failed=Count("answers", filter=~Q(answers__outcome__in=ANSWERED))
    )


def _rows(access: Access, snapshots: list[Any]) -> list[SnapshotRow]:
    """snapshots: with the numbers of their answers."""
    names = list_uploaders(access=access, user_ids=[one.created_by_id for one in snapshots])
    return [
        SnapshotRow(
            id=one.public_id,
            name=one.name,
            state=one.state,
            revision=one.revision.number,
            created_at=one.created_at,
            who=SCHEDULE if one.is_scheduled else names[one.created_by_id],
            queries=one.queries,
            asked=one.asked,
            failed=one.failed,
            run=one.run and one.run.public_id,
            problem=one.problem,
        )
        for one in snapshots
    ]


def list_snapshots(*, access: Access, slug: str, after: int, limit: int) -> Part[SnapshotRow]:
    """The snapshots of a ranker in the order in which they began, one part after the other."""
    ranker = get_ranker(access=access, slug=slug)
    snapshots = _counted(Snapshot.objects.filter(source__ranker=ranker))
    return part_of(snapshots, after, limit, lambda rows: _rows(access, rows))


def get_snapshot(*, access: Access, slug: str, public_id: UUID) -> Snapshot:
    """A snapshot of a ranker of the collection. Raises NotFound."""
    ranker = get_ranker(access=access, slug=slug)
    result = (
        Snapshot.objects.filter(source__ranker=ranker, public_id=public_id)
        .select_related("source__ranker", "revision", "run")
        .first()
    )
    if result is None:
        raise NotFound("snapshot")
    return result


def get_snapshot_page(*, access: Access, slug: str, public_id: UUID, page: str) -> SnapshotPage:
    """A snapshot, how far it is, and the queries that failed."""
    snapshot = get_snapshot(access=access, slug=slug, public_id=public_id)
    names = list_uploaders(access=access, user_ids=[snapshot.created_by_id])
    failed = snapshot.answers.filter(FAILED).select_related("query").order_by("query_id")
    may_change = may_upload_runs(access)
    return SnapshotPage(
        ranker=snapshot.source.ranker,
        state=get_snapshot_state(snapshot=snapshot),
        who=SCHEDULE if snapshot.is_scheduled else names[snapshot.created_by_id],
        failed=paginate(failed, page=page, show=lambda rows: _failures(rows, may_change)),
        may_change=may_change,
    )


def _failures(answers: Iterable[SnapshotAnswer], may_change: bool) -> list[FailedQuery]:
    return [
        FailedQuery(
            qid=one.query.qid,
            text=one.query.text,
            words=WORDS[Outcome(one.outcome)],
            status=one.status,
            attempts=one.attempts,
            detail=one.detail if may_change else "",
        )
        for one in answers
    ]


def get_snapshot_state(*, snapshot: Snapshot) -> SnapshotState:
    """How far a snapshot is; the caller has checked who asks."""
    counted = snapshot.answers.order_by().values_list("outcome").annotate(Count("pk"))
    counts = {Outcome(outcome): count for outcome, count in counted}
    answered = snapshot.answers.filter(outcome__in=ANSWERED)
    seconds = np.array(answered.order_by().values_list("seconds", flat=True), np.float64)
    median, p95 = np.percentile(seconds, [50, 95]).tolist() if len(seconds) else (None, None)
    return SnapshotState(
        id=snapshot.public_id,
        name=snapshot.name,
        state=snapshot.state,
        revision=snapshot.revision.number,
        created_at=snapshot.created_at,
        ended_at=snapshot.ended_at,
        queries=snapshot.queries,
        asked=sum(counts.values()),
        answered=len(seconds),
        outcomes=tuple(
            OutcomeCount(outcome, WORDS[outcome], counts[outcome], outcome not in ANSWERED)
            for outcome in Outcome
            if outcome in counts
        ),
        median=median,
        p95=p95,
        problem=snapshot.problem,
        run=None if snapshot.run is None else snapshot.run.public_id,
    )


def list_answers(*, snapshot: Snapshot, after: int, limit: int) -> Part[SnapshotAnswer]:
    """What became of each query, in the order in which the answers came."""
    answers = snapshot.answers.select_related("query").defer("rows")
    return part_of(answers, after, limit, list)


def get_query_to_try(*, access: Access, qid: str) -> Query:
    """A query of the collection by its id; the first that has a text where none is named."""
    queries = Query.objects.filter(collection=access.collection).exclude(text="").order_by("pk")
    result = (queries.filter(qid=qid) if qid else queries).first()
    if result is None:
        raise NotFound("query")
    return result
