"""Computing in a worker how stable an order of runs is, and keeping it."""

from functools import partial
from typing import Any, Final

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import F

from evaluation.evaluations.queries import FilterRefused
from evaluation.models import StabilityReport
from evaluation.stability.figures import REVISION, Report, stability_figures
from evaluation.stability.queries import Order, OrderStability, find_order
from judgments.reports.services import Clock, bring_up_to_date
from judgments.storage.caches import wake_once

DEBOUNCE: Final = 30  # seconds in which a page that asks again and again wakes no worker twice
MOST_KEPT: Final = 300  # reports; the ones computed first go


def enqueue(found: OrderStability) -> None:
    """Wake a worker where it has something to compute; again where the message was not sent."""
    if not found.freshness.is_waiting:
        return
    flag = f"stability-told:{found.order.key}"
    wake_once(flag, DEBOUNCE, "evaluation.report_stability", *found.order.message)


def report_stability(*, list_id: int, version: int, question: str, clock: Clock) -> bool:
    """Compute how stable the order is that a message means; whether there was anything to do.

    What no one can ask for any more, as the queries of a set that has lost them, is left alone.
    """
    try:
        order = find_order(list_id=list_id, version=version, question=question)
    except (FilterRefused, ObjectDoesNotExist):
        return False
    report, _ = StabilityReport.objects.get_or_create(key=order.key, defaults={"list": order.list})
    is_done = bring_up_to_date(
        report, key=order.key, revision=REVISION, compute=partial(_compute, order), clock=clock
    )
    if is_done:
        _thin()
    return is_done


def _compute(order: Order, beat: Report) -> dict[str, Any]:
    return stability_figures(
        judgment_list=order.list,
        version=order.version,
        measure=order.asked.measure,
        runs=order.runs,
        query_ids=order.query_ids,
        report=beat,
    )


def _thin() -> None:
    kept = StabilityReport.objects.filter(token=None).order_by(
        F("computed_at").desc(nulls_last=True), "-pk"
    )
    old = list(kept.values_list("pk", flat=True)[MOST_KEPT:])
    StabilityReport.objects.filter(pk__in=old, token=None).delete()
