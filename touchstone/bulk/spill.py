"""Rows scattered over many files, brought together on disk by a hash of their query.

`spill` reads some row groups and writes one Arrow file whose record batches are the buckets, one
after the other; `evaluate_bucket` reads one bucket from all of those files. Each can be done
again, by any process, with the same result.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import pyarrow as pa

from touchstone.bulk.counts import BulkCounts
from touchstone.bulk.data_sets import Portion, read_portion
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.ids import hashes
from touchstone.bulk.kernel import evaluate_rows
from touchstone.bulk.plan import Plan

_SPLIT_ROWS: Final = 1 << 19  # rows that are sorted into buckets at once


def spill(plan: Plan, portions: Sequence[Portion], n_buckets: int, into: Path) -> int:
    """Write the rows of some row groups as one Arrow file, bucket by bucket.

    into: the file; it is there only once it is whole. Returns its size in bytes.
    Raises BulkRefused as `read_portion` does.
    """
    # two processes may do the same: each has a file of its own until it is whole
    unfinished = into.with_suffix(f".{uuid4().hex}")
    try:
        with pa.OSFile(str(unfinished), "wb") as sink:
            _write(sink, _tables(plan, portions), n_buckets)
        unfinished.rename(into)
    except OSError as error:
        raise BulkRefused(f"{into.parent}: {error}") from None
    return into.stat().st_size


def _write(sink: pa.NativeFile, tables: Iterable[pa.Table], n_buckets: int) -> None:
    writer = None
    for table in tables:
        if writer is None:
            writer = pa.ipc.new_file(sink, table.schema)
        for bucket in _buckets(table, n_buckets):
            writer.write_batch(bucket)
    if writer is not None:
        writer.close()


def evaluate_bucket(plan: Plan, files: Iterable[Path], bucket: int, n_buckets: int) -> BulkCounts:
    """The counts of one bucket. files: what `spill` wrote, with as many buckets."""
    return evaluate_rows(plan, read_bucket(files, bucket, n_buckets))


def read_bucket(files: Iterable[Path], bucket: int, n_buckets: int) -> pa.Table:
    """All rows of one bucket, with the kernel's columns. files: what `spill` wrote."""
    return table_of(_read_bucket(files, bucket, n_buckets))


def read_whole(plan: Plan, portions: Iterable[Portion]) -> pa.Table:
    """All rows of some row groups, with the kernel's columns."""
    return table_of(batch for portion in portions for batch in read_portion(portion, plan))


def table_of(batches: Iterable[Any]) -> pa.Table:
    """The batches as one table."""
    held = list(batches)
    if not held:
        return pa.table({"query": pa.array([], pa.int64())})
    return pa.Table.from_batches(held).combine_chunks()


def _tables(plan: Plan, portions: Iterable[Portion]) -> Iterator[pa.Table]:
    """The rows, some portions' batches at a time."""
    held: list[Any] = []
    for portion in portions:
        for batch in read_portion(portion, plan):
            held.append(batch)
            if sum(one.num_rows for one in held) >= _SPLIT_ROWS:
                yield table_of(held)
                held = []
    if held:
        yield table_of(held)


def _buckets(table: pa.Table, n_buckets: int) -> Iterator[Any]:
    """One record batch a bucket, some of them empty."""
    queries = table.column("query").combine_chunks()
    own = (hashes(queries) % np.uint64(n_buckets)).astype(np.uint16)
    ends = np.cumsum(np.bincount(own, minlength=n_buckets)).tolist()
    ordered = table.take(pa.array(np.argsort(own, kind="stable"))).combine_chunks()
    batches = ordered.to_batches()
    whole = batches[0] if batches else pa.RecordBatch.from_pylist([], table.schema)
    for start, stop in zip([0, *ends], ends, strict=False):
        yield whole.slice(start, stop - start)


def _read_bucket(files: Iterable[Path], bucket: int, n_buckets: int) -> Iterator[Any]:
    for path in files:
        if not path.stat().st_size:
            continue
        with pa.OSFile(str(path), "rb") as source, pa.ipc.open_file(source) as reader:
            for position in range(bucket, reader.num_record_batches, n_buckets):
                batch = reader.get_batch(position)
                if batch.num_rows:
                    yield batch
