"""Guidelines as their own pages show them; for leads and admins."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

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
class GuidelinePage:
    """One revision of a guideline.

    revisions: all of them, the newest first, without their texts; `labels`: made under each.
    """

    guideline: Guideline
    shown: GuidelineRevision
    revisions: tuple[Any, ...]
    campaigns: QuerySet[Campaign]

    @property
    def newest(self) -> int:
        """The number of its last revision."""
        return int(self.revisions[0].number)


def list_guideline_rows(*, access: Access) -> QuerySet[Any]:
    """The collection's guidelines by name, with their newest revision and how many follow them."""
    check_may_see_people(access)
    guidelines_qs = Guideline.objects.filter(collection=access.collection).annotate(
        newest=Max("revisions__number"),
        revised_at=Max("revisions__created_at"),
        campaign_count=Count("campaigns", distinct=True),
    )
    return guidelines_qs.order_by("name", "pk")


def get_guideline_page(
    *, access: Access, guideline_id: int, number: int | None = None
) -> GuidelinePage:
    """A guideline with one of its revisions, the newest unless a number is given."""
    guideline = get_guideline(access=access, guideline_id=guideline_id)
    revisions_qs = guideline.revisions.select_related("created_by").order_by("-number")
    own = Label.objects.filter(guideline_revision=OuterRef("pk")).order_by()
    counted = own.values("guideline_revision").annotate(labels=Count("pk")).values("labels")
    rows_qs = revisions_qs.annotate(labels=Coalesce(Subquery(counted), 0))
    revisions = tuple(rows_qs.defer("text", "grades"))
    wanted = revisions[0].number if number is None else number
    shown = revisions_qs.filter(number=wanted).first()
    if shown is None:
        raise NotFound("revision")
    return GuidelinePage(guideline, shown, revisions, guideline.campaigns.order_by("-pk"))


def list_lists(*, access: Access) -> list[JudgmentList]:
    """The collection's lists, the oldest first: what campaigns and guidelines are made for."""
    check_may_see_people(access)
    own_qs = JudgmentList.objects.filter(collection=access.collection, archived_at=None)
    return list(own_qs.order_by("pk"))


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
