"""Which judgments the first place among some runs hangs on."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from django.core.cache import cache

from evaluation.measures.definition import Measure
from evaluation.measures.engine import counts_needed, depth_needed
from evaluation.measures.rankings import Judgments
from evaluation.packing import RankedDocuments
from evaluation.scoring import STORED_ORDER, Ids, JudgedQueries, StoredRankings, ranges, score
from evaluation.selectors.compared_runs import ComparedRun
from evaluation.selectors.measure_sets import grades_of
from evaluation.selectors.query_values import KEPT
from evaluation.selectors.rankings import load_rankings
from evaluation.selectors.sums import judged_queries
from evaluation.statistics.hanging import Hanging, what_it_hangs_on
from evaluation.statistics.resampling import FloatArray
from judgments.models import Document, JudgmentList, Query
from judgments.scales import Scale
from judgments.selectors import get_judged
from judgments.selectors.lists import GradeShown, show_grade

MOST_CELLS: Final = 6_000_000  # ranks that are scored anew; with more, nothing is tried
AT_ONCE: Final = 2_000  # changes
LISTED: Final = 10


@dataclass(frozen=True)
class Change:
    """A judgment, and a grade that it would have instead. loss: what the lead loses by that."""

    qid: str
    query: str
    docid: str
    title: str
    grade: GradeShown
    instead: GradeShown
    loss: float


@dataclass(frozen=True)
class FirstPlace:
    """What the first place of a run hangs on.

    rival: the run that would take it; fewest: by so few judgments, each of another query, if they
    were all wrong; None: not by any. singles: how many judgments alone would do it. shown: those,
    or else the ones that would together. tried: judgments that were tried with every other grade.
    """

    leader: str
    rival: str
    margin: float
    fewest: int | None
    singles: int
    shown: tuple[Change, ...]
    tried: int


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


def get_first_place(
    *, compared: Sequence[ComparedRun], judgment_list: JudgmentList, version: int, measure: Measure
) -> FirstPlace | None:
    """What the best of the runs owes its place to, against whichever rival needs least.

    None for fewer than two runs, without a mean, where the first place is shared, and where too
    much is judged, or the measure reads too deep, to try every judgment while somebody waits.
    """
    means = [one.mean.value for one in compared]
    if len(compared) < 2 or any(mean is None for mean in means):
        return None
    values = np.array(means, np.float64)
    leader = int(values.argmax())
    if (values == values[leader]).sum() > 1:
        return None
    tried = _tried(compared, judgment_list, version, measure)
    if tried is None or not len(tried.query_ids):
        return None
    found = {
        rival: what_it_hangs_on(
            margin=float(values[leader] - values[rival]),
            losses=tried.moves[rival] - tried.moves[leader],
            queries=tried.query_ids,
        )
        for rival in range(len(compared))
        if rival != leader
    }
    rival = min(found, key=lambda one: (found[one].fewest or 10**9, found[one].margin))
    return _shown(compared, judgment_list, tried, rival, found[rival])


def _tried(
    compared: Sequence[ComparedRun], judgment_list: JudgmentList, version: int, measure: Measure
) -> _Tried | None:
    depth = depth_needed([measure])
    if depth is None or counts_needed([measure]) or measure.ordering != STORED_ORDER:
        return None
    if measure.queries != "judged" or measure.empty == "skip":
        return None  # another grade may change which queries are in the mean
    digest = hashlib.sha256(compared[0].values.query_ids.tobytes())
    for part in (
        *(str(one.run.public_id) for one in compared),
        str(judgment_list.pk),
        str(version),
    ):
        digest.update(part.encode() + b"\n")
    digest.update(f"{measure.name} {measure.revision}".encode())
    name = f"first-place:1:{digest.hexdigest()}"
    kept: _Tried | None = cache.get(name)
    if kept is None:
        kept = _try_all(compared, judgment_list, version, measure, depth)
        if kept is not None:
            cache.set(name, kept, KEPT)
    return kept


def _try_all(
    compared: Sequence[ComparedRun],
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    depth: int,
) -> _Tried | None:
    """Every judged document that a run shows within the depth, with every other grade."""
    grades, query_ids = grades_of(judgment_list), compared[0].values.query_ids
    judged = get_judged(list_id=judgment_list.pk, version=version, query_ids=query_ids.tolist())
    own = judged_queries(judged, query_ids, grades)
    n_levels = len(grades.codes)
    if len(own.judgments.levels) * n_levels * len(compared) * depth > 20 * MOST_CELLS:
        return None
    rankings = load_rankings(run_ids=[one.run.pk for one in compared], query_ids=query_ids.tolist())
    rankings = _cut(rankings, depth)
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
    moves = np.concatenate(
        [np.zeros((len(compared), 0))]
        + [
            score(
                [measure],
                grades,
                _with_one_changed(own, rows[part], places[part], after[part]),
                _for_each(rankings, rows[part], len(compared), len(own)),
                n_runs=len(compared),
            ).values[..., 0]
            - now[:, rows[part]]
            for part in (slice(at, at + AT_ONCE) for at in range(0, len(places), AT_ONCE))
        ],
        axis=1,
    )
    documents = own.judgments.documents[places].astype(np.int64)
    return _Tried(query_ids[rows], documents, before, after, moves / counts)


def _cut(rankings: StoredRankings, depth: int) -> StoredRankings:
    """Only what stands within the depth."""
    lengths = np.minimum(rankings.ranked.lengths(), depth)
    documents = rankings.ranked.documents[ranges(rankings.ranked.starts[:-1], lengths)]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return StoredRankings(
        rankings.run_rows, rankings.query_rows, RankedDocuments(starts, documents)
    )


def _places(own: JudgedQueries, rankings: StoredRankings) -> Ids:
    """Which judgments are of documents that a run shows."""
    rows = np.repeat(rankings.query_rows, rankings.ranked.lengths())
    shown = set(zip(rows.tolist(), rankings.ranked.documents.tolist(), strict=True))
    judged = np.repeat(np.arange(len(own)), own.judgments.lengths).tolist()
    pairs = zip(judged, own.judgments.documents.tolist(), strict=True)
    return np.array([place for place, pair in enumerate(pairs) if pair in shown], np.int64)


def _with_one_changed(own: JudgedQueries, rows: Ids, places: Ids, after: Ids) -> JudgedQueries:
    """For each change its query's judgments, with that one of them changed."""
    lengths = own.judgments.lengths[rows].astype(np.int64)
    starts = own.judgments.starts[:-1][rows].astype(np.int64)
    gathered = ranges(starts, lengths)
    levels = own.judgments.levels[gathered]
    first = np.cumsum(lengths) - lengths
    levels[first + places - starts] = after
    judgments = Judgments(own.judgments.documents[gathered], levels, lengths)
    return JudgedQueries(np.arange(len(rows), dtype=np.int64), judgments)


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


def _shown(
    compared: Sequence[ComparedRun],
    judgment_list: JudgmentList,
    tried: _Tried,
    rival: int,
    found: Hanging,
) -> FirstPlace:
    leader = max(compared, key=lambda one: one.mean.value or 0.0)
    places = list((found.singles or found.steps)[:LISTED])
    queries = Query.objects.in_bulk(tried.query_ids[places].tolist())
    documents = Document.objects.only("docid", "title").in_bulk(tried.document_ids[places].tolist())
    scale, codes = Scale.from_json(judgment_list.scale), grades_of(judgment_list).codes
    lost = tried.moves[rival] - tried.moves[compared.index(leader)]
    return FirstPlace(
        leader=leader.name,
        rival=compared[rival].name,
        margin=found.margin,
        fewest=found.fewest,
        singles=len({(tried.query_ids[at], tried.document_ids[at]) for at in found.singles}),
        shown=tuple(
            Change(
                qid=queries[int(tried.query_ids[at])].qid,
                query=queries[int(tried.query_ids[at])].text,
                docid=documents[int(tried.document_ids[at])].docid,
                title=documents[int(tried.document_ids[at])].title,
                grade=show_grade(scale, codes[int(tried.before[at]) - 1]),
                instead=show_grade(scale, codes[int(tried.after[at]) - 1]),
                loss=float(lost[at]),
            )
            for at in places
        ),
        tried=len({*zip(tried.query_ids.tolist(), tried.document_ids.tolist(), strict=True)}),
    )
