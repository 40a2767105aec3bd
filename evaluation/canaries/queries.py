"""Reading canaries: what was seen, when, and what is wrong now."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from evaluation.canaries.words import WORDS, describe
from evaluation.models import Canary, CanaryLook, Deployment, Incident, Ranker, Run, Snapshot
from evaluation.runs.names import name_of
from evaluation.runs.queries import get_ranker
from judgments.models import JudgmentList, SavedSet
from judgments.permissions import Access, NotFound, may_upload_runs

ENDED: Final = (Snapshot.State.DONE, Snapshot.State.FAILED)
SHOWN: Final = 40  # looks and deployments of a time line


@dataclass(frozen=True)
class Moment:
    """A row of a time line: a look, or a deployment (its name), newest first.

    difference, low, high: None where there is no comparison. bad: kinds that were beyond their
    limit. opened, recovered: kinds of incidents that began or ended.
    """

    at: datetime
    deployment: str
    snapshot: UUID | None
    difference: float | None
    low: float | None
    high: float | None
    judged: float | None
    p95: float | None
    bad: tuple[str, ...]
    opened: tuple[str, ...]
    recovered: tuple[str, ...]


@dataclass(frozen=True)
class OpenIncident:
    """What is wrong, in words, and since when."""

    what: str
    words: str
    since: datetime


@dataclass(frozen=True)
class RuleState:
    """A rule as the newest snapshot with a run found it. found: "" before the first. is_broken:
    None where nothing can be said, or neither.
    """

    rule: str
    found: str = ""
    is_broken: bool | None = None


@dataclass(frozen=True)
class CanaryRow:
    """A canary. incidents: those that are open. rules: as they were written. rule_states: one for
    each measure of a board. axis: half the width of the time line's axis.
    """

    id: int
    measure: str
    list_name: str
    set_name: str
    baseline: str
    baseline_id: UUID
    margin: float
    coverage_margin: float
    latency_limit: float | None
    in_a_row: int
    floor: float | None
    rules: tuple[str, ...]
    rule_states: tuple[RuleState, ...]
    created_at: datetime
    incidents: tuple[OpenIncident, ...]
    moments: tuple[Moment, ...]
    axis: float

    @property
    def chart(self) -> tuple[Moment, ...]:
        """The time line as it is drawn, oldest first; empty where there is too little to draw."""
        drawn = [one for one in self.moments if one.deployment or one.difference is not None]
        looks = [one for one in drawn if not one.deployment]
        return tuple(reversed(drawn)) if len(looks) > 1 else ()

    @property
    def axis_start(self) -> float:
        """Where the axis begins."""
        return -self.axis


@dataclass(frozen=True)
class CanariesPage:
    """The canaries of a live ranker. lists, sets, runs: to choose from.

    is_busy: a snapshot runs, or waits to be looked at.
    """

    ranker: Ranker
    rows: tuple[CanaryRow, ...]
    may_change: bool
    lists: tuple[JudgmentList, ...]
    sets: tuple[SavedSet, ...]
    runs: tuple[tuple[str, str], ...]
    is_live: bool
    is_busy: bool


def list_due_canaries() -> QuerySet[Canary]:
    """Those with a snapshot that ended and has not been looked at."""
    looked = CanaryLook.objects.filter(canary=OuterRef(OuterRef("pk")), snapshot=OuterRef("pk"))
    unseen = Snapshot.objects.filter(
        ~Exists(looked),
        source=OuterRef("source"),
        pk__gt=OuterRef("after_snapshot"),
        state__in=ENDED,
    )
    return Canary.objects.filter(Exists(unseen), retired_at=None)


def get_canaries_page(*, access: Access, slug: str) -> CanariesPage:
    """The canaries of a ranker that are not retired, each with its time line."""
    ranker = get_ranker(access=access, slug=slug)
    collection = access.collection
    canaries = Canary.objects.filter(source__ranker=ranker, retired_at=None)
    deployments = list(Deployment.objects.filter(ranker=ranker).order_by("-at")[:SHOWN])
    runs = Run.objects.filter(ranker__collection=collection, withdrawn_at=None)
    sets = SavedSet.objects.filter(collection=collection, archived_at=None, is_held_out=False)
    return CanariesPage(
        ranker=ranker,
        rows=tuple(
            _row(canary, deployments)
            for canary in canaries.select_related("list", "saved_set", "baseline__ranker")
        ),
        may_change=may_upload_runs(access),
        lists=tuple(JudgmentList.objects.filter(collection=collection, head__gt=0)),
        sets=tuple(sets.order_by("name")),
        runs=tuple(
            (str(run.public_id), name_of(run))
            for run in runs.select_related("ranker").order_by("ranker__name", "-pk")[:500]
        ),
        is_live=hasattr(ranker, "live"),
        is_busy=Snapshot.objects.filter(
            source__ranker=ranker, state=Snapshot.State.RUNNING
        ).exists()
        or list_due_canaries().filter(source__ranker=ranker).exists(),
    )


def _row(canary: Canary, deployments: list[Deployment]) -> CanaryRow:
    looks = list(
        CanaryLook.objects.filter(canary=canary)
        .select_related("snapshot")
        .order_by("-snapshot_id")[:SHOWN]
    )
    incidents = list(
        Incident.objects.filter(canary=canary).select_related("opened_by").order_by("pk")
    )
    moments = [_moment(look, incidents) for look in looks]
    oldest = moments[-1].at if len(moments) == SHOWN else canary.created_at
    moments += [
        Moment(one.at, one.name, None, None, None, None, None, None, (), (), ())
        for one in deployments
        if one.at >= oldest
    ]
    ends = [abs(end) for one in moments for end in (one.low, one.high) if end is not None]
    return CanaryRow(
        id=canary.pk,
        measure=canary.measure,
        list_name=canary.list.name,
        set_name="" if canary.saved_set is None else canary.saved_set.name,
        baseline=name_of(canary.baseline),
        baseline_id=canary.baseline.public_id,
        margin=canary.margin,
        coverage_margin=canary.coverage_margin,
        latency_limit=canary.latency_limit,
        in_a_row=canary.in_a_row,
        floor=canary.floor,
        rules=tuple(canary.rules),
        rule_states=_rule_states(canary, looks),
        created_at=canary.created_at,
        incidents=tuple(
            OpenIncident(
                WORDS[one.kind],
                describe(one.kind, canary.measure, one.opened_by.figures if one.opened_by else {}),
                one.opened_at,
            )
            for one in incidents
            if one.recovered_at is None
        ),
        moments=tuple(sorted(moments, key=lambda one: one.at, reverse=True)),
        axis=max([*ends, 2 * canary.margin, 0.01]),
    )


def _rule_states(canary: Canary, looks: list[CanaryLook]) -> tuple[RuleState, ...]:
    """looks: newest first."""
    for look in looks:
        about_queries, about_boards = (look.figures.get(kind, []) for kind in ("rules", "board"))
        if about_queries or about_boards:
            kept = (
                (one["rule"], one["found"], None if one["is_kept"] is None else not one["is_kept"])
                for one in about_queries
            )
            found = (
                (one["rule"], one["found"], {"bad": True, "good": False}.get(one["finding"]))
                for one in about_boards
            )
            return tuple(RuleState(*one) for one in (*kept, *found))
    return tuple(RuleState(rule) for rule in canary.rules)


def _moment(look: CanaryLook, incidents: list[Incident]) -> Moment:
    figures: dict[str, Any] = look.figures
    return Moment(
        at=look.snapshot.ended_at or look.looked_at,
        deployment="",
        snapshot=look.snapshot.public_id,
        difference=figures.get("difference"),
        low=figures.get("low"),
        high=figures.get("high"),
        judged=figures.get("judged"),
        p95=figures.get("p95"),
        bad=tuple(WORDS[kind] for kind in WORDS if look.findings.get(kind) == "bad"),
        opened=tuple(WORDS[one.kind] for one in incidents if one.opened_by_id == look.pk),
        recovered=tuple(WORDS[one.kind] for one in incidents if one.recovered_by_id == look.pk),
    )


def get_canary(*, access: Access, slug: str, canary_id: int) -> Canary:
    """A canary of a ranker of the collection. Raises NotFound."""
    ranker = get_ranker(access=access, slug=slug)
    result = Canary.objects.filter(source__ranker=ranker, pk=canary_id)
    canary = result.select_related("source__ranker").first()
    if canary is None:
        raise NotFound("canary")
    return canary
