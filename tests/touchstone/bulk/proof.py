"""Twenty million rows, every way of evaluating them, and one answer.

    python -m tests.touchstone.bulk.proof [--rows N] [--users N] [--folder DIR]

Makes interactions from a seed, one user of whom has a twentieth of the rows, in files of whole
users and in files of rows by chance; evaluates them in one process and in several, in few buckets
and in many, and as whole files; and compares the integers of every segment. Some users, the giant
among them, are held against plain Python. Exits 1 where anything differs.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds

from tests.touchstone.bulk.generator import interactions, write_scattered, write_whole
from tests.touchstone.bulk.reference import plain_ndcg, rounded_sum
from touchstone.bulk.counts import report
from touchstone.bulk.kernel import evaluate_rows
from touchstone.bulk.local import Spilling, evaluate
from touchstone.bulk.plan import Plan

NAMES = {"query": "user", "document": "item", "score": "score", "grade": "grade"}
MEASURES = {"nDCG@5": (5, False), "nDCG(gain='exp2')@20": (20, True)}
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("scattered", {}),
    ("scattered", {"processes": 1}),
    ("scattered", {"spilling": Spilling(rows_per_bucket=100_000)}),
    ("whole", {}),
    ("whole", {"whole": True}),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--users", type=int, default=200, help="held against plain Python")
    parser.add_argument("--folder", help="for the data (default: temporary)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        write_whole(interactions(options.rows), Path(name) / "whole", files=20)
        write_scattered(interactions(options.rows), Path(name) / "scattered", files=20)
        return prove(Path(name), n_users=options.users)


def prove(folder: Path, *, n_users: int) -> int:
    """Compare; the exit status. folder: with the data sets `whole` and `scattered`."""
    plan = Plan.of(**NAMES, by="country", measures=" ".join(MEASURES))
    answers = []
    for layout, more in WAYS:
        began = time.perf_counter()
        found = report(plan, evaluate(plan, [str(folder / layout)], **more))
        answers.append(json.dumps(found))
        seconds = time.perf_counter() - began
        print(f"{layout}, {more}: {found['rows']:,} rows, {seconds:.1f} s")
    is_one = len(set(answers)) == 1
    print("the same integers" if is_one else "THEY DIFFER")
    agrees = agrees_with_reference(folder / "scattered", n_users)
    return 0 if is_one and agrees else 1


def agrees_with_reference(data: Path, n_users: int) -> bool:
    """Whether the users' sums, the giant's first, are those of plain Python."""
    plan = Plan.of(**NAMES, measures=" ".join(MEASURES))
    rows = ds.dataset(str(data), format="parquet")
    known = np.unique(rows.to_table(columns=["user"]).column("user").to_numpy())
    sample = [0, *np.random.default_rng(1).choice(known[1:], min(n_users, len(known) - 1), False)]
    table = rows.to_table(filter=pc.field("user").isin(sample))
    users: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in table.select(["user", "item", "score", "grade"]).to_pylist():
        users[row["user"]].append(row)
    judged = [own for own in users.values() if any(row["grade"] is not None for row in own)]
    own = table.select(["user", "item", "score", "grade"])
    own = own.rename_columns(["query", "document", "score", "grade"]).combine_chunks()
    found = report(plan, evaluate_rows(plan, own))["measures"]
    for name, (k, exponential) in MEASURES.items():
        total = rounded_sum(plain_ndcg(one, k, exponential=exponential) for one in judged)
        print(f"{name} of {len(users)} users: {found[name]['sum']}, in plain Python {total}")
        if found[name]["sum"] != str(total):
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
