"""Values as bytes: what comes back is what went in, and nothing else is read."""

import io
import pickle
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgments.storage.serialization import Unreadable, from_plain, pack, to_plain, unpack

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@dataclass(frozen=True)
class Inner:
    text: str
    share: float | None


@dataclass(frozen=True, eq=False)
class Outer:
    ids: npt.NDArray[np.int64]
    counted: npt.NDArray[np.bool_]
    parts: tuple[Inner, ...]
    sums: dict[str, tuple[int, bytes]]
    is_done: bool = False


def example() -> Outer:
    return Outer(
        ids=np.arange(6).reshape(2, 3),
        counted=np.array([True, False]),
        parts=(Inner("α", 0.1), Inner("", None), Inner("whole", np.float64(2.0))),
        sums={"run": (3, b"\x00\xff")},
    )


@given(PLAIN)
def test_plain_values_come_back_to_the_last_bit(value):
    assert unpack(pack(value)) == value


@given(st.binary(max_size=200))
def test_bytes_of_something_else_are_unreadable_and_nothing_worse(data):
    with pytest.raises(Unreadable):
        unpack(data)


@given(st.integers(0, 400), st.binary(min_size=1, max_size=3))
def test_damaged_bytes_are_unreadable_or_plain(place, noise):
    whole = pack(to_plain(example()))
    damaged = whole[:place] + noise + whole[place + len(noise) :]
    with suppress(Unreadable):
        unpack(damaged)


def test_a_dataclass_comes_back_with_its_arrays():
    whole = example()
    again = from_plain(Outer, unpack(pack(to_plain(whole))))
    assert again.ids.tolist() == whole.ids.tolist()
    assert again.ids.dtype == np.int64
    assert again.counted.tolist() == [True, False]
    assert (again.parts, again.sums, again.is_done) == (whole.parts, whole.sums, False)
    again.ids[0, 0] = 7  # an array of one's own, as one that was computed


@pytest.mark.parametrize(
    "change",
    [
        {"ids": np.zeros(3)},
        {"ids": [1, 2]},
        {"counted": None},
        {"parts": [{"text": "α"}]},
        {"parts": [{"text": "α", "share": "0.1"}]},
        {"parts": [{"text": "α", "share": 0.1, "more": 1}]},
        {"sums": {"run": [3]}},
        {"sums": [3]},
        {"is_done": 0},
        {"unknown": 1},
    ],
)
def test_values_of_another_shape_are_unreadable(change):
    with pytest.raises(Unreadable):
        from_plain(Outer, to_plain(example()) | change)


@pytest.mark.parametrize("value", [{1, 2}, object(), {1: "x"}, np.array([{}], object)])
def test_what_is_not_plain_can_not_be_written(value):
    with pytest.raises((TypeError, ValueError)):
        pack(value)


def test_a_time_comes_back_to_the_microsecond():
    at = datetime(2026, 11, 25, 9, 30, 0, 123456, tzinfo=UTC)
    kind: Any = tuple[datetime | None, datetime]
    assert from_plain(kind, unpack(pack(to_plain((None, at))))) == (None, at)
    for other in ("yesterday", 3, None):
        with pytest.raises(Unreadable):
            from_plain(datetime, other)


def test_an_array_that_holds_a_pickle_is_unreadable():
    file = io.BytesIO()
    np.lib.format.write_array(file, np.array([{}], object), allow_pickle=True)
    whole = pack(np.zeros(1))
    start = whole.index(b"\x93NUMPY")
    size = str(len(whole) - start).encode()
    forged = whole[:start].replace(size, str(len(file.getvalue())).encode()) + file.getvalue()
    with pytest.raises(Unreadable, match="allow_pickle"):
        unpack(forged)


def test_a_pickle_is_unreadable():
    with pytest.raises(Unreadable):
        unpack(pickle.dumps({"a": 1}))
