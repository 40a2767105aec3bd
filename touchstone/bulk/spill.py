"""Rows scattered over many files, brought together on disk by a hash of their query.

`spill` reads some row groups and writes one file whose parts are the buckets, one after the other;
`evaluate_bucket` reads one bucket from all of those files. Each can be done again, by any process,
with the same result.

A file is a schema and record batches as Arrow messages, then where each of them ends, as 64-bit
integers, and how many they are. Arrow's own files end with a list that is read whole whenever one
is opened: with a thousand files of a thousand buckets that took longer than their rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from touchstone.bulk.counts import BulkCounts
from touchstone.bulk.data_sets import Portion, read_portion
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.ids import hashes
from touchstone.bulk.kernel import evaluate_rows
from touchstone.bulk.plan import Plan

_WORD: Final = 8  # bytes of an integer
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
    pa.default_memory_pool().release_unused()  # which would stay beside what buckets take
    return into.stat().st_size


def _write(sink: pa.NativeFile, tables: Iterable[pa.Table], n_buckets: int) -> None:
    ends: list[int] = []
    for table in tables:
        if not ends:
            sink.write(table.schema.serialize())
            ends.append(sink.tell())
        for bucket in _buckets(table, n_buckets):
            if bucket.num_rows:
                sink.write(bucket.serialize())
            ends.append(sink.tell())
    if ends:
        sink.write(np.array([*ends, len(ends)], np.int64).tobytes())


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
        with pa.OSFile(str(path), "rb") as source:
            size = source.size()
            if not size:
                continue
            n_ends = int(_numbers(source, 1, size - _WORD)[0])
            first_end = size - _WORD * (1 + n_ends)
            schema = None
            for position in range(bucket, n_ends - 1, n_buckets):
                start, end = _numbers(source, 2, first_end + _WORD * position).tolist()
                if start == end:
                    continue
                if schema is None:
                    source.seek(0)
                    schema = pa.ipc.read_schema(source)
                source.seek(start)
                yield pa.ipc.read_record_batch(source.read_buffer(end - start), schema)


def _numbers(source: pa.NativeFile, count: int, start: int) -> npt.NDArray[np.int64]:
    """So many of a file's integers, from this byte on."""
    return np.frombuffer(source.read_at(_WORD * count, start), np.int64)
