"""What `mapInArrow` does, driven with Arrow batches and without Java; and Spark itself, if asked.

`./run tests --engines` runs the tests that need pyspark and Java, too.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.touchstone.bulk.builders import counts
from tests.touchstone.bulk.generator import interactions, write_scattered
from touchstone.bulk.counts import BulkCounts, packed, report, unpacked
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.local import evaluate as evaluate_here
from touchstone.bulk.plan import Plan
from touchstone.bulk.spark import BUCKET, IS_JUDGMENT, evaluate, evaluate_batches, merged_rows
from touchstone.cli import main

ASKED = {"query": "user", "document": "item", "score": "score", "grade": "grade", "by": "country"}
MEASURES = "nDCG@5 nDCG(gain='exp2')@20 AP"


def asked() -> Plan:
    return Plan.of(**ASKED, measures=MEASURES)


def rows() -> pa.Table:
    return pa.concat_tables(interactions(30_000, seed=9, giant=0.3)).combine_chunks()


def shuffled(table: pa.Table, partitions: int) -> Iterator[pa.Table]:
    """As Spark does: a bucket by a hash of the query, sorted inside, in no order of documents."""
    table = table.take(pa.array(np.random.default_rng(7).permutation(table.num_rows)))
    bucket = np.asarray(table.column("user").combine_chunks()) * 31 % partitions
    table = table.append_column(BUCKET, pa.array(bucket.astype(np.int32)))
    for own in range(partitions):
        yield table.filter(pa.array(bucket == own)).sort_by("user")


def evaluated(
    partition: pa.Table, *, batch: int = 997, at_once: int = 2_000, **more: Any
) -> list[dict[str, Any]]:
    batches = partition.combine_chunks().to_batches(max_chunksize=batch)
    found = list(evaluate_batches(asked(), batches, rows_at_once=at_once, **more))
    return [row for one in found for row in one.to_pylist()]


@pytest.mark.parametrize("partitions", [1, 4, 13])
@pytest.mark.parametrize("at_once", [1, 2_000, 10**6])
def test_the_same_integers_for_any_partitions_and_batches(partitions: int, at_once: int) -> None:
    expected = counts(rows(), asked())
    for batch in (997, 10_000):
        found: list[dict[str, Any]] = []
        for partition in shuffled(rows(), partitions):
            found += evaluated(partition, batch=batch, at_once=at_once)
        assert merged_rows(found) == expected


def test_a_query_is_carried_from_batch_to_batch() -> None:
    """Cut at every batch instead, its parts would count as queries of their own."""
    one = next(shuffled(rows(), 1))
    cut = [
        counts(pa.Table.from_batches([piece]).drop_columns([BUCKET]), asked())
        for piece in one.to_batches(max_chunksize=997)
    ]
    n_users = len(pc.unique(one.column("user")))
    assert sum(own.queries for part in cut for own in part.segments.values()) > n_users
    found = merged_rows(evaluated(one))
    assert sum(own.queries for own in found.segments.values()) == n_users


def test_rows_that_were_not_sorted_are_refused() -> None:
    one = next(shuffled(rows(), 1))
    unsorted = one.take(pa.array(np.random.default_rng(1).permutation(one.num_rows)))
    with pytest.raises(BulkRefused, match="not contiguous: they were not sorted"):
        merged_rows(evaluated(unsorted))


def test_rows_that_were_not_shuffled_are_refused() -> None:
    """As they lie in files: each partition has rows of every bucket."""
    every = pa.concat_tables(shuffled(rows(), 4))
    halves = [every.slice(0, 15_000), every.slice(15_000)]
    found = [row for half in halves for row in evaluated(half.sort_by("user"))]
    with pytest.raises(BulkRefused, match="in several partitions: they were not shuffled"):
        merged_rows(found)


def test_a_refusal_comes_back_as_a_row() -> None:
    one = next(shuffled(rows(), 1))
    twice = pa.concat_tables([one, one.slice(5, 1)]).sort_by("user")
    found = evaluated(twice)
    assert len(found) == 1
    with pytest.raises(BulkRefused, match=r"query '\d+': document '\d+' appears twice"):
        merged_rows(found)


def test_judgments_of_a_frame_of_their_own_are_joined_within_a_partition() -> None:
    table = rows()
    ranked = table.set_column(3, "grade", pa.nulls(table.num_rows, pa.int8()))
    graded = table.set_column(2, "score", pa.nulls(table.num_rows, pa.float32()))
    graded = graded.filter(pc.is_valid(table.column("grade")))
    flagged = [
        one.append_column(IS_JUDGMENT, pa.array([flag] * one.num_rows))
        for one, flag in ((ranked, False), (graded, True))
    ]
    flagged[1] = flagged[1].set_column(5, "country", pa.nulls(flagged[1].num_rows, pa.string()))
    found: list[dict[str, Any]] = []
    for partition in shuffled(pa.concat_tables(flagged), 4):
        found += evaluated(partition, silent=frozenset({True}))
    assert merged_rows(found) == counts(table, asked())
    with pytest.raises(BulkRefused, match="is in two segments: '' and"):
        merged_rows(evaluated(next(shuffled(pa.concat_tables(flagged), 1))))


def test_an_empty_partition_has_nothing_to_say() -> None:
    assert evaluated(next(shuffled(rows(), 1)).slice(0, 0)) == []
    assert merged_rows([]) == BulkCounts()


def test_counts_survive_a_table_of_columns() -> None:
    expected = counts(rows(), asked())
    back = pa.Table.from_pylist(packed(expected)).to_pylist()
    assert unpacked(back[::-1]) == expected


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Spark with two cores on this machine."""
    from pyspark.sql import SparkSession

    own = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "997")
        .getOrCreate()
    )
    yield own
    own.stop()


@pytest.mark.engines
def test_spark_gives_the_same_integers(session: Any, tmp_path: Path) -> None:
    data = str(write_scattered(iter([rows()]), tmp_path / "data", files=5))
    expected = report(asked(), evaluate_here(asked(), [data], processes=1))
    df = session.read.parquet(data)
    for partitions in (None, 1, 7):
        assert evaluate(df, **ASKED, measures=MEASURES, partitions=partitions) == expected


@pytest.mark.engines
def test_spark_joins_judgments_of_a_frame_of_their_own(session: Any, tmp_path: Path) -> None:
    data = str(write_scattered(iter([rows()]), tmp_path / "data", files=5))
    expected = report(asked(), evaluate_here(asked(), [data], processes=1))
    df = session.read.parquet(data)
    ranked, graded = df.drop("grade"), df.drop("score", "country").where("grade is not null")
    found = evaluate(ranked, judgments=graded, **ASKED, measures=MEASURES, partitions=3)
    assert found == expected


@pytest.mark.engines
def test_spark_says_what_is_refused(session: Any) -> None:
    df = session.createDataFrame([(1, 1, 0.5, 1, "DE"), (1, 1, 0.5, 1, "DE")], list(ASKED.values()))
    for more, message in (({}, "query '1': document '1' appears twice"), ({"by": "x"}, "'x'")):
        columns: Any = {**ASKED, **more}
        with pytest.raises(BulkRefused, match=message):
            evaluate(df, **columns, measures=MEASURES)


@pytest.mark.engines
def test_the_command_runs_on_spark(
    session: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(write_scattered(iter([rows()]), tmp_path / "data", files=5))
    words = ["bulk", data, *(f"--{name}={column}" for name, column in ASKED.items())]
    words += ["--measures", MEASURES, "--json"]
    assert main(words) == 0
    here = capsys.readouterr().out
    assert main([*words, "--engine", "spark"]) == 0
    assert capsys.readouterr().out == here
