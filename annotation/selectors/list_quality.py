"""A list's quality report, over all its campaigns, as its leads see it."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotation.list_quality import list_figures
from annotation.models import Campaign, QualityReport
from annotation.quality import LEVEL, REVISION
from annotation.selectors.due import is_report_due
from annotation.selectors.quality import agreement_row, harmless, list_people, situation_of
from annotation.verdicts import Situation, Verdict, verdict
from judgments.models import JudgmentList
from judgments.permissions import Access, check_may_see_people
from judgments.scales import Scale
from judgments.selectors.lists import GradeShown, get_list, show_grade

Figures = dict[str, Any]


@dataclass(frozen=True)
class CampaignPart:
    """A campaign of the list. alpha: on the ordinal level; None without a figure.

    is_due: there are labels that its figures have not seen. verdict: None before the first.
    said: what stands out about people, in sentences.
    """

    campaign: Campaign
    is_due: bool
    labels: int
    pairs: int
    alpha: Figures | None
    verdict: Verdict | None
    said: tuple[str, ...]


@dataclass(frozen=True)
class ListQualityPage:
    """A list's quality report. figures: empty before the first labels of any campaign."""

    judgment_list: JudgmentList
    campaigns: tuple[CampaignPart, ...]
    figures: Figures
    verdict: Verdict | None
    grades: tuple[GradeShown, ...]

    @property
    def due(self) -> list[CampaignPart]:
        return [part for part in self.campaigns if part.is_due]

    @property
    def segments(self) -> list[Figures]:
        """Nothing where there is only one: it says no more than the whole."""
        rows: list[Figures] = self.figures["segments"]
        return rows if len(rows) > 1 else []

    @property
    def grade_rows(self) -> list[tuple[GradeShown, Figures, GradeShown | None]]:
        return [
            (grade, row, None if row["instead"] is None else self.grades[row["instead"]])
            for grade, row in zip(self.grades, self.figures["grades"], strict=True)
        ]


def get_list_quality_page(*, access: Access, slug: str) -> ListQualityPage:
    """The report from the stored figures of the list's campaigns; for leads and admins."""
    check_may_see_people(access)
    judgment_list = get_list(access=access, slug=slug)
    scale = Scale.from_json(judgment_list.scale)
    grades = tuple(show_grade(scale, code) for code in scale.codes)
    campaigns_qs = judgment_list.campaigns.exclude(state=Campaign.State.DRAFT)
    campaigns_qs = campaigns_qs.select_related("list__collection", "guideline")
    reports = {
        report.campaign_id: report
        for report in QualityReport.objects.filter(campaign__list=judgment_list)
    }
    parts: list[CampaignPart] = []
    figures: list[Figures] = []
    situations: list[Situation] = []
    for campaign in campaigns_qs.order_by("-pk"):
        report = reports.get(campaign.pk)
        own = report.figures if report and report.revision == REVISION else {}
        is_due = is_report_due(campaign, report)
        if not own.get("labels"):
            parts.append(CampaignPart(campaign, is_due, 0, 0, None, None, ()))
            continue
        people = list_people(own, grades)
        situation = situation_of(campaign, own, people, grades)
        said = tuple(f"{person.name} {words}." for person in people for words in person.said)
        parts.append(
            CampaignPart(
                campaign=campaign,
                is_due=is_due,
                labels=own["labels"],
                pairs=own["pairs"],
                alpha=own["overall"]["alpha"][LEVEL],
                verdict=verdict(own, situation),
                said=said,
            )
        )
        figures.append(own)
        situations.append(situation)
    if not figures:
        return ListQualityPage(judgment_list, tuple(parts), {}, None, grades)
    found = list_figures(figures, [grade.value for grade in scale.grades])
    whole = verdict(found, _together(situations))
    return ListQualityPage(judgment_list, tuple(parts), found, whole, grades)


def list_report_values(page: ListQualityPage) -> Figures:
    """The report as plain values, for REST and for the export."""
    said = page.verdict
    return {
        "list": page.judgment_list.slug,
        "is_current": not page.due,
        "verdict": None if said is None else {"tone": said.tone, "text": said.text},
        "grounds": [] if said is None else list(said.grounds),
        "campaigns": [
            {
                "campaign": str(part.campaign.public_id),
                "name": part.campaign.name,
                "labels": part.labels,
                "pairs": part.pairs,
                "alpha": part.alpha,
                "verdict": None if part.verdict is None else part.verdict.text,
                "advice": [] if part.verdict is None else [asdict(a) for a in part.verdict.advice],
            }
            for part in page.campaigns
        ],
        "figures": {name: value for name, value in page.figures.items() if name != "annotators"},
    }


def list_report_csv(page: ListQualityPage) -> str:
    """One line per figure, in the columns of a campaign's report."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["of", "name", "figure", "value", "low", "high", "pairs", "note"])
    rows: list[list[Any]] = []
    if page.figures:
        overall, name = page.figures["overall"], page.judgment_list.name
        rows += [agreement_row("list", name, found) for found in overall["alpha"].values()]
        others = [overall[measure] for measure in overall if measure != "alpha"]
        rows += [agreement_row("list", name, found) for found in others]
        rows += [agreement_row("segment", row["name"], row) for row in page.figures["segments"]]
    for part in page.campaigns:
        if part.alpha is not None:
            rows.append(agreement_row("campaign", part.campaign.name, part.alpha))
    for row in rows:
        writer.writerow([harmless(cell) for cell in row])
    return out.getvalue()


def _together(situations: Sequence[Situation]) -> Situation:
    return Situation(
        overlap=max(one.overlap for one in situations),
        is_open=any(one.is_open for one in situations),
        tied=sum(one.tied for one in situations),
        differing=sum(one.differing for one in situations),
        labels_left=sum(one.labels_left for one in situations),
        names=tuple(name for one in situations for name in one.names),
        grades=situations[0].grades,
    )
