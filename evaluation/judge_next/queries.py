"""Which pairs to judge next: those whose labels could change what is said of some runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from django.http import QueryDict

from evaluation.evaluations.queries import (
    FilterRefused,
    SetChoice,
    check_segment,
    choose_set,
    chosen_columns,
)
from evaluation.judge_next.candidates import Candidates, gather, gather_leading, get_outlook
from evaluation.models import Run
from evaluation.rankings.queries import list_answered
from evaluation.runs.names import find_runs, list_newest_runs, name_of, run_label
from judgments.models import Document, JudgmentList, Query, SavedSet
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, check_may_see_rankings
from judgments.sets.queries import list_set_queries
from judgments.versions.queries import list_judged_queries
from touchstone.measures.asking import Asked
from touchstone.measures.scoring import Ids
from touchstone.pooling.judge_next import Outlook, draw_next

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
    """A pair to judge. change: expected change, relative to the largest; swing: maximum change of a
    difference between two of the runs. is_doubted: judged, but disputed.
    """

    query_id: str
    doc_id: str
    change: float
    swing: float
    is_doubted: bool
    query: Query = field(metadata=ON_PAGES)
    document: Document = field(metadata=ON_PAGES)
    sources: tuple[Source, ...] = field(metadata=ON_PAGES)

    @property
    def key(self) -> tuple[int, int]:
        """The primary keys of its query and its document."""
        return self.query.pk, self.document.pk


@dataclass(frozen=True)
class Expected:
    """A run's expected mean if all documents shown were judged, with its 95 % interval."""

    name: str
    value: float
    low: float
    high: float
    label: str = field(metadata=ON_PAGES)


@dataclass(frozen=True, kw_only=True)
class JudgeNext:
    """The pairs, most informative first. unjudged: of the `shown` pairs; candidates: pairs whose
    label could change the order; doubt: probability that the two `closest` runs are in the wrong
    order. All empty if no run has results. set, looks: as in `compare`.

    On pages, asked: the measure that pairs are ordered by, None where no run shows anything. depth:
    so many ranks are looked at. is_direct: the measure is a sum over documents. queries: that the
    runs are seen on. left_out: runs that were not asked for by name, and with which it would take
    too long.
    """

    version: int
    measure: str = ""
    shown: int = 0
    unjudged: int = 0
    candidates: int = 0
    doubt: float | None = None
    closest: tuple[str, ...] = ()
    expected: tuple[Expected, ...] = ()
    pairs: tuple[NextPair, ...] = ()
    list: JudgmentList = field(metadata=ON_PAGES)
    sets: SetChoice = field(metadata=ON_PAGES)
    asked: Asked | None = field(default=None, metadata=ON_PAGES)
    depth: int = field(default=0, metadata=ON_PAGES)
    is_direct: bool = field(default=True, metadata=ON_PAGES)
    runs: tuple[Run, ...] = field(default=(), metadata=ON_PAGES)
    closest_labels: tuple[str, ...] = field(default=(), metadata=ON_PAGES)
    queries: int = field(default=0, metadata=ON_PAGES)
    left_out: int = field(default=0, metadata=ON_PAGES)

    @property
    def names(self) -> tuple[str, ...]:
        """The runs, as addresses name them."""
        return tuple(map(name_of, self.runs))

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of an axis that has room for every interval of what is expected."""
        lows, highs = [one.low for one in self.expected], [one.high for one in self.expected]
        return min(lows, default=0.0), max(highs, default=1.0)


def get_judge_next(
    *,
    access: Access,
    judgment_list: JudgmentList,
    asked: NextAsked,
    without: frozenset[tuple[int, int]] = frozenset(),
) -> JudgeNext:
    """What to judge next at the head of a list.

    without: pairs (of a query and a document) that shall not be among them, because they are being
    judged already. The queries are those that are judged, or, in a list without judgments, all
    that a run answers; of a segment and of a saved set those that are in it, judged or not.
    Raises FilterRefused and MeasureError for what can't be asked for.
    """
    check_may_see_rankings(access)
    if not FEWEST_PAIRS <= asked.n <= MOST_PAIRS:
        message = f"The number of pairs must be {FEWEST_PAIRS} to {MOST_PAIRS:,}."
        raise FilterRefused("no_number", message)
    measures = chosen_columns(judgment_list, asked.measure)
    if asked.measure.strip() and len(measures) != 1:
        raise FilterRefused(
            "one_measure", "Choose one measure: pairs are ordered by one at a time."
        )
    named = measures[0]
    runs = _runs(access, asked.runs)
    sets = choose_set(access=access, judgment_list=judgment_list, slug=asked.set)
    nothing = JudgeNext(version=judgment_list.head, list=judgment_list, sets=sets)
    query_ids = _query_ids(judgment_list, runs, asked.segment, sets.chosen)
    if not runs or not len(query_ids):
        return nothing
    if asked.runs:
        chosen, gathered = runs, gather(judgment_list, named.measure, runs, query_ids)
    else:
        chosen, gathered = gather_leading(judgment_list, named.measure, runs, query_ids)
    pool = gathered.pool
    if not len(pool.levels):
        return nothing
    outlook = get_outlook(pool)
    changes = outlook.changes
    if without:
        pairs = zip(gathered.query_ids.tolist(), gathered.document_ids.tolist(), strict=True)
        changes = changes * np.array([pair not in without for pair in pairs])
    drawn = draw_next(changes, n=asked.n, seed=SEED)
    doubts = np.minimum(outlook.above, outlook.above.T)
    np.fill_diagonal(doubts, 0.0)
    closest = divmod(int(doubts.argmax()), len(chosen))
    return JudgeNext(
        version=judgment_list.head,
        measure=named.measure.name,
        shown=len(pool.levels),
        unjudged=int((~pool.known).sum()),
        candidates=int((outlook.changes > 0).sum()),
        doubt=float(doubts[closest]),
        closest=tuple(name_of(chosen[place]) for place in closest),
        expected=_expected(chosen, outlook),
        pairs=_pairs(chosen, gathered, outlook, drawn),
        list=judgment_list,
        sets=sets,
        asked=named,
        depth=len(pool.rank_weights),
        is_direct=named.measure.family in DIRECT,
        runs=chosen,
        closest_labels=tuple(_label(chosen[place]) for place in closest),
        queries=pool.n_queries,
        left_out=len(runs) - len(chosen),
    )


def asked_of(parameters: QueryDict) -> NextAsked:
    """What an address, or the button on its page, asks for."""
    number = parameters.get("n", "").strip() or str(USUAL_PAIRS)
    if not (number.isascii() and number.isdigit()) or len(number) > 6:
        raise FilterRefused("no_number", "The number of pairs must be a number.")
    return NextAsked(
        runs=tuple(name for name in parameters.getlist("runs") if name.strip()),
        measure=parameters.get("measure", ""),
        segment=parameters.get("segment", ""),
        set=parameters.get("set", ""),
        n=int(number),
    )


def _runs(access: Access, names: Sequence[str]) -> tuple[Run, ...]:
    if not names:
        return tuple(sorted(list_newest_runs(access), key=lambda run: run.pk))
    runs = tuple(find_runs(access=access, names=names))
    if len(runs) < 2:
        raise FilterRefused("one_run", "Judge next needs two or more runs.")
    return runs


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
    judged = list_judged_queries(list_id=judgment_list.pk, version=judgment_list.head)
    if judged:
        return np.array(judged, np.int64)
    return np.array(sorted(list_answered(run_ids=[run.pk for run in runs])), np.int64)


def _pairs(
    runs: Sequence[Run], gathered: Candidates, outlook: Outlook, drawn: Ids
) -> tuple[NextPair, ...]:
    """The pairs drawn, the largest change first."""
    drawn = drawn[np.argsort(-outlook.changes[drawn], kind="stable")]
    largest = float(outlook.changes.max(initial=0.0)) or 1.0
    query_ids, document_ids = gathered.query_ids[drawn], gathered.document_ids[drawn]
    queries = Query.objects.only("qid", "text").in_bulk(set(query_ids.tolist()))
    documents = Document.objects.only("docid", "title").in_bulk(set(document_ids.tolist()))
    pairs = []
    for place, query_pk, document_pk in zip(
        drawn.tolist(), query_ids.tolist(), document_ids.tolist(), strict=True
    ):
        query, document = queries[query_pk], documents[document_pk]
        sources = tuple(
            Source(run.ranker.slug, run.name, int(rank))
            for run, rank in zip(runs, gathered.pool.ranks[place], strict=True)
            if rank
        )
        pairs.append(
            NextPair(
                query_id=query.qid,
                doc_id=document.docid,
                change=float(outlook.changes[place]) / largest,
                swing=float(outlook.swings[place]),
                is_doubted=bool(gathered.pool.levels[place]),
                query=query,
                document=document,
                sources=sources,
            )
        )
    return tuple(pairs)


def _expected(runs: Sequence[Run], outlook: Outlook) -> tuple[Expected, ...]:
    halves = 1.96 * np.sqrt(np.maximum(np.diag(outlook.covariance), 0.0))
    rows = [
        Expected(name_of(run), float(value), float(value - half), float(value + half), _label(run))
        for run, value, half in zip(runs, outlook.values, halves, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: -row.value))


def _label(run: Run) -> str:
    return run_label(run.ranker.name, name_of(run))
