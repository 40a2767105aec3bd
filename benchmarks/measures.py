"""nDCG@1,3,5,10,20 by Touchstone and by the tools of its field, in memory, side by side in one run.

    python -m benchmarks.measures [--shape a b c] [--share 0.1] [--repeats 3]

(a) 6,980 queries x 1,000 documents, one judged each; (b) 100 runs x 50 queries x 1,000 documents,
300 judged each; (c) 1,000,000 queries x 20 documents, 20 judged each. Documents are drawn from 8.8
million, again for each query. --share takes that part of the queries, for want of memory or time.

Each side starts from what it wants. Ours are arrays of document numbers in rank order, so sorting
was paid at import, and the join is in the time unless it says "gathered": then the place of each
pair among the judgments was paid at import as well. "As a worker does it" is what happens to
rankings that have been read from the database until their sums can be stored. pytrec_eval and
ir_measures start from dicts of dicts, and sort and join each time; pytrec_eval's evaluator is made
before. scikit-learn and LightGBM start from matrices that are joined already, and have a definition
of their own, the recall ideal; LightGBM's gains are exponential. Only we compute all four ideals.
Files and whole processes are in `benchmarks.commands`.

Each tool's values are compared before anything is timed: bit by bit where it is in double precision
and has our definition, the others' to 1e-12 (their last bits follow another arithmetic). CPU
seconds of one core, medians, in turns.
"""

import argparse
import functools
import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.usage import peak
from touchstone.measures.definition import Measure
from touchstone.measures.engine import Values, counts_needed, depth_needed, evaluate_batch
from touchstone.measures.exact import add, exact_sums
from touchstone.measures.grades import Grades
from touchstone.measures.packing import RankedDocuments
from touchstone.measures.rankings import Judgments, grade_rankings, judge_rankings
from touchstone.measures.scoring import StoredJudgments, StoredRankings, score_sums

Floats = npt.NDArray[np.float64]
Evaluated = dict[str, dict[str, float]]

CUTOFFS: Final = (1, 3, 5, 10, 20)
ASKED: Final = "ndcg_cut." + ",".join(map(str, CUTOFFS))  # as pytrec_eval calls it

GRADES: Final = Grades.integers(range(5))
COLLECTION: Final = 8_800_000
# name: runs, queries, depth, judged
SHAPES: Final = {"a": (1, 6_980, 1_000, 1), "b": (100, 50, 1_000, 300), "c": (1, 1_000_000, 20, 20)}
SMALL: Final = (1, 50, 100, 100)
TOGETHER: Final = 2_000_000  # ranks that a worker has in memory at once
MANY: Final = 200_000_000  # ranks evaluated again, in parts of a shape, as a worker does it
PEERS_AT_MOST: Final = 5_000_000  # ranks that the slower peers are given


def of_ideal(ideal: str, **parameters: str) -> tuple[Measure, ...]:
    """nDCG at every cutoff with this ideal."""
    return tuple(
        Measure(family="nDCG", cutoff=k, ideal=ideal, **parameters)  # type: ignore[arg-type]
        for k in CUTOFFS
    )


GLOBAL: Final = of_ideal("global")
ALL_IDEALS: Final = tuple(
    measure for ideal in ("global", "recall", "local", "max") for measure in of_ideal(ideal)
)


@dataclass(frozen=True)
class Data:
    """rankings: (n_runs * n_queries, depth), best first. codes: (n_queries, judged).

    places: for each ranked document its place among the judgments, from 1; 0: not judged.
    """

    n_runs: int
    rankings: npt.NDArray[np.int32]
    judgments: Judgments
    codes: npt.NDArray[np.int8]
    places: npt.NDArray[np.int32]

    @property
    def queries(self) -> npt.NDArray[np.intp] | None:
        """Which query each ranking answers; None: the rankings are one run's."""
        n_queries = len(self.codes)
        return None if self.n_runs == 1 else np.tile(np.arange(n_queries), self.n_runs)


def made(name: str, share: float) -> Data:
    """Seeded data: rankings and judgments of a query are drawn from documents of its own."""
    n_runs, queries, depth, n_judged = SHAPES.get(name, SMALL)
    queries = max(1, int(queries * share))
    rng = np.random.default_rng(7)
    pool = 2 * max(depth, n_judged)
    rankings = np.empty((n_runs * queries, depth), np.int32)
    places = np.zeros(rankings.shape, np.int32)
    documents = np.empty((queries, n_judged), np.int32)
    for query in range(queries):
        own = rng.choice(COLLECTION, pool, replace=False, shuffle=False).astype(np.int32)
        chosen = rng.permutation(pool)[:n_judged]
        documents[query] = own[chosen]
        numbers = np.zeros(pool, np.int32)
        numbers[chosen] = 1 + query * n_judged + np.arange(n_judged)
        for run in range(n_runs):
            ranked = rng.permutation(pool)[:depth]
            rankings[run * queries + query] = own[ranked]
            places[run * queries + query] = numbers[ranked]
    codes = rng.choice(5, documents.shape, p=(0.4, 0.25, 0.2, 0.1, 0.05)).astype(np.int8)
    lengths = np.full(queries, n_judged)
    judgments = Judgments(documents.ravel(), GRADES.levels(codes).ravel(), lengths)
    return Data(n_runs, rankings, judgments, codes, places)


def joined(data: Data, measures: Sequence[Measure]) -> Values:
    """From arrays of numbers to values, the join included."""
    rows, depth = data.rankings.shape
    graded = judge_rankings(
        data.rankings.ravel(),
        np.full(rows, depth),
        data.judgments,
        n_grades=len(GRADES.codes),
        queries=data.queries,
        width=depth_needed(measures),
        returned=counts_needed(measures),
    )
    return evaluate_batch(measures, graded, GRADES)


def gathered(data: Data, measures: Sequence[Measure]) -> Values:
    """The same from the place of each pair among the judgments: a version's grades, gathered."""
    levels = np.append(np.uint8(0), data.judgments.levels)
    rows, depth = data.rankings.shape
    counts = data.judgments.counts(len(GRADES.codes))
    graded = grade_rankings(
        levels.take(data.places.ravel()),
        np.arange(rows + 1) * depth,
        counts if data.queries is None else counts[data.queries],
        rows=np.arange(rows),
        width=depth_needed(measures),
        returned=counts_needed(measures) and depth > max(CUTOFFS),
    )
    return evaluate_batch(measures, graded, GRADES)


def as_dicts(data: Data) -> tuple[dict[str, dict[str, int]], list[Evaluated]]:
    """The same as pytrec_eval wants it. Scores fall with the rank."""
    queries = len(data.codes)
    documents = data.judgments.documents.reshape(data.codes.shape)
    qrels = {
        str(query): {str(d): int(g) for d, g in zip(own, codes, strict=True)}
        for query, (own, codes) in enumerate(zip(documents, data.codes, strict=True))
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


def in_memory(data: Data, repeats: int) -> None:
    """Arrays or dicts to values."""
    ours = joined(data, ALL_IDEALS).values
    same(gathered(data, ALL_IDEALS).values, ours, "gathered", 0.0)
    portions = stored(data)
    times = {
        "ours, global ideal": lambda: joined(data, GLOBAL),
        "ours, all four ideals": lambda: joined(data, ALL_IDEALS),
        "ours, all four, as a worker does it": lambda: as_a_worker(portions, data.n_runs),
        "ours, all four, gathered": lambda: gathered(data, ALL_IDEALS),
        "ours, all four, gathered, exact sums": lambda: summed(gathered(data, ALL_IDEALS)),
    }
    own = in_turns(times, max(5, repeats))
    whole = -(-MANY // data.rankings.size)
    again = in_turns({"": lambda: [as_a_worker(portions, data.n_runs) for _ in range(whole)]}, 1)
    print(f"  in memory, {MANY:,} ranks like these, as a worker does it: {shown(again[''])}")
    print(f"  peak memory so far {peak():.0f} MiB", flush=True)
    peers = pytrec_eval_peers(data, ours) | array_peers(data, ours)
    found = own | in_turns(peers, repeats)
    base = statistics.median(found["pytrec_eval"])
    for name, seconds in found.items():
        print(f"  in memory, {name}: {shown(seconds)}; {base / statistics.median(seconds):.1f}")


def stored(data: Data) -> list[tuple[StoredJudgments, StoredRankings]]:
    """The data in the portions in which a worker loads it."""
    (n_queries, n_judged), depth = data.codes.shape, data.rankings.shape[1]
    step = max(1, TOGETHER // (data.n_runs * depth))
    by_run = data.rankings.reshape(data.n_runs, n_queries, depth)
    out = []
    for start in range(0, n_queries, step):
        ranked = by_run[:, start : start + step]
        n_own = ranked.shape[1]
        own = slice(start * n_judged, (start + n_own) * n_judged)
        judged, lengths = data.judgments, np.full(n_own, n_judged)
        judgments = Judgments(judged.documents[own], judged.levels[own], lengths)
        run_rows, query_rows = np.divmod(np.arange(data.n_runs * n_own), n_own)
        starts = np.arange(data.n_runs * n_own + 1) * depth
        rankings = StoredRankings(run_rows, query_rows, RankedDocuments(starts, ranked.ravel()))
        out.append((StoredJudgments(np.arange(n_own), judgments), rankings))
    return out


def as_a_worker(portions: list[tuple[StoredJudgments, StoredRankings]], n_runs: int) -> object:
    """From rankings as they are loaded to sums as they are stored."""
    sums = [score_sums(ALL_IDEALS, GRADES, *portion, n_runs=n_runs) for portion in portions]
    return functools.reduce(add, sums)


def summed(values: Values) -> object:
    """What a worker keeps of them."""
    return exact_sums(values.values, values.counted)


def pytrec_eval_peers(data: Data, ours: Floats) -> dict[str, Callable[[], object]]:
    """pytrec_eval, and ir_measures where that is not too long to wait."""
    import ir_measures
    import pytrec_eval

    qrels, runs = as_dicts(data)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {ASKED})
    for number, run in enumerate(runs):
        own = ours[number * len(run) : (number + 1) * len(run), : len(CUTOFFS)]
        same(own, of_pytrec_eval(evaluator.evaluate(run)), "pytrec_eval", 0.0)
    peers: dict[str, Callable[[], object]] = {
        "pytrec_eval": lambda: [evaluator.evaluate(run) for run in runs]
    }
    if data.rankings.size <= 2 * PEERS_AT_MOST:
        measures = [ir_measures.nDCG @ k for k in CUTOFFS]
        theirs = ir_measures.calc_aggregate(measures, qrels, runs[0])
        own = ours[: len(runs[0]), : len(CUTOFFS)].mean(axis=0)
        same(own, np.array([theirs[measure] for measure in measures]), "ir_measures", 1e-12)
        peers["ir_measures"] = lambda: [
            ir_measures.calc_aggregate(measures, qrels, run) for run in runs
        ]
    return peers


def of_pytrec_eval(found: Evaluated) -> Floats:
    """Its values, (n_queries, n_cutoffs)."""
    return np.array([[own[f"ndcg_cut_{k}"] for k in CUTOFFS] for own in found.values()])


def array_peers(data: Data, ours: Floats) -> dict[str, Callable[[], object]]:
    """scikit-learn and LightGBM, given the grade at every rank; unjudged documents have grade 0."""
    if data.rankings.size > PEERS_AT_MOST * 1.5:
        return {}
    from sklearn.metrics import ndcg_score

    codes = np.append(np.int8(0), data.codes.ravel())[data.places].astype(np.float64)
    scores = np.broadcast_to(np.arange(codes.shape[1], 0.0, -1.0), codes.shape)
    recall = ours[:, len(CUTOFFS) : 2 * len(CUTOFFS)].mean(axis=0)
    theirs = np.array([ndcg_score(codes, scores, k=k, ignore_ties=True) for k in CUTOFFS])
    same(recall, theirs, "scikit-learn", 1e-12)
    booster, values = lightgbm_booster(codes, scores)
    exponential = of_ideal("recall", gain="exp2", queries="all")
    own = joined(data, exponential).values
    empty = codes.max(axis=1) == 0  # LightGBM counts a list without gain as 1
    same(np.where(empty[:, None], 1.0, own).mean(axis=0), values, "LightGBM", 1e-9)
    return {
        "scikit-learn (recall ideal, joined)": lambda: [
            ndcg_score(codes, scores, k=k, ignore_ties=True) for k in CUTOFFS
        ],
        "LightGBM (recall ideal, exponential, joined)": booster,
    }


def lightgbm_booster(codes: Floats, scores: Floats) -> tuple[Callable[[], object], Floats]:
    """Its evaluation of a model that has learned nothing, and what that says."""
    import lightgbm

    data = lightgbm.Dataset(
        np.arange(codes.size, dtype=np.float64)[:, None] % 1000,
        label=codes.ravel(),
        group=np.full(len(codes), codes.shape[1]),
        init_score=scores.ravel(),
        free_raw_data=False,
        params={"verbose": -1},
    )
    options = {"objective": "lambdarank", "metric": "ndcg", "eval_at": list(CUTOFFS)}
    calm = {"verbose": -1, "learning_rate": 1e-300, "num_leaves": 2, "num_threads": 1}
    booster: Any = lightgbm.train(
        {**options, **calm}, data, num_boost_round=1, keep_training_booster=True
    )
    values = [value for _, _, value, _ in booster.eval_train()]
    return booster.eval_train, np.array(values)


def write_files(data: Data, folder: Path) -> tuple[Path, list[Path]]:
    """The qrels and the runs, with six decimals a score, as most tools write them."""
    n_queries, depth = len(data.codes), data.rankings.shape[1]
    documents = data.judgments.documents.reshape(data.codes.shape)
    with (qrels := folder / "qrels").open("w") as file:
        for query, (own, codes) in enumerate(zip(documents, data.codes, strict=True)):
            file.write("".join(f"{query} 0 {d} {g}\n" for d, g in zip(own, codes, strict=True)))
    rng = np.random.default_rng(3)
    runs = []
    for number in range(data.n_runs):
        runs.append(folder / f"{number}.run")
        with runs[-1].open("w") as file:
            for query in range(n_queries):
                steps = rng.integers(1, 40_000, depth).cumsum()[::-1].tolist()
                ranked = data.rankings[number * n_queries + query].tolist()
                pairs = enumerate(zip(ranked, steps, strict=True), start=1)
                file.write(
                    "".join(f"{query} Q0 {d} {r} {s / 1_000_000:.6f} tag\n" for r, (d, s) in pairs)
                )
    return qrels, runs


def same(one: Floats, other: Floats, name: str, tolerance: float) -> None:
    """Ends the benchmark where values differ by more than that; without a tolerance, in any bit."""
    if one.shape != other.shape or not (np.abs(one - other) <= tolerance).all():
        sys.exit(f"{name} has other values: nothing is timed")


def in_turns(work: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """CPU seconds of each, in turns; throwing results away is not in them."""
    times: dict[str, list[float]] = {name: [] for name in work}
    gc.disable()
    for _ in range(repeats):
        for name, one in work.items():
            start = time.process_time()
            result = one()
            times[name].append(time.process_time() - start)
            del result
    gc.enable()
    return times


def shown(times: Sequence[float]) -> str:
    """Median and range, in seconds."""
    return f"{statistics.median(times):.4f} s ({min(times):.4f} to {max(times):.4f})"


def main() -> None:
    """The shapes asked for, one after the other; numbers at the end are times pytrec_eval."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--shape", choices=sorted(SHAPES), nargs="+", default=sorted(SHAPES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    for name in options.shape:
        data = made(name, options.share)
        print(f"({name}) {len(data.rankings):,} rankings x {data.rankings.shape[1]:,}", flush=True)
        in_memory(data, options.repeats)


if __name__ == "__main__":
    main()
