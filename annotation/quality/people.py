"""The people of a quality report as a table: searched, filtered, sorted, a page at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from django.core.paginator import Page

from judgments.pages.paging import paginate

PER_PAGE: Final = 25
DEFAULT: Final = "-review"


class Listed(Protocol):
    """A person of a campaign's report or of a list's. row: the figures. said, noted: findings."""

    @property
    def place(self) -> int: ...
    @property
    def username(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def row(self) -> dict[str, Any]: ...
    @property
    def said(self) -> tuple[str, ...]: ...
    @property
    def noted(self) -> tuple[str, ...]: ...


P = TypeVar("P", bound=Listed)
Key = Callable[[Listed], Any]
# by what a column sorts; None comes last
KEYS: Final[Mapping[str, Key]] = {
    "name": lambda person: person.name.casefold(),
    "review": lambda person: (bool(person.said), person.row["labels"]),
    "labels": lambda person: person.row["labels"],
    "accuracy": lambda person: person.row["accuracy"]["value"],
    "alpha": lambda person: person.row["agreement"]["value"],
    "bias": lambda person: person.row["bias"],
    "seconds": lambda person: person.row["median_seconds"],
    "gold": lambda person: person.row["gold"]["checked"],
}


@dataclass(frozen=True)
class PeopleWish:
    """What a URL asks of the table. find: part of a name. show: "", "review" or "noted".

    sort: a key of KEYS, with - for descending. chosen: user names that are ticked.
    """

    find: str = ""
    show: str = ""
    sort: str = ""
    page: str = ""
    chosen: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PeopleTable(Generic[P]):
    """rows: of this page. sort: what they are sorted by. total, reviewed: of all people.

    chosen: who is ticked; elsewhere: those of them who are not among the rows.
    """

    rows: "Page[P]"
    sort: str
    total: int
    reviewed: int
    is_filtered: bool
    chosen: tuple[P, ...]
    elsewhere: tuple[P, ...]


def get_people_table(people: Sequence[P], wish: PeopleWish) -> PeopleTable[P]:
    """The wanted people; those who need review first, with the most labels first."""
    sort = wish.sort if wish.sort.removeprefix("-") in KEYS else DEFAULT
    shown = _sorted([person for person in people if _is_wanted(person, wish)], sort)
    rows = paginate(shown, page=wish.page, show=lambda rows: rows, per_page=PER_PAGE)
    chosen = tuple(person for person in people if person.username in wish.chosen)
    here = {person.place for person in rows}
    return PeopleTable(
        rows=rows,
        sort=sort,
        total=len(people),
        reviewed=sum(bool(person.said) for person in people),
        is_filtered=bool(wish.find or wish.show),
        chosen=chosen,
        elsewhere=tuple(person for person in chosen if person.place not in here),
    )


def _is_wanted(person: Listed, wish: PeopleWish) -> bool:
    words = wish.find.casefold()
    if words not in person.name.casefold() and words not in person.username.casefold():
        return False
    if wish.show == "review":
        return bool(person.said)
    return wish.show != "noted" or bool(person.noted)


def _sorted(people: list[P], sort: str) -> list[P]:
    key = KEYS[sort.removeprefix("-")]
    known = [person for person in people if key(person) is not None]
    known.sort(key=key, reverse=sort.startswith("-"))
    return known + [person for person in people if key(person) is None]
