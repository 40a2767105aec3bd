"""Exact sums of values in [0, 2)."""

from typing import Final

import numpy as np

from touchstone.compiled import loop
from touchstone.measures.loops.parts import Floats, Integers, part, part_in_any_order

_NEAREST: Final = 6755399441055744.0  # 1.5 * 2**52: added and taken away, it leaves an integer
_DIGIT: Final = 1048576.0  # 2**20


@part
def _split(values: Floats, high: Floats, middle: Floats, low: Floats) -> bool:
    """round(v * 2**60) in three digits of 2**20 with signs; False where one is not in [0, 2)."""
    sound = True
    for place in range(len(values)):
        sound &= (values[place] >= 0.0) & (values[place] < 2.0)
        scaled = values[place] * _DIGIT
        first = (scaled + _NEAREST) - _NEAREST
        scaled = (scaled - first) * _DIGIT
        second = (scaled + _NEAREST) - _NEAREST
        high[place], middle[place] = first, second
        low[place] = ((scaled - second) * _DIGIT + _NEAREST) - _NEAREST
    return sound


@part_in_any_order
def _add_products(high: Floats, middle: Floats, low: Floats, out: Integers) -> None:
    """Adds the digits and the digits of their squares: whole numbers below 2**53, all of them."""
    one = two = three = 0.0
    highest = higher = central = square = lower = lowest = 0.0
    for place in range(len(high)):
        a, b, c = high[place], middle[place], low[place]
        one += a
        two += b
        three += c
        highest += a * a
        higher += a * b
        central += a * c
        square += b * b
        lower += b * c
        lowest += c * c
    out[0] += np.int64(one)
    out[1] += np.int64(two)
    out[2] += np.int64(three)
    out[3] += np.int64(highest)
    out[4] += 2 * np.int64(higher)
    out[5] += 2 * np.int64(central) + np.int64(square)
    out[6] += 2 * np.int64(lower)
    out[7] += np.int64(lowest)


@loop("float64[2]", "int64", "int64", "float64[2]", "int64[2]")
def add_digits(values: Floats, start: int, stop: int, room: Floats, out: Integers) -> int:
    """Sums of values and of their squares, in digits of 2**20; 0 where one is not in [0, 2), or 1.

    values: (n_measures, n); start and stop are at most 2**20 apart.
    room: (3, values whose digits are multiplied and added together): 512 before a float64 rounds.
    out: (n_measures, 8), three digits of the sum of round(v * 2**60) and five of that of its
    squares, highest first, without carries.
    """
    for measure in range(len(values)):
        for begin in range(start, stop, room.shape[1]):
            n = min(room.shape[1], stop - begin)
            high, middle, low = room[0, :n], room[1, :n], room[2, :n]
            if not _split(values[measure, begin : begin + n], high, middle, low):
                return 0
            _add_products(high, middle, low, out[measure])
    return 1
