"""Guidelines as their own pages show them; for leads and admins."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Max

from annotation.models import (
    Campaign,
    Guideline,
    GuidelineRevision,
    Label,
)
from judgments.models import JudgmentList
from judgments.permissions import (
    Access,
    NotFound,
    check_may_see_people,
)
from touchstone.scales import Scale


@dataclass(frozen=True)
class GuidelineRow:
    """A guideline in the list of a collection's guidelines. campaigns: how many follow it."""

    guideline_id: int
    name: str
    revision: int
    revised_at: datetime
    campaigns: int


@dataclass(frozen=True)
class RevisionRow:
    """A revision in the list of a guideline's. labels: how many were made under it."""

    number: int
    created_at: datetime
    who: str
    labels: int


@dataclass(frozen=True)
class CampaignLink:
    """A campaign that follows a guideline."""

    campaign_id: UUID
    name: str
    state: str


@dataclass(frozen=True)
class GuidelinePage:
    """One revision of a guideline. grades: worst first, as stored. newest: its last revision."""

    guideline_id: int
    name: str
    number: int
    newest: int
    text: str
    grades: tuple[Mapping[str, Any], ...]
    created_at: datetime
    who: str
    revisions: tuple[RevisionRow, ...]
    campaigns: tuple[CampaignLink, ...]


def list_guideline_rows(*, access: Access) -> list[GuidelineRow]:
    """The collection's guidelines by name."""
    check_may_see_people(access)
    guidelines_qs = Guideline.objects.filter(collection=access.collection).annotate(
        newest=Max("revisions__number"),
        revised_at=Max("revisions__created_at"),
        campaign_count=Count("campaigns", distinct=True),
    )
    return [
        GuidelineRow(row.pk, row.name, row.newest, row.revised_at, row.campaign_count)
        for row in guidelines_qs.order_by("name", "pk")
    ]


def get_guideline_page(
    *, access: Access, guideline_id: int, number: int | None = None
) -> GuidelinePage:
    """A guideline with one of its revisions, the newest unless a number is given."""
    guideline = get_guideline(access=access, guideline_id=guideline_id)
    revisions_qs = guideline.revisions.select_related("created_by").order_by("-number")
    revisions = list(revisions_qs.defer("text", "grades"))
    wanted = revisions[0].number if number is None else number
    shown = revisions_qs.filter(number=wanted).first()
    if shown is None:
        raise NotFound("revision")
    return GuidelinePage(
        guideline_id=guideline.pk,
        name=guideline.name,
        number=shown.number,
        newest=revisions[0].number,
        text=shown.text,
        grades=tuple(shown.grades),
        created_at=shown.created_at,
        who=_name(shown),
        revisions=tuple(_list_revision_rows(revisions)),
        campaigns=tuple(_list_campaign_links(guideline)),
    )


def list_lists(*, access: Access) -> list[JudgmentList]:
    """The collection's lists, the oldest first: what campaigns and guidelines are made for."""
    check_may_see_people(access)
    return list(JudgmentList.objects.filter(collection=access.collection).order_by("pk"))


def get_list_of(*, access: Access, guideline: Guideline) -> JudgmentList:
    """A list with the scale that a guideline is for, one that uses it if there is any."""
    lists = list_lists(access=access)
    used = set(guideline.campaigns.order_by().values_list("list", flat=True))
    lists.sort(key=lambda one: one.pk not in used)
    codes = [grade["code"] for grade in guideline.revisions.latest("number").grades]
    for one in lists:
        if list(Scale.from_json(one.scale).codes) == codes:
            return one
    raise NotFound("list")


def _list_revision_rows(revisions: list[GuidelineRevision]) -> list[RevisionRow]:
    labels_qs = Label.objects.filter(guideline_revision__in=revisions).order_by()
    counts = dict(labels_qs.values_list("guideline_revision").annotate(count=Count("pk")))
    return [
        RevisionRow(one.number, one.created_at, _name(one), counts.get(one.pk, 0))
        for one in revisions
    ]


def _list_campaign_links(guideline: Guideline) -> list[CampaignLink]:
    campaigns_qs = Campaign.objects.filter(guideline=guideline).order_by("-pk")
    return [CampaignLink(one.public_id, one.name, one.state) for one in campaigns_qs]


def _name(revision: GuidelineRevision) -> str:
    return str(revision.created_by) if revision.created_by else ""


def get_guideline(*, access: Access, guideline_id: int) -> Guideline:
    """A guideline of the collection; for leads and admins. Annotators: see shown.py."""
    check_may_see_people(access)
    guideline = Guideline.objects.filter(collection=access.collection, pk=guideline_id).first()
    if guideline is None:
        raise NotFound("guideline")
    return guideline


def list_guidelines(*, access: Access) -> list[Guideline]:
    """The collection's guidelines by name; for leads and admins."""
    check_may_see_people(access)
    return list(Guideline.objects.filter(collection=access.collection).order_by("name"))
