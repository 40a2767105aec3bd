"""The ways out of the outbox: each sends one message, or says why not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from judgments.models import OutboxMessage

Send = Callable[[OutboxMessage], None]


class Undeliverable(Exception):
    """The message can't be delivered, now or later; says why without naming anyone."""


class Postponed(Exception):
    """The message is not taken now; says why, and after how many seconds to try again."""

    def __init__(self, why: str, seconds: float) -> None:
        super().__init__(why)
        self.seconds = seconds


@dataclass(frozen=True)
class Channel:
    """A way to send messages.

    is_on: whether the server is set up for it. send: sends one message, and returns once it was
    accepted; raises Undeliverable, Postponed, or anything else, after which it is tried again.
    back_off: the pause after each failed attempt; after the last of them it is given up.
    """

    name: str
    is_on: Callable[[], bool]
    send: Send
    back_off: tuple[timedelta, ...]


_channels: Final[dict[str, Channel]] = {}


def register(channel: Channel) -> None:
    """Make a channel known; called once at start, by the app that has it."""
    _channels[channel.name] = channel


def get_channel(name: str) -> Channel:
    """The channel of this name; KeyError where there is none."""
    return _channels[name]
