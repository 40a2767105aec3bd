"""How many judgments of a list are on documents that have changed since, as another app knows it.

The hub knows no labels; the app that does registers a count in `ready()`.
"""

from collections.abc import Callable

from judgments.models import JudgmentList

Count = Callable[[JudgmentList], int]

_counts: list[Count] = []


def register(count: Count) -> None:
    """Let an app count; the same again changes nothing."""
    if count not in _counts:
        _counts.append(count)


def count_changed(judgment_list: JudgmentList) -> int:
    """How many there are."""
    return sum(count(judgment_list) for count in _counts)
