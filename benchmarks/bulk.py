"""`touchstone bulk` and other engines on one data set: whole processes, from Parquet to means.

    python -m benchmarks.bulk [--rows 2000000 20000000] [--times 3] [--python PATH] [--spark]

nDCG@5, 10 and 20 with gains g and 2^g - 1, for each of ten countries with standard errors, of
interactions made from a seed (tests/touchstone/bulk/generator.py): skewed users, one of them with
a twentieth of all rows, a million at most; scattered over the files, and once whole. The others
compute the same by SQL windows (DuckDB, Spark) or group by group (Polars). A first round is not
counted: its values must agree to 1e-9. Then come the cases in turns; with --times 0 the first round
is all. Medians of CPU time, start-up included, of a process and all that it started; and the most
memory that they had together, each shared page once. --python: an environment with duckdb, polars
and, for --spark, pyspark and this library's needs.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.usage import family, memory_bytes
from tests.touchstone.bulk.generator import interactions, write_scattered, write_whole

ROOT: Final = Path(__file__).resolve().parent.parent
CUTOFFS: Final = (5, 10, 20)
GAINS: Final = {"": "g", "(gain='exp2')": "power(2, g) - 1"}
FILES: Final = 20
COLUMNS: Final = ("--query=user", "--document=item", "--score=score", "--grade=grade")
COLUMNS_OF_SPARK: Final = "query='user', document='item', score='score', grade='grade'"
SUBREAPER: Final = 36  # PR_SET_CHILD_SUBREAPER: orphaned descendants become this one's

DUCKDB: Final = """
import duckdb, json, sys
db = duckdb.connect()
db.execute("set threads = 2")
db.execute(f"create view interactions as select * from read_parquet('{sys.argv[1]}/*.parquet')")
print(json.dumps(db.execute(sys.argv[2]).fetchall()))
"""
SPARK: Final = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "8")
spark = spark.config("spark.ui.enabled", "false").getOrCreate()
df = spark.read.parquet(sys.argv[1])
"""
SPARK_SQL: Final = (
    SPARK
    + """
df.createOrReplaceTempView("interactions")
print(json.dumps([list(row) for row in spark.sql(sys.argv[2]).collect()]))
"""
)
SPARK_KERNEL: Final = (
    SPARK
    + f"""
from touchstone.bulk.spark import evaluate
found = evaluate(df, {COLUMNS_OF_SPARK}, by="country", measures=sys.argv[2])
print(json.dumps(found))
"""
)
POLARS: Final = """
import json, sys
import polars as pl
g = pl.col("g")
best = g.sort_by(["score", "text"], descending=True)
gains = {"": lambda one: one, "(gain='exp2')": lambda one: (2.0 ** one) - 1}
def dcg(ranked, k, gain):
    rank = pl.int_range(1, pl.len() + 1).head(k)
    return (gain(ranked.head(k)) / (rank + 1).log(2)).sum()
parts = []
for words in sys.argv[2].split():
    name, k = words.removeprefix("nDCG").split("@")
    ideal = dcg(g.sort(descending=True), int(k), gains[name])
    own = dcg(best, int(k), gains[name])
    parts.append(pl.when(ideal > 0).then(own / ideal).otherwise(0.0).alias(words))
rows = pl.scan_parquet(sys.argv[1] + "/*.parquet").with_columns(
    g=pl.col("grade").fill_null(0).cast(pl.Float64), text=pl.col("item").cast(pl.String)
)
own = [pl.col("country").first(), pl.col("grade").count().alias("n")]
users = rows.group_by("user").agg(*own, *parts)
found = users.filter(pl.col("n") > 0).group_by("country").agg(
    *[pl.col(name).mean() for name in sys.argv[2].split()],
    *[(pl.col(name).std() / pl.len().sqrt()).alias(name + "e") for name in sys.argv[2].split()],
)
print(json.dumps([list(row) for row in found.collect(engine="streaming").iter_rows()]))
"""


class Case(NamedTuple):
    """words: the process. reads: how its output is read: "ours" or "rows"."""

    words: Sequence[str]
    reads: str


class Spent(NamedTuple):
    """What a process and all that it started took. memory: MiB, at most."""

    wall: float
    cpu: float
    memory: float


Values = Mapping[str, Sequence[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_000])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="with the other engines")
    parser.add_argument("--spark", action="store_true", help="Spark too: slow")
    parser.add_argument("--only", nargs="+", help="cases whose names begin so")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    for rows in options.rows:
        with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as name:
            whole, scattered = Path(name) / "whole", Path(name) / "scattered"
            cases = _cases(str(whole), str(scattered), options.python, spark=options.spark)
            chosen = {
                case: one
                for case, one in cases.items()
                if options.only is None or case.startswith(tuple(options.only))
            }
            if any(str(whole) in one.words for one in chosen.values()):
                write_whole(interactions(rows), whole, files=FILES)
            if any(str(scattered) in one.words for one in chosen.values()):
                write_scattered(interactions(rows), scattered, files=FILES)
            print(f"{rows:,} rows", flush=True)
            _compare(chosen, rows, options.times)


def _cases(whole: str, scattered: str, python: str, *, spark: bool) -> dict[str, Case]:
    names = " ".join(f"nDCG{gain}@{k}" for gain in GAINS for k in CUTOFFS)
    command = (sys.executable, "-m", "touchstone", "bulk", *COLUMNS, "--measures", names)
    ours = (*command, "--by=country", "--json")
    cases = {
        "touchstone, scattered": Case((*ours, scattered), "ours"),
        "touchstone, scattered, one process": Case((*ours, scattered, "--workers=1"), "ours"),
        "touchstone --whole": Case((*ours, whole, "--whole"), "ours"),
        "DuckDB windows": Case((python, "-c", DUCKDB, scattered, _sql()), "rows"),
        "Polars": Case((python, "-c", POLARS, scattered, names), "rows"),
    }
    if spark:
        kernel = (python, "-c", SPARK_KERNEL, scattered, names)
        cases["touchstone on Spark"] = Case(kernel, "ours")
        cases["Spark windows"] = Case((python, "-c", SPARK_SQL, scattered, _sql()), "rows")
    return cases


def _sql() -> str:
    """One query, that DuckDB and Spark both take."""
    sums, means, errors = [], [], []
    for number, gain in enumerate(GAINS.values()):
        for k in CUTOFFS:
            name = f"{number}_{k}"
            for rank in ("r", "i"):
                term = f"({gain}) / log2({rank} + 1.0)"
                sums.append(f"sum(case when {rank} <= {k} then {term} else 0 end) as {rank}{name}")
            value = f"case when i{name} > 0 then r{name} / i{name} else 0 end"
            means.append(f"avg({value})")
            errors.append(f"stddev_samp({value}) / sqrt(count(*))")
    own = "partition by user_id order by"
    return f"""
        with graded as (
            select interactions.user as user_id, country, grade, score,
                cast(item as string) as text, cast(coalesce(grade, 0) as double) as g
            from interactions
        ), ranked as (
            select *, row_number() over ({own} score desc, text desc) as r,
                row_number() over ({own} g desc) as i from graded
        ), users as (
            select max(country) as country, count(grade) as n, {", ".join(sums)}
            from ranked group by user_id
        )
        select country, {", ".join(means)}, {", ".join(errors)} from users
        where n > 0 group by country
    """  # noqa: S608 -- made of constants


def _compare(cases: Mapping[str, Case], rows: int, times: int) -> None:
    first = {name: _run(case) for name, case in cases.items()}
    values = {name: _read(case.reads, first[name][1]) for name, case in cases.items()}
    expected = next(iter(values.values()))
    for name, found in values.items():
        apart = max(
            abs(one - other)
            for segment, own in expected.items()
            for one, other in zip(own, found[segment], strict=True)
        )
        print(f"  {name}: at most {apart:.1e} apart", flush=True)
        if not apart <= 1e-9 or found.keys() != expected.keys():
            sys.exit(f"they do not agree: {name}")
    spent: dict[str, list[Spent]] = {name: [] if times else [first[name][0]] for name in cases}
    for _ in range(times):
        for name, case in cases.items():
            spent[name].append(_run(case)[0])
    for name, rounds in spent.items():
        wall, cpu = (statistics.median(one[place] for one in rounds) for place in (0, 1))
        each = ", ".join(f"{one.cpu / rows * 1e6:.2f}" for one in rounds)
        print(
            f"  {name:<36} {cpu / rows * 1e6:.2f} s of CPU time a million rows ({each}), "
            f"{wall:.1f} s in all, {max(one.memory for one in rounds):,.0f} MiB",
            flush=True,
        )


def _read(how: str, output: str) -> Values:
    """Means and standard errors of each segment."""
    found = json.loads(output.splitlines()[-1])
    if how == "rows":
        return {row[0]: row[1:] for row in found}
    out = {}
    for name, segment in found["segments"].items():
        own = segment["measures"].values()
        out[name] = [one["mean"] for one in own] + [one["se"] for one in own]
    return out


def _run(case: Case) -> tuple[Spent, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": case.words[0]}
    began, peak = time.perf_counter(), 0
    process = subprocess.Popen(
        case.words,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    over = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(0.05):
            peak = max(peak, memory_bytes(family(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    over.set()
    watcher.join()
    cpu = used.ru_utime + used.ru_stime + _left_behind()
    if process.returncode:
        assert process.stderr is not None
        sys.exit(f"{case.words[:4]}: {process.stderr.read()}")
    return Spent(wall, cpu, peak / 2**20), output


def _left_behind() -> float:
    """CPU time of processes that outlive the one that started them, such as Spark's."""
    cpu = 0.0
    while True:
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            return cpu
        cpu += used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
