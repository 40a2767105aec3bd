"""A plan's queries as arrays, what is judged of them, and which need no judgment."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
from django.db.models import Max

from evaluation.models import Ranking
from judgments.models import (
    Judgment,
    JudgmentList,
    SampledQuery,
    SamplePlan,
    TrafficFrame,
    ZeroResultQuery,
)
from judgments.samples.queries import list_judged_members, list_plan_queries
from judgments.traffic.queries import get_concentration
from judgments.versions.machine_grades import get_judged_by_people, has_other_sources
from judgments.versions.queries import Judged
from touchstone.sampling.estimation import Floats
from touchstone.sampling.readings import SampledValues


@dataclass(frozen=True, eq=False)
class Drawn:
    """The queries of a plan, ascending (pk), and how they were drawn."""

    plan: SamplePlan
    query_ids: npt.NDArray[np.int64]
    sample: SampledValues


@dataclass(frozen=True, eq=False)
class Counted:
    """What counts of a plan's queries at a version of its list.

    judged: people's judgments of them. zero_results: as `list_zero_results` has them. traffic: what
    strata are post-stratified to, the newest of the collection; None for a plan of one stratum.
    basis: as `basis_of` has it.
    """

    judged: Judged
    zero_results: tuple[int, ...]
    traffic: TrafficFrame | None
    basis: str

    @property
    def n_judged(self) -> int:
        """The drawn queries of which people judged a document."""
        return len(np.unique(self.judged.query_ids))


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


def get_counted(drawn: Drawn, version: int) -> Counted:
    """What counts of the drawn queries at a version of the plan's list."""
    plan = drawn.plan
    judged = get_judged_by_people(
        list_id=plan.list_id, version=version, query_ids=drawn.query_ids.tolist()
    )
    zero_results, traffic = list_zero_results(plan, version), find_traffic(plan)
    basis = basis_of(plan, version, zero_results, traffic)
    return Counted(judged, zero_results, traffic, basis)


def find_traffic(plan: SamplePlan) -> TrafficFrame | None:
    """The newest traffic of the collection, by which strata are weighted; None for one stratum."""
    if len(plan.design["strata"]) == 1:
        return None
    own = TrafficFrame.objects.filter(collection=plan.list.collection_id, of_list=None)
    return own.order_by("-number").first()


def get_totals(plan: SamplePlan, traffic: TrafficFrame) -> tuple[Floats, Floats]:
    """The queries, and the searches, of each of the plan's strata in other traffic.

    A query's stratum is by its share of all searches: at least that of the stratum's rarest query
    when the plan was drawn.
    """
    least = [row["least"] for row in plan.design["strata"]]
    scale = traffic.searches / plan.frame.searches
    result = get_concentration(traffic)
    above = np.array(least[:-1]) * scale
    codes = (result.searches[None, :] < above[:, None]).sum(axis=0)
    queries = np.bincount(codes, result.queries, len(least))
    searches = np.bincount(codes, result.queries * result.searches, len(least))
    return queries.astype(np.float64), searches.astype(np.float64)


def list_zero_results(plan: SamplePlan, version: int) -> tuple[int, ...]:
    """The drawn queries (pk), ascending, that count as empty rankings at a version.

    A lead said that rankers return nothing for them, people judged nothing of them, and no run that
    is there now has a document for them.
    """
    recorded = ZeroResultQuery.objects.filter(plan=plan).order_by("query")
    query_ids = list(recorded.values_list("query", flat=True))
    if not query_ids:
        return ()
    judged = get_judged_by_people(list_id=plan.list_id, version=version, query_ids=query_ids)
    rest = set(query_ids) - set(judged.query_ids.tolist())
    return tuple(sorted(rest - _answered(plan, rest)))


def basis_of(
    plan: SamplePlan, version: int, zero_results: Sequence[int], traffic: TrafficFrame | None
) -> str:
    """Names what estimates follow from besides the version of the list.

    Those of a list with grades of clicks or machine judges end in `/people`: before, such grades
    were counted too.
    """
    queries = np.array(zero_results, "<i8").tobytes()
    without = blake2b(queries, digest_size=8).hexdigest() if zero_results else ""
    own = "/people" if has_other_sources(list_id=plan.list_id, version=version) else ""
    return f"{without}/{traffic.digest[:16] if traffic else ''}{own}"


def list_unanswered(plan: SamplePlan) -> list[int]:
    """Drawn queries (pk), ascending, of which nothing is known.

    People judged nothing of them at the head, no run has a document, and no lead said why.

    Empty as long as runs have documents for no drawn query: rankers were not asked then.
    """
    members = list_plan_queries(plan_id=plan.pk)
    answered = _answered(plan, members)
    if not answered:
        return []
    recorded = ZeroResultQuery.objects.filter(plan=plan).order_by().values_list("query", flat=True)
    return sorted(set(members) - answered - list_judged_members(plan) - set(recorded))


def _answered(plan: SamplePlan, query_ids: Collection[int]) -> set[int]:
    """Those of some queries for which a run that is not withdrawn has a document."""
    if not query_ids:
        return set()
    own = Ranking.objects.filter(
        query__in=query_ids,
        run__ranker__collection=plan.list.collection_id,
        run__withdrawn_at__isnull=True,
    )
    return set(own.order_by().values_list("query", flat=True).distinct())


def last_touched(plan: SamplePlan, *, version: int | None = None) -> int:
    """The newest version, up to one, that changed a grade of a drawn query; 0 for none.

    Later versions change nothing of what the plan says.
    """
    members = SampledQuery.objects.filter(plan=plan).values("query")
    if version is None:
        version = JudgmentList.objects.values_list("head", flat=True).get(pk=plan.list_id)
    own = Judgment.objects.filter(list=plan.list_id, query__in=members).order_by()
    begun = own.filter(since__lte=version).aggregate(last=Max("since"))["last"]
    ended = own.filter(until__lte=version).aggregate(last=Max("until"))["last"]
    return max(begun or 0, ended or 0)
