"""What became of every record of a log: each is in exactly one class."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final


class Outcome(IntEnum):
    """The classes, in the order in which they are checked."""

    QUERY = 0
    QUERY_REPEATED = 1
    QUERY_WITHOUT_TEXT = 2
    OTHER_ACTION = 3
    NO_DOCUMENT = 4
    NO_RANK = 5
    RANK_TOO_LARGE = 6
    DUPLICATE = 7
    NO_QUERY = 8
    QUERY_UNKNOWN = 9
    JOINABLE = 10
    IMPRESSION = 11
    CLICK = 12
    CLICK_WITHOUT_IMPRESSION = 13
    IMPRESSION_JOINED = 14
    CLICK_JOINED = 15
    CLICK_JOINED_WITHOUT_IMPRESSION = 16

    @property
    def key(self) -> str:
        """The name in JSON."""
        return self.name.lower()


DESCRIPTIONS: Final[Mapping[Outcome, str]] = {
    Outcome.QUERY: "query records",
    Outcome.QUERY_REPEATED: "query records with a repeated query id",
    Outcome.QUERY_WITHOUT_TEXT: "query records without a text or an id",
    Outcome.OTHER_ACTION: "events that are neither impressions nor clicks",
    Outcome.NO_DOCUMENT: "no document",
    Outcome.NO_RANK: "no rank",
    Outcome.RANK_TOO_LARGE: "a rank beyond 10,000",
    Outcome.DUPLICATE: "duplicates of an earlier event",
    Outcome.NO_QUERY: "neither a query text nor a query id",
    Outcome.QUERY_UNKNOWN: "no query text, and no query record with their query id",
    Outcome.JOINABLE: "no query text, but a query record has it (used if joined by query id)",
    Outcome.IMPRESSION: "impressions",
    Outcome.CLICK: "clicks",
    Outcome.CLICK_WITHOUT_IMPRESSION: "clicks without an impression of that rank",
    Outcome.IMPRESSION_JOINED: "impressions joined by query id",
    Outcome.CLICK_JOINED: "clicks joined by query id",
    Outcome.CLICK_JOINED_WITHOUT_IMPRESSION: "clicks joined, without an impression of that rank",
}
FIRST_EVENT: Final = Outcome.OTHER_ACTION
MOST_RANK: Final = 10_000


@dataclass(frozen=True)
class ApplicationLedger:
    """One application's records.

    outcomes: how many records are in each class. actions: how many events have each action name.
    smallest_rank: of its impressions and clicks; None without any.
    """

    name: str
    outcomes: Mapping[Outcome, int]
    actions: Mapping[str, int]
    smallest_rank: int | None

    @property
    def rank_base(self) -> int | None:
        """The rank of the first result: the smallest one, if that is 0 or 1, else unknown."""
        return self.smallest_rank if self.smallest_rank in (0, 1) else None


@dataclass(frozen=True)
class Ledger:
    """What became of all records. applications: by name; "" where records name none."""

    applications: tuple[ApplicationLedger, ...]

    def __getitem__(self, outcome: Outcome) -> int:
        return sum(one.outcomes.get(outcome, 0) for one in self.applications)

    @property
    def records(self) -> int:
        """All of them: the sum over the classes."""
        return sum(self[outcome] for outcome in Outcome)

    @property
    def events(self) -> int:
        """The records that are not queries."""
        return sum(self[outcome] for outcome in Outcome if outcome >= FIRST_EVENT)
