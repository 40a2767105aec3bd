"""Looking at a snapshot: figures, findings, and telling people when an incident begins or ends.

Everything that is due follows from the rows: the snapshots that ended and have no look yet.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet

from evaluation.canaries.figures import find_coverage, get_figures
from evaluation.canaries.queries import ENDED, list_due_canaries
from evaluation.canaries.telling import find_events, record_event, tell
from evaluation.canaries.words import WORDS, describe
from evaluation.models import Canary, CanaryLook, Snapshot
from touchstone.statistics.monitoring import (
    CLEAR,
    Event,
    Fall,
    Finding,
    judge_floor,
    judge_limit,
    judge_quality,
    worst_of,
)

LATENCY_CLEAR: Final = 0.9  # of the limit
Findings = dict[str, Finding | None]


def _unseen(canary: Canary) -> QuerySet[Snapshot]:
    """The ended snapshots that a canary has no look of, in their order."""
    looked = CanaryLook.objects.filter(canary=canary)
    return (
        Snapshot.objects.filter(
            source=canary.source_id, pk__gt=canary.after_snapshot, state__in=ENDED
        )
        .exclude(pk__in=looked.values("snapshot"))
        .order_by("pk")
    )


def check_canaries(*, at: datetime) -> int:
    """Look at all that is due, oldest snapshots first; how many looks there were."""
    looks = 0
    for canary in list_due_canaries().select_related(
        "source__ranker__collection", "list", "baseline__ranker", "saved_set", "created_by"
    ):
        for snapshot in _unseen(canary).select_related("run", "revision"):
            looks += _look(canary, snapshot, at)
    return looks


def _look(canary: Canary, snapshot: Snapshot, at: datetime) -> int:
    """One look; 0 where another worker was first."""
    version = canary.list.head
    figures = get_figures(canary, snapshot, version)
    findings = _findings(canary, figures)
    with transaction.atomic():
        # looks of a canary come one after the other: an incident is what they say in this order
        Canary.objects.select_for_update(no_key=True, of=("self",)).get(pk=canary.pk)
        look, is_new = CanaryLook.objects.get_or_create(
            canary=canary,
            snapshot=snapshot,
            defaults={
                "version": version,
                "figures": figures,
                "findings": findings,
                "looked_at": at,
            },
        )
        if not is_new:
            return 0
        for kind, event in _events(canary).items():
            _tell(canary, look, kind, event, at)
    return 1


def _findings(canary: Canary, figures: dict[str, Any]) -> Findings:
    """What the figures say of each kind; None where they say nothing."""
    findings: Findings = dict.fromkeys(WORDS)
    findings["availability"] = Finding.GOOD if figures["has_run"] else Finding.BAD
    if canary.latency_limit is not None and figures["p95"] is not None:
        limit = canary.latency_limit
        findings["latency"] = judge_limit(figures["p95"], limit=limit, clear=LATENCY_CLEAR * limit)
    kept = [one["is_kept"] for one in figures.get("rules", ()) if one["is_kept"] is not None]
    if kept:
        findings["rules"] = Finding.GOOD if all(kept) else Finding.BAD
    about_boards = [one["finding"] for one in figures.get("board", ()) if one["finding"]]
    if about_boards:
        findings["board"] = worst_of([Finding(one) for one in about_boards])
    if not figures.get("n"):
        return findings
    findings["coverage"] = find_coverage(canary, figures["judged"], figures["baseline_judged"])
    if canary.floor is not None and figures["mean"] is not None:
        findings["threshold"] = judge_floor(
            figures["mean"],
            floor=canary.floor,
            clear=CLEAR * canary.margin,
            judged_only=figures["judged_mean"],
            coverage=findings["coverage"],
        )
    if figures["high"] is not None:
        n, difference = figures["n"], figures["difference"]
        fall = Fall(n=n, difference=difference, low=figures["low"], high=figures["high"])
        alone = figures["judged_high"]
        judged_only = None if alone is None else replace(fall, high=alone)
        findings["quality"] = judge_quality(fall, margin=canary.margin, judged_only=judged_only)
    return findings


def _events(canary: Canary) -> dict[str, Event]:
    """What the newest look brings about, by kind: all looks again, in their order."""
    looks = CanaryLook.objects.filter(canary=canary).order_by("snapshot_id")
    return find_events(looks.values_list("findings", flat=True), in_a_row=canary.in_a_row)


def _tell(canary: Canary, look: CanaryLook, kind: str, event: Event, at: datetime) -> None:
    """Open or end an incident, and tell the collection's leads and the canary's creator."""
    incident = record_event(event, kind=kind, canary=canary, look=look, at=at)
    ranker = canary.source.ranker
    tell(
        event,
        incident,
        collection=ranker.collection,
        creator=canary.created_by,
        payload={"ranker": ranker.name},
        page=("canaries", ranker.collection.slug, ranker.slug),
        data={
            "canary": canary.pk,
            "ranker": ranker.slug,
            "list": canary.list.slug,
            "measure": canary.measure,
            "snapshot": str(look.snapshot.public_id),
        },
        text=describe(kind, canary.measure, look.figures),
        at=at,
    )
