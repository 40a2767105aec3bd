"""Ids as words: the same texts come back, and equal ids are found as Python finds them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compiled_loops import loops
from touchstone.files.id_columns import LONGEST, IdColumn, found_in, repeated

IDS = st.sampled_from(
    ["a", "ab", "abcdefgh", "abcdefghi", "é", "日本" * 9, "x" * 200, "字" * 200, "字" * 199 + "a"]
)
GROUPS = st.lists(st.lists(IDS, max_size=9), min_size=1, max_size=5)


def flat(groups: list[list[str]]) -> tuple[IdColumn, np.ndarray]:
    starts = np.cumsum([0, *map(len, groups)])
    return IdColumn.of([text for group in groups for text in group]), starts


@given(st.lists(IDS))
def test_a_column_gives_its_texts_back_numbers_and_orders_them(texts: list[str]) -> None:
    column = IdColumn.of(texts)
    assert column.texts() == texts
    documents, codes = column.numbered
    assert sorted(documents.texts()) == sorted(set(texts))
    short = [one for one in documents.texts() if len(one.encode()) <= LONGEST]
    assert short == sorted(short, key=str.encode)
    assert documents.at(codes).texts() == texts
    order = np.lexsort(column.order_words()[::-1]).tolist() if texts else []
    assert [texts[place] for place in order] == sorted(texts, key=str.encode)


@pytest.mark.parametrize("wanted", [False, True])
@given(GROUPS)
def test_ids_that_a_group_has_twice_are_named_with_the_first(
    wanted: bool, groups: list[list[str]]
) -> None:
    ids, starts = flat(groups)
    expected = [
        (int(start) + place, int(start) + group.index(text))
        for start, group in zip(starts, groups, strict=False)
        for place, text in enumerate(group)
        if group.index(text) < place
    ]
    with loops(wanted=wanted):
        assert repeated(ids, starts) == expected


@pytest.mark.parametrize("wanted", [False, True])
@given(GROUPS, GROUPS, st.data())
def test_ids_are_found_in_the_group_that_is_looked_in(
    wanted: bool, groups: list[list[str]], others: list[list[str]], data: st.DataObject
) -> None:
    others = [list(dict.fromkeys(group)) for group in others]
    places = data.draw(
        st.lists(st.integers(-1, len(others) - 1), min_size=len(groups), max_size=len(groups))
    )
    ids, starts = flat(groups)
    among, of_others = flat(others)
    with loops(wanted=wanted):
        found = found_in(ids, starts, among, of_others, np.array(places)).tolist()
    texts = among.texts()
    for group, other, start in zip(groups, places, starts.tolist(), strict=False):
        own = [] if other < 0 else others[other]
        for place, text in enumerate(group):
            at = found[start + place]
            assert (at >= 0) == (text in own)
            assert at < 0 or texts[at] == text
            assert at < 0 or of_others[other] <= at < of_others[other + 1]
