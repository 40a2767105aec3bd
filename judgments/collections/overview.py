"""A collection's first page: what is here, and what to do next."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse

from judgments.collections.overview_parts import Standing, Step, list_standings, list_steps
from judgments.models import Document, JudgmentList, Membership, Query, Role
from judgments.permissions import (
    Access,
    may_lead,
    may_manage_members,
    may_see_content,
    may_see_rankings,
)


@dataclass(frozen=True)
class Fact:
    """A number with its name and where it leads."""

    label: str
    value: int
    url: str


@dataclass(frozen=True)
class OverviewPage:
    name: str
    description: str
    facts: list[Fact]
    standings: list[Standing]
    steps: list[Step]

    @property
    def open_steps(self) -> list[Step]:
        """The steps still to do, in order."""
        return [step for step in self.steps if not step.is_done]

    @property
    def done_steps(self) -> list[Step]:
        """The steps that are done, in order."""
        return [step for step in self.steps if step.is_done]

    @property
    def next_step(self) -> Step | None:
        """The first thing that this viewer can do and no one has done."""
        return next((step for step in self.steps if not step.is_done and step.url), None)


def get_overview_page(*, access: Access) -> OverviewPage:
    """What the viewer finds here; an annotator gets no numbers of what is not theirs."""
    collection = access.collection
    return OverviewPage(
        name=collection.name,
        description=collection.description,
        facts=list(_facts(access)),
        standings=list_standings(access),
        steps=list_steps(access),
    )


def _facts(access: Access) -> Iterator[Fact]:
    if not may_see_content(access):
        return
    collection = access.collection
    for label, model, url_name in (
        ("Queries", Query, "queries"),
        ("Documents", Document, "documents"),
    ):
        count = model._default_manager.filter(collection=collection).count()
        yield Fact(label, count, reverse(url_name, args=[collection.slug]))
    if may_see_rankings(access):
        count = JudgmentList.objects.filter(collection=collection).count()
        yield Fact("Judgment lists", count, reverse("lists", args=[collection.slug]))
    if may_manage_members(access):
        count = Membership.objects.filter(collection=collection).count()
        yield Fact("Members", count, reverse("members", args=[collection.slug]))


def list_own_steps(access: Access) -> Iterator[Step]:
    """The hub's own steps: queries, documents, people, a list."""
    if not may_see_content(access):
        return
    collection = access.collection
    slug = collection.slug
    leads = may_lead(access)
    members = Membership.objects.filter(collection=collection)
    yield Step(
        order=10,
        title="Upload queries",
        text="One query per line, with an id.",
        is_done=Query.objects.filter(collection=collection).exists(),
        url=reverse("queries-upload", args=[slug]) if leads else "",
    )
    yield Step(
        order=20,
        title="Upload documents",
        text="One document per line, with an id and the text annotators read.",
        is_done=Document.objects.filter(collection=collection).exists(),
        url=reverse("documents-upload", args=[slug]) if leads else "",
    )
    yield Step(
        order=30,
        title="Create a judgment list",
        text="Relevance grades of query-document pairs, versioned.",
        is_done=JudgmentList.objects.filter(collection=collection).exists(),
        url=reverse("list-create", args=[slug]) if leads else "",
    )
    yield Step(
        order=40,
        title="Invite people",
        text="Annotators label; researchers upload runs.",
        is_done=members.exclude(role=Role.LEAD).exists(),
        url=reverse("members", args=[slug]) if leads else "",
    )
