"""A campaign's quality report as its leads see it: figures, verdict, and how current they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from typing import Any, Final, NamedTuple

from annotation.campaigns.cached_counts import get_or_count
from annotation.campaigns.queries import count_graded_disputes, count_pairs
from annotation.models import Campaign, QualityReport
from annotation.permissions import check_may_watch
from annotation.quality.assessment import (
    COURSES,
    Advice,
    Situation,
    Verdict,
    describe,
    describe_change,
    verdict,
)
from annotation.quality.costs import Cost, Rates, cost
from annotation.quality.due import is_report_due
from annotation.quality.events import list_marked
from annotation.quality.figures import REVISION, STEPS, Event
from judgments.lists.queries import GradeShown, show_grade
from judgments.models import User
from judgments.permissions import Access
from judgments.reports.freshness import Freshness, freshness_of
from touchstone.scales import Scale

Figures = dict[str, Any]
MOST_GROUPS: Final = 40  # queries, and pairs of people, on the page
MOST_DETAILED: Final = 12  # people whose figures are all on one page
MOST_ADVICE: Final = 5
# what someone's figures over time can be, where that is bounded
POSSIBLE: Final[dict[str, tuple[float, float]]] = {
    "alpha": (-inf, 1.0),
    "right": (0.0, 1.0),
    "gold": (0.0, 1.0),
    "grade": (0.0, inf),
    "seconds": (0.0, inf),
}
Matrix = tuple[tuple[GradeShown, "tuple[Cell, ...]"], ...]
GradeRow = tuple[GradeShown, Figures, GradeShown | None]  # and what is most often said instead


class Cell(NamedTuple):
    """A cell of a confusion matrix. shade: how dark it is, from 0 to 4. given: the grade's code.

    error: steps of that above (+) or below (-) the grade of the row.
    """

    labels: int
    shade: int
    given: int
    error: int


@dataclass(frozen=True)
class CourseShown:
    """How one thing about someone went over time. change: in words; empty where it did not.

    is_gold: of gold checks.
    """

    title: str
    windows: list[Figures]
    change: str
    is_gold: bool


class PersonFigures:
    """What pages derive from a person's figures, of one campaign or of a whole list.

    row: the figures. grades: of the scale, worst first.
    """

    row: Figures
    grades: tuple[GradeShown, ...]

    @property
    def matrix(self) -> Matrix:
        """The grade given, by what the others say; each count with how dark it is."""
        return show_matrix(self.row["confusion"], self.grades)

    @property
    def on_gold(self) -> Matrix:
        """The grade given, by gold; empty before the first check."""
        gold = self.row["gold"]
        return show_matrix(gold["confusion"], self.grades) if gold["checked"] else ()

    @property
    def days(self) -> tuple[tuple[datetime, int], ...]:
        return show_days(self.row["days"])


@dataclass(frozen=True)
class Person(PersonFigures):
    """An annotator in the report. row: the figures. grades: of the scale, worst first.

    said: the findings in words, which name the person. noted: what only stands out.
    is_reachable: who labels here, so that they can be told something.
    """

    place: int
    username: str
    name: str
    said: tuple[str, ...]
    noted: tuple[str, ...]
    row: Figures
    grades: tuple[GradeShown, ...]
    is_reachable: bool

    @property
    def windows(self) -> list[Figures]:
        """Of all figures over time."""
        return [row for course in self.row["over_time"] for row in course["windows"]]

    @property
    def courses(self) -> tuple[CourseShown, ...]:
        return tuple(_show_course(course) for course in self.row["over_time"])


@dataclass(frozen=True)
class QualityPage:
    """A campaign's quality report. figures: empty before the first labels. events: what its charts
    over time mark."""

    campaign: Campaign
    freshness: Freshness
    figures: Figures
    verdict: Verdict | None
    people: tuple[Person, ...]
    grades: tuple[GradeShown, ...]
    cost: Cost | None
    events: tuple[Event, ...] = ()

    @property
    def shows_details(self) -> bool:
        """Whether everyone's figures are on the page; of more people each has a page."""
        return len(self.people) <= MOST_DETAILED

    @property
    def findings(self) -> tuple[Advice, ...]:
        """What to do next, at most so many; the rest is less urgent."""
        return self.verdict.advice[:MOST_ADVICE] if self.verdict else ()

    @property
    def more_findings(self) -> tuple[Advice, ...]:
        return self.verdict.advice[MOST_ADVICE:] if self.verdict else ()

    @property
    def worst_pairs_of_people(self) -> list[tuple[Person, Person, Figures]]:
        """Those who agree least; all are in the exports."""
        return self.pairs_of_people[:MOST_GROUPS]

    @property
    def pairs_of_people(self) -> list[tuple[Person, Person, Figures]]:
        rows = [row for row in self.figures["pairs_of_people"] if row["units"]]
        rows.sort(key=lambda row: (row["value"] is None, row["value"] or 0.0))
        return [(self.people[row["one"]], self.people[row["other"]], row) for row in rows]

    @property
    def queries(self) -> list[Figures]:
        """Those with the lowest alpha; all are in the exports."""
        rows: list[Figures] = self.figures["queries"]
        return rows[:MOST_GROUPS]

    @property
    def more_queries(self) -> int:
        return max(0, len(self.figures["queries"]) - MOST_GROUPS)

    @property
    def grade_rows(self) -> list[GradeRow]:
        return list_grade_rows(self.figures, self.grades)

    @property
    def segments(self) -> list[Figures]:
        """Nothing where there is only one: it says no more than the whole."""
        rows: list[Figures] = self.figures["segments"]
        worst = sorted(rows, key=lambda row: (row["value"] is None, row["value"] or 0.0))
        return worst if len(rows) > 1 else []


def get_freshness(*, access: Access, campaign: Campaign) -> Freshness:
    """How current the stored figures are; for leads and admins."""
    check_may_watch(access, campaign)
    report = QualityReport.objects.defer("figures").filter(campaign=campaign).first()
    return report_freshness(campaign, report)


def get_quality_page(*, access: Access, campaign: Campaign, rates: Rates) -> QualityPage:
    """The report from the stored figures; for leads and admins."""
    check_may_watch(access, campaign)
    report = QualityReport.objects.filter(campaign=campaign).first()
    figures = figures_of(report)
    scale = Scale.from_json(campaign.list.scale)
    grades = tuple(show_grade(scale, code) for code in scale.codes)
    freshness = report_freshness(campaign, report)
    if not figures.get("labels"):
        return QualityPage(campaign, freshness, {}, None, (), grades, None)
    people = list_people(campaign, figures, grades)
    situation = situation_of(campaign, figures, people, grades)
    return QualityPage(
        campaign=campaign,
        freshness=freshness,
        figures=figures,
        verdict=verdict(figures, situation),
        people=people,
        grades=grades,
        cost=cost(figures, situation.labels_left, rates.or_price(campaign.label_price)),
        events=tuple(list_marked(campaign)),
    )


def figures_of(report: QualityReport | None) -> Figures:
    """The stored figures; empty where there are none, or only such as no one computes any more."""
    return report.figures if report and report.revision == REVISION else {}


def report_freshness(campaign: Campaign, report: QualityReport | None) -> Freshness:
    """How current a campaign's stored figures are."""
    return freshness_of(report, is_due=is_report_due(campaign, report), steps=STEPS)


def list_people(
    campaign: Campaign, figures: Figures, grades: tuple[GradeShown, ...]
) -> tuple[Person, ...]:
    """The annotators behind a campaign's figures, in their order, with what is said of them."""
    return tuple(_people(campaign, figures, grades))


def _people(
    campaign: Campaign, figures: Figures, grades: tuple[GradeShown, ...]
) -> Iterator[Person]:
    users = User.objects.in_bulk(figures["people"])
    labelling: set[int] = set()
    if campaign.state == Campaign.State.OPEN:
        active_qs = campaign.annotators.filter(is_active=True, user__is_active=True)
        labelling = set(active_qs.values_list("user_id", flat=True))
    names = tuple(grade.name for grade in grades)
    for position, (pk, row) in enumerate(
        zip(figures["people"], figures["annotators"], strict=True)
    ):
        yield Person(
            place=position,
            username=users[pk].username,
            name=str(users[pk]),
            said=tuple(describe(finding, names, row["drift_of"]) for finding in row["findings"]),
            noted=tuple(describe(finding, names, row["drift_of"]) for finding in row["notes"]),
            row=row,
            grades=grades,
            is_reachable=pk in labelling,
        )


def show_matrix(rows: list[list[int]], grades: tuple[GradeShown, ...]) -> Matrix:
    """A table of grade by grade, each count with how dark it is."""
    return tuple(
        (grade, tuple(_cells(position, counts, grades)))
        for position, (grade, counts) in enumerate(zip(grades, rows, strict=True))
    )


def show_days(days: Sequence[tuple[int, int]]) -> tuple[tuple[datetime, int], ...]:
    """Labels per day, from seconds of the epoch."""
    return tuple((datetime.fromtimestamp(day, UTC), count) for day, count in days)


def list_grade_rows(figures: Figures, grades: tuple[GradeShown, ...]) -> list[GradeRow]:
    """How well each grade is told from the others."""
    return [
        (grade, row, None if row["instead"] is None else grades[row["instead"]])
        for grade, row in zip(grades, figures["grades"], strict=True)
    ]


def _show_course(course: Figures) -> CourseShown:
    what, change = course["what"], course["change"]
    words = "" if change is None else describe_change(what, change)
    least, most = POSSIBLE.get(what, (-inf, inf))
    # three standard errors around a share near 1 end above it: no chart goes beyond what can be
    windows = [
        window | {"low": max(window["low"], least), "high": min(window["high"], most)}
        for window in course["windows"]
    ]
    return CourseShown(COURSES[what][0], windows, words, what == "gold")


def _cells(row: int, counts: list[int], grades: tuple[GradeShown, ...]) -> Iterator[Cell]:
    total = sum(counts)
    for column, count in enumerate(counts):
        shade = min(4, round(4 * count / total + 0.3)) if count else 0
        yield Cell(count, shade, grades[column].code, column - row)


def situation_of(
    campaign: Campaign, figures: Figures, people: tuple[Person, ...], grades: tuple[GradeShown, ...]
) -> Situation:
    """What a campaign is like beside its figures."""
    counted = get_or_count(campaign, "quality", _Counted, lambda: _count(campaign))
    return Situation(
        overlap=campaign.overlap,
        is_open=campaign.state == Campaign.State.OPEN,
        tied=counted.tied,
        graded=counted.graded,
        labels_left=counted.labels_left,
        names=tuple(person.name for person in people),
        usernames=tuple(person.username for person in people),
        reachable=tuple(person.is_reachable for person in people),
        grades=tuple(grade.name for grade in grades),
    )


@dataclass(frozen=True)
class _Counted:
    """What of a situation takes long to count."""

    tied: int
    graded: int
    labels_left: int


def _count(campaign: Campaign) -> _Counted:
    counts, graded = count_pairs(campaign), count_graded_disputes(campaign)
    return _Counted(counts.tied, graded, counts.labels_needed - counts.labels)
