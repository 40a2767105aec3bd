"""What a comparison of runs would say without the labels of each annotator; nothing is written."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from django.db.models import F

from annotation.campaigns.people import names_of
from annotation.consolidation.aggregation import batches, list_known
from annotation.consolidation.weighing import WEIGHED, Known, grade_by
from annotation.models import Campaign, Label
from annotation.models import Pair as PairRow
from evaluation.public import (
    ChosenRuns,
    OtherBoard,
    RunsFilters,
    Standing,
    get_chosen_runs,
    get_evidence,
    get_other_board,
)
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, may_see_people
from judgments.versions.queries import get_judged
from touchstone.scales import Scale

MOST_LABELS: Final = 50_000  # behind the grades of the comparison's queries
MOST_RANKS: Final = 4_000_000  # of all runs, read again for each annotator
Pair = tuple[int, int]  # pks of a query and a document


@dataclass(frozen=True)
class Behind:
    """A judgment's grade, and one entry for each of the labels that it follows from.

    is_decided: a person decided the grade, and not the rule.
    """

    grade: int
    rule: str
    campaign: str
    is_decided: bool
    annotators: tuple[int, ...]
    grades: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Without(OtherBoard):
    """The runs without one annotator.

    judgments: based on their labels; decided: of these, adjudicated ones, which do not change.
    changed: judgments with another grade; lost: judgments without a grade. tau: Kendall's tau with
    the current order; null if either has no order.
    """

    annotator: str
    judgments: int
    decided: int
    changed: int
    lost: int


@dataclass(frozen=True, kw_only=True)
class WithoutEach:
    """runs: with all annotators. judgments: with known labels behind them. is_open: a campaign
    behind these grades is not closed, so researchers have no access; is_too_much: too much to
    compute within a request; annotators is empty in both cases.

    On pages, is_weighed: a rule weighs some of the labels.
    """

    version: int
    measure: str
    judgments: int = 0
    is_open: bool = False
    is_too_much: bool = False
    runs: tuple[Standing, ...] = ()
    annotators: tuple[Without, ...] = ()
    is_weighed: bool = field(default=False, metadata=ON_PAGES)
    chosen: ChosenRuns = field(metadata=ON_PAGES)

    @property
    def turned(self) -> tuple[str, ...]:
        """Without whom the order is another."""
        return tuple(row.annotator for row in self.annotators if row.moved)


def get_without_each(*, access: Access, slug: str, filters: RunsFilters) -> WithoutEach:
    """The runs that an address compares, once without each annotator behind its queries' grades.

    Leads and admins see names at any time, researchers pseudonyms, once every campaign behind
    these grades is closed. Raises what `get_chosen_runs` does.
    """
    chosen = get_chosen_runs(access=access, slug=slug, filters=filters)
    result = WithoutEach(version=chosen.version, measure=chosen.asked.canonical, chosen=chosen)
    if len(chosen.compared) < 2:
        return result
    result = replace(result, runs=_board(chosen, {}).runs)
    queries = {pk for one in chosen.compared for pk in one.values.query_ids.tolist()}
    evidence = {
        pair: own
        for pair, own in get_evidence(list_id=chosen.list.pk, version=chosen.version).items()
        if pair[0] in queries and own.get("labels")
    }
    campaigns = {
        str(one.public_id): one
        for one in Campaign.objects.filter(
            public_id__in={own["campaign"] for own in evidence.values()}
        )
    }
    is_closed = all(one.state == Campaign.State.CLOSED for one in campaigns.values())
    if not (is_closed or may_see_people(access)):
        return replace(result, is_open=True)
    if sum(len(own["labels"]) for own in evidence.values()) > MOST_LABELS:
        return replace(result, is_too_much=True)
    behind = _behind(chosen, evidence)
    touched: dict[int, list[Pair]] = {}
    for pair, one in behind.items():
        for person in set(one.annotators):
            touched.setdefault(person, []).append(pair)
    ranks = sum(one.run.row_count for one in chosen.compared)
    shares = [len({query for query, _ in pairs}) / len(queries) for pairs in touched.values()]
    if ranks * sum(shares) > MOST_RANKS:
        return replace(result, is_too_much=True)
    weighed = {campaigns[one.campaign].pk for one in behind.values() if one.rule in WEIGHED}
    figures = list_known(weighed) if weighed else {}
    known = {name: figures.get(one.pk, Known()) for name, one in campaigns.items()}
    names = names_of(access=access, user_ids=touched)
    rows = [
        _without(chosen, names[person], person, {pair: behind[pair] for pair in pairs}, known)
        for person, pairs in touched.items()
    ]
    rows.sort(key=lambda one: (-len(one.moved), -one.judgments, one.annotator))
    return replace(result, is_weighed=bool(weighed), judgments=len(behind), annotators=tuple(rows))


def _behind(chosen: ChosenRuns, evidence: Mapping[Pair, Mapping[str, Any]]) -> dict[Pair, Behind]:
    """Who gave which grade behind each judgment: labels are never changed, so it is as it was."""
    named = [label for own in evidence.values() for label in own["labels"]]
    said: dict[str, tuple[int, int | None]] = {}
    for label_ids in batches(named):
        labels_qs = Label.objects.filter(pk__in=label_ids).order_by()
        for pk, annotator, grade in labels_qs.values_list("pk", "annotator", "grade"):
            said[str(pk)] = (annotator, grade)
    held = get_judged(list_id=chosen.list.pk, version=chosen.version).pairs()
    confirmed = _list_confirmed(chosen) if chosen.version == chosen.list.head else set()
    result = {}
    for pair, own in evidence.items():
        people, grades = zip(*(said[label] for label in own["labels"]), strict=True)
        is_decided = own["adjudicated"] or (pair, own["campaign"], held[pair]) in confirmed
        result[pair] = Behind(held[pair], own["rule"], own["campaign"], is_decided, people, grades)
    return result


def _list_confirmed(chosen: ChosenRuns) -> set[tuple[Pair, str, int | None]]:
    """The grades that were adjudicated since the newest version without changing: pair, campaign
    and grade."""
    rows = PairRow.objects.filter(
        list=chosen.list,
        state=PairRow.State.ADJUDICATED,
        campaign__commit=Campaign.Commit.LIVE,
        consolidated_seq__gt=F("committed_seq"),
    ).values_list("query", "document", "campaign__public_id", "grade")
    return {((query, document), str(own), grade) for query, document, own, grade in rows}


def _without(
    chosen: ChosenRuns,
    name: str,
    person: int,
    behind: Mapping[Pair, Behind],
    known: Mapping[str, Known],
) -> Without:
    codes = Scale.from_json(chosen.list.scale).codes
    grades: dict[Pair, int | None] = {}
    for pair, one in behind.items():
        if one.is_decided:
            continue
        grade = _grade_without(one, person, codes, known[one.campaign])
        if grade != one.grade:
            grades[pair] = grade
    lost = sum(grade is None for grade in grades.values())
    board = _board(chosen, grades)
    return Without(
        annotator=name,
        judgments=len(behind),
        decided=sum(one.is_decided for one in behind.values()),
        changed=len(grades) - lost,
        lost=lost,
        tau=board.tau,
        runs=board.runs,
    )


def _grade_without(one: Behind, person: int, codes: tuple[int, ...], known: Known) -> int | None:
    """What the rule makes of the labels that stay; the judgment's own where that is as with all.

    What is known of annotators may have changed since the judgment was made: only what the
    person's own labels decide counts as a change.
    """
    stay = [position for position, own in enumerate(one.annotators) if own != person]
    if not stay:
        return None
    whole, _ = grade_by(one.rule, one.annotators, one.grades, codes, known)
    people, grades = (
        [said[position] for position in stay] for said in (one.annotators, one.grades)
    )
    rest, _ = grade_by(one.rule, people, grades, codes, known)
    return one.grade if rest == whole else rest


def _board(chosen: ChosenRuns, grades: Mapping[Pair, int | None]) -> OtherBoard:
    return get_other_board(
        compared=chosen.compared,
        judgment_list=chosen.list,
        version=chosen.version,
        measure=chosen.asked.measure,
        grades=grades,
    )
