"""Looking at a snapshot: figures, findings, and telling people when an incident begins or ends.

Everything that is due follows from the rows: the snapshots that ended and have no look yet.
"""

from dataclasses import asdict, replace
from datetime import datetime
from math import isfinite
from typing import Any, Final

import numpy as np
from django.db import transaction
from django.db.models import QuerySet

from evaluation.canaries.queries import ENDED, list_due_canaries
from evaluation.canaries.rules import Checked, check_rule, not_answered, read_rules
from evaluation.canaries.words import WORDS, describe
from evaluation.evaluations.query_values import QueryValues, get_query_values
from evaluation.live_rankers.outcomes import ANSWERED
from evaluation.live_rankers.queries import get_snapshot_state
from evaluation.models import Canary, CanaryLook, Incident, Run, Snapshot
from evaluation.rankings.queries import load_answers
from judgments.messages.services import list_leads, notify
from judgments.models import Document, Query
from judgments.webhooks.services import publish_event
from touchstone.measures.definition import Measure
from touchstone.measures.grammar import parse_measure
from touchstone.statistics.monitoring import (
    Event,
    Fall,
    Finding,
    Watch,
    advance,
    fall_of,
    judge_coverage,
    judge_limit,
    judge_quality,
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
    figures = _figures(canary, snapshot, version)
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


def _figures(canary: Canary, snapshot: Snapshot, version: int) -> dict[str, Any]:
    """queries, answered; p95: seconds; and, where there is a run: n, difference, low, high (of the
    mean to the baseline's), judged_high (the same of judged documents alone), judged and
    baseline_judged (shares).
    """
    state = get_snapshot_state(snapshot=snapshot)
    figures: dict[str, Any] = {
        "queries": state.queries,
        "answered": state.answered,
        "p95": state.p95,
        "has_run": snapshot.run is not None,
    }
    if snapshot.run is None or not version:
        return figures
    measure = parse_measure(canary.measure)
    now, base = _both(canary, snapshot, snapshot.run, measure, version)
    fall = _fall(now, base)
    figures |= _absolute(canary, snapshot, now)
    alone = _fall(
        *_both(canary, snapshot, snapshot.run, replace(measure, unjudged="condensed"), version)
    )
    bounds = {"low": fall.low, "high": fall.high, "judged_high": alone.high}
    return figures | {
        "n": fall.n,
        "difference": fall.difference,
        **{name: value if isfinite(value) else None for name, value in bounds.items()},
        "judged": _judged(now),
        "baseline_judged": _judged(base),
    }


def _absolute(canary: Canary, snapshot: Snapshot, now: QueryValues) -> dict[str, Any]:
    """mean, floor, rules: what does not depend on the baseline.

    now: the values of the run, without queries that the engine failed to answer.
    """
    counted = now.values[now.counted]
    figures: dict[str, Any] = {"mean": float(counted.mean()) if len(counted) else None}
    if canary.floor is not None:
        figures["floor"] = canary.floor
    if canary.rules:
        figures["rules"] = [asdict(one) for one in _check_rules(canary, snapshot)]
    return figures


def _check_rules(canary: Canary, snapshot: Snapshot) -> list[Checked]:
    """Every rule, held against the run of a snapshot; its set of queries plays no part."""
    assert snapshot.run is not None
    rules = read_rules(canary.rules)
    collection = canary.list.collection_id
    queries = Query.objects.filter(
        collection=collection, qid__in={rule.query_id for rule in rules}
    ).order_by("pk")
    ids = {query.qid: query.pk for query in queries}
    docids = {rule.document for rule in rules if rule.document}
    documents_qs = Document.objects.filter(collection=collection, docid__in=docids)
    documents = dict(documents_qs.values_list("docid", "pk"))
    answered_qs = snapshot.answers.filter(query__in=ids.values(), outcome__in=ANSWERED)
    answered = set(answered_qs.values_list("query_id", flat=True))
    run_answers = load_answers(run_id=snapshot.run.pk, query_ids=list(ids.values()))
    ranked = {
        query_id: answer.documents[answer.order].tolist()
        for query_id, answer in zip(ids.values(), run_answers, strict=True)
    }
    values = get_query_values(
        run=snapshot.run,
        judgment_list=canary.list,
        version=canary.list.head,
        measure=parse_measure(canary.measure),
    ).within(list(ids.values()))
    of_query = {
        query_id: value
        for query_id, value, counts in zip(
            values.query_ids.tolist(), values.values.tolist(), values.counted, strict=True
        )
        if counts
    }
    checked = []
    for rule in rules:
        query_id = ids.get(rule.query_id)
        if query_id not in answered:
            checked.append(not_answered(rule))
            continue
        results = ranked[query_id]
        document = documents.get(rule.document)
        rank = results.index(document) + 1 if document in results else None
        checked.append(check_rule(rule, rank=rank, value=of_query.get(query_id)))
    return checked


def _both(
    canary: Canary, snapshot: Snapshot, run: Run, measure: Measure, version: int
) -> tuple[QueryValues, QueryValues]:
    """The values of the run and of the baseline, of the same queries.

    Queries that the engine failed to answer are left out: their values of 0 say nothing.
    """
    now, base = (
        get_query_values(run=one, judgment_list=canary.list, version=version, measure=measure)
        for one in (run, canary.baseline)
    )
    failed = snapshot.answers.exclude(outcome__in=ANSWERED).values_list("query_id", flat=True)
    common = np.setdiff1d(
        np.intersect1d(now.query_ids, base.query_ids), np.array(list(failed), np.int64)
    )
    if canary.saved_set is not None:
        own = canary.saved_set.members.values_list("query_id", flat=True)
        common = np.intersect1d(common, np.array(list(own), np.int64))
    return now.within(common.tolist()), base.within(common.tolist())


def _fall(now: QueryValues, base: QueryValues) -> Fall:
    both = now.counted & base.counted
    return fall_of(now.values[both] - base.values[both])


def _judged(values: QueryValues) -> float | None:
    answered = values.shown > 0
    return float(values.judged[answered].mean()) if answered.any() else None


def _findings(canary: Canary, figures: dict[str, Any]) -> Findings:
    """What the figures say of each kind; None where they say nothing."""
    findings: Findings = dict.fromkeys(WORDS)
    findings["availability"] = Finding.GOOD if figures["has_run"] else Finding.BAD
    if canary.latency_limit is not None and figures["p95"] is not None:
        limit = canary.latency_limit
        findings["latency"] = judge_limit(figures["p95"], limit=limit, clear=LATENCY_CLEAR * limit)
    if canary.floor is not None and figures.get("mean") is not None:
        # a fall below the floor, as a value above a limit
        findings["threshold"] = judge_limit(
            -figures["mean"], limit=-canary.floor, clear=-canary.floor - canary.margin / 2
        )
    kept = [one["is_kept"] for one in figures.get("rules", ()) if one["is_kept"] is not None]
    if kept:
        findings["rules"] = Finding.GOOD if all(kept) else Finding.BAD
    if not figures.get("n"):
        return findings
    if figures["judged"] is not None and figures["baseline_judged"] is not None:
        findings["coverage"] = judge_coverage(
            figures["judged"], baseline=figures["baseline_judged"], margin=canary.coverage_margin
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
