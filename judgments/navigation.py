"""Which sections of a collection a role sees, as the tabs of the top bar.

A view puts `navigation` into its context; base.html draws it. URL names are plain strings, so
that the hub needs no import of the apps that own the pages.
"""

from dataclasses import dataclass

ANNOTATOR, RESEARCHER, LEAD, ADMIN = "annotator", "researcher", "lead", "admin"
_READERS = frozenset({RESEARCHER, LEAD, ADMIN})


@dataclass(frozen=True, kw_only=True)
class Section:
    """One tab: `key` is what a page names as its `current`; the URL takes the collection's slug."""

    key: str
    label: str
    url_name: str
    roles: frozenset[str]


SECTIONS = (
    Section(
        key="overview",
        label="Overview",
        url_name="judgments:collection",
        roles=_READERS | {ANNOTATOR},
    ),
    Section(
        key="campaigns",
        label="Campaigns",
        url_name="annotation:campaigns",
        roles=frozenset({ANNOTATOR, LEAD, ADMIN}),
    ),
    Section(key="lists", label="Lists", url_name="judgments:lists", roles=_READERS),
    Section(
        key="leaderboard", label="Leaderboard", url_name="evaluation:leaderboards", roles=_READERS
    ),
    Section(key="rankers", label="Rankers", url_name="evaluation:rankers", roles=_READERS),
    Section(key="queries", label="Queries", url_name="judgments:queries", roles=_READERS),
    Section(key="documents", label="Documents", url_name="judgments:documents", roles=_READERS),
    Section(
        key="members",
        label="Members",
        url_name="judgments:members",
        roles=frozenset({LEAD, ADMIN}),
    ),
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
    home_url_name: str = "judgments:collection"


def navigation(*, slug: str, name: str, role: str, current: str = "") -> Navigation:
    """The tabs that `role` (annotator, researcher, lead or admin) has in a collection.

    Raises ValueError where `current` is no section: a page that misspells its tab is a mistake.
    """
    if current and current not in {section.key for section in SECTIONS}:
        raise ValueError(f"{current!r} is no section of a collection")
    sections = tuple(section for section in SECTIONS if role in section.roles)
    return Navigation(slug=slug, name=name, current=current, sections=sections)
