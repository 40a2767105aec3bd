"""The join of rankings with judgments: which level has the document at every rank.

It goes from query to query, some of them at a time, and for each chunk takes the cheapest way:
comparing every rank with every judged document (few of either), looking ranks up in a table over
document ids (many rankings of one query, or long ones), or searching for them in a sorted list (ids
too far apart for a table). Which way is taken changes no level.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.measures.counting import NARROW, CountArray, by_rank, count_levels
from touchstone.measures.grades import UNJUDGED, LevelArray

IntArray = npt.NDArray[np.integer]
Rows = slice | IntArray
Way = Callable[[IntArray, IntArray, int, int], LevelArray]

_CELLS: Final = 1 << 17  # ranks that are looked up at once: they stay in the cache
_TABLE_CELLS: Final = 1 << 22  # bytes of a table that several queries share
_LARGEST_SPAN: Final = 1 << 26  # of document ids; beyond it they are searched for instead
_LARGEST_KEY: Final = 1 << 62  # of (query, document); beyond it queries are searched one by one
# What the ways cost, in nanoseconds, as measured.
_PER_COMPARISON: Final = 0.25  # of a rank with a judged document
_PER_TABLE: Final = 8000.0  # filling a table, and emptying it
_PER_GATHER: Final = 1.5  # a rank looked up in it
_PER_OFFSET: Final = 1.5  # more, where several queries share it
_PER_STEP: Final = 2.0  # a step of a binary search for a rank
_SPARSE: Final = 64  # times as many ranks as judged documents: then ranks are counted one by one


@dataclass(frozen=True)
class Judgments:
    """The judgments of some queries, query after query.

    documents: int, the judged documents' ids; distinct within a query, in any order.
    levels: uint8, their levels (`Grades.levels` of their grade codes), none of them 0.
    lengths: int (n_queries,), how many belong to each query.
    """

    documents: IntArray
    levels: LevelArray
    lengths: IntArray

    def __post_init__(self) -> None:
        if not len(self.documents) == len(self.levels) == int(self.lengths.sum()):
            raise ValueError("documents, levels and lengths must agree")

    @cached_property
    def starts(self) -> IntArray:
        """Where each query's judgments begin, and behind them where the last ends."""
        return np.concatenate(([0], np.cumsum(self.lengths, dtype=np.int64)))

    def counts(self, n_grades: int) -> CountArray:
        """How many documents of each query are judged at each level 1..n_grades."""
        n_queries = len(self.lengths)
        out = np.empty((n_grades, n_queries), np.int32)
        step = max(1, _CELLS * n_queries // max(1, len(self.levels)))
        for first in range(0, n_queries, step):
            last = min(first + step, n_queries)
            lengths = self.lengths[first:last]
            levels = self.levels[int(self.starts[first]) : int(self.starts[last])]
            if lengths.min() == lengths.max() > 0:
                levels = _turned(levels.reshape(len(lengths), -1))
                out[:, first:last] = count_levels(levels, n_grades).T
            else:
                cells = np.repeat(np.arange(len(lengths)) * n_grades, lengths) + (levels - 1)
                flat = np.bincount(cells, minlength=len(lengths) * n_grades)
                out[:, first:last] = flat.reshape(-1, n_grades).T
        return out.T


@dataclass(frozen=True)
class Joined:
    """levels: uint8 (n, width), 0 behind a ranking's end. counts: of all its documents."""

    levels: LevelArray
    counts: CountArray | None


@dataclass(frozen=True, eq=False)
class Join:
    """One join to be done.

    documents, lengths: of the rankings, one behind the other. rows: each one's row of judgments.
    width: ranks whose levels are wanted. n_grades: where all levels are to be counted, else 0.
    """

    documents: IntArray
    lengths: IntArray
    rows: IntArray
    judgments: Judgments
    width: int
    n_grades: int = 0

    def done(self) -> Joined:
        """The levels, and the counts where they are wanted."""
        n_rankings = len(self.lengths)
        levels = by_rank(n_rankings, self.width)
        counts = np.zeros((self.n_grades, n_rankings), np.int32) if self.n_grades else None
        if self.depth == 0 or not len(self.judgments.documents):
            levels[:] = UNJUDGED
            return Joined(levels, None if counts is None else counts.T)
        for first, last, mine in self._chunks():
            result = self._looked_up(first, last, mine)
            levels[mine] = result[:, : self.width]
            if counts is not None:
                sparse = int(self.judgments.lengths[first:last].max()) * _SPARSE < self.depth
                counted = _counted_where_judged if sparse else count_levels
                counts[:, mine] = counted(result, self.n_grades).T
        return Joined(levels, None if counts is None else counts.T)

    @cached_property
    def depth(self) -> int:
        """How many ranks are looked up."""
        longest = int(self.lengths.max(initial=0))
        return longest if self.n_grades else min(self.width, longest)

    @cached_property
    def judged(self) -> IntArray:
        """The judged documents, in the type of the ranked ones where that can hold them."""
        own = self.judgments.documents
        kind = self.documents.dtype
        if own.dtype == kind or not len(own):
            return own
        info = np.iinfo(kind)
        fits = info.min <= int(own.min()) and int(own.max()) <= info.max
        return own.astype(kind) if fits else own

    @cached_property
    def lowest(self) -> int:
        """Where the numbering of document ids begins: with 0 where that is near enough."""
        lowest = min(int(self.documents.min()), int(self.judged.min()))
        return 0 if 0 <= lowest < _LARGEST_SPAN else lowest

    @cached_property
    def span(self) -> int:
        """How far document ids lie apart."""
        return max(int(self.documents.max()), int(self.judged.max())) - self.lowest + 1

    @cached_property
    def together(self) -> int:
        """How many queries share a table."""
        return min(len(self.judgments.lengths), max(1, _TABLE_CELLS // self.span))

    @cached_property
    def table(self) -> LevelArray:
        """A level for every document id of some queries; all 0 whenever no one looks up."""
        return np.zeros(self.span * self.together, np.uint8)

    @cached_property
    def starts(self) -> IntArray:
        """Where each ranking begins."""
        return np.cumsum(self.lengths) - self.lengths

    def _chunks(self) -> Iterator[tuple[int, int, Rows]]:
        """Queries first..last, and which rankings are theirs, in their order."""
        in_order = bool((self.rows[1:] >= self.rows[:-1]).all())
        positions = None if in_order else _by_query(self.rows)
        ordered = self.rows if positions is None else self.rows[positions]
        n_rankings, step = len(ordered), max(1, _CELLS // self.depth)
        low = 0
        while low < n_rankings:
            # whole queries, as many as fit; one at least
            edge = int(ordered[min(low + step, n_rankings) - 1])
            high = int(np.searchsorted(ordered, edge, "left"))
            if high <= low or low + step >= n_rankings:
                high = int(np.searchsorted(ordered, edge, "right"))
            mine: Rows = slice(low, high) if positions is None else _even(positions[low:high])
            yield int(ordered[low]), int(ordered[high - 1]) + 1, mine
            low = high

    def _looked_up(self, first: int, last: int, mine: Rows) -> LevelArray:
        """The levels of some rankings of the queries first..last, to the depth."""
        ranked, filled = self._ranked(mine)
        lengths, rows = self.judgments.lengths[first:last], self.rows[mine] - first
        if not (most := int(lengths.max())):
            return np.zeros(ranked.shape, np.uint8)
        way = self._cheapest(ranked.size, most, int(lengths.sum()), last - first)
        levels = way(ranked, rows, first, last)
        if filled is not None:
            levels *= filled
        return levels

    def _cheapest(self, cells: int, most: int, n_judged: int, n_queries: int) -> Way:
        """The way to look up so many ranks.

        most: judged documents of one query. n_judged: of all of them.
        """
        comparing = cells * most * _PER_COMPARISON
        if comparing <= _PER_TABLE + cells * _PER_GATHER:
            return self._compared  # whatever the ids are: no one need look at them
        per_cell = _PER_GATHER + (_PER_OFFSET if min(n_queries, self.together) > 1 else 0.0)
        costs: dict[Way, float] = {
            self._compared: comparing,
            self._searched: cells * (1 + n_judged.bit_length()) * _PER_STEP,
        }
        if self.span <= _LARGEST_SPAN:
            tables = -(-n_queries // self.together)
            costs[self._tabled] = tables * _PER_TABLE + cells * per_cell
        return min(costs, key=costs.__getitem__)

    def _ranked(self, mine: Rows) -> tuple[IntArray, npt.NDArray[np.bool_] | None]:
        """The documents of some rankings as (n, depth), and which cells are filled; None: all."""
        lengths, depth = self.lengths[mine], self.depth
        if self._matrix is not None:
            return self._matrix[mine], None
        shortest = int(lengths.min())
        if isinstance(mine, slice) and mine.step is None and shortest == lengths.max() == depth:
            start = int(self.starts[mine.start])
            return self.documents[start : start + depth * len(lengths)].reshape(-1, depth), None
        positions = self.starts[mine][:, None] + np.arange(depth)
        filled = None if shortest >= depth else np.arange(depth) < lengths[:, None]
        return self.documents.take(positions, mode="clip"), filled

    @cached_property
    def _matrix(self) -> IntArray | None:
        """All rankings, where they are equally long."""
        longest = int(self.lengths.max())
        if len(self.documents) != longest * len(self.lengths):
            return None
        return self.documents.reshape(-1, longest)[:, : self.depth]

    def _compared(self, ranked: IntArray, rows: IntArray, first: int, last: int) -> LevelArray:
        """Every rank with every judged document of its query."""
        lengths = self.judgments.lengths[first:last]
        positions = self.judgments.starts[first:last, None] + np.arange(int(lengths.max()))
        inside = np.arange(positions.shape[1]) < lengths[:, None]
        judged = self.judged.take(positions, mode="clip")
        levels = self.judgments.levels.take(positions, mode="clip") * inside
        if len(rows) != last - first or (rows[1:] == rows[:-1]).any():
            judged, levels = judged[rows], levels[rows]
        if ranked.shape[1] > NARROW:
            return _compared(ranked, judged.T[:, :, None], levels.T[:, :, None])
        turned = np.ascontiguousarray(ranked.T), np.ascontiguousarray(judged.T)
        return _compared(*turned, np.ascontiguousarray(levels.T)).T

    def _tabled(self, ranked: IntArray, rows: IntArray, first: int, last: int) -> LevelArray:
        """By a table: scatter the judgments, gather the ranks, reset; some queries at a time."""
        if last - first > self.together:
            edges = [*range(0, last - first, self.together), last - first]
            positions = np.searchsorted(rows, edges).tolist()
            out = np.empty(ranked.shape, np.uint8)
            for low, high, start, stop in zip(
                edges, edges[1:], positions, positions[1:], strict=False
            ):
                part = slice(start, stop)
                out[part] = self._tabled(ranked[part], rows[part] - low, first + low, first + high)
            return out
        judgments = self.judgments
        position = slice(int(judgments.starts[first]), int(judgments.starts[last]))
        cells: IntArray = self.judged[position]
        if last - first > 1 or self.lowest:
            queries = np.repeat(np.arange(last - first), judgments.lengths[first:last])
            cells = cells + (queries * self.span - self.lowest)
            ranked = ranked + (rows.astype(np.int64) * self.span - self.lowest)[:, None]
        self.table[cells] = judgments.levels[position]
        levels = self.table.take(ranked)
        self.table[cells] = UNJUDGED
        return levels

    def _searched(self, ranked: IntArray, rows: IntArray, first: int, last: int) -> LevelArray:
        """By searching a sorted list of (query, document)."""
        if self.span * (last - first) > _LARGEST_KEY and last - first > 1:
            edges = np.searchsorted(rows, np.arange(last - first + 1)).tolist()
            parts = [
                self._searched(ranked[low:high], rows[low:high] * 0, query, query + 1)
                for query, (low, high) in enumerate(pairwise(edges), first)
            ]
            return np.concatenate(parts)
        judgments = self.judgments
        position = slice(int(judgments.starts[first]), int(judgments.starts[last]))
        keys, wanted = self.judged[position].astype(np.int64), ranked.astype(np.int64)
        if last - first > 1:
            keys -= self.lowest
            keys += np.repeat(np.arange(last - first), judgments.lengths[first:last]) * self.span
            wanted += (rows.astype(np.int64) * self.span - self.lowest)[:, None]
        return _found(keys, judgments.levels[position], wanted)


def _by_query(rows: IntArray) -> npt.NDArray[np.int64]:
    """The rankings, those of one query together. rows: the query of each."""
    if (rows[1:] >= rows[:-1]).all():
        return np.arange(len(rows))
    return np.argsort(rows, kind="stable")


def _compared(ranked: IntArray, judged: IntArray, levels: LevelArray) -> LevelArray:
    """The level of what stands in `ranked`. judged, levels: one after the other, broadcast."""
    same = np.empty(ranked.shape, bool)
    ones = same.view(np.uint8)
    out = np.zeros(ranked.shape, np.uint8)
    for document, level in zip(judged, levels, strict=True):
        np.equal(ranked, document, out=same)
        np.multiply(ones, level, out=ones)
        np.bitwise_or(out, ones, out=out)  # one document of a query matches, at most
    return out


def _found(keys: IntArray, levels: LevelArray, wanted: IntArray) -> LevelArray:
    """The level of every key that is wanted; 0 where there is none of it."""
    if len(keys) == 0:
        return np.zeros(wanted.shape, np.uint8)
    if (keys[1:] < keys[:-1]).any():
        order = np.argsort(keys)
        keys, levels = keys[order], levels[order]
    positions = np.searchsorted(keys, wanted)
    positions[positions == len(keys)] = 0
    out: LevelArray = levels.take(positions) * (keys.take(positions) == wanted)
    return out


def _counted_where_judged(levels: LevelArray, n_grades: int) -> CountArray:
    """`count_levels`, for a matrix in which next to nothing is judged."""
    if levels.size % 8 or not levels.flags.c_contiguous:
        return count_levels(levels, n_grades)
    flat = levels.reshape(-1)
    words = np.flatnonzero(flat.view(np.uint64))  # eight ranks at once
    cells = (words[:, None] * 8 + np.arange(8)).ravel()
    own = flat.take(cells)
    positions = cells // levels.shape[1] * n_grades + (own.astype(np.intp) - 1)
    counts = np.bincount(positions[own > 0], minlength=len(levels) * n_grades)
    return counts.reshape(-1, n_grades).astype(np.int32)


def _turned(levels: LevelArray) -> LevelArray:
    """The same matrix, by rank where it is narrow."""
    return np.asfortranarray(levels) if levels.shape[1] <= NARROW else levels


def _even(positions: IntArray) -> Rows:
    """The places as a slice, where they lie evenly apart: a view needs no copy."""
    steps = np.diff(positions)
    if not len(steps) or (steps != steps[0]).any() or steps[0] <= 0:
        return positions
    return slice(int(positions[0]), int(positions[-1]) + 1, int(steps[0]))
