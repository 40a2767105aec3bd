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
    found = get_comparison(access=access, slug=slug, filters=filters)
    if len(found.comparisons) != 1:
        raise FilterRefused("two_runs", "Name a run and its baseline.")
    (own,) = found.comparisons
    if own.verdict == "worse":
        asked = (own.run.name, own.baseline.name, found.measure, found.margin, found.level)
        publish_event(
            event="gate.failed",
            key=f"gate:{found.chosen.list.pk}:{found.version}:"
            + sha256(repr(asked).encode()).hexdigest(),
            collection=access.collection,
            data={
                "list": slug,
                "version": found.version,
                "run": own.run.name,
                "baseline": own.baseline.name,
                "measure": found.measure,
                "margin": found.margin,
                "difference": own.difference,
                "ci": list(own.ci),
                "queries": own.n,
            },
            at=at,
        )
    return own
