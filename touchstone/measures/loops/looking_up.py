"""The join of rankings with judgments: the level of every rank."""

from typing import Final

import numpy as np

from touchstone.compiled import loop
from touchstone.measures.loops.lanes import LANES, compare
from touchstone.measures.loops.parts import Array, Integers, part

Room = tuple[np.uint64, Array, Array, Array, Array]  # shift, heads, after, and two of a ranking

_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
# What looking up costs, in thirds of a rank compared with one judged document.
_PER_HASH: Final = 60  # a rank looked up by hashes
_PER_KEPT: Final = 240  # a judged document put there, and taken away


@part
def room_of(heads: Array, after: Array, scratch: Array) -> Room:
    """Where ranks are looked up: `look_up` says what it is made of."""
    bits = 0
    while (1 << bits) < len(heads):
        bits += 1
    return np.uint64(64 - bits), heads, after, scratch[0], scratch[1]


@part
def _is_hashed(n_ranks: int, n_judged: int) -> bool:
    """Whether hashes are cheaper than comparing every rank with every judged document."""
    return n_ranks * n_judged * 3 > n_ranks * _PER_HASH + n_judged * _PER_KEPT


@part
def _keep(judged: Array, room: Room) -> None:
    """Chains of judged documents, numbered from 1: `heads` by hash, and who comes `after` whom."""
    shift, heads, after, _, _ = room
    for place in range(len(judged)):
        slot = (np.uint64(judged[place]) * _SPREAD) >> shift
        after[place] = heads[slot]
        heads[slot] = place + 1


@part
def _forget(judged: Array, room: Room) -> None:
    """Takes out what `_keep` put in."""
    shift, heads, _, _, _ = room
    for place in range(len(judged)):
        heads[(np.uint64(judged[place]) * _SPREAD) >> shift] = 0


@part
def _find_by_hash(
    ranked: Array, judged: Array, levels: Array, room: Room, out: Array, counts: Array, row: int
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
        counts[grade, row] = n


@part
def _find_by_comparing(
    documents: Array,
    begin: int,
    n_ranks: int,
    judged: Array,
    levels: Array,
    room: Room,
    out: Array,
    counts: Array,
    row: int,
) -> None:
    """The same, by comparing every rank with every judged document.

    Lanes behind the ranking's end are filled with whatever comes next.
    """
    _, _, _, near, _ = room
    n_own = min(n_ranks, len(out))
    for first in range(0, n_own, LANES):
        ranked = documents[begin + first : begin + first + LANES]
        if len(ranked) < LANES:  # nothing comes next
            for rank in range(len(ranked)):
                near[rank] = ranked[rank]
            ranked = near[:LANES]
        compare(ranked, judged, levels, out[first : first + LANES], n_own - first)
    for rank in range((n_own + LANES - 1) // LANES * LANES, len(out)):
        out[rank] = 0
    if len(counts):
        counts[:, row] = 0
        ranked = documents[begin : begin + n_ranks]
        for number in range(len(judged)):
            document, hits = judged[number], 0
            for rank in range(len(ranked)):
                hits += ranked[rank] == document
            counts[levels[number] - 1, row] += hits


@part
def find_levels(
    documents: Array,
    begins: Integers,
    lengths: Integers,
    rows: Integers,
    judged: Array,
    levels: Array,
    starts: Integers,
    room: Room,
    width: int,
    order: Integers,
    out: Array,
    counts: Array,
) -> None:
    """As `look_up`."""
    query, is_hashed = -1, False
    mine, worth = judged[:0], levels[:0]
    for row in range(len(order)):
        ranking = order[row]
        begin = begins[ranking]
        n_ranks = lengths[ranking] if len(counts) else min(lengths[ranking], width)
        if rows[ranking] != query:
            if is_hashed:
                _forget(mine, room)
            query, is_hashed = rows[ranking], False
            mine = judged[starts[query] : starts[query + 1]]
            worth = levels[starts[query] : starts[query + 1]]
        if not is_hashed and _is_hashed(n_ranks, len(mine)):
            is_hashed = True
            _keep(mine, room)
        if is_hashed:
            ranked = documents[begin : begin + n_ranks]
            _find_by_hash(ranked, mine, worth, room, out[row], counts, row)
        else:
            _find_by_comparing(documents, begin, n_ranks, mine, worth, room, out[row], counts, row)
    if is_hashed:
        _forget(mine, room)


@loop(
    "int32[1]", "int64[1]", "int64[1]", "int64[1]", "int32[1]", "uint8[1]", "int64[1]",
    "uint16[1]", "uint16[1]", "int32[2]", "int64", "int64[1]", "uint8[2]", "int32[2]",
)  # fmt: skip
def look_up(
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
    width: int,
    order: Integers,
    out: Array,
    counts: Array,
) -> int:
    """The level of the first ranks of every ranking, and how often each occurs in all of it.

    documents: of all rankings. begins, lengths: where each of them is. rows: the query of each.
    judged, levels: of the judgments. starts: where those of each query begin, and the end.
    heads: 2**b numbers, all 0, now and afterwards. after: as many as a query has judgments.
    scratch: (2, the longest ranking's length, LANES at least).
    width: how many ranks' levels are wanted.
    order: the rankings, those of one query together; `out` and `counts` are in this order.
    out: (n, a multiple of LANES, width at least), filled; what is behind the width is of no use.
    counts: (n_grades, n), filled; or (0, n).
    """
    room = room_of(heads, after, scratch)
    find_levels(
        documents, begins, lengths, rows, judged, levels, starts, room, width, order, out, counts
    )
    return 0
