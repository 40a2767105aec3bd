"""The documents that runs show for some queries, and what a label of each could change."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import FilterRefused, list_means
from evaluation.evaluations.query_values import KEPT
from evaluation.evaluations.sums import RunSize, chunks, judged_queries
from evaluation.models import Run
from evaluation.rankings.queries import load_rankings
from evaluation.stability.evidence import get_grade_chances
from judgments.lists.queries import get_version
from judgments.models import JudgmentList
from judgments.storage.caches import get_or_compute
from judgments.versions.queries import get_judged
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import divisors
from touchstone.measures.grades import Grades
from touchstone.measures.ndcg import gains
from touchstone.measures.scoring import Ids, StoredJudgments, StoredRankings
from touchstone.pooling.judge_next import JudgedPool, Outlook, outlook
from touchstone.statistics.resampling import FloatArray

DEPTH: Final = 10  # of a measure without a cutoff
DEEPEST: Final = 100
FEWEST_RUNS: Final = 2
MOST_RUNS: Final = 40
MOST_CELLS: Final = 4_000_000  # pairs times what is known of each
KEY_BITS: Final = 32  # primary keys of documents have so many
KEY_MASK: Final = (1 << KEY_BITS) - 1


@dataclass(frozen=True, eq=False)
class Candidates:
    """The pool of the newest version, and the query and document (pks) of each of its rows."""

    pool: JudgedPool
    query_ids: Ids
    document_ids: Ids


def depth_of(measure: Measure) -> int:
    """How far down the runs' documents are candidates."""
    return min(measure.cutoff or DEPTH, DEEPEST)


def gather_leading(
    judgment_list: JudgmentList, measure: Measure, runs: tuple[Run, ...], query_ids: Ids
) -> tuple[tuple[Run, ...], Candidates]:
    """As many of the runs as a request has time for, the best; and their candidates."""
    if len(runs) <= MOST_RUNS:
        with suppress(FilterRefused):
            return runs, gather(judgment_list, measure, runs, query_ids)
    version = get_version(judgment_list=judgment_list) if judgment_list.head else None
    means = list_means(judgment_list=judgment_list, version=version, measure=measure)
    leading = [run for run in means if run in set(runs)]
    n = MOST_RUNS if len(runs) > MOST_RUNS else max(FEWEST_RUNS, len(runs) // 2)
    while True:
        chosen = tuple(sorted(leading[:n], key=lambda run: run.pk))
        try:
            return chosen, gather(judgment_list, measure, chosen, query_ids)
        except FilterRefused:
            if n <= FEWEST_RUNS:
                raise
            n = max(FEWEST_RUNS, n // 2)


def gather(
    judgment_list: JudgmentList, measure: Measure, runs: Sequence[Run], query_ids: Ids
) -> Candidates:
    """The candidates of some runs. Raises FilterRefused for more than a request has time for."""
    depth, grades = depth_of(measure), grades_of(judgment_list)
    rows, documents, ranks = _shown(runs, query_ids, depth)
    held = get_judged(
        list_id=judgment_list.pk, version=judgment_list.head, query_ids=query_ids.tolist()
    )
    own = judged_queries(held, query_ids, grades)
    levels, doubts, others = _levels(judgment_list, measure, own, rows, documents)
    pool = JudgedPool(
        ranks=ranks,
        queries=rows,
        n_queries=len(query_ids),
        levels=levels,
        doubts=doubts,
        others=others,
        rank_weights=_rank_weights(measure, depth),
        gains=_gains(measure, grades),
        is_normalised=measure.family not in ("P", "RBP"),
    )
    return Candidates(pool, query_ids[rows], documents)


def _shown(runs: Sequence[Run], query_ids: Ids, depth: int) -> tuple[Ids, Ids, Ids]:
    """Every pair that a run shows: its query's row, its document, and its rank in each run.

    Raises FilterRefused for more than a request has time for.
    """
    parts, first, cells = [], 0, 0
    for chunk in chunks(
        query_ids, [RunSize(run.pk, run.row_count, run.query_count) for run in runs]
    ):
        rankings = load_rankings(run_ids=[run.pk for run in runs], query_ids=chunk.tolist())
        rows, documents, ranks = _ranked(rankings, depth, len(runs))
        cells += len(rows) * (2 * len(runs) + 4)
        if cells > MOST_CELLS:
            message = "Too many pairs. Choose fewer runs or one segment."
            raise FilterRefused("too_much", message)
        parts.append((rows + first, documents, ranks))
        first += len(chunk)
    rows_of, documents_of, ranks_of = zip(*parts, strict=True)
    return np.concatenate(rows_of), np.concatenate(documents_of), np.concatenate(ranks_of)


def _ranked(rankings: StoredRankings, depth: int, n_runs: int) -> tuple[Ids, Ids, Ids]:
    """The same of these rankings."""
    starts = rankings.ranked.starts[:-1]
    lengths = np.minimum(rankings.ranked.lengths(), depth)
    ends = np.cumsum(lengths)
    within = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
    documents = rankings.ranked.documents[np.repeat(starts, lengths) + within].astype(np.int64)
    rows = np.repeat(rankings.query_rows, lengths)
    keys, places = np.unique(_keys(rows, documents), return_inverse=True)
    ranks = np.zeros((len(keys), n_runs), np.int64)
    ranks[places, np.repeat(rankings.run_rows, lengths)] = within + 1
    return keys >> KEY_BITS, keys & KEY_MASK, ranks


def _keys(rows: Ids, documents: Ids) -> Ids:
    """One number a pair, in the order of the rows and then of the documents."""
    return rows << KEY_BITS | documents


def _levels(
    judgment_list: JudgmentList, measure: Measure, own: StoredJudgments, rows: Ids, documents: Ids
) -> tuple[Ids, FloatArray, Ids]:
    """The pairs' levels, the doubts about them, and what else is judged of each query.

    rows, documents: of the pairs, in this order.
    """
    grades = grades_of(judgment_list)
    judged_rows = np.repeat(np.arange(len(own)), own.judgments.lengths)
    chances = get_grade_chances(
        list_id=judgment_list.pk, version=judgment_list.head, judged=own, grades=grades
    )
    levels_held = own.judgments.levels.astype(np.int64)
    keys, held = (
        _keys(rows, documents),
        _keys(judged_rows, own.judgments.documents.astype(np.int64)),
    )
    at = np.searchsorted(keys, held)
    shown = np.take(keys, at, mode="clip") == held
    levels, doubts = np.zeros(len(rows), np.int64), np.zeros(len(rows))
    levels[at[shown]] = levels_held[shown]
    doubts[at[shown]] = _variances(chances, _gains(measure, grades))[shown]
    others = np.zeros((len(own), len(grades.codes)), np.int64)
    np.add.at(others, (judged_rows[~shown], levels_held[~shown] - 1), 1)
    return levels, doubts, others


def _variances(chances: FloatArray, values: FloatArray) -> FloatArray:
    """How far each judgment's gain may be off, as its labels see it; 0 where they are of a mind."""
    total = chances.sum(axis=1, keepdims=True)
    shares = np.divide(chances, total, out=np.zeros_like(chances), where=total > 0)
    return np.asarray(np.maximum(shares @ values**2 - (shares @ values) ** 2, 0.0), np.float64)


def _gains(measure: Measure, grades: Grades) -> FloatArray:
    """What each level is worth, level 1 first; 1 or 0 where the measure asks what is relevant."""
    if measure.family == "nDCG":
        return np.asarray(gains(measure, grades)[1:], np.float64)
    own = np.array(grades.values, np.float64)
    return own if measure.family == "ERR" else (own >= measure.rel).astype(np.float64)


def _rank_weights(measure: Measure, depth: int) -> FloatArray:
    """What each rank counts; of measures that are no sum, as nDCG has it."""
    ranks = np.arange(1, depth + 1)
    if measure.family == "P":
        return np.full(depth, 1 / depth)
    if measure.family == "RBP" and measure.p is not None:
        return np.asarray((1 - measure.p) * measure.p ** (ranks - 1))
    if measure.family == "nDCG":
        return np.asarray(1 / divisors(measure, depth))
    return np.asarray(1 / np.log2(ranks + 1))


def get_outlook(pool: JudgedPool) -> Outlook:
    """Best known from the cache, by everything that it follows from."""
    digest = hashlib.sha256()
    parts = (pool.ranks, pool.queries, pool.levels, pool.doubts, pool.others)
    for part in (*parts, pool.rank_weights, pool.gains):
        digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(repr((pool.ranks.shape, pool.n_queries, pool.is_normalised)).encode())
    name = f"judge-next:1:{digest.hexdigest()}"
    return get_or_compute(name, Outlook, KEPT, lambda: outlook(pool))
