"""Sums that are not stored as such: of other measures, of a segment, of an old version.

They are reached from whatever is nearest, a stored evaluation or an answer given before, by their
exact difference, and else from scratch. Answers are kept in the cache by run; what was kept can't
grow stale, because versions and runs are immutable.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from django.db.models import Max, Min

from evaluation.evaluations.sums import (
    Board,
    RunSize,
    compute_sums,
    cost_of,
    move_sums,
    touched_queries,
)
from evaluation.models import Evaluation, MeasureSet
from judgments.storage.caches import read_cached, write_cached
from touchstone.measures.averages import most_queries
from touchstone.measures.exact import IntArray, from_bytes, to_bytes

PATIENCE: Final = 10_000_000  # ranks that are worth waiting for: two seconds or three
KEPT: Final = 24 * 3600  # seconds

Known = Mapping[int, tuple[int, bytes]]  # run: version, packed sums


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for.

    keys: a name for each run that no other run ever has. query_ids: the mean is over these of the
    judged queries; None: over all.
    """

    board: Board
    version: int
    runs: tuple[RunSize, ...]
    keys: Mapping[int, str]
    query_ids: tuple[int, ...] | None = None


def get_sums(
    *, wanted: Wanted, nearest: Known | None = None, patience: float = PATIENCE
) -> dict[int, IntArray]:
    """The sums of each run, (n_rows, 6), at the version.

    nearest: stored evaluations of the same measures, at whatever versions.
    patience: ranks to be read at most. Runs that would take more are missing from the answer.
    """
    name = _cache_name(wanted)
    kept = read_cached(name, dict[str, tuple[int, bytes]]) or {}
    known = {
        run.run_id: kept[wanted.keys[run.run_id]]
        for run in wanted.runs
        if wanted.keys[run.run_id] in kept
    }
    groups = _grouped(wanted, _nearer(wanted.version, nearest or {}, known))
    result: dict[int, IntArray] = {}
    for (base, runs), sums in groups.items():
        own, patience = _bring(wanted, base, runs, sums, patience)
        result |= own
    fresh = {wanted.keys[pk]: (wanted.version, to_bytes(sums)) for pk, sums in result.items()}
    if any(kept.get(key) != value for key, value in fresh.items()):
        write_cached(name, kept | fresh, KEPT)
    return result


def find_nearest(
    *, list_id: int, measure_set: MeasureSet, version: int, run_ids: Sequence[int]
) -> dict[int, tuple[int, bytes]]:
    """The stored evaluation of each run that is nearest below the version, or else above it."""
    stored = Evaluation.objects.filter(
        measure_set=measure_set, version__list=list_id, run__in=run_ids
    ).order_by()
    below = stored.filter(version__number__lte=version).values("run")
    above = stored.filter(version__number__gt=version).values("run")
    nearest = dict(above.annotate(v=Min("version")).values_list("run", "v"))
    nearest |= dict(below.annotate(v=Max("version")).values_list("run", "v"))
    rows = stored.filter(version__in=set(nearest.values())).values_list(
        "run", "version", "version__number", "sums"
    )
    return {
        run_id: (number, bytes(sums))
        for run_id, version_id, number, sums in rows
        if nearest[run_id] == version_id
    }


def _nearer(version: int, *knowns: Known) -> dict[int, tuple[int, bytes]]:
    best: dict[int, tuple[int, bytes]] = {}
    for known in knowns:
        for run_id, (number, sums) in known.items():
            if run_id not in best or abs(number - version) < abs(best[run_id][0] - version):
                best[run_id] = (number, sums)
    return best


def _grouped(
    wanted: Wanted, known: Known
) -> dict[tuple[int, tuple[RunSize, ...]], IntArray | None]:
    """Runs that start from the same version together, 0 where nothing is known of them."""
    by_base: dict[int, list[RunSize]] = {}
    for run in wanted.runs:
        base = known[run.run_id][0] if run.run_id in known else 0
        by_base.setdefault(base, []).append(run)
    groups: dict[tuple[int, tuple[RunSize, ...]], IntArray | None] = {}
    for base, runs in sorted(by_base.items(), reverse=True):
        packed = [known[run.run_id][1] for run in runs] if base else []
        groups[base, tuple(runs)] = np.stack([from_bytes(one) for one in packed]) if base else None
    return groups


def _bring(
    wanted: Wanted,
    base: int,
    runs: Sequence[RunSize],
    sums: IntArray | None,
    patience: float,
) -> tuple[dict[int, IntArray], float]:
    """The sums of these runs at the version wanted, and what is left of the patience."""
    if sums is not None and base == wanted.version:
        return {run.run_id: own for run, own in zip(runs, sums, strict=True)}, patience
    touched = _touched(wanted, base) if sums is not None else []
    if sums is None or 2 * len(touched) > most_queries(wanted.board.measures, sums):
        return _from_scratch(wanted, runs, patience)
    work = len(touched) * sum(run.depth for run in runs) * cost_of(wanted.board.measures)
    if work > patience:
        return {}, patience
    moved = move_sums(
        board=wanted.board,
        sums=sums,
        before=base,
        after=wanted.version,
        query_ids=touched,
        runs=runs,
    )
    return {run.run_id: own for run, own in zip(runs, moved, strict=True)}, patience - work


def _from_scratch(
    wanted: Wanted, runs: Sequence[RunSize], patience: float
) -> tuple[dict[int, IntArray], float]:
    """As many of the runs as the patience lasts for."""
    chosen = []
    for run in runs:
        work = _work_from_scratch(wanted, run)
        if work <= patience:
            chosen.append(run)
            patience -= work
    if not chosen:
        return {}, patience
    sums = compute_sums(
        board=wanted.board, version=wanted.version, runs=chosen, query_ids=wanted.query_ids
    )
    return {run.run_id: own for run, own in zip(chosen, sums, strict=True)}, patience


def _work_from_scratch(wanted: Wanted, run: RunSize) -> float:
    queries = run.queries if wanted.query_ids is None else len(wanted.query_ids)
    return run.depth * min(queries, run.queries) * cost_of(wanted.board.measures)


def _touched(wanted: Wanted, base: int) -> list[int]:
    low, high = sorted((base, wanted.version))
    touched = touched_queries(board=wanted.board, after=low, until=high)
    if wanted.query_ids is None:
        return touched
    within = set(wanted.query_ids)
    return [query_id for query_id in touched if query_id in within]


def _cache_name(wanted: Wanted) -> str:
    return "sums:" + _digest(
        (
            str(wanted.board.list_id),
            repr(wanted.board.grades),
            *(f"{measure.name} {measure.revision}" for measure in wanted.board.measures),
            "" if wanted.query_ids is None else repr(sorted(wanted.query_ids)),
        )
    )


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
