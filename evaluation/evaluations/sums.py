"""Exact sums of stored runs, computed from the rankings and a version's judgments."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.rankings.queries import list_answered, load_all_answers, load_rankings
from judgments.collections.query_metadata import (
    get_query_traits,
    has_judged_in_segment,
    list_segments,
    list_trait_changes,
)
from judgments.versions.judgment_cache import get_all_judged
from judgments.versions.queries import Judged, get_judged, list_touched_queries
from touchstone.measures.answers import Answer, score_answers
from touchstone.measures.averages import (
    NO_SEGMENT,
    Groups,
    n_rows,
    reads_traits,
    regrouped,
    sums_of,
    together,
    without,
)
from touchstone.measures.definition import Measure
from touchstone.measures.engine import Values
from touchstone.measures.exact import COLUMNS, IntArray
from touchstone.measures.grades import Grades
from touchstone.measures.scoring import (
    KEPT_QUERIES,
    STORED_ORDER,
    Ids,
    StoredJudgments,
    StoredRankings,
    score,
    score_sums,
)

# Times as long as a rank takes in the stored order, of 100 documents; as measured, without the
# database, 5 to 12 in another order, and 45 to 52 where ties are averaged.
SLOWER: Final = 8
SLOWER_AVERAGED: Final = 48
TOGETHER: Final = 2_000_000  # ranks held in memory at once


@dataclass(frozen=True, slots=True)
class RunSize:
    """A run, and how many ranks and queries it has."""

    run_id: int
    rows: int
    queries: int

    @property
    def depth(self) -> float:
        """The mean length of its rankings."""
        return self.rows / max(1, self.queries)


@dataclass(frozen=True, slots=True)
class Board:
    """What is computed: these measures, on this list's scale."""

    list_id: int
    measures: tuple[Measure, ...]
    grades: Grades


def compute_sums(
    *, board: Board, version: int, runs: Sequence[RunSize], query_ids: Sequence[int] | None = None
) -> IntArray:
    """The sums at a version from scratch, (n_runs, n_rows, 6), as `averages` lays them out.

    query_ids: only these of the judged queries are in the mean; None: all are.
    """
    if query_ids is None:
        judged = get_all_judged(list_id=board.list_id, version=version)
    else:
        judged = get_judged(list_id=board.list_id, version=version, query_ids=query_ids)
    segments = segments_of(board=board, version=version)
    shape = (len(runs), n_rows(board.measures, len(segments)), len(COLUMNS))
    sums = np.zeros(shape, np.int64)
    for chunk in chunks(_counted_queries(board, judged, runs, query_ids), runs):
        loaded = _load(board, runs, chunk)
        groups = _groups(board, version, chunk, segments)
        part = loaded.sums(board, judged_queries(judged, chunk, board.grades), groups)
        sums = together(board.measures, sums, part)
    return sums


def compute_values(
    *, board: Board, judged: Judged, runs: Sequence[RunSize], query_ids: Sequence[int]
) -> Values:
    """The values of some queries, (n_runs, n_queries, n_measures), as the sums have them.

    judged: of these queries. A query that no one judged is not counted.
    """
    ids = np.array(query_ids, np.int64)
    parts = [
        _load(board, runs, chunk).values(board, judged_queries(judged, chunk, board.grades))
        for chunk in chunks(ids, runs)
    ]
    values = np.concatenate([part.values for part in parts], axis=1)
    counted = np.concatenate([part.counted for part in parts], axis=1)
    return Values(values, counted & np.isin(ids, judged.query_ids)[None, :, None])


def move_sums(
    *,
    board: Board,
    sums: IntArray,
    before: int,
    after: int,
    query_ids: Sequence[int],
    runs: Sequence[RunSize],
) -> IntArray:
    """The sums at version `after`, from those at `before`, to the last bit.

    before, after: in either order; 0 is the empty list.
    query_ids: all that `touched_queries` names between the two.
    """
    segments = {v: segments_of(board=board, version=v) for v in (before, after)}
    every = tuple(sorted({*segments[before], *segments[after]}))
    sums = regrouped(board.measures, sums, segments[before], every)
    for chunk in chunks(np.unique(np.array(query_ids, np.int64)), runs):
        loaded = _load(board, runs, chunk)
        for version, combine in ((after, together), (before, without)):
            judged = get_judged(list_id=board.list_id, version=version, query_ids=chunk.tolist())
            groups = _groups(board, version, chunk, every)
            part = loaded.sums(board, judged_queries(judged, chunk, board.grades), groups)
            sums = combine(board.measures, sums, part)
    return regrouped(board.measures, sums, every, segments[after])


def cost_of(measures: Sequence[Measure]) -> int:
    """How many times as long a rank takes as in measures that read the stored order alone."""
    others = {measure.ordering for measure in measures} - {STORED_ORDER}
    return 1 + sum(SLOWER_AVERAGED if ties == "averaged" else SLOWER for ties, _ in others)


@dataclass(frozen=True, slots=True, eq=False)
class _Loaded:
    """Some runs' rankings for some queries. answers: with scores, where another order is read."""

    n_runs: int
    rankings: StoredRankings
    answers: list[Answer]

    def sums(self, board: Board, judged: StoredJudgments, groups: Groups | None) -> IntArray:
        """The exact sums over these queries."""
        if not self.answers:
            return score_sums(
                board.measures,
                board.grades,
                judged,
                self.rankings,
                n_runs=self.n_runs,
                groups=groups,
            )
        result = self.values(board, judged)
        return sums_of(board.measures, result.values, result.counted, groups)

    def values(self, board: Board, judged: StoredJudgments) -> Values:
        """Every measure of every run for each of these queries, (n_runs, n_queries, n_measures)."""
        shape = (self.n_runs, len(judged), len(board.measures))
        values, counted = np.zeros(shape), np.zeros(shape, bool)
        for ordering in {measure.ordering for measure in board.measures}:
            columns = [i for i, m in enumerate(board.measures) if m.ordering == ordering]
            own = [board.measures[column] for column in columns]
            if ordering == STORED_ORDER:
                result = score(own, board.grades, judged, self.rankings, n_runs=self.n_runs)
            else:
                result = score_answers(own, board.grades, judged.judgments, self.answers)
            values[..., columns], counted[..., columns] = result.values, result.counted
        return Values(values, counted)


def _load(board: Board, runs: Sequence[RunSize], query_ids: Ids) -> _Loaded:
    run_ids, wanted = [run.run_id for run in runs], query_ids.tolist()
    rankings = load_rankings(run_ids=run_ids, query_ids=wanted)
    answers = []
    if any(measure.ordering != STORED_ORDER for measure in board.measures):
        answers = load_all_answers(run_ids=run_ids, query_ids=wanted)
    return _Loaded(len(runs), rankings, answers)


def _counted_queries(
    board: Board, judged: Judged, runs: Sequence[RunSize], query_ids: Sequence[int] | None
) -> Ids:
    """The judged queries, and those that a run answers where a mean is over them too."""
    result = np.unique(judged.query_ids)
    if all(measure.queries in KEPT_QUERIES for measure in board.measures):
        return result
    answered = np.array(list_answered(run_ids=[run.run_id for run in runs]), np.int64)
    if query_ids is not None:
        answered = np.intersect1d(answered, np.array(query_ids, np.int64))
    return np.union1d(result, answered)


def touched_queries(*, board: Board, after: int, until: int) -> list[int]:
    """The queries whose part in the sums may differ between two versions."""
    touched = list_touched_queries(list_id=board.list_id, after=after, until=until)
    if not reads_traits(board.measures):
        return touched
    changes = list_trait_changes(list_id=board.list_id, before=after, after=until)
    return sorted({*touched, *(change.query_id for change in changes)})


def segments_of(*, board: Board, version: int) -> tuple[str, ...]:
    """The segments that have rows in the sums of a version: those of its judged queries.

    None where no measure asks for them. The nameless one is first, if a judged query is in it.
    """
    if not any(measure.average == "segments" for measure in board.measures):
        return ()
    names = list_segments(list_id=board.list_id, version=version)
    if has_judged_in_segment(list_id=board.list_id, version=version, segment=NO_SEGMENT):
        return (NO_SEGMENT, *names)
    return tuple(names)


def _groups(board: Board, version: int, query_ids: Ids, segments: tuple[str, ...]) -> Groups | None:
    """Weights and segments at a version; a query outside the segments is not judged then."""
    if not reads_traits(board.measures):
        return None
    result = get_query_traits(list_id=board.list_id, version=version, query_ids=query_ids.tolist())
    place = {name: number for number, name in enumerate(segments)}
    traits = [result[query_id] for query_id in query_ids.tolist()]
    return Groups(
        np.array([own.weight for own in traits], np.float64),
        np.array([place.get(own.segment, -1) for own in traits], np.int64),
        segments,
    )


def judged_queries(judged: Judged, query_ids: Ids, grades: Grades) -> StoredJudgments:
    """A version's judgments of some queries, as the measure engine wants them."""
    return StoredJudgments.of(
        query_ids,
        judged_queries=judged.query_ids,
        documents=judged.document_ids,
        codes=judged.grades,
        grades=grades,
    )


def chunks(query_ids: Ids, runs: Sequence[RunSize]) -> Iterator[Ids]:
    """The queries in portions whose rankings, of all the runs, fit into memory together."""
    ranks_per_query = sum(1.0 + run.depth for run in runs)
    step = max(1, int(TOGETHER / max(1.0, ranks_per_query)))
    for start in range(0, len(query_ids), step):
        yield query_ids[start : start + step]
