"""A click log of 50 million events as Parquet, imported into a collection.

    python -m benchmarks.clicks [--events 50000000] [--queries 20000] [--each 14]

In a temporary SQLite database. The log is made first, by another process: result pages of ten of a
query's documents in an order that varies, clicked as the position-based model says, with page,
client and time of every event; queries are asked for with the power 0.7 of their rank. CPU time
of this process, start-up included, and the most memory that it had. Aim: 300 s and 1 GiB.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.homes import temporary_home

DEPTH = 10
ROWS = 1_000_000  # of a row group, roughly


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--events", type=int, default=50_000_000)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--each", type=int, default=14, help="documents of a query")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write_log(options.write, options.events, options.queries, options.each)
        return
    with temporary_home() as home:
        log = home / "clicks.parquet"
        own = [f"--events={options.events}", f"--queries={options.queries}"]
        command = [sys.executable, "-m", "benchmarks.clicks", *own, f"--each={options.each}"]
        subprocess.run([*command, "--write", str(log)], check=True)
        print(f"{log.stat().st_size / 1e6:,.0f} MB of Parquet", flush=True)
        _measure(log)
        stored = (home / "benchmark.sqlite3").stat().st_size
        print(f"{stored / 1e6:,.0f} MB of database")


def _measure(log: Path) -> None:
    from judgments.clicks.services import Reading, import_clicks
    from tests.builders import NOW, make_world

    world = make_world()
    _say("started")
    made = import_clicks(
        collection=world.collection,
        name="October",
        files=[(log, log.name)],
        reading=Reading(),
        by=world.ada,
        at=NOW,
    )
    _say(f"{made.records:,} events imported")
    print(f"{made.queries:,} queries, {made.documents:,} documents; evidence of", end=" ")
    print(f"{made.impressions:,} impressions and {made.clicks:,} clicks")


def _say(what: str) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    mib = used.ru_maxrss / 1024
    print(f"{what}: {time.process_time():.1f} s of CPU time so far, {mib:,.0f} MiB", flush=True)


def write_log(path: Path, events: int, queries: int, each: int) -> None:
    """Write a log of about so many events; each: documents of a query."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    share = np.arange(1, queries + 1) ** -0.7
    bounds = np.cumsum(share) / share.sum()
    attractive = rng.beta(1, 4, size=(queries, each))
    examined = np.arange(1, DEPTH + 1) ** -0.7
    texts = pa.array([f"query number {number}" for number in range(queries)])
    names = pa.array([f"document-{number:07}" for number in range(queries * each)])
    actions = pa.array(["impression", "click"])
    done, page_number, writer = 0, 0, None
    while done < events:
        pages = max(1, min(ROWS, events - done) * 10 // 113)  # 1.3 clicks a page, roughly
        query = np.minimum(np.searchsorted(bounds, rng.random(pages)), queries - 1)
        noise = rng.normal(0, 0.1, size=(pages, each))
        order = np.argsort(-(attractive[query] + noise), axis=1)[:, :DEPTH]
        chance = attractive[query[:, None], order] * examined
        page, place = np.nonzero(rng.random(chance.shape) < chance)
        shown = np.repeat(np.arange(pages), DEPTH)
        row = np.concatenate([shown, page])
        position = np.concatenate([np.tile(np.arange(DEPTH), pages), place])
        is_click = np.repeat([0, 1], [len(shown), len(page)])
        by_page = np.lexsort((is_click, row))
        row, position, is_click = row[by_page], position[by_page], is_click[by_page]
        number = pa.array(row + page_number).cast(pa.string())
        time_ms = (row + page_number) * 50 + is_click * (position + 2) * 1000
        table = pa.table(
            {
                "action": actions.take(pa.array(is_click)),
                "query": texts.take(pa.array(query[row])),
                "document": names.take(pa.array(query[row] * each + order[row, position])),
                "rank": pa.array(position + 1),
                "query_id": pc.binary_join_element_wise("page", number, "-"),
                "client_id": pa.array((row + page_number) * 7919 % 1_000_003).cast(pa.string()),
                "timestamp": pa.array(1_790_000_000_000 + time_ms).cast(pa.timestamp("ms")),
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
        done, page_number = done + len(row), page_number + pages
    assert writer is not None
    writer.close()


if __name__ == "__main__":
    main()
