"""Result pages of a log."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.touchstone.clicks.logs import event, query, read, written
from touchstone.clicks.fit import halves
from touchstone.clicks.sessions import SessionsError, find_sessions


def page(query_id: str, ranks: Iterable[int], **others: Any) -> list[dict[str, Any]]:
    return [event(document=f"d{rank}", rank=rank, query_id=query_id, **others) for rank in ranks]


def test_a_page_is_what_one_query_id_showed_without_a_gap(tmp_path: Path) -> None:
    records = [
        *page("late", [3, 2, 1], query="second"),
        event(document="again", rank=2, query_id="late", query="third"),
        event("click", document="d2", rank=2, query_id="late", query="second"),
        event("click", document="again", rank=2, query_id="late", query="second"),
        event("click", document="d9", rank=1, query_id="late", query="second"),
        event("click", document="d3", rank=9, query_id="late", query="second"),
        *page("a gap", [1, 3]),
        *page("one", [1]),
        *page("long", range(1, 12)),
        *page("first", [1, 2], query="first"),
        *[one for one in page("q", [1, 2]) if one.pop("query_id")],
        event("click", document="d1", rank=1, query_id="never shown"),
    ]
    log = read(written(tmp_path / "log", records))
    found = find_sessions(log)
    sessions = found.sessions
    assert found.dropped == {"gap": 1, "too_short": 1, "too_long": 1}
    assert sessions.session.tolist() == [0, 0, 0, 1, 1]
    assert sessions.position.tolist() == [1, 2, 3, 1, 2]
    assert [log.documents[code] for code in sessions.document] == ["d1", "d2", "d3", "d1", "d2"]
    assert [log.queries[code] for code in sessions.query] == ["second"] * 3 + ["first"] * 2
    assert sessions.click.tolist() == [False, True, False, False, False]
    assert (sessions.lengths.tolist(), sessions.depth, len(sessions)) == ([3, 2], 3, 2)


def test_ranks_from_0_and_from_1_give_the_same_pages(tmp_path: Path) -> None:
    one = read(written(tmp_path / "one", page("a", [1, 2, 3])))
    zero = read(written(tmp_path / "zero", page("a", [0, 1, 2])))
    found, other = find_sessions(one), find_sessions(zero)
    assert (found.rank_base, other.rank_base) == (1, 0)
    assert found.sessions.position.tolist() == other.sessions.position.tolist() == [1, 2, 3]


def test_the_application_with_most_pages_is_taken(tmp_path: Path) -> None:
    records = [
        *page("a", [0, 1], application="few"),
        *page("b", [1, 2], application="many"),
        *page("c", [1, 2], application="many"),
    ]
    log = read(written(tmp_path / "log", records))
    assert find_sessions(log).application == "many"
    few = find_sessions(log.of_application("few"))
    assert (few.application, few.rank_base, len(few.sessions)) == ("few", 0, 1)


def test_joined_events_make_pages_too(tmp_path: Path) -> None:
    records = [query("shoes", "a"), *page("a", [1, 2], query=None)]
    path = written(tmp_path / "log", records)
    assert len(find_sessions(read(path, join=True)).sessions) == 1
    with pytest.raises(SessionsError, match="impressions must have a query_id"):
        find_sessions(read(path))


def test_an_unknown_base_is_asked_for_and_never_guessed(tmp_path: Path) -> None:
    path = written(tmp_path / "log", page("a", [3, 4], application="odd"))
    log = read(path)
    with pytest.raises(
        SessionsError, match="smallest rank of odd is neither 0 nor 1; set --rank-base"
    ):
        find_sessions(log)
    with pytest.raises(SessionsError, match="1 pages have too few, too many or a gap"):
        find_sessions(log, rank_base=1)


def test_halves_have_every_page_once(tmp_path: Path) -> None:
    records = [one for number in range(9) for one in page(str(number), range(1, 3 + number % 3))]
    sessions = find_sessions(read(written(tmp_path / "l", records))).sessions
    first, second = halves(sessions, seed=3)
    assert (len(first), len(second)) == (5, 4)
    lengths = [*first.lengths.tolist(), *second.lengths.tolist()]
    assert sorted(lengths) == sorted(sessions.lengths.tolist())
    assert np.array_equal(halves(sessions, seed=3)[0].click, first.click)
