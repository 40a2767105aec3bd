"""Loops over ranks and values, compiled by Numba: what `compiled` loads where it is worth it.

They say what `joining`, `ndcg` and `exact` say with arrays, bit for bit, and are nobody's
authority. Branches on what cannot be foreseen are avoided: they cost more than all the rest.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

Function = TypeVar("Function", bound=Callable[..., object])
Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

_ROWS = 64  # rankings that are worked on together: they stay in the nearest cache
_VALUES = 512  # values whose digits are multiplied and added before a float64 could round
_NEAREST = 6755399441055744.0  # 1.5 * 2**52: added and taken away, it leaves the nearest integer
_TALLIED = 7  # levels, besides 0, that one word can count
_COUNTED = 255  # ranks that a count of eight bits can hold
_DIGIT = 1048576.0  # 2**20


def _compiled(function: Function) -> Function:
    return cast(Function, numba.njit(cache=True, error_model="numpy", nogil=True)(function))


def _compiled_in_any_order(function: Function) -> Function:
    """For sums that no order changes, since all of them are exact."""
    compile_ = numba.njit(
        cache=True, error_model="numpy", nogil=True, fastmath={"reassoc", "contract", "nsz"}
    )
    return cast(Function, compile_(function))


@_compiled
def look_up(
    ranked: Array,
    rows: Array,
    documents: Array,
    levels: Array,
    starts: Array,
    table: Words,
    slots: Words,
    out: Array,
    counts: Array,
) -> None:
    """The level of every rank, and how often each occurs, by a table of hashes for each query.

    ranked: int32 (n, depth). rows: the query of each ranking, ascending.
    documents, levels: of the judgments. starts: where those of each query begin, and the end.
    table: 2**b words, all 0, now and afterwards. slots: as many as a query has judgments.
    out: uint8 (n, depth), filled. counts: int32 (n_grades, n), likewise; or (0, n).

    A word of the table holds a document, whether another one was pushed on from here, and a level.
    """
    bits = 0
    while (1 << bits) < len(table):
        bits += 1
    shift, mask = np.uint64(64 - bits), np.uint64(len(table) - 1)
    spread, behind = np.uint64(0x9E3779B97F4A7C15), np.uint64(16)
    none, one, level, pushed = np.uint64(0), np.uint64(1), np.uint64(255), np.uint64(256)
    other = np.uint64(1 << 16)  # from here on two words are of different documents
    row, (n_rankings, depth) = 0, ranked.shape
    while row < n_rankings:
        query = rows[row]
        start, stop = starts[query], starts[query + 1]
        for place in range(start, stop):
            key = np.uint64(documents[place])
            slot = (key * spread) >> shift
            while table[slot] != none:
                table[slot] |= pushed
                slot = (slot + one) & mask
            table[slot] = (key << behind) | np.uint64(levels[place])
            slots[place - start] = slot
        while row < n_rankings and rows[row] == query:
            for rank in range(depth):
                key = np.uint64(ranked[row, rank])
                slot = (key * spread) >> shift
                word, own = table[slot], key << behind
                found = (word & level) * np.uint64((word ^ own) < other)
                if word & pushed and found == none:
                    while word & pushed and found == none:
                        slot = (slot + one) & mask
                        word = table[slot]
                        found = (word & level) * np.uint64((word ^ own) < other)
                out[row, rank] = found
            for grade in range(len(counts)):
                n = 0
                for rank in range(depth):
                    n += out[row, rank] == grade + 1
                counts[grade, row] = n
            row += 1
        for place in range(stop - start):
            table[slots[place]] = none


@_compiled
def _number(counts: Array, row: int, best_first: Array, powers: Words, depth: int) -> np.uint64:
    """The number of the best `depth` documents of these, as `normalise` numbers ideal rankings."""
    number, room = np.uint64(0), np.int64(depth)
    for level in best_first:
        fitting = min(np.int64(counts[level - 1, row]), room)
        number += np.uint64(fitting) * powers[level]
        room -= fitting
    return number


@_compiled
def normalise(
    ranks: Array,
    judged: Array,
    returned: Array,
    terms: Floats,
    best_first: Array,
    powers: Words,
    stops: Array,
    deepest: int,
    ideals: Floats,
    tops: Floats,
    sources: Array,
    places: Array,
    is_multiplied: bool,
    out: Floats,
) -> None:
    """nDCG of every ranking, (n_measures, n).

    ranks: the levels, (ranks, n). judged, returned: how many documents have each level, (n_grades,
    n); of those returned nothing (0, n) where the ranks tell.
    terms: what each rank adds to the DCG, (ranks, n_levels).
    best_first: the levels that gain something. powers: what a document of each level adds to the
    number of an ideal ranking.
    stops: the ranks behind which DCGs are wanted, ascending. deepest: documents of an ideal.
    ideals: by number, the ideal DCG at each stop. tops: likewise, of the top grade alone.
    sources: what each measure's ideal is made of: 0 all judged, 1 all returned, 2 the documents
    before its stop, 3 the top grade. places: its stop.
    is_multiplied: ideals are inverses.
    """
    n_stops, depth, n_rankings = len(stops), stops[-1], ranks.shape[1]
    n_levels = np.uint64(terms.shape[1])
    flat = terms.ravel()
    near = np.empty((_ROWS, depth), np.uint8)
    own = np.empty((n_stops, _ROWS))
    numbers = np.empty((n_stops + 2, _ROWS), np.uint64)
    ideal = np.empty(_ROWS)
    for start in range(0, n_rankings, _ROWS):
        n_rows = min(_ROWS, n_rankings - start)
        for rank in range(depth):
            for row in range(n_rows):
                near[row, rank] = ranks[rank, start + row]
        for row in range(n_rows):
            total, number, rank, at = 0.0, np.uint64(0), 0, np.uint64(0)
            for stop in range(n_stops):
                while rank < stops[stop]:
                    level = np.uint64(near[row, rank])
                    total += flat[at + level]
                    number += powers[level]
                    at += n_levels
                    rank += 1
                own[stop, row] = total
                numbers[stop + 2, row] = number
            numbers[0, row] = _number(judged, start + row, best_first, powers, deepest)
            if len(returned):
                number = _number(returned, start + row, best_first, powers, deepest)
            numbers[1, row] = number
        for measure in range(len(out)):
            stop, source = places[measure], sources[measure]
            if source == 3:
                for row in range(n_rows):
                    ideal[row] = tops[stop]
            else:
                line = source if source < 2 else stop + 2
                for row in range(n_rows):
                    ideal[row] = ideals[numbers[line, row], stop]
            if is_multiplied:
                for row in range(n_rows):
                    out[measure, start + row] = own[stop, row] * ideal[row]
            else:
                for row in range(n_rows):
                    out[measure, start + row] = own[stop, row] / ideal[row]


@_compiled
def _digits(values: Floats, high: Floats, middle: Floats, low: Floats) -> bool:
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


@_compiled_in_any_order
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


@_compiled
def add_digits(values: Floats, start: int, stop: int, out: Integers) -> bool:
    """Sums of values and of their squares, in digits of 2**20; False where one is not in [0, 2).

    values: (n_measures, n); start and stop are at most 2**20 apart.
    out: (n_measures, 8), three digits of the sum of round(v * 2**60) and five of that of its
    squares, highest first, without carries.
    """
    high, middle, low = np.empty(_VALUES), np.empty(_VALUES), np.empty(_VALUES)
    for measure in range(len(values)):
        for begin in range(start, stop, _VALUES):
            n = min(_VALUES, stop - begin)
            part = values[measure, begin : begin + n]
            if not _digits(part, high[:n], middle[:n], low[:n]):
                return False
            _add_products(high[:n], middle[:n], low[:n], out[measure])
    return True


@_compiled
def count(levels: Array, starts: Array, out: Array) -> None:
    """How many judgments of each query have each level: int32 (n_grades, n_queries), filled."""
    none, one, eight, most = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(255)
    for query in range(len(starts) - 1):
        start, stop = starts[query], starts[query + 1]
        if stop - start <= _COUNTED and len(out) <= _TALLIED:
            tally = none
            for place in range(start, stop):
                tally += one << np.uint64(levels[place]) * eight
            for grade in range(len(out)):
                tally >>= eight
                out[grade, query] = tally & most
        else:
            out[:, query] = 0
            for place in range(start, stop):
                out[levels[place] - 1, query] += 1
