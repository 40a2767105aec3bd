"""Machine judges' labels on a list's pairs, as the app knows them in which machines label.

The hub knows no labels; the app that does registers a provider in `ready()`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from judgments.pages.answers import ON_PAGES

Pair = tuple[int, int]  # pks of a query and a document


@dataclass(frozen=True)
class MachineSource:
    """A machine judge's newest revision that has labels on a list.

    key: names the revision, forever: JUDGE.REVISION.

    On pages, state: another one whenever the revision's labels on the list's pairs are.
    is_labelling: the judge is at work on the list, so that there are more labels all the time.
    """

    key: str
    judge: str
    revision: int
    state: str = field(metadata=ON_PAGES)
    is_labelling: bool = field(default=False, metadata=ON_PAGES)

    @property
    def name(self) -> str:
        """What pages call it."""
        return f"{self.judge}, revision {self.revision}"


class Provider(Protocol):
    """An app in which machines label."""

    def list_sources(self, list_id: int) -> Sequence[MachineSource]:
        """Those of a list, one of each judge, in the order in which the judges were made."""

    def get_grades(self, list_id: int, key: str) -> Mapping[Pair, int]:
        """The newest grade of each pair of the list's campaigns by a revision."""


_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Let a provider say what machines labelled; the same again changes nothing."""
    if provider not in _providers:
        _providers.append(provider)


def judge_of(key: str) -> int:
    """The machine judge (pk) of a source's key."""
    return int(key.partition(".")[0])


def list_sources(list_id: int) -> list[MachineSource]:
    """The machine judges that have labels on a list."""
    return [source for provider in _providers for source in provider.list_sources(list_id)]


def get_machine_grades(list_id: int, key: str) -> dict[Pair, int]:
    """The grades of a source; of none where there is no such source."""
    result: dict[Pair, int] = {}
    for provider in _providers:
        result.update(provider.get_grades(list_id, key))
    return result
