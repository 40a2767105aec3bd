"""What a budget allows, of plain values."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgments.budgets.rules import in_words, month_of, month_start, room_of, standing_of


@pytest.mark.parametrize(
    ("used", "state"),
    [(0, "ok"), (79, "ok"), (80, "near"), (99, "near"), (100, "over"), (120, "over")],
)
def test_a_budget_warns_and_ends(used: int, state: str) -> None:
    assert standing_of(limit=100, used=used, each=1, warn_percent=80).state == state


def test_a_budget_of_money_ends_when_one_more_would_exceed_it() -> None:
    assert standing_of(limit=100, used=90, each=15, warn_percent=95).state == "over"
    assert standing_of(limit=100, used=85, each=15, warn_percent=95).state == "ok"


@given(
    limit=st.integers(1, 10**9),
    used=st.integers(0, 10**9),
    reserved=st.integers(0, 10**6),
    each=st.integers(1, 10**4),
)
def test_what_there_is_room_for_never_exceeds_the_limit(
    limit: int, used: int, reserved: int, each: int
) -> None:
    room = room_of(limit=limit, used=used, reserved=reserved, each=each)
    assert room is not None
    assert room == 0 or used + reserved + room * each <= limit
    assert used + reserved + (room + 1) * each > limit
    over = standing_of(limit=limit, used=used + reserved, each=each, warn_percent=80).state
    assert (over == "over") == (room == 0)


def test_what_costs_nothing_has_no_limit() -> None:
    assert room_of(limit=10, used=100, reserved=0, each=0) is None


def test_months_are_in_utc() -> None:
    late = datetime(2026, 11, 30, 23, 30, tzinfo=timezone(timedelta(hours=-1)))
    assert month_of(late) == "2026-12"
    assert month_start(late) == datetime(2026, 12, 1, tzinfo=UTC)


def test_amounts_in_words() -> None:
    assert in_words(1, "labels", "EUR") == "1 label"
    assert in_words(1_200, "labels", "EUR") == "1,200 labels"
    assert in_words(123_405, "money", "EUR") == "1,234.05 EUR"
