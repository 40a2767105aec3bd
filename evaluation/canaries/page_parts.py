"""What other apps add to the page of a ranker's canaries; they register it in `ready()`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class PagePart:
    """A template, and what it shows."""

    template: str
    shown: Mapping[str, Any]


# of the collection's and the ranker's short names; None where nothing is to be shown
Make = Callable[[str, str], PagePart | None]
_makes: Final[list[Make]] = []


def register(make: Make) -> None:
    """Ask `make` for a part of every such page."""
    _makes.append(make)


def list_parts(collection: str, ranker: str) -> list[PagePart]:
    """The parts of one page, in the order in which they were registered."""
    result = (make(collection, ranker) for make in _makes)
    return [part for part in result if part is not None]
