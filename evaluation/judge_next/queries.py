"""Which pairs to judge next: those whose labels could change what is said of some runs."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from django.http import QueryDict

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import (
    FilterRefused,
    check_segment,
    choose_set,
    chosen_columns,
    list_means,
)
from evaluation.evaluations.query_values import KEPT
from evaluation.evaluations.sums import RunSize, chunks, judged_queries
from evaluation.models import Run
from evaluation.rankings.queries import list_answered, load_rankings
from evaluation.runs.names import find_runs, name_of
from evaluation.stability.evidence import get_grade_chances
from judgments.lists.queries import get_version
from judgments.models import JudgmentList, SavedSet
from judgments.permissions import Access, check_may_see_rankings
from judgments.sets.queries import list_set_queries
from judgments.storage.caches import get_or_compute
from judgments.versions.queries import get_judged
from touchstone.measures.asking import Asked
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import divisors
from touchstone.measures.grades import Grades
from touchstone.measures.ndcg import gains
from touchstone.measures.scoring import Ids, StoredJudgments, StoredRankings
from touchstone.pooling.judge_next import JudgedPool, Outlook, draw_next, outlook
from touchstone.statistics.resampling import FloatArray

DEPTH: Final = 10  # of a measure without a cutoff
DEEPEST: Final = 100
FEWEST_RUNS: Final = 2
MOST_RUNS: Final = 40
MOST_CELLS: Final = 4_000_000  # pairs times what is known of each
FEWEST_PAIRS, USUAL_PAIRS, MOST_PAIRS = 1, 100, 2_000
SEED: Final = 0
DIRECT: Final = frozenset({"nDCG", "P", "RBP"})  # families that are sums over documents


@dataclass(frozen=True, kw_only=True)
class NextAsked:
    """What shall be decided. runs: none are the newest run of every ranker. set: a saved one."""

    runs: tuple[str, ...] = ()
    measure: str = ""
    segment: str = ""
    set: str = ""
    n: int = USUAL_PAIRS


@dataclass(frozen=True)
class Source:
    """Where a pair comes from: this run of this ranker shows it at this rank, from 1."""

    ranker: str
    run: str
    rank: int


@dataclass(frozen=True)
class NextPair:
    """A pair to judge (primary keys). change: its expected change, the largest of all being 1.

    swing: by how much a difference between two of the runs can move at most. is_doubted: it is
    judged, but its labels disagree.
    """

    query_id: int
    document_id: int
    change: float
    swing: float
    is_doubted: bool
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Expected:
    """What a run's mean would probably be if all that the runs show were judged.

    low, high: 95 % of what may come out.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class JudgeNext:
    """The pairs drawn, the most telling first, and what is expected of the runs.

    doubt: the chance that the order of the two runs that are hardest to tell apart is the wrong
    way round; closest: their names. candidates: pairs of which a label could change something.
    unjudged: pairs that the runs show and nobody has judged. queries: that the runs are seen on.
    left_out: runs that were not asked for by name, and with which it would take too long.
    """

    version: int
    asked: Asked
    depth: int
    is_direct: bool
    runs: tuple[Run, ...]
    names: tuple[str, ...]
    pairs: tuple[NextPair, ...]
    expected: tuple[Expected, ...]
    doubt: float
    closest: tuple[str, str]
    candidates: int
    unjudged: int
    shown: int
    queries: int
    left_out: int = 0

    @property
    def measure(self) -> Measure:
        """The one that pairs are ordered by."""
        return self.asked.measure


@dataclass(frozen=True, eq=False)
class _Gathered:
    """The pool of a version, and who its rows are."""

    version: int
    pool: JudgedPool
    query_ids: Ids
    document_ids: Ids


def get_judge_next(
    *,
    access: Access,
    judgment_list: JudgmentList,
    asked: NextAsked,
    without: frozenset[tuple[int, int]] = frozenset(),
) -> JudgeNext | None:
    """What to judge next at the head of a list; None where no run shows anything.

    without: pairs (of a query and a document) that shall not be among them, because they are being
    judged already. The queries are those that are judged, or, in a list without judgments, all
    that a run answers; of a segment and of a saved set those that are in it, judged or not.
    Raises FilterRefused and MeasureError for what can't be asked for.
    """
    check_may_see_rankings(access)
    if not FEWEST_PAIRS <= asked.n <= MOST_PAIRS:
        message = f"Ask for {FEWEST_PAIRS} to {MOST_PAIRS:,} pairs at once."
        raise FilterRefused("no_number", message)
    named = _measure(judgment_list, asked.measure)
    runs = _runs(access, asked.runs)
    saved = choose_set(access=access, judgment_list=judgment_list, slug=asked.set).chosen
    query_ids = _query_ids(judgment_list, runs, asked.segment, saved)
    if not runs or not len(query_ids):
        return None
    if asked.runs:
        chosen, gathered = runs, _gather(judgment_list, named.measure, runs, query_ids)
    else:
        chosen, gathered = _gather_leading(judgment_list, named.measure, runs, query_ids)
    if not len(gathered.pool.levels):
        return None
    found = _outlook(gathered.pool)
    changes = found.changes
    if without:
        pairs = zip(gathered.query_ids.tolist(), gathered.document_ids.tolist(), strict=True)
        changes = changes * np.array([pair not in without for pair in pairs])
    drawn = draw_next(changes, n=asked.n, seed=SEED)
    return replace(_answer(named, chosen, gathered, found, drawn), left_out=len(runs) - len(chosen))


def asked_of(parameters: QueryDict) -> NextAsked:
    """What an address, or the button on its page, asks for."""
    number = parameters.get("n", "").strip() or str(USUAL_PAIRS)
    if not (number.isascii() and number.isdigit()) or len(number) > 6:
        raise FilterRefused("no_number", "How many pairs? Say it as a number.")
    return NextAsked(
        runs=tuple(name for name in parameters.getlist("runs") if name.strip()),
        measure=parameters.get("measure", ""),
        segment=parameters.get("segment", ""),
        set=parameters.get("set", ""),
        n=int(number),
    )


def depth_of(measure: Measure) -> int:
    """How far down the runs' documents are candidates."""
    return min(measure.cutoff or DEPTH, DEEPEST)


def _measure(judgment_list: JudgmentList, asked: str) -> Asked:
    found = chosen_columns(judgment_list, asked)
    if asked.strip() and len(found) != 1:
        raise FilterRefused("one_measure", "Pairs are ordered by one measure at a time.")
    return found[0]


def _runs(access: Access, names: Sequence[str]) -> tuple[Run, ...]:
    if names:
        found = tuple(find_runs(access=access, names=names))
        if len(found) < 2:
            raise FilterRefused("one_run", "What to judge next is about two runs or more.")
        return found
    runs_qs = Run.objects.select_related("ranker").filter(
        ranker__collection=access.collection, withdrawn_at=None
    )
    newest = {run.ranker_id: run for run in runs_qs.order_by("pk")}
    return tuple(sorted(newest.values(), key=lambda run: run.pk))


def _query_ids(
    judgment_list: JudgmentList, runs: Sequence[Run], segment: str, saved: SavedSet | None
) -> Ids:
    chosen = []
    if segment:
        number = judgment_list.head
        chosen.append(check_segment(list_id=judgment_list.pk, version=number, segment=segment))
    if saved is not None:
        chosen.append(tuple(list_set_queries(set_id=saved.pk)))
    if chosen:
        return np.array(sorted(set(chosen[0]).intersection(*chosen)), np.int64)
    judged = get_judged(list_id=judgment_list.pk, version=judgment_list.head)
    if len(judged):
        return np.unique(judged.query_ids)
    return np.array(sorted(list_answered(run_ids=[run.pk for run in runs])), np.int64)


def _gather_leading(
    judgment_list: JudgmentList, measure: Measure, runs: tuple[Run, ...], query_ids: Ids
) -> tuple[tuple[Run, ...], _Gathered]:
    """As many of the runs as can be worked out while somebody waits, the best; and their pool."""
    if len(runs) <= MOST_RUNS:
        with suppress(FilterRefused):
            return runs, _gather(judgment_list, measure, runs, query_ids)
    version = get_version(judgment_list=judgment_list) if judgment_list.head else None
    means = list_means(judgment_list=judgment_list, version=version, measure=measure)
    leading = [run for run in means if run in set(runs)]
    n = MOST_RUNS if len(runs) > MOST_RUNS else max(FEWEST_RUNS, len(runs) // 2)
    while True:
        chosen = tuple(sorted(leading[:n], key=lambda run: run.pk))
        try:
            return chosen, _gather(judgment_list, measure, chosen, query_ids)
        except FilterRefused:
            if n <= FEWEST_RUNS:
                raise
            n = max(FEWEST_RUNS, n // 2)


def _gather(
    judgment_list: JudgmentList, measure: Measure, runs: Sequence[Run], query_ids: Ids
) -> _Gathered:
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
    return _Gathered(judgment_list.head, pool, query_ids[rows], documents)


def _shown(runs: Sequence[Run], query_ids: Ids, depth: int) -> tuple[Ids, Ids, Ids]:
    """Every pair that a run shows: its query's row, its document, and its rank in each run.

    Raises FilterRefused for more than can be worked out while somebody waits.
    """
    parts, first, cells = [], 0, 0
    for chunk in chunks(
        query_ids, [RunSize(run.pk, run.row_count, run.query_count) for run in runs]
    ):
        rankings = load_rankings(run_ids=[run.pk for run in runs], query_ids=chunk.tolist())
        rows, documents, ranks = _ranked(rankings, depth, len(runs))
        cells += len(rows) * (2 * len(runs) + 4)
        if cells > MOST_CELLS:
            message = "That is too much at once: choose fewer runs, or the queries of a segment."
            raise FilterRefused("too_much", message)
        parts.append((rows + first, documents, ranks))
        first += len(chunk)
    rows_of, documents_of, ranks_of = zip(*parts, strict=True)
    return np.concatenate(rows_of), np.concatenate(documents_of), np.concatenate(ranks_of)


def _ranked(rankings: StoredRankings, depth: int, n_runs: int) -> tuple[Ids, Ids, Ids]:
    """The same of the rankings at hand."""
    starts = rankings.ranked.starts[:-1]
    lengths = np.minimum(rankings.ranked.lengths(), depth)
    ends = np.cumsum(lengths)
    within = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
    documents = rankings.ranked.documents[np.repeat(starts, lengths) + within].astype(np.int64)
    rows = np.repeat(rankings.query_rows, lengths)
    pairs, places = np.unique(np.stack([rows, documents]), axis=1, return_inverse=True)
    ranks = np.zeros((pairs.shape[1], n_runs), np.int64)
    ranks[places.ravel(), np.repeat(rankings.run_rows, lengths)] = within + 1
    return pairs[0], pairs[1], ranks


def _levels(
    judgment_list: JudgmentList, measure: Measure, own: StoredJudgments, rows: Ids, documents: Ids
) -> tuple[Ids, FloatArray, Ids]:
    """The pairs' levels, the doubts about them, and what else is judged of each query."""
    grades = grades_of(judgment_list)
    judged_rows = np.repeat(np.arange(len(own)), own.judgments.lengths)
    held = np.stack([judged_rows, own.judgments.documents.astype(np.int64)])
    chances = get_grade_chances(
        list_id=judgment_list.pk, version=judgment_list.head, judged=own, grades=grades
    )
    levels_held = own.judgments.levels.astype(np.int64)
    place = {
        pair: at for at, pair in enumerate(zip(rows.tolist(), documents.tolist(), strict=True))
    }
    at = np.array([place.get((row, document), -1) for row, document in held.T.tolist()], np.int64)
    shown = at >= 0
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


def _outlook(pool: JudgedPool) -> Outlook:
    """Best known from the cache, by everything that it follows from."""
    digest = hashlib.sha256()
    parts = (pool.ranks, pool.queries, pool.levels, pool.doubts, pool.others)
    for part in (*parts, pool.rank_weights, pool.gains):
        digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(repr((pool.ranks.shape, pool.n_queries, pool.is_normalised)).encode())
    name = f"judge-next:1:{digest.hexdigest()}"
    return get_or_compute(name, Outlook, KEPT, lambda: outlook(pool))


def _answer(
    asked: Asked, runs: tuple[Run, ...], gathered: _Gathered, found: Outlook, drawn: Ids
) -> JudgeNext:
    pool = gathered.pool
    names = [name_of(run) for run in runs]
    drawn = drawn[np.argsort(-found.changes[drawn], kind="stable")]
    largest = float(found.changes.max(initial=0.0)) or 1.0
    doubts = np.minimum(found.above, found.above.T)
    np.fill_diagonal(doubts, 0.0)
    first, second = divmod(int(doubts.argmax()), len(runs))
    return JudgeNext(
        version=gathered.version,
        asked=asked,
        depth=len(pool.rank_weights),
        is_direct=asked.measure.family in DIRECT,
        runs=runs,
        names=tuple(names),
        pairs=tuple(
            NextPair(
                int(gathered.query_ids[place]),
                int(gathered.document_ids[place]),
                float(found.changes[place]) / largest,
                float(found.swings[place]),
                bool(pool.levels[place]),
                tuple(
                    Source(run.ranker.slug, run.name, int(rank))
                    for run, rank in zip(runs, pool.ranks[place], strict=True)
                    if rank
                ),
            )
            for place in drawn.tolist()
        ),
        expected=_expected(names, found),
        doubt=float(doubts[first, second]),
        closest=(names[first], names[second]),
        candidates=int((found.changes > 0).sum()),
        unjudged=int((~pool.known).sum()),
        shown=len(pool.levels),
        queries=pool.n_queries,
    )


def _expected(names: Sequence[str], found: Outlook) -> tuple[Expected, ...]:
    errors = 1.96 * np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
    rows = [
        Expected(name, float(value), float(value - error), float(value + error))
        for name, value, error in zip(names, found.values, errors, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: -row.value))
