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
from evaluation.canaries.words import WORDS, describe
from evaluation.models import Canary, CanaryLook, Incident, Snapshot
from judgments.messages.services import list_leads, notify
from judgments.webhooks.services import publish_event
from touchstone.statistics.monitoring import (
    CLEAR,
    Event,
    Fall,
    Finding,
    Watch,
    advance,
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
    watches = dict.fromkeys(WORDS, Watch())
    events: dict[str, Event | None] = {}
    for result in (
        CanaryLook.objects.filter(canary=canary)
        .order_by("snapshot_id")
        .values_list("findings", flat=True)
    ):
        for kind in WORDS:
            finding = None if result.get(kind) is None else Finding(result[kind])
            watches[kind], events[kind] = advance(watches[kind], finding, in_a_row=canary.in_a_row)
    return {kind: event for kind, event in events.items() if event is not None}


def _tell(canary: Canary, look: CanaryLook, kind: str, event: Event, at: datetime) -> None:
    """Open or end an incident, and tell the collection's leads and the canary's creator."""
    if event is Event.OPENED:
        incident = Incident.objects.create(canary=canary, kind=kind, opened_at=at, opened_by=look)
    else:
        incident = Incident.objects.get(canary=canary, kind=kind, recovered_at=None)
        incident.recovered_at, incident.recovered_by = at, look
        incident.save(update_fields=["recovered_at", "recovered_by"])
    collection = canary.source.ranker.collection
    people = list_leads(collection)
    if canary.created_by is not None:
        people.append(canary.created_by)
    notify(
        kind="incident" if event is Event.OPENED else "recovered",
        key=f"{event}:{incident.pk}",
        people=people,
        payload={
            "ranker": canary.source.ranker.name,
            "collection": collection.name,
            "what": WORDS[kind],
            "words": describe(kind, canary.measure, look.figures),
        },
        page=("canaries", collection.slug, canary.source.ranker.slug),
        collection=collection,
        at=at,
    )
    publish_event(
        event=f"incident.{event}",
        key=f"{event}:{incident.pk}",
        collection=collection,
        data={
            "incident": incident.pk,
            "canary": canary.pk,
            "ranker": canary.source.ranker.slug,
            "kind": kind,
            "list": canary.list.slug,
            "measure": canary.measure,
            "snapshot": str(look.snapshot.public_id),
            "text": describe(kind, canary.measure, look.figures),
        },
        at=at,
    )
