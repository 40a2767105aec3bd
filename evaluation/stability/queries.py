"""How stable the order of some runs is: the question, and what is known of the answer by now."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import FilterRefused, SetChoice, check_queries, choose_set
from evaluation.models import Run, StabilityReport
from evaluation.runs.names import list_named_runs, list_newest_runs, name_of, run_label
from evaluation.runs.selection import ChosenRuns, RunsFilters, compared_measure
from evaluation.stability.figures import MOST_IN_TABLE, REVISION, STEPS
from judgments.lists.queries import HEAD, GradeShown, get_list, get_version, show_grade
from judgments.models import Document, JudgmentList, Query
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, check_may_see_rankings
from judgments.reports.freshness import Freshness, freshness_of
from touchstone.measures.asking import Asked
from touchstone.scales import Scale

MOST: Final = 400  # runs of one order


@dataclass(frozen=True)
class Order:
    """An order of runs: by this measure at this version of a list, over some queries.

    version: 0 on a list without any. runs: of the list's collection, ascending (pk). query_ids:
    None for all that are judged. named: the runs as an address has them; empty where it leaves the
    choice to the page.
    """

    list: JudgmentList
    version: int
    asked: Asked
    runs: tuple[Run, ...]
    query_ids: tuple[int, ...] | None
    segment: str
    sets: SetChoice
    named: tuple[str, ...] = ()

    @property
    def is_head(self) -> bool:
        return self.version == self.list.head

    @property
    def is_one(self) -> bool:
        """Whether there is something to put in order."""
        return self.version > 0 and len(self.runs) > 1

    @property
    def key(self) -> str:
        """A name of all that the figures follow from: none of it ever changes."""
        measure = self.asked.measure
        parts = (
            self.list.pk,
            self.version,
            f"{measure.name} {measure.revision}",
            repr(grades_of(self.list)),
            [run.pk for run in self.runs],
            self.query_ids,
        )
        return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()

    @property
    def message(self) -> tuple[int, int, str]:
        """What a worker gets, for `find_order`."""
        question = {
            "measure": self.asked.canonical,
            "runs": [run.pk for run in self.runs],
            "segment": self.segment,
            "set": self.sets.chosen and self.sets.chosen.pk,
        }
        return self.list.pk, self.version, json.dumps(question)


def get_order(
    *,
    judgment_list: JudgmentList,
    version: int,
    asked: Asked,
    runs: Sequence[Run],
    segment: str,
    sets: SetChoice,
) -> Order:
    """The order that is meant. Raises FilterRefused where none of its queries is judged."""
    ascending = tuple(sorted(runs, key=lambda run: run.pk))
    order = Order(judgment_list, version, asked, ascending, None, segment, sets)
    if not order.is_one:
        return order
    query_ids = check_queries(
        list_id=judgment_list.pk, version=version, segment=segment, saved_set=sets.chosen
    )
    return replace(order, query_ids=query_ids)


def find_order(*, list_id: int, version: int, question: str) -> Order:
    """The order that a message means.

    Raises FilterRefused where there is none any more, ObjectDoesNotExist where there never was.
    """
    parts = json.loads(question)
    judgment_list = JudgmentList.objects.select_related("collection").get(pk=list_id)
    collection = judgment_list.collection
    runs_qs = Run.objects.select_related("ranker").filter(ranker__collection=collection)
    saved_set = collection.saved_sets.get(pk=parts["set"]) if parts["set"] else None
    return get_order(
        judgment_list=judgment_list,
        version=version,
        asked=compared_measure(judgment_list, parts["measure"]),
        runs=list(runs_qs.filter(pk__in=parts["runs"])),
        segment=parts["segment"],
        sets=SetChoice(judgment_list.slug, (), saved_set),
    )


@dataclass(frozen=True)
class StableRun:
    """A run of the order. low, high: middle 95 % of its means over resamples of the queries;
    highest, lowest: of its ranks. first: share of resamples in which it is first; first_labels:
    with labels resampled as well, null if impossible. above_next: how often it is above the next
    run.

    On pages, above: how often it is above each of the runs, in their order; None against itself;
    empty where there are many.
    """

    run: str
    mean: float | None
    low: float
    high: float
    highest: int
    lowest: int
    first: float
    first_labels: float | None
    above_next: float | None
    label: str = field(metadata=ON_PAGES)
    above: tuple[float | None, ...] = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class GradeSwap:
    """A judgment, and a grade that it would have instead. loss: what the lead loses by that."""

    query_id: str
    query: str
    doc_id: str
    title: str
    grade: GradeShown
    instead: GradeShown
    loss: float


@dataclass(frozen=True)
class FirstPlace:
    """How few judgments keep a run (leader) before the one that needs least to pass it (rival).

    As `first_place_figures` has them, with labels, texts and grades for primary keys and codes.
    """

    leader: str
    rival: str
    margin: float
    fewest: int | None
    singles: int
    shown: tuple[GradeSwap, ...]
    tried: int


@dataclass(frozen=True, kw_only=True)
class OrderStability:
    """computing: a worker is computing it; poll again. runs: best first; empty until there is an
    order. tau_median, tau_reached: Kendall's tau with the observed order that 50 % and 95 % of
    resamples reach.

    On pages, noisy: judgments whose labels leave more than one grade possible. has_labels: grades
    are drawn as well.
    """

    version: int
    measure: str
    computing: bool
    resamples: int = 0
    queries: int = 0
    tau_median: float | None = None
    tau_reached: float | None = None
    runs: tuple[StableRun, ...] = ()
    order: Order = field(metadata=ON_PAGES)
    freshness: Freshness = field(metadata=ON_PAGES)
    has_labels: bool = field(default=False, metadata=ON_PAGES)
    noisy: int = field(default=0, metadata=ON_PAGES)
    first_place: FirstPlace | None = field(default=None, metadata=ON_PAGES)

    @property
    def sets(self) -> SetChoice:
        """The saved sets to choose from."""
        return self.order.sets

    @property
    def is_table(self) -> bool:
        """Whether every pair of runs is shown."""
        return len(self.runs) <= MOST_IN_TABLE


def get_order_stability(*, access: Access, slug: str, filters: RunsFilters) -> OrderStability:
    """How stable an order is, as an address asks for it; without runs of every ranker's newest.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    runs = list_newest_runs(access)
    if filters.runs:
        runs = list_named_runs(access=access, names=filters.runs)
    if len(runs) > MOST:
        raise FilterRefused("too_many_runs", f"At most {MOST} runs can be ordered at a time.")
    number = 0
    if judgment_list.head or filters.version != HEAD:
        number = get_version(judgment_list=judgment_list, name=filters.version).number
    order = get_order(
        judgment_list=judgment_list,
        version=number,
        asked=compared_measure(judgment_list, filters.measure),
        runs=runs,
        segment=filters.segment,
        sets=choose_set(access=access, judgment_list=judgment_list, slug=filters.set),
    )
    return _known(replace(order, named=filters.runs))


def get_stability_of(chosen: ChosenRuns) -> OrderStability:
    """How stable the order of compared runs is."""
    order = get_order(
        judgment_list=chosen.list,
        version=chosen.version,
        asked=chosen.asked,
        runs=[one.run for one in chosen.compared],
        segment=chosen.segment,
        sets=chosen.sets,
    )
    return _known(replace(order, named=tuple(one.name for one in chosen.compared)))


def _known(order: Order) -> OrderStability:
    """What a worker has computed of an order."""
    report = StabilityReport.objects.filter(key=order.key).first() if order.is_one else None
    is_known = report is not None and (report.seen, report.revision) == (order.key, REVISION)
    freshness = freshness_of(report, is_due=order.is_one and not is_known, steps=STEPS)
    result = OrderStability(
        version=order.version,
        measure=order.asked.canonical,
        computing=freshness.is_due,
        order=order,
        freshness=freshness,
    )
    figures = report.figures if report and is_known else {}
    if not figures:
        return result
    first = figures["first_place"]
    return replace(
        result,
        resamples=figures["resamples"],
        queries=figures["queries"],
        tau_median=figures["tau_median"],
        tau_reached=figures["tau_reached"],
        runs=_stable_runs(order, figures["rows"]),
        has_labels=figures["has_labels"],
        noisy=figures["noisy"],
        first_place=first and _first_place(order, first),
    )


def _stable_runs(order: Order, rows: Sequence[Mapping[str, Any]]) -> tuple[StableRun, ...]:
    runs = {run.pk: run for run in order.runs}
    return tuple(
        StableRun(
            run=name_of(runs[row["run"]]),
            mean=row["mean"],
            low=row["low"],
            high=row["high"],
            highest=row["highest"],
            lowest=row["lowest"],
            first=row["first"],
            first_labels=row["first_labels"],
            above_next=row["above_next"],
            label=_label(runs[row["run"]]),
            above=tuple(
                None if other == position else share for other, share in enumerate(row["above"])
            ),
        )
        for position, row in enumerate(rows)
    )


def _first_place(order: Order, figures: Mapping[str, Any]) -> FirstPlace:
    rows = figures["shown"]
    queries = Query.objects.in_bulk({row[0] for row in rows})
    documents = Document.objects.only("docid", "title").in_bulk({row[1] for row in rows})
    scale = Scale.from_json(order.list.scale)
    labels = {run.pk: _label(run) for run in order.runs}
    return FirstPlace(
        leader=labels[figures["leader"]],
        rival=labels[figures["rival"]],
        margin=figures["margin"],
        fewest=figures["fewest"],
        singles=figures["singles"],
        shown=tuple(
            GradeSwap(
                query_id=queries[query].qid,
                query=queries[query].text,
                doc_id=documents[document].docid,
                title=documents[document].title,
                grade=show_grade(scale, code),
                instead=show_grade(scale, instead),
                loss=loss,
            )
            for query, document, code, instead, loss in rows
        ),
        tried=figures["tried"],
    )


def _label(run: Run) -> str:
    return run_label(run.ranker.name, name_of(run))
