"""nDCG of levels: DCGs, divided by those of ideal rankings, which lie in a table by number."""

from typing import Final

import numpy as np

from touchstone.compiled import loop
from touchstone.measures.loops.parts import Array, Floats, Integers, Words, part

_TALLIED: Final = 7  # levels, besides 0, that one word can count
_COUNTED: Final = 255  # documents that a count of eight bits can hold
_BEFORE_STOP: Final = 2  # of what an ideal is made, as `normalise` numbers it
_TOP_GRADE: Final = 3


@part
def tally(levels: Array, counts: Array, place: int) -> None:
    """How often each level occurs among these."""
    none, one, eight, most = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(255)
    if len(levels) <= _COUNTED and len(counts) <= _TALLIED:
        word = none
        for number in range(len(levels)):
            word += one << np.uint64(levels[number]) * eight
        for grade in range(len(counts)):
            word >>= eight
            counts[grade, place] = word & most
    else:
        counts[:, place] = 0
        for number in range(len(levels)):
            counts[levels[number] - 1, place] += 1


@part
def number_of(
    counts: Array, row: int, best_first: Integers, powers: Words, depth: int
) -> np.uint64:
    """The number of the best `depth` documents of these, as `normalise` numbers ideal rankings."""
    number, left = np.uint64(0), np.int64(depth)
    for level in best_first:
        fitting = min(np.int64(counts[level - 1, row]), left)
        number += np.uint64(fitting) * powers[level]
        left -= fitting
    return number


@part
def cumulate(
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


@part
def divide(
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
    """Every measure of some rankings: DCG by ideal DCG, from a place on."""
    for measure in range(len(out)):
        stop, source = places[measure], sources[measure]
        if source == _TOP_GRADE:
            for row in range(n_rows):
                ideal[row] = tops[stop]
        else:
            line = stop + 2 if source == _BEFORE_STOP else source
            for row in range(n_rows):
                ideal[row] = ideals[numbers[line, row], stop]
        values = out[measure, start : start + n_rows]
        if is_multiplied:
            for row in range(n_rows):
                values[row] = own[stop, row] * ideal[row]
        else:
            for row in range(n_rows):
                values[row] = own[stop, row] / ideal[row]


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
    the nearest cache. (together, ranks at least), (stops, together), (stops + 2, together),
    (together,).
    """
    depth, n_rankings = stops[-1], ranks.shape[1]
    for start in range(0, n_rankings, len(near)):
        n_rows = min(len(near), n_rankings - start)
        for rank in range(depth):
            levels = ranks[rank, start : start + n_rows]
            for row in range(n_rows):
                near[row, rank] = levels[row]
        for row in range(n_rows):
            cumulate(near, row, terms, powers, stops, own, numbers)
            numbers[0, row] = number_of(judged, start + row, best_first, powers, deepest)
            if len(returned):
                numbers[1, row] = number_of(returned, start + row, best_first, powers, deepest)
        divide(
            n_rows, own, numbers, ideals, tops, sources, places, is_multiplied, ideal, out, start
        )
    return 0


@loop("uint8[1]", "int64[1]", "int32[2]")
def count(levels: Array, starts: Integers, out: Array) -> int:
    """How many judgments of each query have each level: int32 (n_grades, n_queries), filled."""
    for query in range(len(starts) - 1):
        tally(levels[starts[query] : starts[query + 1]], out, query)
    return 0
