"""The measure engine against pytrec_eval, on the same data in the same run.

    python -m benchmarks.measures [--queries 10000] [--seconds 90]

Three shapes: all queries of one run; some queries of a hundred runs; one touched query of a
hundred runs under two versions, which is what a new label costs. Both sides start from what they
want in memory (arrays of document numbers, or dicts of dicts), so reading files is not in it; the
join of rankings with judgments is, on both sides, and so is the order of the documents for
pytrec_eval, which sorts every time, while ours was sorted at import. pytrec_eval's evaluator (its
own copy of the qrels) is made before the clock starts. Every value is compared, bit by bit,
before any is timed. Times are CPU seconds of one process; both sides take turns.
"""

import argparse
import gc
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytrec_eval

from evaluation.exact import exact_sums
from evaluation.measures.engine import Values, depth_needed, evaluate_batch
from evaluation.measures.grades import Grades
from evaluation.measures.grammar import parse_measure
from evaluation.measures.rankings import Judgments, judge_rankings

SAME = {
    "nDCG@1": "ndcg_cut_1",
    "nDCG@3": "ndcg_cut_3",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "nDCG@20": "ndcg_cut_20",
    "RR": "recip_rank",
    "AP@100": "map_cut_100",
    "P@5": "P_5",
    "P@10": "P_10",
    "R@10": "recall_10",
    "R@100": "recall_100",
    "Hit@10": "success_10",
}
MEASURES = tuple(parse_measure(name) for name in SAME)
GRADES = Grades.integers(range(5))
COLLECTION = 20_000
FEWEST, MOST = 5, 50  # repeats

Evaluated = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Shape:
    """rankings: (n_runs, n_queries, depth) document numbers, best first.

    judged, grades: (n_queries, n_judged) document numbers and what they were given.
    """

    name: str
    rankings: npt.NDArray[np.int32]
    judged: npt.NDArray[np.int32]
    grades: npt.NDArray[np.int8]


def made(name: str, *, runs: int, queries: int, depth: int, judged: int, seed: int) -> Shape:
    """Seeded data: a query's rankings and judgments are drawn from documents of its own."""
    rng = np.random.default_rng(seed)
    pool = 2 * max(depth, judged)
    first = rng.integers(0, COLLECTION - pool, (queries, 1))
    ranked = np.empty((runs, queries, depth), np.int32)
    for run in range(runs):
        ranked[run] = first + np.argsort(rng.random((queries, pool)), axis=1)[:, :depth]
    chosen = np.argsort(rng.random((queries, pool)), axis=1)[:, :judged]
    grades = rng.choice(5, (queries, judged), p=(0.5, 0.2, 0.15, 0.1, 0.05))
    return Shape(name, ranked, (first + chosen).astype(np.int32), grades.astype(np.int8))


def by_engine(shape: Shape) -> Values:
    """From arrays of numbers to values, the join included; a row per query and run, by query."""
    n_runs, n_queries, depth = shape.rankings.shape
    judgments = Judgments(
        shape.judged.ravel(),
        GRADES.levels(shape.grades).ravel(),
        np.full(n_queries, shape.judged.shape[1]),
    )
    graded = judge_rankings(
        shape.rankings.ravel(),
        np.full(n_runs * n_queries, depth),
        judgments,
        n_grades=len(GRADES.codes),
        queries=np.tile(np.arange(n_queries), n_runs) if n_runs > 1 else None,
        width=depth_needed(MEASURES),
    )
    return evaluate_batch(MEASURES, graded, GRADES)


def dicts(shape: Shape) -> tuple[dict[str, dict[str, int]], list[Evaluated]]:
    """The same as pytrec_eval wants it. Scores fall with the rank."""
    qids = [str(query) for query in range(len(shape.judged))]
    names = [f"d{number}" for number in range(COLLECTION)]
    qrels = {
        qid: {names[d]: g for d, g in zip(documents.tolist(), grades.tolist(), strict=True)}
        for qid, documents, grades in zip(qids, shape.judged, shape.grades, strict=True)
    }
    scores = [float(place) for place in range(shape.rankings.shape[2], 0, -1)]
    runs = [
        {
            qid: dict(zip((names[d] for d in ranking.tolist()), scores, strict=True))
            for qid, ranking in zip(qids, run, strict=True)
        }
        for run in shape.rankings
    ]
    return qrels, runs


def compare(shape: Shape, seconds: float) -> None:
    """Checks that both sides agree on every value, then times them in turns."""
    qrels, runs = dicts(shape)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(SAME.values()))

    def by_pytrec_eval() -> list[Evaluated]:
        return [evaluator.evaluate(run) for run in runs]

    check(by_engine(shape), by_pytrec_eval(), list(qrels))
    ours, theirs = in_turns(lambda: by_engine(shape), by_pytrec_eval, seconds)
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(
        f"{shape.name}: ours {shown(ours)}, pytrec_eval {shown(theirs)}, {ratio:.1f} times; "
        f"{len(ours)} repeats",
        flush=True,
    )


def check(ours: Values, theirs: list[Evaluated], qids: list[str]) -> None:
    """Ends the benchmark where any value differs in any bit."""
    expected = [[run[qid][name] for name in SAME.values()] for run in theirs for qid in qids]
    if not np.array_equal(ours.values, np.array(expected)):
        sys.exit("the two sides differ: nothing is timed")


def in_turns(
    one: Callable[[], object], other: Callable[[], object], seconds: float
) -> tuple[list[float], list[float]]:
    """CPU seconds of both, in turns, until the time is up (but a few times at least)."""
    times: tuple[list[float], list[float]] = ([], [])
    end = time.monotonic() + seconds
    gc.disable()
    while len(times[0]) < FEWEST or (time.monotonic() < end and len(times[0]) < MOST):
        for own, work in zip(times, (one, other), strict=True):
            own.append(timed(work))
    gc.enable()
    return times


def timed(work: Callable[[], object]) -> float:
    """CPU seconds that the work took; throwing its result away is not in it."""
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    del result
    return seconds


def shown(times: list[float]) -> str:
    """Median and range in milliseconds."""
    middle, low, high = (1000 * f(times) for f in (statistics.median, min, max))
    return f"{middle:.2f} ms ({low:.2f} to {high:.2f})"


def refresh(shape: Shape) -> None:
    """What a new label costs the engine: a touched query of all runs, twice, and its sums."""
    by_run = (len(shape.rankings), -1, len(MEASURES))

    def work() -> None:
        for _version in ("before", "after"):
            found = by_engine(shape)
            exact_sums(found.values.reshape(by_run), found.counted.reshape(by_run))

    work()
    times = [timed(work) for _ in range(200)]
    print(f"{shape.name}, two versions, with exact sums: ours {shown(times)}", flush=True)


def main() -> None:
    """All shapes, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=90, help="in all, roughly")
    options = parser.parse_args()
    many, each = options.queries, options.seconds / 3
    few = max(1, many // 100)
    print(f"{len(MEASURES)} measures: {', '.join(SAME)}", flush=True)
    one = made(f"1 run x {many} queries x 100", runs=1, queries=many, depth=100, judged=30, seed=1)
    compare(one, each)
    name = f"100 runs x {few} queries x 100"
    compare(made(name, runs=100, queries=few, depth=100, judged=30, seed=2), each)
    touched = made("100 runs x 1 query x 100", runs=100, queries=1, depth=100, judged=300, seed=3)
    compare(touched, each)
    refresh(touched)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the process, both sides' data included: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
