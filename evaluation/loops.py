"""Loops over ranks and values: `judgments.compiled` compiles them.

They say what `joining`, `ndcg` and `exact` say with arrays, bit for bit, and are nobody's
authority. Branches on what cannot be foreseen are avoided: they cost more than all the rest.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from judgments.compiled import PLAINLY, loop

Function = TypeVar("Function", bound=Callable[..., object])
Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Room = tuple[np.uint64, Array, Array, Array, Array]  # shift, heads, after, and two of a ranking

_NEAREST: Final = 6755399441055744.0  # 1.5 * 2**52: added and taken away, it leaves an integer
_TALLIED: Final = 7  # levels, besides 0, that one word can count
_COUNTED: Final = 255  # ranks that a count of eight bits can hold
_DIGIT: Final = 1048576.0  # 2**20
_LANES: Final = 8  # ranks that are compared at once
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
# What looking up costs, in thirds of a rank compared with one judged document.
_PER_HASH: Final = 60  # a rank looked up by hashes
_PER_KEPT: Final = 240  # a judged document put there, and taken away


def _inner(function: Function) -> Function:
    """Part of a loop: what it is given need not be put on the stack."""
    return cast(Function, numba.njit(forceinline=True, **PLAINLY)(function))


def _inner_in_any_order(function: Function) -> Function:
    """For sums that no order changes, since all of them are exact."""
    fastmath = {"reassoc", "contract", "nsz"}
    compile_ = numba.njit(fastmath=fastmath, forceinline=True, **PLAINLY)
    return cast(Function, compile_(function))


@_inner
def _is_hashed(n_ranks: int, n_judged: int) -> bool:
    """Whether hashes are cheaper than comparing every rank with every judged document."""
    return n_ranks * n_judged * 3 > n_ranks * _PER_HASH + n_judged * _PER_KEPT


@_inner
def _keep(judged: Array, shift: np.uint64, heads: Array, after: Array) -> None:
    """Chains of judged documents, numbered from 1: `heads` by hash, and who comes `after` whom."""
    for place in range(len(judged)):
        slot = (np.uint64(judged[place]) * _SPREAD) >> shift
        after[place] = heads[slot]
        heads[slot] = place + 1


@_inner
def _forget(judged: Array, shift: np.uint64, heads: Array) -> None:
    """Takes out what `_keep` put in."""
    for place in range(len(judged)):
        heads[(np.uint64(judged[place]) * _SPREAD) >> shift] = 0


@_inner
def _find_by_hash(
    ranked: Array, judged: Array, levels: Array, room: Room, out: Array, counts: Array, place: int
) -> None:
    """The levels of a ranking's first ranks, and how often each occurs in all of it.

    First, without a branch, the few ranks whose hash some judged document has.
    """
    shift, heads, after, near, found = room
    n_near, width = 0, len(out)
    for rank in range(len(ranked)):
        near[n_near] = rank
        n_near += heads[(np.uint64(ranked[rank]) * _SPREAD) >> shift] != 0
    for rank in range(width):
        out[rank] = 0
    for number in range(n_near):
        rank = near[number]
        document = ranked[rank]
        own, level = heads[(np.uint64(document) * _SPREAD) >> shift], np.uint8(0)
        while own != 0:
            if judged[own - 1] == document:
                level = levels[own - 1]
                break
            own = after[own - 1]
        found[number] = level
        if rank < width:
            out[rank] = level
    for grade in range(len(counts)):
        n = 0
        for number in range(n_near):
            n += found[number] == grade + 1
        counts[grade, place] = n


@_inner
def _find_by_comparing(
    ranked: Array, judged: Array, levels: Array, room: Room, out: Array, counts: Array, place: int
) -> None:
    """The same, by comparing every rank with every judged document.

    With four of these for each rank that is read, and whole eights of ranks, as processors compare.
    """
    (_, _, _, near, found), none = room, np.int32(0)
    width, n_judged = min(len(out), len(ranked)), len(judged)
    lanes = (width + _LANES - 1) // _LANES * _LANES
    for rank in range(width):
        near[rank] = ranked[rank]
    for rank in range(lanes):
        found[rank] = none
    for first in range(0, n_judged - 3, 4):
        a, b, c, d = judged[first], judged[first + 1], judged[first + 2], judged[first + 3]
        of_a, of_b = np.int32(levels[first]), np.int32(levels[first + 1])
        of_c, of_d = np.int32(levels[first + 2]), np.int32(levels[first + 3])
        for rank in range(lanes):
            own = near[rank]
            one = (of_a if own == a else none) | (of_b if own == b else none)
            other = (of_c if own == c else none) | (of_d if own == d else none)
            found[rank] |= one | other  # one of all matches, at most
    for number in range(n_judged - n_judged % 4, n_judged):
        document, level = judged[number], np.int32(levels[number])
        for rank in range(lanes):
            found[rank] |= level if near[rank] == document else none
    for rank in range(width):
        out[rank] = found[rank]
    for rank in range(width, len(out)):
        out[rank] = 0
    if len(counts):
        counts[:, place] = 0
        for number in range(len(judged)):
            document, hits = judged[number], 0
            for rank in range(len(ranked)):
                hits += ranked[rank] == document
            counts[levels[number] - 1, place] += hits


@_inner
def _find(is_hashed: bool, *rest: Any) -> None:
    if is_hashed:
        _find_by_hash(*rest)
    else:
        _find_by_comparing(*rest)


@_inner
def _bits(n: int) -> int:
    """Of a power of two, which."""
    bits = 0
    while (1 << bits) < n:
        bits += 1
    return bits


@loop(
    "int32[1]", "int64[1]", "int64[1]", "int64[1]", "int64[1]", "int32[1]", "uint8[1]", "int64[1]",
    "uint16[1]", "uint16[1]", "int32[2]", "uint8[2]", "int32[2]",
)  # fmt: skip
def look_up(
    documents: Array,
    begins: Integers,
    lengths: Integers,
    order: Integers,
    rows: Integers,
    judged: Array,
    levels: Array,
    starts: Integers,
    heads: Array,
    after: Array,
    scratch: Array,
    out: Array,
    counts: Array,
) -> int:
    """The level of the first ranks of every ranking, and how often each occurs in all of it.

    documents: of all rankings. begins, lengths: where each of them is.
    order: the rankings, those of one query together. rows: the query of each ranking.
    judged, levels: of the judgments. starts: where those of each query begin, and the end.
    heads: 2**b numbers, all 0, now and afterwards. after: as many as a query has judgments.
    scratch: (2, the longest ranking's length and 7 more).
    out: (n, width), filled. counts: (n_grades, n), likewise; or (0, n).
    """
    shift, width = np.uint64(64 - _bits(len(heads))), out.shape[1]
    room = (shift, heads, after, scratch[0], scratch[1])
    query, is_hashed = -1, False
    own, worth = judged[:0], levels[:0]
    for ranking in order:
        n_ranks = lengths[ranking] if len(counts) else min(lengths[ranking], width)
        ranked = documents[begins[ranking] : begins[ranking] + n_ranks]
        if rows[ranking] != query:
            if is_hashed:
                _forget(own, shift, heads)
            query, is_hashed = rows[ranking], False
            own = judged[starts[query] : starts[query + 1]]
            worth = levels[starts[query] : starts[query + 1]]
        if not is_hashed and _is_hashed(n_ranks, len(own)):
            is_hashed = True
            _keep(own, shift, heads, after)
        _find(is_hashed, ranked, own, worth, room, out[ranking], counts, ranking)
    if is_hashed:
        _forget(own, shift, heads)
    return 0


@_inner
def _tally(levels: Array, counts: Array, place: int) -> None:
    """How often each level occurs among these."""
    none, one, eight, most = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(255)
    if len(levels) <= _COUNTED and len(counts) <= _TALLIED:
        tally = none
        for number in range(len(levels)):
            tally += one << np.uint64(levels[number]) * eight
        for grade in range(len(counts)):
            tally >>= eight
            counts[grade, place] = tally & most
    else:
        counts[:, place] = 0
        for number in range(len(levels)):
            counts[levels[number] - 1, place] += 1


@_inner
def _number(counts: Array, row: int, best_first: Integers, powers: Words, depth: int) -> np.uint64:
    """The number of the best `depth` documents of these, as `normalise` numbers ideal rankings."""
    number, room = np.uint64(0), np.int64(depth)
    for level in best_first:
        fitting = min(np.int64(counts[level - 1, row]), room)
        number += np.uint64(fitting) * powers[level]
        room -= fitting
    return number


@_inner
def _cumulate(
    near: Array,
    row: int,
    terms: Floats,
    powers: Words,
    stops: Integers,
    own: Floats,
    numbers: Words,
) -> None:
    """A ranking's DCG at every stop, and the number of what stands before it."""
    n_levels = np.uint64(len(powers))
    total, number, rank, at = 0.0, np.uint64(0), np.uint64(0), np.uint64(0)
    for stop in range(len(stops)):
        end = np.uint64(stops[stop])
        while rank < end:
            level = np.uint64(near[row, rank])
            total += terms[at + level]
            number += powers[level]
            at += n_levels
            rank += np.uint64(1)
        own[stop, row] = total
        numbers[stop + 2, row] = number
    numbers[1, row] = number


@_inner
def _divide(
    n_rows: int,
    own: Floats,
    numbers: Words,
    ideals: Floats,
    tops: Floats,
    sources: Integers,
    places: Integers,
    is_multiplied: int,
    ideal: Floats,
    out: Floats,
    start: int,
) -> None:
    """Every measure of some rankings: DCG by ideal DCG."""
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


@loop(
    "uint8[2]", "int32[2]", "int32[2]",
    "float64[1]", "int64[1]", "uint64[1]", "int64[1]", "int64", "float64[2]", "float64[1]",
    "int64[1]", "int64[1]", "int64",
    "uint8[2]", "float64[2]", "uint64[2]", "float64[1]", "float64[2]",
)  # fmt: skip
def normalise(
    ranks: Array,
    judged: Array,
    returned: Array,
    terms: Floats,
    best_first: Integers,
    powers: Words,
    stops: Integers,
    deepest: int,
    ideals: Floats,
    tops: Floats,
    sources: Integers,
    places: Integers,
    is_multiplied: int,
    near: Array,
    own: Floats,
    numbers: Words,
    ideal: Floats,
    out: Floats,
) -> int:
    """nDCG of every ranking, (n_measures, n).

    ranks: the levels, (ranks, n). judged, returned: how many documents have each level, (n_grades,
    n); of those returned nothing (0, n) where the ranks tell.
    terms: what each level at each rank adds to the DCG, rank after rank.
    best_first: the levels that gain something. powers: what a document of each level adds to the
    number of an ideal ranking.
    stops: the ranks behind which DCGs are wanted, ascending. deepest: documents of an ideal.
    ideals: by number, the ideal DCG at each stop. tops: likewise, of the top grade alone.
    sources: what each measure's ideal is made of: 0 all judged, 1 all returned, 2 the documents
    before its stop, 3 the top grade. places: its stop.
    is_multiplied: ideals are inverses.
    near, own, numbers, ideal: room for as many rankings as are worked on together: they stay in
    the nearest cache. (together, ranks), (stops, together), (stops + 2, together), (together,).
    """
    depth, n_rankings = stops[-1], ranks.shape[1]
    for start in range(0, n_rankings, len(near)):
        n_rows = min(len(near), n_rankings - start)
        for rank in range(depth):
            for row in range(n_rows):
                near[row, rank] = ranks[rank, start + row]
        for row in range(n_rows):
            _cumulate(near, row, terms, powers, stops, own, numbers)
            numbers[0, row] = _number(judged, start + row, best_first, powers, deepest)
            if len(returned):
                numbers[1, row] = _number(returned, start + row, best_first, powers, deepest)
        _divide(
            n_rows, own, numbers, ideals, tops, sources, places, is_multiplied, ideal, out, start
        )
    return 0


@loop(
    "int32[1]", "int64[1]", "int64[1]", "int64[1]", "int32[1]", "uint8[1]", "int64[1]",
    "uint16[1]", "uint16[1]", "int32[2]", "int32[2]", "int32[2]",
    "float64[1]", "int64[1]", "uint64[1]", "int64[1]", "int64", "float64[2]", "float64[1]",
    "int64[1]", "int64[1]", "int64",
    "uint8[2]", "float64[2]", "uint64[2]", "float64[1]", "int64[1]", "float64[2]",
)  # fmt: skip
def score(
    documents: Array,
    begins: Integers,
    lengths: Integers,
    rows: Integers,
    judged: Array,
    levels: Array,
    starts: Integers,
    heads: Array,
    after: Array,
    scratch: Array,
    tally: Array,
    counts: Array,
    terms: Floats,
    best_first: Integers,
    powers: Words,
    stops: Integers,
    deepest: int,
    ideals: Floats,
    tops: Floats,
    sources: Integers,
    places: Integers,
    is_multiplied: int,
    near: Array,
    own: Floats,
    numbers: Words,
    ideal: Floats,
    order: Integers,
    out: Floats,
) -> int:
    """`look_up` and `normalise` in one: nDCG of rankings, (n_measures, n), in the order given.

    tally: (n_grades, 1). counts: (n_grades, rankings that are worked on together), or (0, n) where
    the first ranks tell all.
    """
    shift, width = np.uint64(64 - _bits(len(heads))), near.shape[1]
    room = (shift, heads, after, scratch[0], scratch[1])
    query, is_hashed, best = -1, False, np.uint64(0)
    mine, worth = judged[:0], levels[:0]
    for start in range(0, len(order), len(near)):
        n_rows = min(len(near), len(order) - start)
        for row in range(n_rows):
            ranking = order[start + row]
            n_ranks = lengths[ranking] if len(counts) else min(lengths[ranking], width)
            ranked = documents[begins[ranking] : begins[ranking] + n_ranks]
            if rows[ranking] != query:
                if is_hashed:
                    _forget(mine, shift, heads)
                query, is_hashed = rows[ranking], False
                mine = judged[starts[query] : starts[query + 1]]
                worth = levels[starts[query] : starts[query + 1]]
                if len(worth) <= deepest:
                    best = np.uint64(0)
                    for level in worth:
                        best += powers[level]
                else:
                    _tally(worth, tally, 0)
                    best = _number(tally, 0, best_first, powers, deepest)
            if not is_hashed and _is_hashed(n_ranks, len(mine)):
                is_hashed = True
                _keep(mine, shift, heads, after)
            _find(is_hashed, ranked, mine, worth, room, near[row], counts, row)
            _cumulate(near, row, terms, powers, stops, own, numbers)
            numbers[0, row] = best
            if len(counts):
                numbers[1, row] = _number(counts, row, best_first, powers, deepest)
        _divide(
            n_rows, own, numbers, ideals, tops, sources, places, is_multiplied, ideal, out, start
        )
    if is_hashed:
        _forget(mine, shift, heads)
    return 0


@_inner
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


@_inner_in_any_order
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


@loop("uint8[1]", "int64[1]", "int32[2]")
def count(levels: Array, starts: Integers, out: Array) -> int:
    """How many judgments of each query have each level: int32 (n_grades, n_queries), filled."""
    for query in range(len(starts) - 1):
        _tally(levels[starts[query] : starts[query + 1]], out, query)
    return 0
