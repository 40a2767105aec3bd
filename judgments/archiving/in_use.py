"""What work is under way in a list, as the app knows it in which people label."""

from collections.abc import Callable, Iterable

from judgments.models import JudgmentList

# Takes lists; the names of what is open in any of them.
FindOpen = Callable[[Iterable[JudgmentList]], list[str]]

_finders: list[FindOpen] = []


def register(finder: FindOpen) -> None:
    """Let an app say what is open in lists; the same again changes nothing."""
    if finder not in _finders:
        _finders.append(finder)


def find_open(lists: Iterable[JudgmentList]) -> list[str]:
    """The names of what is open in these lists, in order."""
    known = list(lists)
    return sorted(name for finder in _finders for name in finder(known))
