"""The quality reports of a campaign and of a list as plain values and as CSV, with one wording."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from annotation.models import Label
from annotation.quality.assessment import Verdict
from annotation.quality.costs import Cost
from annotation.quality.list_reports import ListPerson, ListQualityPage
from annotation.quality.queries import GradeRow, Person, QualityPage

Figures = dict[str, Any]
Line = list[Any]
COLUMNS: Final = ("of", "name", "figure", "value", "low", "high", "pairs", "note")
NEUTRALISED: Final = ("=", "+", "-", "@", "\t", "\r")
# these are written by name instead
WITH_PEOPLE: Final = {"people", "annotators", "together", "harm"}


def report_values(page: QualityPage) -> Figures:
    """A campaign's report as plain values, for REST and for the export."""
    freshness = page.freshness
    return {
        "campaign": str(page.campaign.public_id),
        "name": page.campaign.name,
        "computed_at": freshness.computed_at,
        "is_current": not freshness.is_due,
        "labels_given": Label.objects.filter(pair__campaign=page.campaign).count(),
        **_said(page.verdict),
        "cost": _cost_values(page.cost),
        "figures": _without_people(page.figures),
        "annotators": [_person_values(person) for person in page.people],
    }


def list_report_values(page: ListQualityPage) -> Figures:
    """A list's report as plain values, for REST and for the export."""
    said = _said(page.verdict)
    del said["advice"]  # what to do is done in a campaign
    return {
        "list": page.judgment_list.slug,
        "is_current": not page.due,
        **said,
        "campaigns": [
            {
                "campaign": str(part.campaign.public_id),
                "name": part.campaign.name,
                "labels": part.labels,
                "pairs": part.pairs,
                "alpha": part.alpha,
                "cost": _cost_values(part.cost),
                "verdict": None if part.verdict is None else part.verdict.text,
                "advice": _said(part.verdict)["advice"],
            }
            for part in page.campaigns
        ],
        "cost": _cost_values(page.cost),
        "figures": _without_people(_with_campaigns(page)),
        "annotators": [_list_person_values(person) for person in page.people],
    }


def report_csv(page: QualityPage) -> str:
    """One line per figure: what it is of, its name, its value and interval."""
    return _csv(_campaign_lines(page) if page.figures else ())


def list_report_csv(page: ListQualityPage) -> str:
    """One line per figure, in the columns of a campaign's report."""
    return _csv(_list_lines(page) if page.figures else ())


def _campaign_lines(page: QualityPage) -> Iterator[Line]:
    figures, name = page.figures, page.campaign.name
    yield from _overall_lines("campaign", name, figures)
    for of, rows in (
        ("query", figures["queries"]),
        ("segment", figures["segments"]),
        ("guideline revision", figures["revisions"]),
    ):
        yield from (_agreement_line(of, row["name"], row) for row in rows)
    yield from _grade_lines(page.grade_rows)
    yield from (_window_line("window", row) for row in figures["windows"])
    for one, other, row in page.pairs_of_people:
        yield _agreement_line("pair of annotators", f"{one.name} and {other.name}", row)
    for person in page.people:
        yield from _person_lines(person.username, person.row, person.said)
    yield from _cost_lines("campaign", name, page.cost)


def _list_lines(page: ListQualityPage) -> Iterator[Line]:
    figures, name = page.figures, page.judgment_list.name
    yield from _overall_lines("list", name, figures)
    yield from (_agreement_line("segment", row["name"], row) for row in figures["segments"])
    yield from _grade_lines(page.grade_rows)
    for part in page.campaigns:
        if part.alpha is not None:
            yield _agreement_line("campaign", part.campaign.name, part.alpha)
    yield from (_window_line(f"window of {of.name}", row) for of, row in page.windows)
    for person in page.people:
        said = [f"{part.campaign.name}: {words}" for part in person.parts
                for words in part.person.said]  # fmt: skip
        yield from _person_lines(person.username, person.row, said)
    for part in page.campaigns:
        yield from _cost_lines("campaign", part.campaign.name, part.cost)
    yield from _cost_lines("list", name, page.cost)


def _overall_lines(of: str, name: str, figures: Figures) -> Iterator[Line]:
    overall = figures["overall"]
    yield from (_agreement_line(of, name, result) for result in overall["alpha"].values())
    others = [overall[measure] for measure in overall if measure != "alpha"]
    yield from (_agreement_line(of, name, result) for result in others)
    yield [of, name, "model confidence", figures["model"]["confidence"], "", "", "", ""]
    for what, result in figures["accuracy"].items():
        if result and result["pairs"]:
            figure = f"accuracy of grades ({what})"
            values = [result["value"], result["low"], result["high"], result["pairs"]]
            yield [of, name, figure, *values, result.get("source", "")]


def _agreement_line(of: str, name: str, found: Figures) -> Line:
    figure = f"{found['measure']} ({found['level']})"
    value = [found["value"], found["low"], found["high"], found["units"], found["why"]]
    return [of, name, figure, *value]


def _grade_lines(rows: Iterable[GradeRow]) -> Iterator[Line]:
    return (_agreement_line("grade", grade.name or str(grade.code), row) for grade, row, _ in rows)


def _window_line(of: str, row: Figures) -> Line:
    return _agreement_line(of, datetime.fromtimestamp(row["begins"], UTC).isoformat(), row)


def _person_lines(username: str, row: Figures, said: Iterable[str]) -> Iterator[Line]:
    note = "; ".join(said)
    yield [*_agreement_line("annotator", username, row["agreement"])[:-1], note]
    accuracy = row["accuracy"]
    known = [accuracy["value"], accuracy["low"], accuracy["high"]]
    yield ["annotator", username, "estimated accuracy", *known, accuracy["checked"], note]
    for name in ("labels", "right", "bias", "median_seconds", "fast"):
        yield ["annotator", username, name, row[name], "", "", row["compared"], note]
    for name, part, hits, of in (
        ("right on gold", row["gold"], "right", "checked"),
        ("self-agreement (repeats)", row["repeats"], "same", "pairs"),
    ):
        if part[of]:
            low, high = part["interval"]
            yield ["annotator", username, name, part[hits] / part[of], low, high, part[of], note]


def _cost_lines(of: str, name: str, cost: Cost | None) -> Iterator[Line]:
    for figure, value in (asdict(cost) if cost else {}).items():
        yield [of, name, f"cost: {figure}", value, "", "", "", ""]


def _csv(lines: Iterable[Line]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for line in lines:
        writer.writerow([_harmless(cell) for cell in line])
    return out.getvalue()


def _harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(cell, str) and cell.startswith(NEUTRALISED):
        return f"'{cell}"
    return "" if cell is None else cell


def _said(verdict: Verdict | None) -> Figures:
    if verdict is None:
        return {"verdict": None, "grounds": [], "advice": []}
    return {
        "verdict": {"tone": verdict.tone, "text": verdict.text},
        "grounds": list(verdict.grounds),
        "advice": [asdict(advice) for advice in verdict.advice],
    }


def _cost_values(cost: Cost | None) -> Figures | None:
    return None if cost is None else asdict(cost)


def _person_values(person: Person) -> Figures:
    said = {
        "username": person.username,
        "findings_in_words": list(person.said),
        "notes_in_words": list(person.noted),
    }
    return _without_sets(person.row) | said


def _list_person_values(person: ListPerson) -> Figures:
    row = {name: value for name, value in person.row.items() if name not in ("person", "places")}
    campaigns = [
        {"campaign": str(part.campaign.public_id)} | _person_values(part.person)
        for part in person.parts
    ]
    return row | {"username": person.username, "campaigns": campaigns}


def _without_sets(row: Figures) -> Figures:
    agreement = {name: value for name, value in row["agreement"].items() if name != "sets"}
    return row | {"agreement": agreement}


def _without_people(figures: Figures) -> Figures:
    return {name: value for name, value in figures.items() if name not in WITH_PEOPLE}


def _with_campaigns(page: ListQualityPage) -> Figures:
    """The list's figures; windows and drifts name their campaigns instead of their places."""
    if not page.figures:
        return {}
    ids = [str(part.campaign.public_id) for part in page.told]

    def named(row: Figures) -> Figures:
        rest = {name: value for name, value in row.items() if name not in ("part", "where")}
        return rest | {"campaign": ids[row["part"]]}

    figures = {name: value for name, value in page.figures.items() if name != "drift"}
    return figures | {name: [named(row) for row in figures[name]] for name in ("windows", "drifts")}
