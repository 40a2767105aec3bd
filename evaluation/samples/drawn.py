"""A plan's queries as arrays, and what is judged of them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Max

from judgments.models import Judgment, SampledQuery, SamplePlan
from judgments.versions.queries import Judged, get_judged
from touchstone.sampling.readings import SampledValues


@dataclass(frozen=True, eq=False)
class Drawn:
    """The queries of a plan, ascending (pk), and how they were drawn."""

    plan: SamplePlan
    query_ids: npt.NDArray[np.int64]
    sample: SampledValues


def get_drawn(plan: SamplePlan) -> Drawn:
    """What a plan drew. plan: with its list."""
    members = SampledQuery.objects.filter(plan=plan).order_by("query")
    rows = list(members.values_list("query", "pi", "stratum", "searches"))
    query_ids, pi, strata, searches = (np.array(column) for column in zip(*rows, strict=True))
    counts = np.array([row["queries"] for row in plan.design["strata"]], np.float64)
    sample = SampledValues(
        pi, strata, counts, searches.astype(np.float64), bool(plan.design["by_size"])
    )
    return Drawn(plan, query_ids, sample)


def get_judged_of(drawn: Drawn, version: int) -> Judged:
    """What is judged of the drawn queries at a version of the plan's list."""
    return get_judged(
        list_id=drawn.plan.list_id, version=version, query_ids=drawn.query_ids.tolist()
    )


def last_touched(plan: SamplePlan, *, version: int | None = None) -> int:
    """The newest version, up to one, that changed a grade of a drawn query; 0 for none.

    Later versions change nothing of what the plan says.
    """
    members = SampledQuery.objects.filter(plan=plan).values("query")
    own = Judgment.objects.filter(list=plan.list_id, query__in=members).order_by()
    since, until = own, own
    if version is not None:
        since, until = own.filter(since__lte=version), own.filter(until__lte=version)
    begun = since.aggregate(last=Max("since"))["last"]
    ended = until.aggregate(last=Max("until"))["last"]
    return max(begun or 0, ended or 0)
