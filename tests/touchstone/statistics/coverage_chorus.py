"""Coverage on real labels: a rater of Chorus e-commerce as machine, the final rating as people.

    python -m tests.touchstone.statistics.coverage_chorus FOLDER

prints the table of docs/estimates.md. The mean of nDCG@10 over the 135 queries, and the difference
of two rankers, are estimated from random parts of the queries, 10,000 times each.
"""

import csv
import gzip
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from touchstone.files.trec import QrelsFile, read_qrels, read_run
from touchstone.measures.files import evaluate_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.judged_files import JudgedQueries
from touchstone.statistics.corrected import corrected_list_mean, people_mean
from touchstone.statistics.three_means import PeoplesQueries, has_long_enough_interval

Floats = npt.NDArray[np.float64]
REPETITIONS = 10_000
RUNS = ("bm25-k1.2-b0.75", "lsa100")


def values(folder: Path, rater: str, run: str) -> Floats:
    """nDCG@10 of each query, in the order of their ids, by one rater's labels (or by `final`)."""
    qrels = _qrels(folder, rater)
    raw = gzip.decompress((folder / "generated-runs" / f"{run}.run.gz").read_bytes())
    ranked = read_run(BytesIO(raw), name=run)
    found = evaluate_file(JudgedQueries(qrels), ranked, [parse_measure("nDCG@10")])
    order = np.argsort(found.query_ids)
    return np.nan_to_num(found.values[order, 0])


def _qrels(folder: Path, rater: str) -> QrelsFile:
    if rater == "final":
        path = folder / "derived" / "qrels_final_0to3.txt"
        return read_qrels(path, name=path.name)
    with (folder / "derived" / "ratings_long.csv").open(newline="") as file:
        lines = [
            f"{row['query_id']} 0 {row['doc_id']} {row['grade']}\n"
            for row in csv.DictReader(file)
            if row["annotator"] == rater
        ]
    return read_qrels(BytesIO("".join(lines).encode()), name=rater)


def coverage(people: Floats, machine: Floats, n: int, repetitions: int) -> tuple[float, ...]:
    """The shares of intervals with the truth, and mean half widths: corrected, then people only.

    Then the share of corrected intervals that pages mark as short, and of the others that contain
    the truth.
    """
    rng, size = np.random.default_rng(n), len(people)
    rows = rng.random((repetitions, size)).argpartition(n, axis=1)[:, :n]
    every = np.broadcast_to(machine, (repetitions, size))
    truth, inside, halves = people.mean(), [], []
    for found in (
        corrected_list_mean(people[rows], machine[rows], every),
        people_mean(people[rows], size=size),
    ):
        inside.append((found.low <= truth) & (truth <= found.high))
        halves.append(float(((found.high - found.low) / 2).mean()))
    strata, share = np.zeros(size, np.int64), np.ones(1)
    is_long = np.array(
        [
            has_long_enough_interval(
                people[own], machine, PeoplesQueries("list", own, strata, share)
            )
            for own in rows
        ]
    )
    shares = [float(one.mean()) for one in inside]
    return (*shares, *halves, float((~is_long).mean()), float(inside[0][is_long].mean()))


def main(folder: Path) -> None:
    """Print the table."""
    print(
        "| of | rater as machine | n of 135 | coverage | ± | people only: coverage | ± "
        "| marked short | coverage of the others |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for rater in ("agent_1", "agent_2", "agent_3"):
        people, machine = ([values(folder, own, run) for run in RUNS] for own in ("final", rater))
        for what, y, f in (
            (f"nDCG@10 of {RUNS[0]}", people[0], machine[0]),
            ("difference of two rankers", people[0] - people[1], machine[0] - machine[1]),
        ):
            for n in (20, 50, 67):
                found = coverage(y, f, n, REPETITIONS)
                order = ((0, ".1%"), (2, ".4f"), (1, ".1%"), (3, ".4f"), (4, ".1%"), (5, ".1%"))
                cells = (format(found[place], how) for place, how in order)
                line = " | ".join((what, rater, str(n), *cells))
                print(f"| {line} |".replace("%", " %"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
