"""Joining rankings with judgments: three ways of looking up, one answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.measures import joining
from touchstone.measures.rankings import GradedRankings, Judgments, judge_rankings

DOCUMENTS = st.integers(0, 15)
RANKING = st.lists(DOCUMENTS, max_size=8, unique=True)
JUDGED = st.dictionaries(DOCUMENTS, st.integers(1, 4), max_size=8)


def judgments_of(judged: list[dict[int, int]], spread: int = 1, shift: int = 0) -> Judgments:
    documents = [document * spread + shift for one in judged for document in one]
    return Judgments(
        np.array(documents, np.int64),
        np.array([level for one in judged for level in one.values()], np.uint8),
        np.array([len(one) for one in judged], np.int64),
    )


def levels_by_hand(
    ranked: list[list[int]], judged: list[dict[int, int]], queries: list[int], width: int | None
) -> list[list[int]]:
    longest = max(map(len, ranked), default=0)
    width = longest if width is None else min(width, longest)
    rows = []
    for ranking, query in zip(ranked, queries, strict=True):
        row = [judged[query].get(document, 0) for document in ranking[:width]]
        rows.append(row + [0] * (width - len(row)))
    return rows


@given(
    st.lists(JUDGED, min_size=1, max_size=4),
    st.data(),
    st.none() | st.integers(1, 6),
    st.sampled_from([(1, 0), (1, -7), (997, 3), (2**40, 5), (2**40, -(2**44))]),
)
def test_every_document_gets_the_level_of_its_own_query(
    judged: list[dict[int, int]],
    data: st.DataObject,
    width: int | None,
    spacing: tuple[int, int],
) -> None:
    spread, shift = spacing
    queries = data.draw(st.lists(st.integers(0, len(judged) - 1), min_size=1, max_size=6))
    ranked = [data.draw(RANKING) for _ in queries]
    found = judge_rankings(
        np.array([d * spread + shift for one in ranked for d in one], np.int64),
        np.array([len(one) for one in ranked]),
        judgments_of(judged, spread, shift),
        n_grades=4,
        queries=np.array(queries),
        width=width,
    )
    assert found.levels.tolist() == levels_by_hand(ranked, judged, queries, width)
    assert found.judged.tolist() == [
        [list(judged[query].values()).count(level) for level in (1, 2, 3, 4)] for query in queries
    ]
    assert found.lengths.tolist() == [len(one) for one in ranked]


WAYS = {
    "compared": {"_PER_COMPARISON": 0.0},
    "tabled": {"_PER_COMPARISON": 1e9, "_PER_TABLE": 0.0},
    "tabled one by one": {"_PER_COMPARISON": 1e9, "_PER_TABLE": 0.0, "_TABLE_CELLS": 120},
    "searched": {"_PER_COMPARISON": 1e9, "_PER_TABLE": 1e12},
    "searched, too far apart": {"_PER_COMPARISON": 1e9, "_LARGEST_SPAN": 1, "_LARGEST_KEY": 1},
}


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize(("depth", "n_queries"), [(12, 40), (12, 400), (150, 40)])
def test_every_way_to_join_and_any_size_of_its_parts_gives_the_same(
    way: str, depth: int, n_queries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    judged = [
        {int(d): int(rng.integers(1, 5)) for d in rng.choice(300, 9, replace=False)}
        for _ in range(n_queries)
    ]
    ranked = [rng.permutation(300)[: rng.integers(0, depth)].tolist() for _ in judged]
    queries = rng.integers(0, n_queries, n_queries)
    documents = np.array([d for one in ranked for d in one], np.int32)
    lengths = np.array([len(one) for one in ranked])
    for name, value in WAYS[way].items():
        monkeypatch.setattr(joining, name, value)
    for cells in (1, 2000, 1 << 22):
        monkeypatch.setattr(joining, "_CELLS", cells)
        for rows, own in ((None, np.arange(n_queries)), (queries, queries)):
            whole = levels_by_hand(ranked, judged, own.tolist(), None)
            arguments = (documents, lengths, judgments_of(judged))
            found = judge_rankings(*arguments, n_grades=4, queries=rows)
            assert found.levels.tolist() == whole
            cut = judge_rankings(*arguments, n_grades=4, queries=rows, width=5, returned=True)
            assert cut.levels.tolist() == [row[:5] for row in whole]
            assert cut.returned is not None
            assert cut.returned.tolist() == [
                [row.count(level) for level in (1, 2, 3, 4)] for row in whole
            ]


@pytest.mark.parametrize("length", [20, 128, 1000, 3001])
def test_what_is_returned_is_counted_however_long_the_rankings_are(length: int) -> None:
    rng = np.random.default_rng(5)
    for n_judged in (1, 900):
        ranked = [rng.permutation(5000)[:length] for _ in range(9)]
        judged = [
            {int(d): int(rng.integers(1, 5)) for d in rng.permutation(5000)[:n_judged]}
            for _ in ranked
        ]
        found = judge_rankings(
            np.concatenate(ranked).astype(np.int32),
            np.full(9, length),
            judgments_of(judged),
            n_grades=4,
            width=10,
            returned=True,
        )
        whole = levels_by_hand([r.tolist() for r in ranked], judged, list(range(9)), None)
        assert found.returned is not None
        assert found.returned.tolist() == [[r.count(n) for n in (1, 2, 3, 4)] for r in whole]


def test_nothing_judged_and_nothing_returned_are_no_trouble() -> None:
    none = Judgments(np.zeros(0, np.int32), np.zeros(0, np.uint8), np.array([0, 0]))
    found = judge_rankings(np.array([4, 5]), np.array([2, 0]), none, n_grades=3)
    assert found.levels.tolist() == [[0, 0], [0, 0]]
    assert found.judged.tolist() == [[0, 0, 0], [0, 0, 0]]
    empty = judge_rankings(np.zeros(0, np.int32), np.array([0, 0]), none, n_grades=3)
    assert empty.levels.shape == (2, 0)


def test_shapes_that_do_not_fit_are_refused() -> None:
    one = Judgments(np.array([1]), np.array([1], np.uint8), np.array([1]))
    with pytest.raises(ValueError, match="own row"):
        judge_rankings(np.array([1, 1]), np.array([1, 1]), one, n_grades=1)
    with pytest.raises(ValueError, match="agree"):
        Judgments(np.array([1]), np.array([1, 2], np.uint8), np.array([1]))
    with pytest.raises(ValueError, match="uint8"):
        GradedRankings(np.zeros((1, 1), np.int64), np.array([1]), np.zeros((1, 1), int))
    with pytest.raises(ValueError, match="one length"):
        GradedRankings(np.zeros((1, 1), np.uint8), np.array([1, 2]), np.zeros((1, 1), int))
