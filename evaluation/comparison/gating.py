"""Telling webhooks that a run was found worse than its baseline; by what the server computes."""

from datetime import datetime
from hashlib import sha256

from evaluation.comparison.queries import CompareFilters, Difference, get_comparison
from evaluation.evaluations.queries import FilterRefused
from judgments.permissions import Access, check_may_upload_runs
from judgments.webhooks.services import publish_event


def report_gate(*, access: Access, slug: str, filters: CompareFilters, at: datetime) -> Difference:
    """Compare one run with a baseline, and publish `gate.failed` where it is worse; once for the
    same runs, measure, margin and version. For researchers and leads.

    Raises FilterRefused unless two runs are named, and what `get_comparison` raises.
    """
    check_may_upload_runs(access)
    result = get_comparison(access=access, slug=slug, filters=filters)
    if len(result.comparisons) != 1:
        raise FilterRefused("two_runs", "Name a run and its baseline.")
    (own,) = result.comparisons
    if own.verdict == "worse":
        asked = (own.run.name, own.baseline.name, result.measure, result.margin, result.level)
        publish_event(
            event="gate.failed",
            key=f"gate:{result.chosen.list.pk}:{result.version}:"
            + sha256(repr(asked).encode()).hexdigest(),
            collection=access.collection,
            data={
                "list": slug,
                "version": result.version,
                "run": own.run.name,
                "baseline": own.baseline.name,
                "measure": result.measure,
                "margin": result.margin,
                "difference": own.difference,
                "ci": list(own.ci),
                "queries": own.n,
            },
            at=at,
        )
    return own
