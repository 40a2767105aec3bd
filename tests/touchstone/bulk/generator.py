"""Interactions from a seed, as Parquet: skewed users, one giant, whole or scattered over files.

    python -m tests.touchstone.bulk.generator FOLDER [--rows N] [--seed N] [--scattered] [--text]

A user has a country, of ten, and about 20 items on the median, some of them a thousand; the giant
has a share of all rows, a million at most. Scores are float32; many of them tie where `ties` says
so. Six in ten rows have grade 0, and one in twenty none; `watched` is a raw signal in seconds.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

COUNTRIES = ("AR", "BR", "DE", "FR", "IN", "JP", "MX", "PL", "TR", "US")
GRADES = (0.6, 0.2, 0.1, 0.06, 0.04)
COLUMNS = {"query": "user", "document": "item", "score": "score", "grade": "grade"}
PORTION = 1_000_000
MOST_OF_GIANT = 1_000_000


def sizes(rows: int, rng: np.random.Generator, giant: float) -> npt.NDArray[np.int64]:
    """How many rows each user has; the first is the giant, with this share of all at most."""
    own = np.clip(rng.lognormal(3.0, 0.8, max(4, rows // 15)).astype(np.int64), 1, 2_000)
    own = own[np.cumsum(own) <= rows - min(int(rows * giant), MOST_OF_GIANT)]
    return np.concatenate(([max(1, rows - int(own.sum()))], own))


def interactions(
    rows: int, *, seed: int = 1, giant: float = 0.05, ties: bool = True, text: bool = False
) -> Iterator[pa.Table]:
    """The rows, user after user, some million at a time; a user may go on in the next."""
    rng = np.random.default_rng(seed)
    own = sizes(rows, rng, giant)
    ends = np.cumsum(own)
    countries = rng.integers(0, len(COUNTRIES), len(own))
    for start in range(0, rows, PORTION):
        stop = min(start + PORTION, rows)
        places = np.arange(start, stop)
        users = np.searchsorted(ends, places, "right")
        # an odd factor gives the items of a user different numbers, without order
        ranks = places - (ends[users] - own[users])
        items = (ranks * 7_368_787 + users * 31) % (1 << 24)
        n_rows = stop - start
        scores = rng.random(n_rows, np.float32)
        if ties:
            scores = np.round(scores, 2)
        grades = rng.choice(len(GRADES), n_rows, p=GRADES).astype(np.int8)
        watched = np.round(rng.exponential(60.0, n_rows), 1)
        columns = {
            "user": text_of("u", users) if text else pa.array(users),
            "item": text_of("item-", items) if text else pa.array(items),
            "score": pa.array(scores),
            "grade": pa.array(grades, mask=rng.random(n_rows) < 0.05),
            "watched": pa.array(watched),
            "country": pa.array(np.array(COUNTRIES)[countries[users]]),
        }
        yield pa.table(columns)


def text_of(prefix: str, numbers: npt.NDArray[np.int64]) -> pa.Array:
    """Ids with a prefix, a few of them not of ASCII."""
    return pa.array([f"{prefix}{'é' if n % 97 == 0 else ''}{n}" for n in numbers.tolist()])


def write_whole(tables: Iterator[pa.Table], folder: Path, *, files: int) -> Path:
    """Files that hold whole users, who are divided by their number."""
    return _write(tables, folder, files, lambda table, _: _numbers(table) % files)


def write_scattered(tables: Iterator[pa.Table], folder: Path, *, files: int, seed: int = 2) -> Path:
    """Files that hold rows by chance."""
    rng = np.random.default_rng(seed)
    return _write(tables, folder, files, lambda table, n: rng.integers(0, files, n))


def _numbers(table: pa.Table) -> npt.NDArray[np.int64]:
    encoded = table.column("user").combine_chunks()
    if pa.types.is_integer(encoded.type):
        return np.asarray(encoded)
    return np.array([int("".join(filter(str.isdigit, one))) for one in encoded.to_pylist()])


def _write(tables, folder, files, chosen):
    folder.mkdir(parents=True, exist_ok=True)
    writers: dict[int, pq.ParquetWriter] = {}
    for table in tables:
        own = chosen(table, table.num_rows)
        order = np.argsort(own, kind="stable")
        ends = np.cumsum(np.bincount(own, minlength=files)).tolist()
        ordered = table.take(pa.array(order))
        for file, (start, stop) in enumerate(zip([0, *ends], ends, strict=False)):
            if file not in writers:
                writers[file] = pq.ParquetWriter(folder / f"part-{file:04}.parquet", table.schema)
            if stop > start:
                writers[file].write_table(ordered.slice(start, stop - start))
    for writer in writers.values():
        writer.close()
    return folder


def main() -> None:
    """Write one data set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--scattered", action="store_true")
    parser.add_argument("--text", action="store_true")
    options = parser.parse_args()
    tables = interactions(options.rows, seed=options.seed, text=options.text)
    write = write_scattered if options.scattered else write_whole
    write(tables, options.folder, files=options.files)


if __name__ == "__main__":
    main()
