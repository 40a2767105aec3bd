"""nDCG on three large shapes, in memory: the engine and pytrec_eval in the same run.

    python -m benchmarks.measures_at_scale [--shape a] [--repeats 3] [--share 0.1]

(a) 6,980 queries x 1,000 documents, one judged each; (b) 100 runs x 50 queries x 1,000 documents,
300 judged each; (c) 1,000,000 queries x 20 documents, 20 judged each. Document numbers are drawn
from 8.8 million. nDCG@1,3,5,10,20 with the global ideal on both sides, every value compared bit by
bit before any is timed; ours also with all four ideals in one pass, which pytrec_eval has not.

Both start from what they want in memory: arrays of numbers in rank order, or dicts of dicts. The
join of rankings with judgments is in both times, nothing of it was paid at import. The order of
the documents is in pytrec_eval's alone, because ours is settled when a run is imported; its dicts
and its evaluator are made before the clock starts. CPU seconds of one process; --share takes that
part of the queries where memory or time is short.
"""

import argparse
import gc
import resource
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pytrec_eval

from benchmarks.measures import GRADES, timed
from evaluation.measures.definition import Measure
from evaluation.measures.engine import Values, depth_needed, evaluate_batch
from evaluation.measures.grammar import parse_measure
from evaluation.measures.rankings import Judgments, judge_rankings

CUTOFFS: Final = (1, 3, 5, 10, 20)
GLOBAL: Final = tuple(parse_measure(f"nDCG@{k}") for k in CUTOFFS)
ALL_IDEALS: Final = tuple(
    parse_measure(f"nDCG(ideal='{ideal}')@{k}")
    for ideal in ("global", "recall", "local", "max")
    for k in CUTOFFS
)
COLLECTION: Final = 8_800_000
# name: runs, queries, depth, judged
SHAPES: Final = {"a": (1, 6_980, 1_000, 1), "b": (100, 50, 1_000, 300), "c": (1, 1_000_000, 20, 20)}


@dataclass(frozen=True)
class Data:
    """rankings: (n_runs * n_queries, depth), best first. judged: by query, documents ascending."""

    n_runs: int
    rankings: npt.NDArray[np.int32]
    judgments: Judgments
    codes: npt.NDArray[np.int8]


def made(name: str, share: float) -> Data:
    """Seeded data: rankings and judgments of a query are drawn from documents of its own."""
    n_runs, queries, depth, n_judged = SHAPES[name]
    queries = max(1, int(queries * share))
    rng = np.random.default_rng(7)
    pool = 2 * max(depth, n_judged)
    first = rng.integers(0, COLLECTION - 40 * pool, (queries, 1))
    own = (first + 40 * np.arange(pool)).astype(np.int32)
    rankings = np.empty((n_runs * queries, depth), np.int32)
    for row in range(len(rankings)):
        rankings[row] = own[row % queries][rng.permutation(pool)[:depth]]
    chosen = np.sort(np.argsort(rng.random((queries, pool)), axis=1)[:, :n_judged], axis=1)
    documents = np.take_along_axis(own, chosen, axis=1)
    codes = rng.choice(5, documents.shape, p=(0.4, 0.25, 0.2, 0.1, 0.05)).astype(np.int8)
    lengths = np.full(queries, n_judged)
    judgments = Judgments(documents.ravel(), GRADES.levels(codes).ravel(), lengths)
    return Data(n_runs, rankings, judgments, codes)


def by_engine(data: Data, measures: Sequence[Measure]) -> Values:
    """From arrays of numbers to values, the join included."""
    rows, depth = data.rankings.shape
    graded = judge_rankings(
        data.rankings.ravel(),
        np.full(rows, depth),
        data.judgments,
        n_grades=len(GRADES.codes),
        queries=np.tile(np.arange(rows // data.n_runs), data.n_runs),
        width=depth_needed(measures),
    )
    return evaluate_batch(measures, graded, GRADES)


def as_dicts(data: Data) -> tuple[dict[str, dict[str, int]], list[dict[str, dict[str, float]]]]:
    """The same as pytrec_eval wants it. Scores fall with the rank."""
    queries = len(data.codes)
    documents = data.judgments.documents.reshape(data.codes.shape).tolist()
    qrels = {
        str(query): {str(d): g for d, g in zip(own, codes, strict=True)}
        for query, (own, codes) in enumerate(zip(documents, data.codes.tolist(), strict=True))
    }
    scores = [float(place) for place in range(data.rankings.shape[1], 0, -1)]
    runs = [
        {
            str(query): dict(zip(map(str, ranking.tolist()), scores, strict=True))
            for query, ranking in enumerate(data.rankings[start : start + queries])
        }
        for start in range(0, len(data.rankings), queries)
    ]
    return qrels, runs


def compare(name: str, share: float, repeats: int) -> None:
    """Checks that both sides agree on every value, then times them."""
    data = made(name, share)
    ours = [timed(lambda: by_engine(data, GLOBAL)) for _ in range(max(3, repeats))]
    four = [timed(lambda: by_engine(data, ALL_IDEALS)) for _ in range(max(3, repeats))]
    own_peak = peak()
    qrels, runs = as_dicts(data)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut." + ",".join(map(str, CUTOFFS))})
    values = by_engine(data, GLOBAL).values
    if not all(np.array_equal(*pair) for pair in pairs(values, evaluator, runs)):
        sys.exit("the two sides differ: nothing is timed")
    theirs = [timed(lambda: [evaluator.evaluate(run) for run in runs]) for _ in range(repeats)]
    times = statistics.median(theirs) / statistics.median(ours)
    print(
        f"({name}) {len(data.rankings):,} rankings x {data.rankings.shape[1]}: "
        f"ours {shown(ours)} s, with all four ideals {shown(four)} s, "
        f"pytrec_eval {shown(theirs)} s: {times:.1f} times; "
        f"peak memory {own_peak:.0f} MiB before its dicts, {peak():.0f} MiB with them",
        flush=True,
    )


def pairs(
    values: npt.NDArray[np.float64],
    evaluator: pytrec_eval.RelevanceEvaluator,
    runs: Sequence[dict[str, dict[str, float]]],
) -> Iterator[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Ours and theirs, a run at a time."""
    for number, run in enumerate(runs):
        found = evaluator.evaluate(run)
        theirs = [[found[query][f"ndcg_cut_{k}"] for k in CUTOFFS] for query in run]
        yield values[number * len(run) : (number + 1) * len(run)], np.array(theirs)


def shown(times: Sequence[float]) -> str:
    """Median and range, in seconds."""
    return f"{statistics.median(times):.4f} ({min(times):.4f} to {max(times):.4f})"


def peak() -> float:
    """The most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """The shapes asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--shape", choices=sorted(SHAPES), nargs="+", default=sorted(SHAPES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    gc.disable()
    for name in options.shape:
        compare(name, options.share, options.repeats)


if __name__ == "__main__":
    main()
