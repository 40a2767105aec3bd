"""Which judgments the first place among some runs hangs on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.evaluations.first_ranks import load_first_ranks
from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.sums import judged_queries
from evaluation.runs.selection import ComparedRun
from judgments.models import JudgmentList
from judgments.versions.queries import get_judged
from touchstone.measures.definition import Measure
from touchstone.measures.engine import counts_needed, depth_needed
from touchstone.measures.packing import RankedDocuments
from touchstone.measures.rankings import Judgments
from touchstone.measures.scoring import (
    STORED_ORDER,
    Ids,
    StoredJudgments,
    StoredRankings,
    ranges,
    score,
)
from touchstone.statistics.resampling import FloatArray
from touchstone.statistics.winner_fragility import WinnerFragility, winner_fragility

MOST_CELLS: Final = 200_000_000  # ranks that are scored again; with more, nothing is tried
AT_ONCE: Final = 2_000  # changes
LISTED: Final = 10


@dataclass(frozen=True, eq=False)
class _Tried:
    """Every change that was tried: its query, document and levels, and the means' moves.

    moves: (n_runs, n_changes), by how much a change moves each run's mean.
    """

    query_ids: Ids
    document_ids: Ids
    before: Ids
    after: Ids
    moves: FloatArray


def first_place_figures(
    *,
    compared: Sequence[ComparedRun],
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    report: Callable[[float], None],
) -> dict[str, Any] | None:
    """What the best of the runs owes its place to, against whichever rival needs least.

    leader, rival: the run and the one that would take its place (primary keys); margin: between
    them; fewest: by so few judgments, each of another query, if they were all wrong; None: not by
    any. singles: how many judgments alone would do it. shown: the first of those, or else of the
    ones that would together: query, document, the code of the grade, the code that it would have
    instead, and what the lead loses by that. tried: judgments that were tried with every other
    grade. None for fewer than two runs, without a mean, where the first place is shared, and
    where too much is judged, or the measure reads too deep, to try every judgment.

    report: called with the share that is done.
    """
    means = [one.mean.value for one in compared]
    if len(compared) < 2 or any(mean is None for mean in means):
        return None
    values = np.array(means, np.float64)
    leader = int(values.argmax())
    if (values == values[leader]).sum() > 1:
        return None
    tried = _try_all(compared, judgment_list, version, measure, report)
    if tried is None or not len(tried.query_ids):
        return None
    result = {
        rival: winner_fragility(
            margin=float(values[leader] - values[rival]),
            losses=tried.moves[rival] - tried.moves[leader],
            queries=tried.query_ids,
        )
        for rival in range(len(compared))
        if rival != leader
    }
    rival = min(result, key=lambda one: (result[one].fewest or 10**9, result[one].margin))
    runs = compared[leader].run.pk, compared[rival].run.pk
    codes = grades_of(judgment_list).codes
    return _figures(runs, tried, tried.moves[rival] - tried.moves[leader], result[rival], codes)


def _try_all(
    compared: Sequence[ComparedRun],
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    report: Callable[[float], None],
) -> _Tried | None:
    """Every judged document that a run shows within the depth, with every other grade."""
    depth = depth_needed([measure])
    if depth is None or counts_needed([measure]) or measure.ordering != STORED_ORDER:
        return None
    if measure.queries != "judged" or measure.empty == "skip":
        return None  # another grade may change which queries are in the mean
    grades, query_ids = grades_of(judgment_list), compared[0].values.query_ids
    judged = get_judged(list_id=judgment_list.pk, version=version, query_ids=query_ids.tolist())
    own = judged_queries(judged, query_ids, grades)
    n_levels = len(grades.codes)
    rankings = load_first_ranks(
        runs=[one.run for one in compared], query_ids=query_ids, depth=depth
    )
    places = _places(own, rankings)
    rows = np.repeat(np.arange(len(own)), own.judgments.lengths)[places]
    levels = own.judgments.levels[places].astype(np.int64)
    if len(places) * (n_levels - 1) * len(compared) * depth > MOST_CELLS:
        return None
    before = np.repeat(levels, n_levels - 1)
    after = np.concatenate(
        [np.delete(np.arange(1, n_levels + 1), level - 1) for level in levels.tolist()]
        or [np.zeros(0, np.int64)]
    )
    places, rows = np.repeat(places, n_levels - 1), np.repeat(rows, n_levels - 1)
    now = np.stack([np.where(one.values.counted, one.values.values, 0.0) for one in compared])
    counts = np.array([[max(1, one.mean.queries)] for one in compared])
    moves = np.empty((len(compared), len(places)))
    for at in range(0, len(places), AT_ONCE):
        part = slice(at, at + AT_ONCE)
        result = score(
            [measure],
            grades,
            _with_one_changed(own, rows[part], places[part], after[part]),
            _for_each(rankings, rows[part], len(compared), len(own)),
            n_runs=len(compared),
        )
        moves[:, part] = result.values[..., 0] - now[:, rows[part]]
        report(min(1.0, (at + AT_ONCE) / len(places)))
    documents = own.judgments.documents[places].astype(np.int64)
    return _Tried(query_ids[rows], documents, before, after, moves / counts)


def _places(own: StoredJudgments, rankings: StoredRankings) -> Ids:
    """Which judgments are of documents that a run shows."""
    rows = np.repeat(rankings.query_rows, rankings.ranked.lengths())
    judged = np.repeat(np.arange(len(own), dtype=np.int64), own.judgments.lengths)
    shown = _pair_keys(rows, rankings.ranked.documents)
    return np.flatnonzero(np.isin(_pair_keys(judged, own.judgments.documents), shown))


def _pair_keys(rows: Ids, documents: npt.NDArray[np.integer[Any]]) -> Ids:
    """One number for each pair of a query's row and a document."""
    return (rows << 32) | documents.astype(np.int64)


def _with_one_changed(own: StoredJudgments, rows: Ids, places: Ids, after: Ids) -> StoredJudgments:
    """For each change its query's judgments, with that one of them changed."""
    lengths = own.judgments.lengths[rows].astype(np.int64)
    starts = own.judgments.starts[:-1][rows].astype(np.int64)
    gathered = ranges(starts, lengths)
    levels = own.judgments.levels[gathered]
    first = np.cumsum(lengths) - lengths
    levels[first + places - starts] = after
    judgments = Judgments(own.judgments.documents[gathered], levels, lengths)
    return StoredJudgments(np.arange(len(rows), dtype=np.int64), judgments)


def _for_each(rankings: StoredRankings, rows: Ids, n_runs: int, n_queries: int) -> StoredRankings:
    """Every run's ranking of each change's query."""
    index = np.full((n_runs, n_queries), -1)
    index[rankings.run_rows, rankings.query_rows] = np.arange(len(rankings.run_rows))
    chosen = index[:, rows]
    runs, changes = np.nonzero(chosen >= 0)
    which = chosen[runs, changes]
    lengths = rankings.ranked.lengths()[which]
    documents = rankings.ranked.documents[ranges(rankings.ranked.starts[which], lengths)]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return StoredRankings(runs, changes, RankedDocuments(starts, documents))


def _figures(
    runs: tuple[int, int],
    tried: _Tried,
    lost: FloatArray,
    found: WinnerFragility,
    codes: Sequence[int],
) -> dict[str, Any]:
    pairs = list(zip(tried.query_ids.tolist(), tried.document_ids.tolist(), strict=True))
    return {
        "leader": runs[0],
        "rival": runs[1],
        "margin": found.margin,
        "fewest": found.fewest,
        "singles": len({pairs[at] for at in found.singles}),
        "shown": [
            [*pairs[at], codes[tried.before[at] - 1], codes[tried.after[at] - 1], float(lost[at])]
            for at in (found.singles or found.steps)[:LISTED]
        ],
        "tried": len(set(pairs)),
    }
