"""How much it matters which grade a disputed pair gets."""

from math import log2

import pytest

from annotation.adjudication.priority import leverage, stake

CODES = range(5)


def test_a_document_that_all_runs_have_at_the_same_rank_changes_no_order() -> None:
    assert leverage({"a": 3, "b": 3}, 2) == 0
    assert leverage({}, 2) == 0


def test_a_document_that_one_run_has_on_top_and_another_has_not_matters_most() -> None:
    assert leverage({"a": 1}, 2) == 1
    assert leverage({"a": 1, "b": 3}, 2) == pytest.approx(1 - 1 / log2(4))
    assert leverage({"a": 9, "b": 10}, 2) < 0.02


def test_what_is_at_stake_grows_with_spread_weight_and_leverage() -> None:
    usual = stake([1, 2], CODES, weight=1, leverage=0.5)
    assert stake([1, 3], CODES, weight=1, leverage=0.5) == 2 * usual
    assert stake([1, 2], CODES, weight=3, leverage=0.5) == 3 * usual
    assert 0 < stake([1, 2], CODES, weight=1, leverage=0) < usual
    assert stake([2, 2], CODES, weight=1, leverage=1) == 0
    assert stake([], CODES, weight=1, leverage=1) == 0
