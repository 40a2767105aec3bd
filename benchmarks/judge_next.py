"""How many labels until a leaderboard is right: judge next against pooling to a depth.

    python -m benchmarks.judge_next DATA [--collections NAME …] [--seeds 5] [--batch 50]

DATA is the folder of the public collections. Their judgments are hidden, and given out as if people
made them, a batch at a time: in the order of depth (all first ranks before any second one, queries
in random order), or as judge next draws them after every batch. After each batch every run has a
value: of the pool, nDCG@10 as trec_eval has it, what is not judged gaining nothing; of judge next,
what it expects. Kendall's tau of these with the values by all judgments is the curve.

Documents that the collection did not judge count as grade 0 when they are asked for, as they do in
the true values. Printed is the mean curve over the seeds, and for tau 0.9 and 0.95 the first number
of labels that reaches it, and the first from which the mean curve stays above it. "Pool, expected":
the order of the pool with the estimate of judge next, which tells what ordering has a part in.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.files.trec import read_qrels, read_run
from touchstone.measures.ordering import rank_order
from touchstone.pooling.judge_next import JudgedPool, draw_next, outlook
from touchstone.statistics.ranks import kendall_tau

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

DEPTH: Final = 10
DISCOUNTS: Final = 1 / np.log2(np.arange(2, DEPTH + 2))
WANTED: Final = (0.9, 0.95)
COLLECTIONS: Final = {
    "trec-covid-r1-sample": ("raw/qrels-rnd1.txt.gz", "raw/runs"),
    "cast-2021": ("raw/trec-cast-qrels-docs.2021.qrel.gz", "raw/runs"),
    "chorus-ecommerce": ("derived/qrels_final_0to3.txt", "generated-runs"),
    "web-2012": ("raw/qrels.web.151-200.txt.gz", "raw/runs"),
}


@dataclass(frozen=True, eq=False)
class Truth:
    """A collection as it is when everything is judged. levels: of every pair of the pool."""

    pool: JudgedPool
    levels: npt.NDArray[np.int64]
    values: Floats

    @property
    def best_ranks(self) -> npt.NDArray[np.int64]:
        """The highest place that any run gives each pair."""
        ranks = np.where(self.pool.ranks > 0, self.pool.ranks, DEPTH + 1)
        return np.asarray(ranks.min(axis=1), np.int64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--collections", nargs="+", default=list(COLLECTIONS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--most", type=int, default=1_500, help="labels after which to stop")
    options = parser.parse_args()
    for name in options.collections:
        truth = load(options.data / name, *COLLECTIONS[name])
        pairs, runs = truth.pool.ranks.shape
        print(f"{name}: {runs} runs, {truth.pool.n_queries} queries, {pairs:,} pairs", flush=True)
        for way, curve in WAYS.items():
            began = time.process_time()
            most = min(options.most, pairs)
            curves = [
                dict(curve(truth, seed, options.batch, most)) for seed in range(options.seeds)
            ]
            labels = sorted(curves[0])
            means = np.array([np.mean([one[n] for one in curves]) for n in labels])
            found = ", ".join(f"{tau}: {_reached(labels, means, tau)}" for tau in WANTED)
            shown = " ".join(f"{n}:{tau:.2f}" for n, tau in zip(labels, means, strict=True))
            print(f"  {way} [{found}] {time.process_time() - began:.0f} s\n    {shown}", flush=True)


def load(folder: Path, qrels: str, runs: str) -> Truth:
    """The pool of everything in the first ten ranks, and each run's true nDCG@10."""
    path = folder / qrels
    held = {
        qid: dict(zip(docids, np.maximum(grades, 0).tolist(), strict=True))
        for qid, docids, grades in read_qrels(path, name=path.name).judgments()
    }
    qids = sorted(held)
    tops = [_top(path, held) for path in sorted((folder / runs).iterdir())]
    places: dict[tuple[int, str], list[int]] = {}
    for run, top in enumerate(tops):
        for row, qid in enumerate(qids):
            for rank, docid in enumerate(top.get(qid, ()), start=1):
                places.setdefault((row, docid), [0] * len(tops))[run] = rank
    keys = sorted(places)
    scale = sorted({grade for grades in held.values() for grade in grades.values()} | {0})
    levels = np.array([scale.index(held[qids[row]].get(docid, 0)) + 1 for row, docid in keys])
    others = np.zeros((len(qids), len(scale)), np.int64)
    for row, qid in enumerate(qids):
        for docid, grade in held[qid].items():
            others[row, scale.index(grade)] += (row, docid) not in places
    pool = JudgedPool(
        ranks=np.array([places[key] for key in keys]),
        queries=np.array([row for row, _ in keys]),
        n_queries=len(qids),
        levels=levels,
        doubts=np.zeros(len(keys)),
        others=others,
        rank_weights=DISCOUNTS,
        gains=np.array(scale, np.float64),
        is_normalised=True,
    )
    values = _as_zeros(pool, others)
    # what no run shows is known to no one until someone judges it
    return Truth(replace(pool, others=np.zeros_like(others)), levels, values)


def _top(path: Path, held: dict[str, dict[str, int]]) -> dict[str, list[str]]:
    """A run's first ten documents of each judged query, as trec_eval orders them."""
    run = read_run(path, name=path.name, text_after_tag=True)
    return {
        qid: [docids[place] for place in rank_order(docids, scores)[:DEPTH]]
        for qid, docids, scores in run.rankings()
        if qid in held
    }


def _as_zeros(pool: JudgedPool, others: npt.NDArray[np.int64]) -> Floats:
    """Each run's nDCG@10 where what is not judged gains nothing."""
    n_levels = len(pool.gains)
    gains = np.concatenate([[0.0], pool.gains])[pool.levels]
    counts = others.copy()
    known = pool.known
    np.add.at(counts, (pool.queries[known], pool.levels[known] - 1), 1)
    ideals = np.zeros(pool.n_queries)
    for row in range(pool.n_queries):
        best = np.repeat(pool.gains[::-1], counts[row, ::-1])[:DEPTH]
        ideals[row] = best @ DISCOUNTS[: len(best)]
    weights = np.where(pool.ranks > 0, DISCOUNTS[np.maximum(pool.ranks, 1) - 1], 0.0)
    divided = np.divide(gains, ideals[pool.queries], out=np.zeros(len(gains)), where=gains > 0)
    assert n_levels == others.shape[1]
    return np.asarray(weights.T @ divided / pool.n_queries)


def _with(truth: Truth, known: Bools) -> JudgedPool:
    return replace(truth.pool, levels=np.where(known, truth.levels, 0))


def _tau(truth: Truth, values: Floats) -> float:
    return kendall_tau(values, truth.values) or 0.0


def _pooled(
    truth: Truth, seed: int, batch: int, most: int, valued: Callable[[JudgedPool], Floats]
) -> Iterator[tuple[int, float]]:
    """Depth after depth, queries in random order."""
    dice = np.random.default_rng(seed)
    shuffled = dice.permutation(truth.pool.n_queries)[truth.pool.queries]
    order = np.lexsort((dice.random(len(shuffled)), shuffled, truth.best_ranks))
    known = np.zeros(len(order), bool)
    for start in range(0, most, batch):
        known[order[start : start + batch]] = True
        yield int(known.sum()), _tau(truth, valued(_with(truth, known)))


def _judged_next(truth: Truth, seed: int, batch: int, most: int) -> Iterator[tuple[int, float]]:
    known = np.zeros(len(truth.levels), bool)
    while known.sum() < most:
        found = outlook(_with(truth, known))
        if known.any():
            yield int(known.sum()), _tau(truth, found.values)
        drawn = draw_next(found.changes, n=batch, seed=seed * 1_000_003 + int(known.sum()))
        if not len(drawn):
            return
        known[drawn] = True


def _zeros(pool: JudgedPool) -> Floats:
    return _as_zeros(pool, pool.others)


def _expected(pool: JudgedPool) -> Floats:
    return outlook(pool).values


WAYS: Final[dict[str, Callable[[Truth, int, int, int], Iterator[tuple[int, float]]]]] = {
    "pool": partial(_pooled, valued=_zeros),
    "pool, expected": partial(_pooled, valued=_expected),
    "judge next": _judged_next,
}


def _reached(labels: list[int], means: Floats, wanted: float) -> str:
    above = means >= wanted - 1e-9
    if not above.any():
        return "never"
    below = np.flatnonzero(~above)
    stays = 0 if not len(below) else int(below[-1]) + 1
    last = f"{labels[stays]:,}" if stays < len(labels) else "not within these"
    return f"first at {labels[int(above.argmax())]:,}, stays from {last}"


if __name__ == "__main__":
    main()
