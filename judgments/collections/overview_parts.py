"""How a collection stands and what it still needs, as each app knows it, for the overview page.

The hub knows queries, documents, lists and people; runs and campaigns are other apps', which
register what they know in `ready()`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Step:
    """One line of the checklist.

    order: where it stands; the hub's own are 10 (queries), 20 (documents), 30 (people), 40 (list).
    title: what to do, "Upload queries". text: what is there, or why to do it, in a sentence.
    url: where it is done, "" where this viewer can't do it.
    """

    order: int
    title: str
    text: str
    is_done: bool
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A figure as it is printed, of what it is, and where that leads."""

    text: str
    figure: str
    url: str


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How one thing of the collection stands, at a glance.

    order: where it stands among the others; kind: what it is, in a word. title, url: its name and
    its page. done, total: a bar, none with a total of 0. verdict: in a sentence, in a tone ("good",
    "warn", "bad", ""). note: what the lines or the bar count; why_url: what changed them last.
    """

    order: int
    kind: str
    title: str
    url: str
    note: str = ""
    why_url: str = ""
    lines: tuple[Line, ...] = ()
    done: int = 0
    total: int = 0
    verdict: str = ""
    verdict_url: str = ""
    tone: str = ""


# Each takes the viewer's Access; returns what concerns the viewer.
Provider = Callable[[Any], Iterable[Step]]
StandingProvider = Callable[[Any], Iterable[Standing]]

_providers: list[Provider] = []
_standing_providers: list[StandingProvider] = []


def register(provider: Provider, standings: StandingProvider | None = None) -> None:
    """Let providers add steps, and cards, to the overview; the same again changes nothing."""
    if provider not in _providers:
        _providers.append(provider)
    if standings is not None and standings not in _standing_providers:
        _standing_providers.append(standings)


def list_steps(access: Any) -> list[Step]:
    """Every provider's steps for the viewer, in order."""
    steps = [step for provider in _providers for step in provider(access)]
    return sorted(steps, key=lambda step: (step.order, step.title))


def list_standings(access: Any) -> list[Standing]:
    """Every provider's cards for the viewer, in order."""
    cards = [card for provider in _standing_providers for card in provider(access)]
    return sorted(cards, key=lambda card: card.order)
