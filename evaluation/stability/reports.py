"""What is kept of how stable orders of runs are, for pages; a worker computes it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import check_queries
from evaluation.models import Run, StabilityReport
from evaluation.runs.names import name_of, run_label
from evaluation.runs.selection import ChosenRuns, compared_measure
from evaluation.stability.queries import MOST_IN_TABLE, REVISION, STEPS
from judgments.lists.queries import GradeShown, show_grade
from judgments.models import Document, JudgmentList, Query, SavedSet
from judgments.reports.freshness import Freshness, freshness_of
from touchstone.measures.asking import Asked
from touchstone.scales import Scale


@dataclass(frozen=True)
class OrderAsked:
    """An order of runs: by this measure at this version of a list, over some queries.

    runs: of the list's collection, ascending (pk). query_ids: None for all that are judged.
    """

    judgment_list: JudgmentList
    version: int
    asked: Asked
    runs: tuple[Run, ...]
    query_ids: tuple[int, ...] | None
    segment: str
    saved_set: SavedSet | None

    @property
    def key(self) -> str:
        """A name of all that the figures follow from: none of it ever changes."""
        measure = self.asked.measure
        parts = (
            self.judgment_list.pk,
            self.version,
            f"{measure.name} {measure.revision}",
            repr(grades_of(self.judgment_list)),
            [run.pk for run in self.runs],
            self.query_ids,
        )
        return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()

    @property
    def message(self) -> tuple[int, int, str]:
        """What a worker is told, for `find_order`."""
        question = {
            "measure": self.asked.canonical,
            "runs": [run.pk for run in self.runs],
            "segment": self.segment,
            "set": self.saved_set and self.saved_set.pk,
        }
        return self.judgment_list.pk, self.version, json.dumps(question)


def ask_order(
    *,
    judgment_list: JudgmentList,
    version: int,
    asked: Asked,
    runs: Sequence[Run],
    segment: str,
    saved_set: SavedSet | None,
) -> OrderAsked:
    """The order that is meant. Raises FilterRefused where none of its queries is judged."""
    query_ids = check_queries(
        list_id=judgment_list.pk, version=version, segment=segment, saved_set=saved_set
    )
    ascending = tuple(sorted(runs, key=lambda run: run.pk))
    return OrderAsked(judgment_list, version, asked, ascending, query_ids, segment, saved_set)


def find_order(*, list_id: int, version: int, question: str) -> OrderAsked:
    """The order that a message means.

    Raises FilterRefused where there is none any more, ObjectDoesNotExist where there never was.
    """
    said = json.loads(question)
    judgment_list = JudgmentList.objects.select_related("collection").get(pk=list_id)
    collection = judgment_list.collection
    runs_qs = Run.objects.select_related("ranker").filter(ranker__collection=collection)
    return ask_order(
        judgment_list=judgment_list,
        version=version,
        asked=compared_measure(judgment_list, said["measure"]),
        runs=list(runs_qs.filter(pk__in=said["runs"])),
        segment=said["segment"],
        saved_set=collection.saved_sets.get(pk=said["set"]) if said["set"] else None,
    )


@dataclass(frozen=True)
class OrderRow:
    """A run of the order. name, run: as pages and as addresses call it.

    low, high: 95 % of its means; highest, lowest: of its places.
    first: its share of first places; first_labels: with labels drawn as well; None where they
    can't be. above_next: how often it is above the next; None for the last. above: above each of
    the runs, in their order; None against itself; empty where there are many.
    """

    name: str
    run: str
    mean: float | None
    low: float
    high: float
    highest: int
    lowest: int
    first: float
    first_labels: float | None
    above_next: float | None
    above: tuple[float | None, ...]

    @property
    def places(self) -> str:
        """The places in words."""
        return f"{self.highest}" if self.highest == self.lowest else f"{self.highest}–{self.lowest}"


@dataclass(frozen=True)
class Change:
    """A judgment, and a grade that it would have instead. loss: what the lead loses by that."""

    qid: str
    query: str
    docid: str
    title: str
    grade: GradeShown
    instead: GradeShown
    loss: float


@dataclass(frozen=True)
class FirstPlace:
    """What the first place of a run hangs on; `hanging` has what the rest means."""

    leader: str
    rival: str
    margin: float
    fewest: int | None
    singles: int
    shown: tuple[Change, ...]
    tried: int


@dataclass(frozen=True)
class OrderShown:
    """How stable an order is. rows: best first. tau: Kendall's, of half of the resamples and of
    95 %. noisy: judgments whose labels leave more than one grade possible.
    """

    rows: tuple[OrderRow, ...]
    queries: int
    resamples: int
    tau_median: float | None
    tau_reached: float | None
    has_labels: bool
    noisy: int
    first_place: FirstPlace | None

    @property
    def is_table(self) -> bool:
        """Whether every pair of runs is shown."""
        return len(self.rows) <= MOST_IN_TABLE


@dataclass(frozen=True)
class Stability:
    """What is known of an order by now. found: None before it is computed, and where there is
    nothing to compute. asked: the order; address: of the part that shows it.
    """

    asked: OrderAsked
    freshness: Freshness
    found: OrderShown | None
    address: str

    @property
    def list_slug(self) -> str:
        return self.asked.judgment_list.slug

    @property
    def slug(self) -> str:
        """The collection's."""
        return self.asked.judgment_list.collection.slug


def get_stability(*, asked: OrderAsked, named: Sequence[str]) -> Stability:
    """How stable an order of two runs or more is, as far as a worker has computed it.

    named: the runs as an address has them; none where it leaves the choice to the page.
    """
    report = StabilityReport.objects.filter(key=asked.key).first()
    is_known = report is not None and (report.seen, report.revision) == (asked.key, REVISION)
    figures = report.figures if report and is_known else {}
    return Stability(
        asked=asked,
        freshness=freshness_of(report, is_due=not is_known, steps=STEPS),
        found=_shown(asked, figures) if figures else None,
        address=_address(asked, named),
    )


def get_stability_of(chosen: ChosenRuns) -> Stability | None:
    """How stable the order of compared runs is; None for fewer than two."""
    if len(chosen.compared) < 2:
        return None
    asked = ask_order(
        judgment_list=chosen.list,
        version=chosen.version,
        asked=chosen.asked,
        runs=[one.run for one in chosen.compared],
        segment=chosen.segment,
        saved_set=chosen.sets.chosen,
    )
    return get_stability(asked=asked, named=[one.name for one in chosen.compared])


def _address(asked: OrderAsked, named: Sequence[str]) -> str:
    own = asked.judgment_list
    more = {
        "measure": asked.asked.canonical,
        "version": str(asked.version),
        "segment": asked.segment,
        "set": asked.saved_set.slug if asked.saved_set else "",
    }
    parameters = [("runs", name) for name in named]
    parameters += [(name, value) for name, value in more.items() if value]
    return f"{reverse('stability', args=[own.collection.slug, own.slug])}?{urlencode(parameters)}"


def _shown(asked: OrderAsked, figures: Mapping[str, Any]) -> OrderShown:
    names = {run.pk: run_label(run.ranker.name, run.name) for run in asked.runs}
    addresses = {run.pk: name_of(run) for run in asked.runs}
    first = figures["first_place"]
    return OrderShown(
        rows=tuple(
            OrderRow(
                name=names[row["run"]],
                run=addresses[row["run"]],
                mean=row["mean"],
                low=row["low"],
                high=row["high"],
                highest=row["highest"],
                lowest=row["lowest"],
                first=row["first"],
                first_labels=row["first_labels"],
                above_next=row["above_next"],
                above=tuple(
                    None if other == place else share for other, share in enumerate(row["above"])
                ),
            )
            for place, row in enumerate(figures["rows"])
        ),
        queries=figures["queries"],
        resamples=figures["resamples"],
        tau_median=figures["tau_median"],
        tau_reached=figures["tau_reached"],
        has_labels=figures["has_labels"],
        noisy=figures["noisy"],
        first_place=first and _first_place(asked, names, first),
    )


def _first_place(
    asked: OrderAsked, names: Mapping[int, str], figures: Mapping[str, Any]
) -> FirstPlace:
    rows = figures["shown"]
    queries = Query.objects.in_bulk({row[0] for row in rows})
    documents = Document.objects.only("docid", "title").in_bulk({row[1] for row in rows})
    scale = Scale.from_json(asked.judgment_list.scale)
    return FirstPlace(
        leader=names[figures["leader"]],
        rival=names[figures["rival"]],
        margin=figures["margin"],
        fewest=figures["fewest"],
        singles=figures["singles"],
        shown=tuple(
            Change(
                qid=queries[query].qid,
                query=queries[query].text,
                docid=documents[document].docid,
                title=documents[document].title,
                grade=show_grade(scale, code),
                instead=show_grade(scale, instead),
                loss=loss,
            )
            for query, document, code, instead, loss in rows
        ),
        tried=figures["tried"],
    )
