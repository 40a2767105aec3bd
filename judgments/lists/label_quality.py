"""Whether a list's labels are good enough, as the app knows it in which people label.

The hub releases lists and knows nothing of labels; the app that does registers what it knows in
`ready()`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ListVerdict:
    """tone: "good", "warn" or "bad". text: the verdict in a sentence."""

    tone: str
    text: str

    @property
    def is_bad(self) -> bool:
        """Whether the labels are not good enough to decide on."""
        return self.tone == "bad"


# Takes the viewer's Access and a list's slug; None where no one has labelled for the list.
Provider = Callable[[Any, str], ListVerdict | None]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Let a provider say what it knows of lists; the same again changes nothing."""
    if provider not in _providers:
        _providers.append(provider)


def get_verdict(access: Any, list_slug: str) -> ListVerdict | None:
    """The verdict on a list's labels; None where there are none, or no report of them yet."""
    result = (provider(access, list_slug) for provider in _providers)
    return next((verdict for verdict in result if verdict is not None), None)
