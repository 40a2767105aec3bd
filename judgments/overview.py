"""What a collection still needs, as steps that each app adds to the overview page.

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


# Takes the viewer's Access; returns the steps that concern the viewer.
Provider = Callable[[Any], Iterable[Step]]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Let `provider` add steps to the overview; the same again changes nothing."""
    if provider not in _providers:
        _providers.append(provider)


def list_steps(access: Any) -> list[Step]:
    """Every provider's steps for the viewer, in order."""
    steps = [step for provider in _providers for step in provider(access)]
    return sorted(steps, key=lambda step: (step.order, step.title))
