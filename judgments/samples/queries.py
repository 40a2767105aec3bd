"""Reading samples: how each was drawn, which queries it has, and the next month's."""

import csv
import io
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from django.core.paginator import Page

from judgments.lists.queries import get_list
from judgments.models import (
    JudgmentList,
    SampledQuery,
    SamplePlan,
    ZeroResultQuery,
)
from judgments.pages.answers import ON_PAGES
from judgments.pages.paging import Part, paginate, part_of
from judgments.permissions import Access, NotFound, may_see_people
from judgments.samples.designs import OPTIMAL, QUERIES
from judgments.samples.refreshing import Refresh
from judgments.storage.serialization import from_plain
from judgments.versions.machine_grades import get_judged_by_people
from touchstone.files.rating_lines import guarded

EARLIER: Final = 3  # samples whose overlap a page shows
FILE_COLUMNS = ("query_id", "query", "stratum", "pi", "searches")


@dataclass(frozen=True)
class DrawnStratum:
    """A stratum of a sample. n: drawn. judged: of those, by the list's head."""

    name: str
    least: int
    queries: int
    searches: int
    n: int
    judged: int


@dataclass(frozen=True)
class DrawnRow:
    """A drawn query. is_certain: its inclusion probability is 1. has_no_results: it is not judged,
    and a lead said that rankers return nothing for it.
    """

    qid: str
    text: str
    stratum: str
    pi: float
    searches: int
    is_certain: bool
    is_judged: bool
    has_no_results: bool


@dataclass(frozen=True)
class SampleRow:
    """A sample of a list. traffic: the number of its log. design: in words."""

    number: int
    name: str
    traffic: int
    traffic_name: str
    design: str
    queries: int
    seed: str
    digest: str
    created_at: datetime


@dataclass(frozen=True)
class EarlierSample:
    """A sample of the list that was drawn before. shared: queries that both have.

    Of the newest by the same seed, as it was when this sample was drawn: expected: how many of them
    theory expects; known: the share of searches for queries that the earlier log had; drift: the
    share of searches that went elsewhere. Null for others.
    """

    number: int
    name: str
    has_same_seed: bool
    shared: int
    expected: float | None = None
    known: float | None = None
    drift: float | None = None


@dataclass(frozen=True)
class SamplePage:
    """A sample. design: in words. judged: drawn queries that people judged, at the list's head.

    without_results: those that have none, because rankers return nothing for them.
    """

    list_slug: str
    list_name: str
    number: int
    name: str
    frame_number: int
    frame_name: str
    is_simulated: bool
    design: str
    allocation: str
    seed: str
    digest: str
    size: int
    certain: int
    judged: int
    without_results: int
    strata: list[DrawnStratum]
    earlier: list[EarlierSample]
    queries: "Page[Any]" = field(metadata=ON_PAGES)
    created_at: datetime
    who: str

    @property
    def open(self) -> int:
        """The drawn queries that need judging."""
        return self.size - self.judged - self.without_results


def get_plan(*, access: Access, list_slug: str, number: int) -> SamplePlan:
    """A sample of a list of the collection; NotFound where there is none."""
    judgment_list = get_list(access=access, slug=list_slug)
    plans = SamplePlan.objects.filter(list=judgment_list, number=number)
    result = plans.select_related("frame", "created_by").first()
    if result is None:
        raise NotFound("sample")
    result.list = judgment_list
    return result


def list_plans(*, judgment_list: JudgmentList) -> list[SamplePlan]:
    """The samples of a list, the newest first."""
    plans_qs = SamplePlan.objects.filter(list=judgment_list).order_by("-pk")
    return list(plans_qs.select_related("frame"))


def list_samples(*, judgment_list: JudgmentList) -> list[SampleRow]:
    """The samples of a list, the newest first."""
    return [
        SampleRow(
            one.number,
            one.name,
            one.frame.number,
            one.frame.name,
            design_words(one.design),
            one.size,
            str(one.seed),
            one.digest,
            one.created_at,
        )
        for one in list_plans(judgment_list=judgment_list)
    ]


def list_plan_queries(*, plan_id: int) -> list[int]:
    """The pks of the queries that a sample drew, ascending."""
    members = SampledQuery.objects.filter(plan=plan_id).order_by("query")
    return list(members.values_list("query", flat=True))


def list_judged_members(plan: SamplePlan) -> set[int]:
    """The drawn queries (pks) of which people judged a document, at the list's head."""
    members = list_plan_queries(plan_id=plan.pk)
    judged = get_judged_by_people(list_id=plan.list_id, version=plan.list.head, query_ids=members)
    return set(judged.query_ids.tolist())


def get_sample_page(*, access: Access, list_slug: str, number: int, page: str) -> SamplePage:
    """A sample, with its queries in the order of their texts."""
    plan = get_plan(access=access, list_slug=list_slug, number=number)
    strata = plan.design["strata"]
    judged = list_judged_members(plan)
    without_results = _without_results(plan, judged)
    members = SampledQuery.objects.filter(plan=plan).order_by("pk")
    drawn = [0] * len(strata)
    for stratum in members.filter(query__in=judged).values_list("stratum", flat=True):
        drawn[stratum] += 1
    show = _shows_members(plan, judged, without_results)
    maker = plan.created_by
    return SamplePage(
        list_slug=plan.list.slug,
        list_name=plan.list.name,
        number=plan.number,
        name=plan.name,
        frame_number=plan.frame.number,
        frame_name=plan.frame.name,
        is_simulated=plan.frame.is_simulated,
        design=design_words(plan.design),
        allocation=_allocation_words(plan.design),
        seed=str(plan.seed),
        digest=plan.digest,
        size=plan.size,
        certain=members.filter(pi=1).count(),
        judged=len(judged),
        without_results=len(without_results),
        strata=[
            DrawnStratum(
                row["name"], row["least"], row["queries"], row["searches"], row["n"], count
            )
            for row, count in zip(strata, drawn, strict=True)
        ],
        earlier=_earlier(plan),
        queries=paginate(members.select_related("query"), page=page, show=show),
        created_at=plan.created_at,
        who=str(maker) if maker and may_see_people(access) else "",
    )


def list_drawn(
    *, access: Access, list_slug: str, number: int, after: int, limit: int
) -> Part[DrawnRow]:
    """The drawn queries in the order of their texts."""
    plan = get_plan(access=access, list_slug=list_slug, number=number)
    judged = list_judged_members(plan)
    show = _shows_members(plan, judged, _without_results(plan, judged))
    members = SampledQuery.objects.filter(plan=plan).select_related("query")
    return part_of(members, after, limit, show)


def _without_results(plan: SamplePlan, judged: Container[int]) -> set[int]:
    recorded = ZeroResultQuery.objects.filter(plan=plan).order_by().values_list("query", flat=True)
    return {query_id for query_id in recorded if query_id not in judged}


def _shows_members(
    plan: SamplePlan, judged: Container[int], without_results: Container[int]
) -> Callable[[list[SampledQuery]], list[DrawnRow]]:
    names = [row["name"] for row in plan.design["strata"]]

    def show(rows: list[SampledQuery]) -> list[DrawnRow]:
        return [
            DrawnRow(
                one.query.qid,
                one.query.text,
                names[one.stratum],
                one.pi,
                one.searches,
                one.pi == 1,
                one.query_id in judged,
                one.query_id in without_results,
            )
            for one in rows
        ]

    return show


def _earlier(plan: SamplePlan) -> list[EarlierSample]:
    before = SamplePlan.objects.filter(list=plan.list, number__lt=plan.number)
    own = SampledQuery.objects.filter(plan=plan).values("query")
    refresh = from_plain(Refresh, plan.refresh) if plan.refresh else None
    rows = []
    for one in before.order_by("-number")[:EARLIER]:
        shared = one.members.filter(query__in=own).count()
        row = EarlierSample(one.number, one.name, one.seed == plan.seed, shared)
        if refresh is not None and refresh.sample == one.number:
            row = replace(row, expected=refresh.expected, known=refresh.known, drift=refresh.drift)
        rows.append(row)
    return rows


def design_words(design: dict[str, Any]) -> str:
    """How the queries of a stored design were drawn."""
    is_stratified = len(design["strata"]) > 1
    if design["by_size"]:
        own = "sequential Poisson, in proportion to searches"
        return f"{own}, in each stratum" if is_stratified else own
    return "stratified simple random" if is_stratified else "simple random"


def _allocation_words(design: dict[str, Any]) -> str:
    if len(design["strata"]) == 1:
        return ""
    if design["allocation"] == OPTIMAL:
        of = "cost-optimal" if design["budget"] is not None else "optimal (Neyman)"
        return f"{of} for the mean per {design['target']}"
    own = "queries" if design["allocation"] == QUERIES else "searches"
    return f"in proportion to {own}"


def get_sample_file(*, access: Access, list_slug: str, number: int) -> str:
    """The drawn queries as CSV, in the order of their texts."""
    plan = get_plan(access=access, list_slug=list_slug, number=number)
    names = [row["name"] for row in plan.design["strata"]]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(FILE_COLUMNS)
    members = SampledQuery.objects.filter(plan=plan).order_by("pk")
    for qid, text, stratum, pi, searches in members.values_list(
        "query__qid", "query__text", "stratum", "pi", "searches"
    ):
        writer.writerow((guarded(qid), guarded(text), names[stratum], repr(pi), searches))
    return file.getvalue()
