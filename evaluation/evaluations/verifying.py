"""Holding what is stored against what it was computed from; reads only, and names what differs."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from operator import itemgetter
from typing import Final

import numpy as np
from django.db.models import Q

from evaluation.evaluations.measure_sets import grades_of, is_of_this_arithmetic, measures_of
from evaluation.evaluations.sums import (
    Board,
    RunSize,
    compute_sums,
    move_sums,
    segments_of,
    touched_queries,
)
from evaluation.models import Evaluation, MeasureSet, Ranking, Run
from judgments.audit.seals import Newest
from judgments.audit.verifying import verify_seals
from judgments.collections.queries import list_document_ids
from judgments.lists.queries import get_qrels
from judgments.models import Collection, JudgmentList, Release
from judgments.storage.side_texts import list_changed_texts
from judgments.versions.queries import count_outside_collection
from touchstone.measures.averages import n_rows, row_names
from touchstone.measures.exact import BYTES_PER_MEASURE, COLUMNS, IntArray, from_bytes, to_bytes
from touchstone.measures.ordering import rank_order
from touchstone.measures.packing import (
    Floats,
    run_digest,
    unpack_documents,
    unpack_order,
    unpack_scores,
)

AT_ONCE: Final = 2_000  # rankings
TOGETHER: Final = 25_000_000  # ranks of the runs that are computed at once


@dataclass(frozen=True)
class Verified:
    """What was held against its origin.

    evaluations: from scratch. steps: by their difference from the stored one before.
    texts: what people wrote, by the digests that facts name it by.
    tool_values: a run's nDCG as every tool would print it, at a version and a cutoff.
    samples: drawn again from their seeds. sample_evaluations: a run's estimates from a sample.
    corrections: a run's means by a sample's people, a machine judge, and corrected.
    outdated: evaluations by an arithmetic that this code no longer has, and tool values by presets
    that have changed; no one can check those.
    sealed: entries of the audit log, against their seals. unsealed: the ids of those without one.
    problems: one sentence for everything that differs.
    """

    evaluations: int = 0
    steps: int = 0
    releases: int = 0
    runs: int = 0
    outdated: int = 0
    texts: int = 0
    tool_values: int = 0
    samples: int = 0
    sample_evaluations: int = 0
    corrections: int = 0
    sealed: int = 0
    unsealed: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()

    def __add__(self, other: "Verified") -> "Verified":
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Verified(*(mine + theirs for mine, theirs in pairs))


def verify_texts() -> Verified:
    """Compute the digests of all side texts again: one that was changed is named, none erased."""
    count, changed = list_changed_texts()
    problems = tuple(f"side text {digest[:12]}: it is not what was written" for digest in changed)
    return Verified(texts=count, problems=problems)


def verify_audit(*, newest: Newest | None = None) -> Verified:
    """Hold the audit log against its seals. newest: the last one known outside the database."""
    log = verify_seals(newest=newest)
    return Verified(sealed=log.entries, unsealed=log.tail, problems=log.problems)


@dataclass(frozen=True)
class _Row:
    """A stored evaluation, and what to call it."""

    size: RunSize
    number: int
    sums: bytes
    name: str


def verify_list(*, judgment_list: JudgmentList, every_step: bool = False) -> Verified:
    """Recompute a list's evaluations from scratch, and its releases' digests; look up its pairs.

    At the head and at every release; with `every_step` every other stored evaluation too, by its
    difference from the one before.
    """
    result = _verify_releases(judgment_list)
    if outside := count_outside_collection(list_id=judgment_list.pk):
        problem = f"{judgment_list}: {outside} judgments name what its collection does not have"
        result += Verified(problems=(problem,))
    evaluations = Evaluation.objects.filter(version__list=judgment_list)
    sets = MeasureSet.objects.filter(pk__in=evaluations.values("measure_set"))
    for measure_set in sets.order_by("pk"):
        if not is_of_this_arithmetic(measure_set):
            result += Verified(outdated=evaluations.filter(measure_set=measure_set).count())
            continue
        board = Board(judgment_list.pk, measures_of(measure_set), grades_of(judgment_list))
        result += _verify_from_scratch(judgment_list, measure_set, board)
        if every_step:
            result += _verify_steps(judgment_list, measure_set, board)
    return result


def verify_runs(*, collection: Collection) -> Verified:
    """Hold every run's stored rankings against its digest, and their order against the tie rule."""
    result = Verified()
    for run in Run.objects.filter(ranker__collection=collection).select_related("ranker"):
        result += Verified(runs=1, problems=tuple(_run_problems(collection, run)))
    return result


def _verify_releases(judgment_list: JudgmentList) -> Verified:
    problems = []
    releases = list(Release.objects.filter(list=judgment_list).select_related("version"))
    for release in releases:
        qrels = get_qrels(judgment_list=judgment_list, number=release.version.number)
        if hashlib.sha256(qrels).hexdigest() != release.sha256:
            problems.append(
                f"{judgment_list} release {release.name}: its qrels no longer have the digest "
                + f"{release.sha256}"
            )
    return Verified(releases=len(releases), problems=tuple(problems))


def _verify_from_scratch(
    judgment_list: JudgmentList, measure_set: MeasureSet, board: Board
) -> Verified:
    released = Release.objects.filter(list=judgment_list).values("version")
    wanted = Q(version__in=released) | Q(version__number=judgment_list.head)
    result = Verified()
    by_version: dict[int, list[_Row]] = {}
    for row in _rows(judgment_list, measure_set, wanted):
        by_version.setdefault(row.number, []).append(row)
    for number, rows in by_version.items():
        for together in _portions(rows):
            sizes = [row.size for row in together]
            right = compute_sums(board=board, version=number, runs=sizes)
            problems = _compare(together, right, _row_names(board, number))
            result += Verified(evaluations=len(together), problems=tuple(problems))
    return result


def _verify_steps(judgment_list: JudgmentList, measure_set: MeasureSet, board: Board) -> Verified:
    """Every stored evaluation against the one before it of the same run."""
    groups: dict[tuple[int, int], list[tuple[_Row, _Row]]] = {}
    before: dict[int, _Row] = {}
    for row in _rows(judgment_list, measure_set, Q()):
        known = before.get(row.size.run_id)
        if known is not None and _fits(known, board) and _fits(row, board):
            groups.setdefault((known.number, row.number), []).append((known, row))
        before[row.size.run_id] = row
    result = Verified()
    for (first, second), pairs in groups.items():
        touched = touched_queries(board=board, after=first, until=second)
        sums = np.stack([from_bytes(old.sums) for old, _ in pairs])
        rows = [new for _, new in pairs]
        right = move_sums(
            board=board,
            sums=sums,
            before=first,
            after=second,
            query_ids=touched,
            runs=[row.size for row in rows],
        )
        names = _row_names(board, second)
        problems = [f"{p} (from version {first})" for p in _compare(rows, right, names)]
        result += Verified(steps=len(rows), problems=tuple(problems))
    return result


def _rows(judgment_list: JudgmentList, measure_set: MeasureSet, wanted: Q) -> Iterator[_Row]:
    rows = (
        Evaluation.objects.filter(wanted, version__list=judgment_list, measure_set=measure_set)
        .select_related("run__ranker", "version")
        .order_by("version__number", "run")
    )
    for row in rows.iterator(chunk_size=1_000):
        run, number = row.run, row.version.number
        size = RunSize(run.pk, run.row_count, run.query_count)
        name = f"{judgment_list} version {number}: {run.ranker.slug}/{run.name}"
        yield _Row(size, number, bytes(row.sums), name)


def _portions(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    parts = np.cumsum([row.size.rows for row in rows]) // TOGETHER
    for part in np.unique(parts).tolist():
        yield [row for row, its in zip(rows, parts.tolist(), strict=True) if its == part]


def _fits(row: _Row, board: Board) -> bool:
    n_segments = len(segments_of(board=board, version=row.number))
    return len(row.sums) == n_rows(board.measures, n_segments) * BYTES_PER_MEASURE


def _row_names(board: Board, version: int) -> list[str]:
    return row_names(board.measures, segments_of(board=board, version=version))


def _compare(rows: Sequence[_Row], right: IntArray, names: Sequence[str]) -> Iterator[str]:
    """names: of the rows of the sums."""
    for row, own in zip(rows, right, strict=True):
        if row.sums == to_bytes(own):
            continue
        if len(row.sums) != own.size * 8:
            yield f"{row.name}: {len(row.sums)} bytes are stored, not {own.size * 8}"
            continue
        stored = from_bytes(row.sums)
        for place, column in np.argwhere(stored != own).tolist():
            yield (
                f"{row.name}: {names[place]}: {COLUMNS[column]} is stored as "
                + f"{stored[place, column]} and computed as {own[place, column]}"
            )


def _run_problems(collection: Collection, run: Run) -> Iterator[str]:
    name = f"{collection.slug} run {run.ranker.slug}/{run.name}"
    content: list[tuple[str, list[str], Floats]] = []
    for qid, doc_ids, scores, order in _rankings(collection, run):
        content.append((qid, doc_ids, scores))
        if rank_order(doc_ids, scores).tolist() != unpack_order(order, len(doc_ids)).tolist():
            yield f"{name}: query {qid} is not stored in the order of the tie rule"
    content.sort(key=itemgetter(0))  # code points and UTF-8 bytes have the same order
    if run_digest(content) != run.sha256:
        yield f"{name}: its rankings no longer have the digest {run.sha256}"


def _rankings(collection: Collection, run: Run) -> Iterator[tuple[str, list[str], Floats, bytes]]:
    """(qid, docids, scores, stored order) of each query; an unknown document is an empty id."""
    names: dict[int, str] = {}
    rows = Ranking.objects.filter(run=run).select_related("query").iterator(chunk_size=AT_ONCE)
    while portion := list(islice(rows, AT_ONCE)):
        ranked = [unpack_documents(bytes(row.documents)).tolist() for row in portion]
        unknown = {pk for pks in ranked for pk in pks} - names.keys()
        if unknown:
            names |= list_document_ids(collection=collection, pks=unknown)
        for row, pks in zip(portion, ranked, strict=True):
            doc_ids = [names.get(pk, "") for pk in pks]
            yield row.query.qid, doc_ids, unpack_scores(bytes(row.scores)), bytes(row.order)
