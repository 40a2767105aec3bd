"""Clicks over expected clicks."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.clicks.logs import event, read, written
from touchstone.clicks.coec import coec
from touchstone.clicks.evidence import Evidence

Row = tuple[int, int, int, int, int]
ROWS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)),
    st.tuples(st.integers(0, 1000), st.integers(0, 1000)),
    max_size=30,
)


def evidence(found: dict[tuple[int, int, int], tuple[int, int]]) -> Evidence:
    table = np.array([(*key, *counts) for key, counts in sorted(found.items())], dtype=np.int64)
    columns = table.reshape(-1, 5).T
    return Evidence(np.zeros(len(found), dtype=np.int64), *columns)


@given(ROWS)
def test_it_is_the_formula_in_exact_fractions(
    found: dict[tuple[int, int, int], tuple[int, int]],
) -> None:
    shown, clicked = Counter[int](), Counter[int]()
    for (_, _, rank), (impressions, clicks) in found.items():
        shown[rank] += impressions
        clicked[rank] += clicks
    expected = dict.fromkeys(((query, document) for query, document, _ in found), Fraction(0))
    for (query, document, rank), (impressions, _) in found.items():
        if impressions:
            expected[query, document] += Fraction(impressions * clicked[rank], shown[rank])
    result = coec(evidence(found))
    pairs = list(zip(result.query.tolist(), result.document.tolist(), strict=True))
    assert pairs == sorted(expected)
    for pair, value, clicks, ratio in zip(
        pairs, result.expected, result.clicks, result.coec, strict=True
    ):
        exact = expected[pair]
        assert value == pytest.approx(float(exact), rel=4e-16)
        if exact:
            assert ratio == pytest.approx(float(clicks / exact), rel=1e-15)
        else:
            assert np.isnan(ratio)
    assert result.total_clicks == sum(clicked.values())
    assert result.total_expected == sum(expected.values())  # the invariant, with no rounding


def test_a_rank_that_was_never_shown_expects_nothing(tmp_path: Path) -> None:
    log = read(written(tmp_path / "log", [event(), event("click", rank=7)]))
    found = coec(log.evidence)
    assert (found.total_clicks, found.total_expected) == (1, 0)
    assert np.isnan(found.coec).all()
    assert found.shown_ranks.tolist() == [1]


def test_a_document_clicked_twice_as_often_as_its_rank_has_two(tmp_path: Path) -> None:
    records = [event(document=name, query_id=f"{name}{n}") for name in "ab" for n in range(4)]
    records += [event("click", document="a", query_id=f"a{n}") for n in range(4)]
    found = coec(read(written(tmp_path / "log", records)).evidence)
    assert found.coec.tolist() == [2.0, 0.0]
