"""The engine for data frames of Spark: rows are moved by Spark, and computed by the library.

    from touchstone.bulk.spark import evaluate

    evaluate(df, query="user", document="item", score="score", grade="grade", measures="nDCG@10")

`df` is repartitioned by query and sorted within its partitions; `mapInArrow` works through each
partition, some batches at a time, the open query carried from batch to batch; what comes back are a
few rows of integers a partition. Executors need this library with pyarrow. Each holds about
`ROWS_AT_ONCE` rows, or those of the largest query.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from touchstone.bulk.columns import normalised
from touchstone.bulk.counts import BulkCounts, packed, report, unpacked
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.ids import Words, hashes
from touchstone.bulk.kernel import evaluate_rows
from touchstone.bulk.plan import Plan
from touchstone.bulk.spill import table_of
from touchstone.errors import DomainError

ROWS_AT_ONCE: Final = 1 << 20
# What Spark adds to the rows: the bucket that it hashes a row's query into, and whether a row is of
# the data frame of judgments.
BUCKET: Final = "__bucket"
IS_JUDGMENT: Final = "__is_judgment"
# What comes back: counts as `packed` makes them, in a partition's first row its buckets as int32,
# or why it refuses.
RETURNED: Final = (
    "segment string, rows long, queries long, sums binary, grades binary, buckets binary, "
    "refused string"
)
_SCHEMA: Final = pa.schema(
    {
        "segment": pa.string(),
        "rows": pa.int64(),
        "queries": pa.int64(),
        "sums": pa.binary(),
        "grades": pa.binary(),
        "buckets": pa.binary(),
        "refused": pa.string(),
    }
)
_WHERE: Final = "the data frame"


def evaluate(
    df: Any,
    *,
    judgments: Any = None,
    partitions: int | None = None,
    **columns_and_measures: Any,
) -> dict[str, Any]:
    """What `touchstone bulk --json` prints, of a data frame.

    df: a row per ranked document, with its grade unless `judgments` is a data frame of grades.
    partitions: how many the rows are shuffled into; None: they are counted first, and there is one
    for each million. columns_and_measures: as `Plan.of` takes them.
    Raises MeasureError, BulkRefused; what an executor refuses arrives as Spark's PythonException.
    """
    plan = Plan.of(**columns_and_measures)
    return report(plan, counts_of(plan, df, judgments=judgments, partitions=partitions))


def evaluate_paths(
    plan: Plan, paths: Sequence[str], *, judgments: Sequence[str] = ()
) -> BulkCounts:
    """The counts of Parquet that Spark can read, in the session that there is, or a new one.

    Raises BulkRefused where pyspark is missing.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 -- heavy, and not ours to install
    except ImportError:
        raise BulkRefused("--engine spark needs pyspark, and Java: pip install pyspark") from None
    session = SparkSession.builder.appName("touchstone bulk").getOrCreate()
    try:
        graded = session.read.parquet(*judgments) if judgments else None
        return counts_of(plan, session.read.parquet(*paths), judgments=graded)
    finally:
        session.stop()


def counts_of(
    plan: Plan, df: Any, *, judgments: Any = None, partitions: int | None = None
) -> BulkCounts:
    """The counts of a data frame; as `evaluate`, which reports them."""
    from pyspark.sql import functions as fn  # noqa: PLC0415 -- heavy, and not ours to install

    _check_columns(plan, df, judgments)
    if judgments is not None:
        ranked = df.withColumn(plan.grade, fn.lit(None)).withColumn(IS_JUDGMENT, fn.lit(False))
        graded = judgments.withColumn(plan.score, fn.lit(None)).withColumn(
            IS_JUDGMENT, fn.lit(True)
        )
        rows = _chosen(plan, ranked).unionByName(_chosen(plan, graded), allowMissingColumns=True)
    else:
        rows = _chosen(plan, df)
    if partitions is None:
        partitions = max(1, -(-rows.count() // ROWS_AT_ONCE))
    shuffled = (
        rows.withColumn(BUCKET, fn.pmod(fn.hash(*plan.query), fn.lit(partitions)))
        .repartition(partitions, *plan.query)
        .sortWithinPartitions(*plan.query)
    )
    frames = () if judgments is None else ((False, df), (True, judgments))
    # of rows in a frame without these columns the other frame says the segment
    silent = frozenset(flag for flag, own in frames if not set(plan.by) <= set(own.columns))
    work = partial(evaluate_batches, plan, silent=silent)
    result = shuffled.mapInArrow(work, RETURNED).collect()
    return merged_rows(row.asDict() for row in result)


def evaluate_batches(
    plan: Plan,
    batches: Iterable[pa.RecordBatch],
    *,
    silent: frozenset[bool] = frozenset(),
    rows_at_once: int = ROWS_AT_ONCE,
) -> Iterator[pa.RecordBatch]:
    """What `mapInArrow` does with one partition: one batch of the columns of `RETURNED`.

    batches: with the plan's columns and `BUCKET`, all rows of a query one after the other,
    whichever batches they are in. silent: the values of `IS_JUDGMENT` whose rows do not say their
    query's segment. A refusal comes back as a row, for the driver to raise.
    """
    buckets: set[int] = set()
    queries: list[Words] = []
    counts = BulkCounts()
    try:
        for raw in _whole_queries(plan, batches, rows_at_once):
            buckets.update(pc.unique(raw.column(BUCKET)).to_pylist())
            table = table_of(_normalised(plan, raw, silent))
            queries.append(hashes(pc.unique(table.column("query"))))
            counts = counts.merged(evaluate_rows(plan, table))
        _check_contiguous(queries)
    except DomainError as error:
        yield pa.RecordBatch.from_pylist([{"refused": error.message}], _SCHEMA)
        return
    rows = packed(counts)
    for row in rows[:1]:
        row["buckets"] = np.array(sorted(buckets), "<i4").tobytes()
    yield pa.RecordBatch.from_pylist(rows, _SCHEMA)


def merged_rows(rows: Iterable[dict[str, Any]]) -> BulkCounts:
    """The counts of all partitions, from what `evaluate_batches` made of each.

    Raises BulkRefused for what a partition refused, and where two partitions have rows of one
    bucket: then queries need not be whole.
    """
    result = list(rows)
    for row in result:
        if row["refused"] is not None:
            raise BulkRefused(row["refused"])
    buckets = np.frombuffer(b"".join(row["buckets"] or b"" for row in result), "<i4")
    if len(np.unique(buckets)) < len(buckets):
        raise BulkRefused("the rows of a query are in several partitions: they were not shuffled")
    return unpacked(result)


def _check_columns(plan: Plan, df: Any, judgments: Any) -> None:
    own = [*plan.query, plan.document]
    if judgments is None:
        needed = [(df, [*own, plan.score, plan.grade, *plan.by])]
    else:
        needed = [(df, [*own, plan.score]), (judgments, [*own, plan.grade])]
        if not any(set(plan.by) <= set(one.columns) for one in (df, judgments)):
            raise BulkRefused(f"neither rankings nor judgments have {', '.join(plan.by)}")
    for frame, names in needed:
        for name in names:
            if name not in frame.columns:
                known = ", ".join(frame.columns)
                raise BulkRefused(f"{_WHERE}: no column {name!r}; available: {known}")


def _chosen(plan: Plan, df: Any) -> Any:
    wanted = [*plan.query, plan.document, plan.score, plan.grade, *plan.by, IS_JUDGMENT]
    return df.select(*[name for name in dict.fromkeys(wanted) if name in df.columns])


def _whole_queries(
    plan: Plan, batches: Iterable[pa.RecordBatch], rows_at_once: int
) -> Iterator[pa.RecordBatch]:
    """The rows, about so many at a time, cut where a query ends."""
    held: list[pa.RecordBatch] = []
    n_rows, due = 0, rows_at_once
    for batch in batches:
        held.append(batch)
        n_rows += batch.num_rows
        if n_rows >= due:
            rows = _one_batch(held)
            end = _last_begin(rows, plan.query)
            if end:
                yield rows.slice(0, end)
            held = [rows.slice(end)]
            n_rows -= end
            # a query that is larger is not copied again at every batch
            due = max(rows_at_once, 2 * n_rows)
    if n_rows:
        yield _one_batch(held)


def _one_batch(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _last_begin(rows: pa.RecordBatch, columns: Sequence[str]) -> int:
    """Where the query of the last row begins; a null is a query of its own, to be refused."""
    other = np.zeros(rows.num_rows, bool)
    for name in columns:
        own = rows.column(name)
        differs = pc.not_equal(own, own[-1]).fill_null(True)
        other |= differs.to_numpy(zero_copy_only=False)
    positions = np.flatnonzero(other)
    return int(positions[-1]) + 1 if len(positions) else 0


def _normalised(
    plan: Plan, rows: pa.RecordBatch, silent: frozenset[bool]
) -> Iterator[pa.RecordBatch]:
    """The kernel's columns; those of judgments after those of rankings."""
    if IS_JUDGMENT not in rows.schema.names:
        yield normalised(rows, plan, where=_WHERE, judgments=None)
        return
    flags = rows.column(IS_JUDGMENT)
    for chosen, judgments in ((pc.invert(flags), False), (flags, True)):
        own = rows.filter(chosen)
        if judgments in silent:
            others = set(plan.by) - set(plan.query)
            own = own.select([name for name in own.schema.names if name not in others])
        yield normalised(own, plan, where=_WHERE, judgments=judgments)


def _check_contiguous(queries: Sequence[Words]) -> None:
    every = np.concatenate([np.zeros(0, np.uint64), *queries])
    if len(np.unique(every)) < len(every):
        raise BulkRefused("the rows of a query are not contiguous: they were not sorted")
