"""Computing in a worker how stable an order of runs is, and keeping it."""

from functools import partial
from typing import Any, Final

from django.core.cache import cache
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import F

from evaluation.evaluations.queries import FilterRefused
from evaluation.models import StabilityReport
from evaluation.stability.queries import REVISION, Report, stability_figures
from evaluation.stability.reports import OrderAsked, Stability, find_order
from judgments.reports.services import Clock, bring_up_to_date
from judgments.waking import publish

HEARD: Final = 30  # seconds in which whoever asks every second tells no worker again
MOST_KEPT: Final = 300  # reports; the ones computed first go


def announce(found: Stability | None) -> None:
    """Wake a worker where it has something to compute; again only where it may not have heard."""
    if found is None or not found.freshness.is_waiting:
        return
    told = f"stability-told:{found.asked.key}"
    if cache.add(told, True, HEARD) and not publish(
        "evaluation.report_stability", *found.asked.message
    ):
        cache.delete(told)


def report_stability(*, list_id: int, version: int, question: str, clock: Clock) -> bool:
    """Compute how stable the order is that a message means; whether there was anything to do.

    What nobody can ask for any more, as the queries of a set that has lost them, is left alone.
    """
    try:
        asked = find_order(list_id=list_id, version=version, question=question)
    except (FilterRefused, ObjectDoesNotExist):
        return False
    report, _ = StabilityReport.objects.get_or_create(
        key=asked.key, defaults={"list": asked.judgment_list}
    )
    is_done = bring_up_to_date(
        report, key=asked.key, revision=REVISION, compute=partial(_compute, asked), clock=clock
    )
    if is_done:
        _thin()
    return is_done


def _compute(asked: OrderAsked, beat: Report) -> dict[str, Any]:
    return stability_figures(
        judgment_list=asked.judgment_list,
        version=asked.version,
        measure=asked.asked.measure,
        runs=asked.runs,
        query_ids=asked.query_ids,
        report=beat,
    )


def _thin() -> None:
    kept = StabilityReport.objects.filter(token=None).order_by(
        F("computed_at").desc(nulls_last=True), "-pk"
    )
    old = list(kept.values_list("pk", flat=True)[MOST_KEPT:])
    StabilityReport.objects.filter(pk__in=old, token=None).delete()
