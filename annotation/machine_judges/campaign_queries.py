"""Reading what machine judges have done: their campaigns and attempts, for leads and admins."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np
from django.conf import settings
from django.core.paginator import Page
from django.db.models import Count, F, Q, Sum

from annotation.machine_judges.answers import WORDS, Outcome
from annotation.machine_judges.configuration import PER_HUNDREDTH
from annotation.models import Campaign, JudgeAttempt, JudgeCampaign, MachineJudge
from judgments.budgets.rules import HUNDREDTHS
from judgments.models import Job, JudgmentList, SamplePlan, SavedSet
from judgments.pages.answers import ON_PAGES
from judgments.pages.paging import paginate
from judgments.permissions import Access, NotFound, check_may_see_people

SHOWN: Final = 2_000  # characters of a raw answer
MOST_BATCHES: Final = 50  # shown
LABELLED: Final = Q(outcome=Outcome.LABELLED)


@dataclass(frozen=True)
class CampaignRow:
    """What a judge labelled: the pairs of a campaign, by its id and name.

    labelled: pairs that have a label, from the cache included. failed: pairs without one.
    """

    id: UUID
    campaign: UUID
    name: str
    scope: str
    state: str
    problem: str
    revision: int
    pairs: int
    labelled: int
    failed: int
    created_at: datetime


@dataclass(frozen=True)
class RequestCount:
    """How many requests had an outcome. is_failed: it is no label."""

    outcome: str
    words: str
    count: int
    is_failed: bool


@dataclass(frozen=True)
class BatchRow:
    """Requests that were sent as one batch. id: the endpoint's; empty until it has made the batch.
    status: as the endpoint says. problem: what went wrong, in words.
    """

    id: str
    status: str
    requests: int
    problem: str
    created_at: datetime
    ended_at: datetime | None

    @property
    def words(self) -> str:
        """The status as pages show it."""
        return self.status.replace("_", " ")


@dataclass(frozen=True)
class FailedPair:
    """A request about a pair without a label. answer: the beginning of the raw answer."""

    qid: str
    docid: str
    words: str
    status: int | None
    detail: str
    answer: str


@dataclass(frozen=True)
class JudgeCampaignPage:
    """The progress of a judge's campaign. done: pairs that were answered, or found in the cache.

    median, p95: seconds of the labelled requests; null where there are none. cost: in hundredths
    of the currency. batches: the newest first.

    On pages, failed: pairs without a label.
    """

    judge: MachineJudge = field(metadata=ON_PAGES)
    row: CampaignRow
    ended_at: datetime | None
    who: str = field(metadata=ON_PAGES)
    done: int
    cached: int
    requests: int
    outcomes: tuple[RequestCount, ...]
    tokens: int
    is_estimated: bool
    cost: float
    median: float | None
    p95: float | None
    batches: tuple[BatchRow, ...]
    failed: "Page[FailedPair]" = field(metadata=ON_PAGES)
    may_change: bool = field(metadata=ON_PAGES)

    @property
    def money(self) -> str:
        """The cost in words; what is below a hundredth too."""
        return f"{self.cost / HUNDREDTHS:,.4f} {settings.CURRENCY}"


def list_campaign_rows(judge: MachineJudge) -> list[CampaignRow]:
    """The campaigns of a judge, the newest first."""
    own_qs = judge.campaigns.select_related("campaign", "revision", "saved_set", "plan", "job")
    counted = own_qs.annotate(
        labelled=Count("attempts", filter=Q(attempts__outcome=Outcome.LABELLED)),
        ended=Count("attempts", filter=Q(attempts__is_last=True)),
    )
    return [_row(one, one.labelled, one.ended) for one in counted.order_by("-pk")]


def _row(own: JudgeCampaign, labelled: int, ended: int) -> CampaignRow:
    state, problem = own.state, own.problem
    is_running = state == JudgeCampaign.State.RUNNING
    if is_running and own.job is not None and own.job.state == Job.State.FAILED:
        state, problem = JudgeCampaign.State.FAILED, str(own.job.result.get("message", ""))
    scope = "all queries"
    if own.saved_set is not None:
        scope = f"set {own.saved_set.name}"
    if own.plan is not None:
        scope = f"sample {own.plan.name}"
    return CampaignRow(
        id=own.public_id,
        campaign=own.campaign.public_id,
        name=own.campaign.name,
        scope=scope,
        state=state,
        problem=problem,
        revision=own.revision.number,
        pairs=own.pairs,
        labelled=labelled + own.cached,
        failed=ended - labelled,
        created_at=own.created_at,
    )


def get_judge_campaign(*, access: Access, public_id: UUID) -> JudgeCampaign:
    """A campaign of a machine judge of the collection."""
    check_may_see_people(access)
    own_qs = JudgeCampaign.objects.filter(judge__collection=access.collection, public_id=public_id)
    related = ("judge", "campaign", "revision", "saved_set", "plan", "job", "created_by")
    result = own_qs.select_related(*related).first()
    if result is None:
        raise NotFound("campaign")
    return result


def get_judge_campaign_page(*, access: Access, public_id: UUID, page: str) -> JudgeCampaignPage:
    """The progress of a machine judge's campaign, and which pairs got no label."""
    own = get_judge_campaign(access=access, public_id=public_id)
    counts = dict(own.attempts.order_by().values_list("outcome").annotate(Count("pk")))
    ended = own.attempts.filter(is_last=True).count()
    spent = own.attempts.aggregate(
        tokens=Sum(F("prompt_tokens") + F("completion_tokens")), cost=Sum("cost")
    )
    seconds = list(own.attempts.filter(LABELLED).order_by().values_list("seconds", flat=True))
    failed_qs = own.attempts.filter(is_last=True).exclude(LABELLED).order_by("pk")
    row = _row(own, counts.get(Outcome.LABELLED, 0), ended)
    return JudgeCampaignPage(
        judge=own.judge,
        row=row,
        ended_at=own.ended_at,
        who=own.created_by.name if own.created_by else "",
        done=min(own.pairs, ended + own.cached),
        cached=own.cached,
        requests=sum(counts.values()),
        outcomes=tuple(
            RequestCount(outcome, WORDS[outcome], counts[outcome], outcome is not Outcome.LABELLED)
            for outcome in Outcome
            if outcome in counts
        ),
        tokens=spent["tokens"] or 0,
        is_estimated=own.attempts.filter(is_estimated=True).exists(),
        cost=(spent["cost"] or 0) / PER_HUNDREDTH,
        median=float(np.median(seconds)) if seconds else None,
        p95=float(np.quantile(seconds, 0.95)) if seconds else None,
        batches=tuple(
            BatchRow(
                id=one.batch_id,
                status=one.status or ("ended" if one.ended_at else "not sent yet"),
                requests=one.requests,
                problem=one.problem,
                created_at=one.created_at,
                ended_at=one.ended_at,
            )
            for one in own.batches.defer("pairs").order_by("-pk")[:MOST_BATCHES]
        ),
        failed=paginate(
            failed_qs.select_related("query", "document"), page=page, show=_show_failed
        ),
        may_change=access.is_lead,
    )


def _show_failed(attempts: Iterable[JudgeAttempt]) -> list[FailedPair]:
    return [
        FailedPair(
            qid=one.query.qid,
            docid=one.document.docid,
            words=WORDS[Outcome(one.outcome)],
            status=one.status,
            detail=one.detail,
            answer=_unpacked(bytes(one.answer))[:SHOWN],
        )
        for one in attempts
    ]


def _unpacked(answer: bytes) -> str:
    return zlib.decompress(answer).decode("utf-8", "replace") if answer else ""


@dataclass(frozen=True)
class Scopes:
    """What a judge can be started on."""

    campaigns: list[Campaign]
    sets: list[SavedSet]
    plans: list[SamplePlan]


def list_scopes(*, access: Access) -> Scopes:
    """The collection's campaigns with pairs, its sets, and the samples of its lists."""
    check_may_see_people(access)
    own = access.collection
    campaigns_qs = Campaign.objects.filter(list__collection=own, archived_at=None)
    return Scopes(
        campaigns=list(campaigns_qs.filter(list__archived_at=None).order_by("-pk")),
        sets=list(SavedSet.objects.filter(collection=own, archived_at=None).order_by("name")),
        plans=list(SamplePlan.objects.filter(list__collection=own).order_by("-pk")),
    )


@dataclass(frozen=True)
class Gradable:
    """revisions: that have labels, the newest first. sources: lists whose campaigns' pairs were
    labelled. targets: lists that can get the grades."""

    revisions: list[int]
    sources: list[JudgmentList]
    targets: list[JudgmentList]


def list_gradable(*, access: Access, judge: MachineJudge) -> Gradable:
    """What a judge's labels can be used for."""
    check_may_see_people(access)
    labelled = judge.revisions.filter(labels__isnull=False).distinct().order_by("-number")
    own_qs = JudgmentList.objects.filter(collection=access.collection, archived_at=None)
    sources_qs = own_qs.filter(campaigns__machine_campaigns__judge=judge).distinct()
    return Gradable(
        revisions=list(labelled.values_list("number", flat=True)),
        sources=list(sources_qs.order_by("pk")),
        targets=list(own_qs.order_by("pk")),
    )
