"""Which sections of a collection a viewer sees, as the tabs of the top bar.

A view puts `navigation` into its context; base.html draws it. URL names are plain strings, so
that the hub needs no import of the apps that own the pages; a tab whose page does not exist is
not drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from judgments.permissions import (
    Access,
    may_manage_members,
    may_see_content,
    may_see_people,
    may_see_rankings,
)


@dataclass(frozen=True, kw_only=True)
class Section:
    """One tab: `key` is what a page names as its section; the URL takes the collection's slug.

    label: in English; the page puts it into its language.
    """

    key: str
    label: str
    url_name: str
    is_open_to: Callable[[Access], bool]


def _everybody(access: Access) -> bool:
    return True


def _section(key: str, label: str, url_name: str, is_open_to: Callable[[Access], bool]) -> Section:
    return Section(key=key, label=label, url_name=url_name, is_open_to=is_open_to)


SECTIONS = (
    _section("overview", gettext_noop("Overview"), "collection", _everybody),
    _section("campaigns", gettext_noop("Campaigns"), "campaigns", _everybody),
    _section("lists", gettext_noop("Lists"), "lists", may_see_rankings),
    _section("leaderboard", gettext_noop("Leaderboard"), "leaderboards", may_see_rankings),
    _section("rankers", gettext_noop("Rankers"), "rankers", may_see_rankings),
    _section("queries", gettext_noop("Queries"), "queries", may_see_content),
    _section("documents", gettext_noop("Documents"), "documents", may_see_content),
    _section("members", gettext_noop("Members"), "members", may_manage_members),
    _section("audit", gettext_noop("Audit log"), "audit", may_see_people),
)


@dataclass(frozen=True, kw_only=True)
class Navigation:
    """What the top bar shows of the collection that a page belongs to.

    slug, name: the collection's.
    current: the `key` of the section that the page belongs to, "" where none does.
    sections: the tabs, in order.
    """

    slug: str
    name: str
    current: str
    sections: tuple[Section, ...]
    home_url_name: str = "collection"


def navigation(access: Access, *, section: str = "") -> Navigation:
    """The tabs that the viewer has in the collection.

    Raises ValueError where `section` is none: a page that misspells its tab is a mistake.
    """
    if section and section not in {known.key for known in SECTIONS}:
        raise ValueError(f"{section!r} is no section of a collection")
    return Navigation(
        slug=access.collection.slug,
        name=access.collection.name,
        current=section,
        sections=tuple(known for known in SECTIONS if known.is_open_to(access)),
    )
