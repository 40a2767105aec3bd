"""The measures of a table that holds whole queries, in any order of rows: integers per segment.

Rows are brought together by numbers for queries and documents; everything else is the library's:
the order of a ranking, the matrix of grades, the measures, the exact sums.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from touchstone.bulk.counts import NAMELESS, BulkCounts, SegmentCounts, checked, shown
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.ids import ArrowIds
from touchstone.bulk.plan import Plan
from touchstone.measures.definition import Measure
from touchstone.measures.engine import Values, counts_needed, depth_needed, evaluate_batch
from touchstone.measures.errors import MeasureError, ZeroIdealError
from touchstone.measures.exact import exact_sums
from touchstone.measures.grades import MOST_GRADES, Grades, LevelArray
from touchstone.measures.ordering import rank_orders, rule_of, tie_starts
from touchstone.measures.rankings import BoolArray, GradedRankings, Judgments, grade_rankings
from touchstone.measures.scoring import of_like_width, ranges

Numbers = npt.NDArray[np.int64]

_CELLS: Final = 1 << 21  # of one matrix of ranks: bounds memory however deep a ranking is
_LOW: Final = np.uint64(2**32 - 1)
_HALF: Final = np.uint64(32)
_MOST_ROWS: Final = 2**31


@dataclass(frozen=True, eq=False)
class QueryRows:
    """The rows of some whole queries.

    table: the columns of `columns`, each in one piece. queries: the number of each row's query.
    names: the queries by number.
    """

    table: pa.Table
    queries: Numbers
    names: pa.Array

    @classmethod
    def of(cls, table: pa.Table) -> "QueryRows":
        """Raises BulkRefused for more rows than are worked on at once."""
        if table.num_rows >= _MOST_ROWS:
            raise BulkRefused(f"{table.num_rows:,} rows at once; {_MOST_ROWS - 1:,} are the most")
        encoded = _one_piece(table.column("query")).dictionary_encode()
        numbers = encoded.indices.to_numpy(zero_copy_only=False)
        return cls(table, numbers, encoded.dictionary)

    def column(self, name: str) -> pa.Array:
        """One of the table's columns."""
        return _one_piece(self.table.column(name))

    def name(self, query: int) -> str:
        """A query's name, for people."""
        return repr(shown(self.names[query].as_py()))

    @property
    def documents(self) -> npt.NDArray[np.uint64]:
        """A number below 2**32 for each row's document."""
        ids = self.column("document")
        if pa.types.is_int64(ids.type):
            numbers = ids.to_numpy(zero_copy_only=False)
            least = int(numbers.min(initial=0))
            if int(numbers.max(initial=0)) - least <= int(_LOW):
                return np.asarray(numbers - least, np.uint64)
        encoded = ids.dictionary_encode()
        return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), np.uint64)

    @property
    def pairs(self) -> npt.NDArray[np.uint64]:
        """A number for each row's query and document together."""
        numbers: npt.NDArray[np.uint64] = self.queries.astype(np.uint64)
        numbers <<= _HALF
        numbers |= self.documents
        return numbers

    @cached_property
    def by_query(self) -> Numbers:
        """All rows, query by query, in their order."""
        # a stable sort of 16 bits is NumPy's radix sort, two of which are quicker than one of 32
        order = np.argsort((self.queries & 0xFFFF).astype(np.uint16), kind="stable")
        if len(self.names) > 1 << 16:
            high = (self.queries >> 16).astype(np.uint16)
            order = order[np.argsort(high[order], kind="stable")]
        return order

    @cached_property
    def is_judgment(self) -> BoolArray | None:
        """Which rows are of a data set of judgments; None where there is none."""
        if "judgment" not in self.table.column_names:
            return None
        result: BoolArray = self.column("judgment").to_numpy(zero_copy_only=False)
        return result

    @cached_property
    def is_ranked(self) -> BoolArray:
        """Which rows have a score."""
        return np.asarray(self.column("score").is_valid().to_numpy(zero_copy_only=False), bool)

    def counted(self, chosen: BoolArray | None = None) -> Numbers:
        """How many rows, or of the chosen ones, each query has."""
        own = self.queries if chosen is None else self.queries[chosen]
        return np.bincount(own, minlength=len(self.names))


def evaluate_rows(plan: Plan, table: pa.Table) -> BulkCounts:
    """The exact sums of every measure over the table's queries, all of whose rows it holds.

    table: with the columns of `columns`; the order of its rows changes no bit.
    Raises BulkRefused for a pair twice, a query in two segments, or ties that a measure has no
    rule for here; MeasureError for what the measures themselves refuse. Each names the query.
    """
    rows = QueryRows.of(table)
    if not len(rows.names):
        return BulkCounts()
    _check_pairs(rows)
    levels, grades, seen = _levels(rows, plan)
    checked(BulkCounts(grades=seen))
    result = _values(plan, rows, levels, grades)
    return checked(BulkCounts(_by_segment(rows, result), seen))


def query_values(plan: Plan, rows: QueryRows) -> tuple[Values, list[str]]:
    """Every measure of every query by number, and the segment of each.

    Raises as `evaluate_rows`.
    """
    _check_pairs(rows)
    levels, grades, _ = _levels(rows, plan)
    numbers, names = _segments(rows)
    return _values(plan, rows, levels, grades), [names[number] for number in numbers]


def _one_piece(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _check_pairs(rows: QueryRows) -> None:
    pairs = rows.pairs
    if rows.is_judgment is None:
        _check_distinct(rows, pairs, "")
        return
    _check_distinct(rows, pairs[~rows.is_judgment], " in the rankings")
    _check_distinct(rows, pairs[rows.is_judgment], " in the judgments")


def _check_distinct(rows: QueryRows, pairs: npt.NDArray[np.uint64], where: str) -> None:
    ordered = np.sort(pairs)
    again = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(again):
        first = int(np.argmax(rows.pairs == ordered[again[0]]))
        document = rows.column("document")[first].as_py()
        query = rows.name(int(rows.queries[first]))
        raise BulkRefused(f"query {query}: document {str(document)!r} appears twice{where}")


def _levels(rows: QueryRows, plan: Plan) -> tuple[LevelArray, Grades, frozenset[float]]:
    """The level of every row's document, the scale, and the values that were found."""
    encoded = rows.column("grade").dictionary_encode()
    known = encoded.dictionary.cast(pa.float64()).to_numpy(zero_copy_only=False)
    different = np.unique(known)
    if len(different) > MOST_GRADES:
        return np.zeros(0, np.uint8), Grades.integers((0,)), frozenset(different.tolist())
    grades = plan.grades
    if grades is None:
        values = tuple(different.tolist()) or (0.0,)
        grades = Grades(tuple(range(len(values))), values)
    level_of = np.zeros(len(known) + 1, np.uint8)
    level_of[1:] = np.searchsorted(grades.values, known) + 1
    positions = pc.add(encoded.indices, 1).fill_null(0).to_numpy(zero_copy_only=False)
    levels = level_of.take(positions)
    if rows.is_judgment is not None:
        levels = _joined(rows, levels, rows.is_judgment)
    return levels, grades, frozenset(different.tolist())


def _joined(rows: QueryRows, levels: LevelArray, is_judgment: BoolArray) -> LevelArray:
    """The levels, of rows of rankings too: those of the judgment of the same pair."""
    judged = is_judgment & (levels > 0)
    pairs = rows.pairs
    there = pa.array(pairs[judged])
    positions = pc.index_in(pa.array(pairs[~is_judgment]), value_set=there)
    result = np.append(levels[judged], np.uint8(0))
    out = levels.copy()
    out[~is_judgment] = result[positions.fill_null(len(there)).to_numpy(zero_copy_only=False)]
    return out


def _values(plan: Plan, rows: QueryRows, levels: LevelArray, grades: Grades) -> Values:
    """Every measure of every query, by number."""
    n_queries = len(rows.names)
    judged = _judged_counts(rows, levels, grades)
    values = np.empty((len(plan.measures), n_queries)).T
    counted = np.empty(values.shape[::-1], bool).T
    by_ordering: dict[tuple[str, str], list[int]] = {}
    for column, measure in enumerate(plan.measures):
        by_ordering.setdefault(measure.ordering, []).append(column)
    for columns in by_ordering.values():
        measures = [plan.measures[column] for column in columns]
        for own, graded in _graded(rows, measures, levels, judged):
            try:
                result = evaluate_batch(measures, graded, grades)
            except ZeroIdealError as error:
                name = rows.name(int(own[error.row]))
                raise MeasureError(f"query {name}: {error.message}") from None
            for column, position in enumerate(columns):
                values[own, position] = result.values[:, column]
                counted[own, position] = result.counted[:, column]
    return Values(values, counted)


def _judged_counts(rows: QueryRows, levels: LevelArray, grades: Grades) -> npt.NDArray[np.int32]:
    """How many documents of each query are judged at each level."""
    ordered = rows.by_query
    if rows.is_judgment is not None:
        ordered = ordered[rows.is_judgment[ordered]]
    ordered = ordered[levels[ordered] > 0]
    lengths = np.bincount(rows.queries[ordered], minlength=len(rows.names))
    return Judgments(ordered, levels[ordered], lengths).counts(len(grades.codes))


def _graded(
    rows: QueryRows,
    measures: list[Measure],
    levels: LevelArray,
    judged: npt.NDArray[np.int32],
) -> Iterator[tuple[Numbers, GradedRankings]]:
    """The rankings in the order that these measures read, some queries of like length at a time."""
    ordering, depth = measures[0].ordering, depth_needed(measures)
    ranked = rows.by_query[rows.is_ranked[rows.by_query]]
    lengths = rows.counted(rows.is_ranked)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    scores = rows.column("score").to_numpy(zero_copy_only=False)[ranked]
    ties, precision = rule_of(ordering)
    order = rank_orders(
        ArrowIds(rows.column("document").take(pa.array(ranked))),
        starts,
        scores,
        # the sums over a tie must not depend on how the rows lay, not even in the last bit
        ties="docid" if ties == "listed" else ties,
        precision=precision,
    )
    scores = scores[order]
    begins = None
    if ordering[0] in ("averaged", "listed"):
        begins = tie_starts_of_each(scores, starts, precision=precision)
    if ordering[0] == "listed" and begins is not None:
        _check_untied(rows, measures[0], begins, starts)
    in_order = levels[ranked[order]]
    widths = np.maximum(1, lengths if depth is None else np.minimum(lengths, depth))
    for own in of_like_width(widths, _CELLS):
        positions = ranges(starts[own], lengths[own])
        graded = grade_rankings(
            in_order[positions],
            np.concatenate(([0], np.cumsum(lengths[own]))),
            judged.T.take(own, axis=1).T,
            rows=np.arange(len(own)),
            width=depth,
            returned=counts_needed(measures),
        )
        if ordering[0] == "averaged" and begins is not None:
            graded = replace(graded, ties=_tie_rows(begins[positions], lengths[own], graded))
        yield own, graded


def tie_starts_of_each(
    scores: npt.NDArray[np.float64], starts: Numbers, *, precision: Any
) -> Numbers:
    """For each document, the rank (from 0) in its own ranking at which its tie begins.

    scores: in rank order, ranking after ranking. starts: where each begins, and the last ends.
    """
    lengths = np.diff(starts)
    first = np.repeat(starts[:-1], lengths)
    return np.maximum(tie_starts(scores, precision=precision), first) - first


def _check_untied(rows: QueryRows, measure: Measure, begins: Numbers, starts: Numbers) -> None:
    ranks = np.arange(len(begins)) - np.repeat(starts[:-1], np.diff(starts))
    tied = np.flatnonzero(begins != ranks)
    if len(tied):
        query = int(np.searchsorted(starts, tied[0], "right")) - 1
        raise BulkRefused(
            f"query {rows.name(query)} has tied scores, and {measure.name} breaks ties by the "
            "order of the file, which Parquet rows do not have"
        )


def _tie_rows(begins: Numbers, lengths: Numbers, graded: GradedRankings) -> Numbers:
    """The first rank of each rank's tie, a row per ranking; behind its end, the rank itself."""
    width = graded.levels.shape[1]
    out = np.tile(np.arange(width), (len(lengths), 1))
    row = np.repeat(np.arange(len(lengths)), lengths)
    out[row, np.arange(len(begins)) - np.repeat(np.cumsum(lengths) - lengths, lengths)] = begins
    return out


def _by_segment(rows: QueryRows, result: Values) -> dict[str, SegmentCounts]:
    own, names = _segments(rows)
    of_rankings = None if rows.is_judgment is None else ~rows.is_judgment
    n_rows = np.bincount(own, rows.counted(of_rankings), minlength=len(names)).astype(np.int64)
    ordered = np.argsort(own, kind="stable")
    ends = np.cumsum(np.bincount(own, minlength=len(names))).tolist()
    out = {}
    for position, (start, stop) in enumerate(zip([0, *ends], ends, strict=False)):
        here = ordered[start:stop]
        if len(here):
            sums = exact_sums(result.values[here], result.counted[here])
            out[names[position]] = SegmentCounts(int(n_rows[position]), stop - start, sums)
    return out


def _segments(rows: QueryRows) -> tuple[Numbers, list[str]]:
    """The number of each query's segment, and the names by number."""
    n_queries = len(rows.names)
    if "segment" not in rows.table.column_names:
        return np.zeros(n_queries, np.int64), [NAMELESS]
    encoded = rows.column("segment").dictionary_encode()
    names = [*encoded.dictionary.to_pylist(), NAMELESS]
    numbers = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)[rows.by_query]
    starts = np.cumsum(rows.counted()) - rows.counted()
    own = np.maximum.reduceat(numbers, starts)
    other = (numbers >= 0) & (numbers != np.repeat(own, rows.counted()))
    if other.any():
        position = int(other.argmax())
        query = int(rows.queries[rows.by_query[position]])
        two = sorted(repr(shown(names[n])) for n in (int(own[query]), int(numbers[position])))
        raise BulkRefused(f"query {rows.name(query)} is in two segments: {' and '.join(two)}")
    if NAMELESS in names[:-1]:
        own[own < 0] = names.index(NAMELESS)
    return np.where(own < 0, len(names) - 1, own).astype(np.int64), names
