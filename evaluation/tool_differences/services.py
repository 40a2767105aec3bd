"""Having a worker compute what every tool would say: of a run, or of all runs of a list.

Rows are written one run at a time, so that a page can show those that are there, and whatever is
interrupted goes on where it was.
"""

import logging
from collections.abc import Callable
from dataclasses import astuple
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Exists, OuterRef

from evaluation.models import Run, ToolValues
from evaluation.tool_differences.queries import ListToolOrders, RunToolValues
from evaluation.tool_differences.tool_values import definitions_digest, judged_at, run_file
from judgments.models import JudgmentVersion, Release
from judgments.storage.caches import let_wake_again, wake_once, write_cached
from touchstone.measures.tool_differences import preset_means

TASK: Final = "evaluation.compute_tool_values"
DEBOUNCE: Final = 60  # seconds without progress, after which a worker is woken again
KEPT: Final = timedelta(days=30)  # of versions that are neither the head nor released

logger = logging.getLogger(__name__)


def enqueue(found: ListToolOrders | RunToolValues) -> None:
    """Wake a worker where something is left to compute; again where none has got on with it."""
    own = found.looked_at
    if own is None or not found.computing:
        return
    run_id = found.run.pk if isinstance(found, RunToolValues) else 0
    message = (own.judgment_list.pk, own.version, own.cutoff, run_id)
    wake_once(_flag(*message), DEBOUNCE, TASK, *message)


def compute_tool_values(
    *, list_id: int, version: int, cutoff: int, run_id: int, clock: Callable[[], datetime]
) -> int:
    """Compute and store what is missing at a version; how many runs that were.

    run_id: of one run; 0: of all runs of the list's collection that are not withdrawn. The longest
    come last: one that can't be computed holds up no other.
    """
    versions = JudgmentVersion.objects.select_related("list__collection")
    row = versions.filter(list=list_id, number=version).first()
    judged = judged_at(row.list, version) if row else None
    if row is None or judged is None:
        return 0
    key = {"version": row, "cutoff": cutoff, "definitions": definitions_digest(row.list, cutoff)}
    stored = ToolValues.objects.filter(run=OuterRef("pk"), **key)
    runs = Run.objects.filter(~Exists(stored), ranker__collection=row.list.collection)
    runs = runs.filter(pk=run_id) if run_id else runs.filter(withdrawn_at__isnull=True)
    flag, done, failed = _flag(list_id, version, cutoff, run_id), 0, 0
    for run in runs.select_related("ranker__collection").order_by("row_count", "pk"):
        try:
            means = [astuple(one) for one in preset_means(judged, run_file(run), cutoff)]
        except Exception:
            logger.exception("what tools would say of run %s was not computed", run.public_id)
            failed += 1
            continue
        values = ToolValues(run=run, means=means, computed_at=clock(), **key)
        ToolValues.objects.bulk_create([values], ignore_conflicts=True)  # another worker's is equal
        write_cached(flag, True, DEBOUNCE)
        done += 1
    if not failed:  # else an open page would have it tried again and again
        let_wake_again(flag)
    _thin(row, at=clock())
    return done


def _thin(row: JudgmentVersion, *, at: datetime) -> None:
    """Delete what was computed long ago at versions that no one cites."""
    released = Release.objects.filter(list=row.list_id).values("version")
    old = ToolValues.objects.filter(version__list=row.list_id, computed_at__lt=at - KEPT)
    old = old.exclude(version=row.pk).exclude(version__number=row.list.head)
    old.exclude(version__in=released).delete()


def _flag(list_id: int, version: int, cutoff: int, run_id: int) -> str:
    return f"dialects-sent:{list_id}:{version}:{cutoff}:{run_id}"
