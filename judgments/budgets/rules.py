"""What a budget allows: functions of plain values, for labels of people and any other evidence.

Amounts are integers: labels, tokens, or hundredths of the currency.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

State = Literal["ok", "near", "over"]
HUNDREDTHS: Final = 100
MOST: Final = 10**15  # of a limit


@dataclass(frozen=True)
class Standing:
    """How far a budget is used. share: of the limit, from 0; above 1 where it was exceeded.

    state: near from the warning on; over once one thing more would exceed the limit.
    """

    limit: int
    used: int
    share: float
    state: State

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


def standing_of(*, limit: int, used: int, each: int, warn_percent: int) -> Standing:
    """Where a budget stands. each: what one thing more would cost, from 0."""
    share = used / limit if limit else 1.0
    state: State = "near" if 100 * used >= warn_percent * limit else "ok"
    if used + max(each, 1) > limit:
        state = "over"
    return Standing(limit=limit, used=used, share=share, state=state)


def room_of(*, limit: int, used: int, reserved: int, each: int) -> int | None:
    """How many things more may be begun; None for any number, where they cost nothing.

    reserved: what those cost that were begun and are not counted as used yet.
    """
    if each <= 0:
        return None
    return max(0, limit - used - reserved) // each


def month_of(at: datetime) -> str:
    """The month in UTC, as "2026-11"."""
    return at.astimezone(UTC).strftime("%Y-%m")


def month_start(at: datetime) -> datetime:
    """The first moment of the month, in UTC."""
    return at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def in_words(amount: int, unit: str, currency: str) -> str:
    """An amount as people read it: "1,200 labels", "1 label", "12.50 EUR"."""
    if unit != "money":
        return f"1 {unit.removesuffix('s')}" if amount == 1 else f"{amount:,} {unit}"
    return f"{amount // HUNDREDTHS:,}.{amount % HUNDREDTHS:02} {currency}"
