"""A list's quality report, over all its campaigns, as its leads see it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from annotation.models import Campaign, QualityReport
from annotation.quality.assessment import Advice, Situation, Verdict, verdict
from annotation.quality.costs import Cost, Rates, cost, total
from annotation.quality.events import list_marked
from annotation.quality.figures import LEVEL, Event
from annotation.quality.list_figures import list_figures
from annotation.quality.queries import (
    MOST_DETAILED,
    GradeRow,
    Person,
    PersonFigures,
    figures_of,
    list_grade_rows,
    list_people,
    report_freshness,
    situation_of,
)
from judgments.lists.label_quality import ListVerdict
from judgments.lists.queries import GradeShown, get_list, show_grade
from judgments.models import JudgmentList
from judgments.permissions import Access, check_may_see_people
from judgments.reports.freshness import Freshness
from touchstone.scales import Scale

Figures = dict[str, Any]
MOST_ADVICE: Final = 3  # of a campaign; the rest is in its own report


@dataclass(frozen=True)
class CampaignPart:
    """A campaign of the list. figures: empty before the first; verdict, cost: None then.

    freshness: how current its figures are. alpha: on the ordinal level. events: what charts mark.
    """

    campaign: Campaign
    freshness: Freshness
    figures: Figures
    people: tuple[Person, ...] = ()
    verdict: Verdict | None = None
    cost: Cost | None = None
    events: tuple[Event, ...] = ()

    @property
    def labels(self) -> int:
        return int(self.figures["labels"]) if self.figures else 0

    @property
    def pairs(self) -> int:
        return int(self.figures["pairs"]) if self.figures else 0

    @property
    def alpha(self) -> Figures | None:
        return self.figures["overall"]["alpha"][LEVEL] if self.figures else None


class PersonPart(NamedTuple):
    """What a campaign's report says of someone. events: of the campaign, that charts mark."""

    campaign: Campaign
    person: Person
    events: tuple[Event, ...]


@dataclass(frozen=True)
class ListPerson(PersonFigures):
    """An annotator of any of the list's campaigns. row: the figures of all of them together.

    grades: of the scale, worst first.
    """

    place: int
    username: str
    name: str
    row: Figures
    grades: tuple[GradeShown, ...]
    parts: tuple[PersonPart, ...]

    @property
    def is_named(self) -> bool:
        """Whether any campaign's report says something about them."""
        return bool(self.said)

    @property
    def said(self) -> tuple[str, ...]:
        """The findings of all campaigns, in words that follow the name."""
        return tuple(said for part in self.parts for said in part.person.said)

    @property
    def noted(self) -> tuple[str, ...]:
        return tuple(noted for part in self.parts for noted in part.person.noted)


@dataclass(frozen=True)
class ListQualityPage:
    """A list's quality report. figures: empty before the first labels of any campaign.

    people: with the most labels beside others' first. cost: of all campaigns; None without any.
    """

    judgment_list: JudgmentList
    campaigns: tuple[CampaignPart, ...]
    figures: Figures
    verdict: Verdict | None
    grades: tuple[GradeShown, ...]
    people: tuple[ListPerson, ...] = ()
    cost: Cost | None = None

    @property
    def shows_details(self) -> bool:
        """Whether everyone's figures are on the page; more people are a table."""
        return len(self.people) <= MOST_DETAILED

    @property
    def due(self) -> list[CampaignPart]:
        return [part for part in self.campaigns if part.freshness.is_due]

    @property
    def told(self) -> list[CampaignPart]:
        """The campaigns that have figures, in the order of the list's windows and drifts."""
        return [part for part in self.campaigns if part.figures]

    @property
    def advised(self) -> list[tuple[CampaignPart, tuple[Advice, ...], int]]:
        """Campaigns with what to do next about them, and how much more their reports say."""
        return [
            (part, part.verdict.advice[:MOST_ADVICE], len(part.verdict.advice) - MOST_ADVICE)
            for part in self.told
            if part.verdict and part.verdict.advice
        ]

    @property
    def segments(self) -> list[Figures]:
        """Nothing where there is only one: it says no more than the whole."""
        rows: list[Figures] = self.figures["segments"]
        return rows if len(rows) > 1 else []

    @property
    def grade_rows(self) -> list[GradeRow]:
        return list_grade_rows(self.figures, self.grades)

    @property
    def courses(self) -> list[tuple[Campaign, list[Figures], Figures | None, tuple[Event, ...]]]:
        """Alpha of each campaign over time, where people began to differ more or less, and what
        happened."""
        return [
            (part.campaign, part.figures["windows"], part.figures["drift"], part.events)
            for part in self.told
            if len(part.figures["windows"]) > 1
        ]

    @property
    def windows(self) -> list[tuple[Campaign, Figures]]:
        told = self.told
        return [(told[row["part"]].campaign, row) for row in self.figures["windows"]]


def get_list_quality_page(*, access: Access, slug: str, rates: Rates) -> ListQualityPage:
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
    situations: list[Situation] = []
    for campaign in campaigns_qs.order_by("-pk"):
        report = reports.get(campaign.pk)
        figures = figures_of(report)
        part = CampaignPart(campaign, report_freshness(campaign, report), {})
        if figures.get("labels"):
            people = list_people(campaign, figures, grades)
            situation = situation_of(campaign, figures, people, grades)
            situations.append(situation)
            part = replace(
                part,
                figures=figures,
                people=people,
                verdict=verdict(figures, situation),
                cost=cost(figures, situation.labels_left, rates.or_price(campaign.label_price)),
                events=tuple(list_marked(campaign)),
            )
        parts.append(part)
    told = [part for part in parts if part.figures]
    if not told:
        return ListQualityPage(judgment_list, tuple(parts), {}, None, grades)
    result = list_figures(
        [part.figures for part in told],
        [part.campaign.name for part in told],
        [grade.value for grade in scale.grades],
    )
    return ListQualityPage(
        judgment_list=judgment_list,
        campaigns=tuple(parts),
        figures=result,
        verdict=verdict(result, _together(told, situations)),
        grades=grades,
        people=_list_people(result["together"], told, grades),
        cost=total([part.cost for part in told if part.cost]),
    )


def get_list_verdict(access: Access, slug: str) -> ListVerdict | None:
    """The report's verdict on a list; None before the first figures of any campaign."""
    page = get_list_quality_page(access=access, slug=slug, rates=Rates())
    return ListVerdict(page.verdict.tone, page.verdict.text) if page.verdict else None


def _list_people(
    rows: Sequence[Figures], told: Sequence[CampaignPart], grades: tuple[GradeShown, ...]
) -> tuple[ListPerson, ...]:
    people: list[ListPerson] = []
    for row in sorted(rows, key=lambda row: (-row["compared"], row["person"])):
        parts = tuple(
            PersonPart(told[at].campaign, told[at].people[place], told[at].events)
            for at, place in row["places"]
        )
        one = ListPerson(
            place=len(people),
            username=parts[0].person.username,
            name=parts[0].person.name,
            row=row,
            grades=grades,
            parts=parts,
        )
        people.append(one)
    return tuple(people)


def _together(told: Sequence[CampaignPart], situations: Sequence[Situation]) -> Situation:
    """Where there are several campaigns, people are named with the one that it is about."""
    names = [
        f"{name} (in “{part.campaign.name}”)" if len(told) > 1 else name
        for part, one in zip(told, situations, strict=True)
        for name in one.names
    ]
    return Situation(
        overlap=max(one.overlap for one in situations),
        is_open=any(one.is_open for one in situations),
        tied=sum(one.tied for one in situations),
        graded=sum(one.graded for one in situations),
        labels_left=sum(one.labels_left for one in situations),
        names=tuple(names),
        usernames=tuple(name for one in situations for name in one.usernames),
        reachable=tuple(is_told for one in situations for is_told in one.reachable),
        grades=situations[0].grades,
    )
