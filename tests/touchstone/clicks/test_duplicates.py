"""Keys that were seen before."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from touchstone.clicks.duplicates import SeenKeys


@given(st.lists(st.lists(st.integers(-20, 20), max_size=15), max_size=12))
def test_a_key_is_new_once(blocks: list[list[int]]) -> None:
    keys, seen = SeenKeys(), set[int]()
    for block in blocks:
        found = keys.add(np.array(block, dtype=np.int64)).tolist()
        for key, is_new in zip(block, found, strict=True):
            assert is_new == (key not in seen)
            seen.add(key)
    assert len(keys) == len(seen)
