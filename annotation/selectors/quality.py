"""A campaign's quality report as its leads see it: figures, verdict, and how current they are."""

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from annotation.models import Campaign, Label, Pair, QualityReport
from annotation.permissions import check_may_watch
from annotation.quality import REVISION, STEPS
from annotation.selectors.campaigns import count_pairs, list_extremes
from annotation.selectors.due import is_report_due
from annotation.verdicts import (
    COURSES,
    Situation,
    Verdict,
    describe,
    describe_change,
    verdict,
    worst_confusion,
)
from judgments.models import User
from judgments.permissions import Access
from judgments.scales import Scale
from judgments.selectors.freshness import Freshness, freshness_of
from judgments.selectors.lists import GradeShown, show_grade

Figures = dict[str, Any]
MOST_GROUPS: Final = 40  # queries on the page
HOUR: Final = 3600.0
NEUTRALISED: Final = ("=", "+", "-", "@", "\t", "\r")


Matrix = tuple[tuple[GradeShown, tuple[tuple[int, int], ...]], ...]


@dataclass(frozen=True)
class CourseShown:
    """How one thing about somebody went over time. change: in words; empty where it did not."""

    title: str
    windows: list[Figures]
    change: str


@dataclass(frozen=True)
class Person:
    """An annotator in the report. said: the findings in words. row: the figures.

    matrix, on_gold: the grade given, by what the others say and by gold; each count with how dark
    it is. on_gold: empty before the first check.
    """

    place: int
    username: str
    name: str
    said: tuple[str, ...]
    row: Figures
    matrix: Matrix
    on_gold: Matrix
    courses: tuple[CourseShown, ...]
    days: tuple[tuple[datetime, int], ...]
    confused: tuple[GradeShown, GradeShown] | None


@dataclass(frozen=True)
class Cost:
    """Time and money. hours: active ones so far; None where nothing was measured.

    left_hours: what is still to come at the same speed. extra_hours: one more label per pair.
    spent, left, extra: at the rate that was asked for; None without one.
    """

    hours: float | None
    left_hours: float | None
    extra_hours: float | None
    spent: float | None
    left: float | None
    extra: float | None
    labels_left: int


@dataclass(frozen=True)
class QualityPage:
    """A campaign's quality report. figures: empty before the first labels."""

    campaign: Campaign
    freshness: Freshness
    figures: Figures
    verdict: Verdict | None
    people: tuple[Person, ...]
    grades: tuple[GradeShown, ...]
    cost: Cost | None

    @property
    def pairs_of_people(self) -> list[tuple[str, str, Figures]]:
        names = [person.name for person in self.people]
        rows = [row for row in self.figures["pairs_of_people"] if row["units"]]
        rows.sort(key=lambda row: (row["value"] is None, row["value"] or 0.0))
        return [(names[row["one"]], names[row["other"]], row) for row in rows]

    @property
    def queries(self) -> list[Figures]:
        """Those with the lowest alpha; all are in the exports."""
        rows: list[Figures] = self.figures["queries"]
        return rows[:MOST_GROUPS]

    @property
    def more_queries(self) -> int:
        return max(0, len(self.figures["queries"]) - MOST_GROUPS)

    @property
    def grade_rows(self) -> list[tuple[GradeShown, Figures, GradeShown | None]]:
        return [
            (grade, row, None if row["instead"] is None else self.grades[row["instead"]])
            for grade, row in zip(self.grades, self.figures["grades"], strict=True)
        ]

    @property
    def segments(self) -> list[Figures]:
        """Nothing where there is only one: it says no more than the whole."""
        rows: list[Figures] = self.figures["segments"]
        return rows if len(rows) > 1 else []


def get_freshness(*, access: Access, campaign: Campaign) -> Freshness:
    """How current the stored figures are; for leads and admins."""
    check_may_watch(access, campaign)
    report = QualityReport.objects.defer("figures").filter(campaign=campaign).first()
    return _freshness(campaign, report)


def get_quality_page(
    *, access: Access, campaign: Campaign, hourly: float | None, per_label: float | None
) -> QualityPage:
    """The report from the stored figures; for leads and admins.

    hourly, per_label: what an hour or a label costs, where somebody wants to know.
    """
    check_may_watch(access, campaign)
    report = QualityReport.objects.filter(campaign=campaign).first()
    figures = figures_of(report)
    scale = Scale.from_json(campaign.list.scale)
    grades = tuple(show_grade(scale, code) for code in scale.codes)
    freshness = _freshness(campaign, report)
    if not figures.get("labels"):
        return QualityPage(campaign, freshness, {}, None, (), grades, None)
    people = list_people(figures, grades)
    situation = situation_of(campaign, figures, people, grades)
    return QualityPage(
        campaign=campaign,
        freshness=freshness,
        figures=figures,
        verdict=verdict(figures, situation),
        people=people,
        grades=grades,
        cost=_cost(figures, situation.labels_left, hourly, per_label),
    )


def figures_of(report: QualityReport | None) -> Figures:
    """The stored figures; empty where there are none, or only such as nobody computes any more."""
    return report.figures if report and report.revision == REVISION else {}


def report_values(page: QualityPage) -> Figures:
    """The report as plain values, for REST and for the export."""
    said = page.verdict
    freshness = page.freshness
    people = [
        person.row | {"username": person.username, "findings_in_words": list(person.said)}
        for person in page.people
    ]
    figures = {
        name: value for name, value in page.figures.items() if name not in ("people", "annotators")
    }
    return {
        "campaign": str(page.campaign.public_id),
        "name": page.campaign.name,
        "computed_at": freshness.computed_at,
        "is_current": not freshness.is_due,
        "labels_given": Label.objects.filter(pair__campaign=page.campaign).count(),
        "verdict": None if said is None else {"tone": said.tone, "text": said.text},
        "grounds": [] if said is None else list(said.grounds),
        "advice": [] if said is None else [asdict(advice) for advice in said.advice],
        "cost": None if page.cost is None else asdict(page.cost),
        "figures": figures,
        "annotators": people,
    }


def report_csv(page: QualityPage) -> str:
    """One line per figure: what it is of, its name, its value and interval."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["of", "name", "figure", "value", "low", "high", "pairs", "note"])
    for row in _csv_rows(page):
        writer.writerow([harmless(cell) for cell in row])
    return out.getvalue()


def _csv_rows(page: QualityPage) -> Iterator[list[Any]]:
    figures = page.figures
    if not figures:
        return
    overall = figures["overall"]
    for found in (
        *overall["alpha"].values(),
        *(overall[name] for name in overall if name != "alpha"),
    ):
        yield agreement_row("campaign", page.campaign.name, found)
    for of, rows in (
        ("query", figures["queries"]),
        ("segment", figures["segments"]),
        ("guideline revision", figures["revisions"]),
    ):
        for row in rows:
            yield agreement_row(of, row["name"], row)
    for one, other, row in page.pairs_of_people:
        yield agreement_row("pair of annotators", f"{one} and {other}", row)
    for person in page.people:
        for name in ("labels", "right", "bias", "median_seconds", "fast"):
            pairs, said = person.row["compared"], "; ".join(person.said)
            yield ["annotator", person.username, name, person.row[name], "", "", pairs, said]


def agreement_row(of: str, name: str, found: Figures) -> list[Any]:
    """A line of the export: a measure of agreement with its interval."""
    figure = f"{found['measure']} ({found['level']})"
    return [
        of, name, figure, found["value"], found["low"], found["high"], found["units"], found["why"]
    ]  # fmt: skip


def harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(cell, str) and cell.startswith(NEUTRALISED):
        return f"'{cell}"
    return "" if cell is None else cell


def _freshness(campaign: Campaign, report: QualityReport | None) -> Freshness:
    return freshness_of(report, is_due=is_report_due(campaign, report), steps=STEPS)


def list_people(figures: Figures, grades: tuple[GradeShown, ...]) -> tuple[Person, ...]:
    """The annotators behind a campaign's figures, in their order, with what is said of them."""
    return tuple(_people(figures, grades))


def _people(figures: Figures, grades: tuple[GradeShown, ...]) -> Iterator[Person]:
    users = User.objects.in_bulk(figures["people"])
    names = tuple(grade.name for grade in grades)
    for place, (pk, row) in enumerate(zip(figures["people"], figures["annotators"], strict=True)):
        confused = worst_confusion(row["confusion"])
        yield Person(
            place=place,
            username=users[pk].username,
            name=str(users[pk]),
            said=tuple(describe(finding, names, row["drift_of"]) for finding in row["findings"]),
            row=row,
            matrix=_matrix(row["confusion"], grades),
            on_gold=_matrix(row["gold"]["confusion"], grades) if row["gold"]["checked"] else (),
            courses=tuple(_show_course(course) for course in row["over_time"]),
            days=tuple((datetime.fromtimestamp(day, UTC), count) for day, count in row["days"]),
            confused=None if confused is None else (grades[confused[0]], grades[confused[1]]),
        )


def _matrix(rows: list[list[int]], grades: tuple[GradeShown, ...]) -> Matrix:
    return tuple(
        (grade, tuple(_shaded(counts))) for grade, counts in zip(grades, rows, strict=True)
    )


def _show_course(course: Figures) -> CourseShown:
    what, change = course["what"], course["change"]
    words = "" if change is None else describe_change(what, change)
    return CourseShown(COURSES[what][0], course["windows"], words)


def _shaded(counts: list[int]) -> Iterator[tuple[int, int]]:
    """Each count of a row with how dark it is, from 0 to 4."""
    total = sum(counts)
    for count in counts:
        yield count, min(4, round(4 * count / total + 0.3)) if count else 0


def situation_of(
    campaign: Campaign, figures: Figures, people: tuple[Person, ...], grades: tuple[GradeShown, ...]
) -> Situation:
    """What a campaign is like beside its figures."""
    counts = count_pairs(campaign)
    return Situation(
        overlap=campaign.overlap,
        is_open=campaign.state == Campaign.State.OPEN,
        tied=counts.tied,
        differing=sum(
            state != Pair.State.ADJUDICATED for _, state, _, _ in list_extremes(campaign)
        ),
        labels_left=counts.labels_needed - counts.labels,
        names=tuple(person.name for person in people),
        grades=tuple(grade.name for grade in grades),
    )


def _cost(
    figures: Figures, labels_left: int, hourly: float | None, per_label: float | None
) -> Cost:
    time = figures["time"]
    mean = time["mean_seconds"]

    def hours(labels: int) -> float | None:
        return None if mean is None else labels * mean / HOUR

    def money(labels: int) -> float | None:
        if per_label is not None:
            return labels * per_label
        spent = hours(labels)
        return None if hourly is None or spent is None else spent * hourly

    return Cost(
        hours=hours(figures["labels"]),
        left_hours=hours(labels_left),
        extra_hours=hours(figures["pairs"]),
        spent=money(figures["labels"]),
        left=money(labels_left),
        extra=money(figures["pairs"]),
        labels_left=labels_left,
    )
