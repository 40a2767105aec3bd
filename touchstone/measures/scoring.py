"""From stored rankings and a version's judgments to values and exact sums; many runs at once.

One function serves both ways to an evaluation. From scratch: one or more runs, all judged queries.
By differences: all runs, the few touched queries, once under the old version and once under the
new; sums + new - old are then the from-scratch sums of the new version, to the last bit, because
the engine's values do not depend on what else is in the batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.measures.averages import Groups, reads_traits, sums_of
from touchstone.measures.definition import Measure
from touchstone.measures.engine import (
    Values,
    counts_needed,
    depth_needed,
    evaluate_batch,
)
from touchstone.measures.errors import MeasureError
from touchstone.measures.exact import IntArray
from touchstone.measures.grades import Grades
from touchstone.measures.packing import RankedDocuments
from touchstone.measures.rankings import GradedRankings, Judgments, judge_rankings

Ids = npt.NDArray[np.int64]

STORED_ORDER: Final = ("docid", "float32")
# Without a judgment no query is in these means.
KEPT_QUERIES: Final = frozenset({"judged", "returned", "several", "relevant"})
WITHOUT_RESULTS: Final = frozenset(
    {"judged", "all"}
)  # `Measure.queries` that count an empty ranking
CELLS: Final = 1 << 22  # of one matrix of ranks: bounds memory however deep a ranking is


@dataclass(frozen=True, slots=True, eq=False)
class StoredJudgments:
    """The judgments of some queries at one version.

    query_ids: ascending and distinct; a query without a judgment may be among them.
    judgments: in the same order, one row for each.
    """

    query_ids: Ids
    judgments: Judgments

    @classmethod
    def of(
        cls,
        query_ids: Ids,
        *,
        judged_queries: Ids,
        documents: npt.NDArray[np.int32],
        codes: npt.NDArray[np.int8],
        grades: Grades,
    ) -> "StoredJudgments":
        """Those of `query_ids`, from a version's judgments sorted by query.

        judged_queries, documents, codes: one entry a judgment; may hold other queries too.
        Raises ValueError for a grade code that is not on the scale.
        """
        starts = np.searchsorted(judged_queries, query_ids, "left")
        lengths = np.searchsorted(judged_queries, query_ids, "right") - starts
        positions = ranges(starts, lengths)
        levels = grades.levels(codes[positions])
        return cls(query_ids, Judgments(documents[positions], levels, lengths))

    def __len__(self) -> int:
        return len(self.query_ids)


@dataclass(frozen=True, slots=True, eq=False)
class StoredRankings:
    """Rankings as they were loaded, in any order.

    run_rows: for each, the position of its run among the given runs.
    query_rows: the position of its query among the given queries.
    """

    run_rows: Ids
    query_rows: Ids
    ranked: RankedDocuments


def check_can_be_stored(measure: Measure) -> None:
    """Whether exact sums of this measure can be kept by differences.

    Raises MeasureError where it refuses queries, is no mean over queries, or asks of queries that
    no one judged what no version knows.
    """
    if measure.queries not in KEPT_QUERIES and reads_traits([measure]):
        raise MeasureError(
            f"{measure.name}: leaderboards have weights and segments of judged queries only, so "
            f"queries={measure.queries!r} needs average='macro'"
        )
    if not measure.is_mean:
        raise MeasureError(
            f"{measure.name}: a leaderboard only supports means over queries; use the command "
            "evaluate for measures of a whole run"
        )
    if "error" in (measure.empty, measure.negatives):
        raise MeasureError(
            f"{measure.name}: empty='error' and negatives='error' can't be used on a leaderboard"
        )


def can_be_stored(measure: Measure) -> bool:
    """Whether `check_can_be_stored` lets this measure pass."""
    try:
        check_can_be_stored(measure)
    except MeasureError:
        return False
    return True


def check_fit(measures: Sequence[Measure], grades: Grades) -> None:
    """Whether these measures can be computed on this scale.

    Raises MeasureError, for a gain table that lacks a grade, for example.
    """
    none = GradedRankings(
        np.zeros((0, 0), np.uint8),
        np.zeros(0, np.int64),
        np.zeros((0, len(grades.codes)), int),
        np.zeros((0, 0), np.intp),
    )
    for measure in measures:
        evaluate_batch([measure], none, grades)


def fits(measure: Measure, grades: Grades) -> bool:
    """Whether `check_fit` lets this measure pass."""
    try:
        check_fit([measure], grades)
    except MeasureError:
        return False
    return True


def counts_zero_results(measure: Measure) -> bool:
    """Whether a query for which nothing is returned, and nothing judged, is in the mean, as 0."""
    return measure.queries in WITHOUT_RESULTS and measure.empty != "skip"


def score(
    measures: Sequence[Measure],
    grades: Grades,
    judged: StoredJudgments,
    rankings: StoredRankings,
    *,
    n_runs: int,
    cells: int = CELLS,
) -> Values:
    """Every measure of every run for every query, (n_runs, n_queries, n_measures).

    Where a run has no ranking for a query, it is scored as an empty one.
    cells: how large a matrix of ranks may become.
    """
    n_queries = len(judged)
    shape = (n_runs * n_queries, len(measures))
    full = (n_runs, n_queries, len(measures))
    values, counted = np.zeros(shape[::-1]).T, np.zeros(shape[::-1], bool).T  # by measure
    depth = depth_needed(measures)
    own = rankings.run_rows * n_queries + rankings.query_rows
    for rows, documents, lengths in _parts(rankings.ranked, own, shape[0], depth, cells):
        graded = judge_rankings(
            documents,
            lengths,
            judged.judgments,
            n_grades=len(grades.codes),
            queries=rows % n_queries,
            width=depth,
            returned=counts_needed(measures),
        )
        result = evaluate_batch(measures, graded, grades)
        if len(rows) == shape[0] and (rows[1:] > rows[:-1]).all():  # all there are, in their order
            return Values(result.values.reshape(full), result.counted.reshape(full))
        values[rows], counted[rows] = result.values, result.counted
    return Values(values.reshape(full), counted.reshape(full))


def score_sums(
    measures: Sequence[Measure],
    grades: Grades,
    judged: StoredJudgments,
    rankings: StoredRankings,
    *,
    n_runs: int,
    groups: Groups | None = None,
) -> IntArray:
    """The exact sums over these queries, (n_runs, n_rows, 6), as `averages` lays them out.

    groups: of these queries, where a measure asks for their weights or segments.
    """
    result = score(measures, grades, judged, rankings, n_runs=n_runs)
    return sums_of(measures, result.values, result.counted, groups)


def _parts(
    ranked: RankedDocuments, own: Ids, n_rows: int, depth: int | None, cells: int
) -> Iterator[tuple[Ids, npt.NDArray[np.int32], Ids]]:
    """All rows in parts whose matrices stay small: (rows, their documents, their lengths).

    own: the row of each ranking; the rows that none has are a part with empty rankings. Where
    all rankings fit at once they are left as they lie; otherwise those of like length go
    together, so that one deep ranking does not widen ten thousand short ones.
    """
    missing = np.ones(n_rows, bool)
    missing[own] = False
    if missing.any():
        absent = np.flatnonzero(missing)
        yield absent, np.zeros(0, np.int32), np.zeros(len(absent), np.int64)
    if not len(own):
        return
    lengths = ranked.lengths()
    widths = np.maximum(1, lengths if depth is None else np.minimum(lengths, depth))
    if len(own) * int(widths.max()) <= cells:
        yield own, ranked.documents, lengths
        return
    for chosen in of_like_width(widths, cells):
        positions = ranges(ranked.starts[chosen], lengths[chosen])
        yield own[chosen], ranked.documents[positions], lengths[chosen]


def of_like_width(widths: Ids, cells: int) -> Iterator[Ids]:
    """The rows from the narrowest to the widest, in chunks of at most so many cells.

    A single row may be wider than that.
    """
    by_width = np.argsort(widths, kind="stable")
    ordered = widths[by_width].tolist()
    start = 0
    for stop, width in enumerate(ordered):
        if stop > start and (stop + 1 - start) * width > cells:
            yield by_width[start:stop]
            start = stop
    yield by_width[start:]


def ranges(starts: Ids, lengths: Ids) -> Ids:
    """The positions start, start + 1, … of each range, behind each other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    first = starts - (ends - lengths)
    positions: Ids = np.arange(total, dtype=np.int64)
    positions += np.repeat(first, lengths)
    return positions
