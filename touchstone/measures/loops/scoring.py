"""From documents to values: whatever is in between stays in the nearest cache."""

import numpy as np

from touchstone.compiled import loop
from touchstone.measures.loops.looking_up import find_levels, room_of
from touchstone.measures.loops.normalising import cumulate, divide, number_of, tally
from touchstone.measures.loops.parts import Array, Floats, Integers, Words


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
    tallied: Array,
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

    tallied: (n_grades, 1). counts: (n_grades, rankings that are worked on together), or (0, n)
    where the first ranks tell all.
    """
    room = room_of(heads, after, scratch)
    query, best = -1, np.uint64(0)
    for start in range(0, len(order), len(near)):
        some = order[start : start + len(near)]
        find_levels(
            documents, begins, lengths, rows, judged, levels, starts, room, stops[-1], some, near,
            counts,
        )  # fmt: skip
        for row in range(len(some)):
            if rows[some[row]] != query:
                query = rows[some[row]]
                tally(levels[starts[query] : starts[query + 1]], tallied, 0)
                best = number_of(tallied, 0, best_first, powers, deepest)
            cumulate(near, row, terms, powers, stops, own, numbers)
            numbers[0, row] = best
            if len(counts):
                numbers[1, row] = number_of(counts, row, best_first, powers, deepest)
        divide(
            len(some), own, numbers, ideals, tops, sources, places, is_multiplied, ideal, out, start
        )
    return 0
