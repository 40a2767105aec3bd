"""Who wins, from a log of interleaved pages."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.touchstone.clicks.logs import event, written
from touchstone.clicks.interleaving_log import InterleavingError, InterleavingReader
from touchstone.clicks.interleaving_outcome import outcome
from touchstone.files.errors import FileRefused


def test_delta_and_the_sign_test_are_their_formulas() -> None:
    differences = np.array([1.0, 2, 0.5, -1, 0, 0, 3, -0.25])
    found = outcome(differences, np.arange(8))
    assert (found.wins, found.losses, found.ties, found.users) == (4, 2, 2, 8)
    assert found.delta == pytest.approx((4 + 0.5 * 2) / 8 - 0.5)
    assert found.p_value == pytest.approx(stats.binomtest(4, 6).pvalue)
    assert found.low is not None
    assert found.low < found.delta < (found.high or 0)
    flipped = outcome(-differences, np.arange(8))
    assert (flipped.delta, flipped.p_value) == (-found.delta, found.p_value)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (5, 5), (9, 1), (40, 20), (700, 600)])
def test_the_sign_test_is_exact(wins: int, losses: int) -> None:
    found = outcome(
        np.repeat([1.0, -1.0, 0.0], [wins, losses, 3]), np.zeros(wins + losses + 3, int)
    )
    exact = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert found.p_value == pytest.approx(exact, rel=1e-9)
    assert (found.low, found.high, found.users) == (None, None, 1)


def test_pages_of_one_user_are_resampled_together() -> None:
    rng = np.random.default_rng(1)
    taste = rng.choice([-1.0, 1.0], size=50)
    users = np.repeat(np.arange(50), 20)
    together = outcome(taste[users], users, seed=2)
    apart = outcome(taste[users], np.arange(1000), seed=2)
    assert together.low is not None
    assert apart.low is not None
    width, narrow = (one.high - one.low for one in (together, apart) if one.high and one.low)
    assert width == pytest.approx(narrow * np.sqrt(20), rel=0.1)


def test_no_clicked_page_has_no_outcome() -> None:
    with pytest.raises(ValueError, match="no page was clicked"):
        outcome(np.array([]), np.array([]))


def shown(page: int, document: str, said: object, action: str = "impression") -> dict[str, Any]:
    record = event(action, document=document, query_id=f"q{page}", client_id=f"c{page // 2}")
    if said is not None:
        record["event_attributes"]["interleaving"] = said
    return record


def read(path: Path, records: list[dict[str, Any]]) -> InterleavingReader:
    reader = InterleavingReader()
    reader.read(written(path, records), name=path.name)
    return reader


def test_a_click_gets_its_impressions_team_and_counts_once(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [{"index": {}}]
    for page in range(3):
        records += [shown(page, "x", {"team": "new"}), shown(page, "y", {"team": "old"})]
    records += [
        shown(0, "x", None, "click"),
        shown(0, "x", None, "click"),
        shown(1, "y", {"team": "old"}, "click"),
        shown(1, "x", None, "click"),
        shown(2, "z", None, "click"),
        event("search"),
        event("click", query_id=None),
    ]
    log = read(tmp_path / "log", records).log()
    assert log.rankers == ("new", "old")
    assert log.credits.tolist() == [[1.0, 0.0], [1.0, 1.0]]
    assert log.users.tolist() == [0, 0]
    assert (log.pages, log.without_credit) == (3, 1)
    other = read(tmp_path / "log", records).log(["old", "new"])
    assert other.credits.tolist() == [[0.0, 1.0], [1.0, 1.0]]


def test_credits_can_be_shared(tmp_path: Path) -> None:
    both = {"credits": {"B": 0.25, "A": 1}}
    records = [shown(0, "x", both), shown(0, "x", None, "click"), shown(0, "y", both, "click")]
    log = read(tmp_path / "log", records).log()
    assert (log.rankers, log.credits.tolist()) == (("A", "B"), [[2.0, 0.5]])


def test_two_rankers_are_compared(tmp_path: Path) -> None:
    records = [shown(0, "x", {"team": team}) for team in "ABC"]
    for rankers in (None, ["A", "B"]):
        with pytest.raises(InterleavingError, match="the log has A, B, C"):
            read(tmp_path / "log", [*records, *records]).log(rankers)
    with pytest.raises(InterleavingError, match="the log has none"):
        read(tmp_path / "log", [event()]).log()


@pytest.mark.parametrize("said", [1, {}, {"team": 3}, {"credits": {}}, {"credits": {"A": "1"}}])
def test_what_names_no_team_is_refused(said: object, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match=r"log:2: field: .* has neither a team nor credits"):
        read(tmp_path / "log", [event(), shown(0, "x", said)])
