"""The engine of one machine: the same integers however rows lie, and a clean end."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.touchstone.bulk.builders import ROOT, counts, plan, table, written
from tests.touchstone.bulk.generator import interactions, write_scattered, write_whole
from touchstone.bulk import local
from touchstone.bulk.counts import BulkCounts, report
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.local import Spilling, evaluate
from touchstone.bulk.plan import Plan
from touchstone.bulk.spill import evaluate_bucket
from touchstone.measures.errors import MeasureError

ROWS = 20_000
ASKED = {"query": "user", "document": "item", "by": "country"}
SMALL = Spilling(rows_per_bucket=2_400)


def asked() -> Plan:
    return plan("nDCG@5 nDCG(gain='exp2')@20 AP", **ASKED)


def rows(*, text: bool = False) -> pa.Table:
    return pa.concat_tables(interactions(ROWS, seed=11, giant=0.2, text=text))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_whole(iter([rows()]), tmp_path_factory.mktemp("whole"), files=9)


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scattered(iter([rows()]), tmp_path_factory.mktemp("scattered"), files=9)


@pytest.fixture(scope="module")
def expected() -> BulkCounts:
    """All rows at once, as the kernel has them."""
    return counts(rows(), asked())


@pytest.mark.parametrize("n_rows", [1_000, 2_400, 8_000, 10**6])
def test_any_number_of_buckets_gives_the_same_integers(
    whole: Path, scattered: Path, expected: BulkCounts, n_rows: int
) -> None:
    for folder in (whole, scattered):
        spilling = Spilling(rows_per_bucket=n_rows)
        assert evaluate(asked(), [str(folder)], spilling=spilling, processes=1) == expected


def test_several_processes_give_the_same_integers(scattered: Path, expected: BulkCounts) -> None:
    assert evaluate(asked(), [str(scattered)], spilling=SMALL, processes=3) == expected


def test_text_gives_the_same_integers_whole_and_scattered(tmp_path: Path) -> None:
    own = rows(text=True)
    expected = counts(own, asked())
    for write in (write_whole, write_scattered):
        folder = write(iter([own]), tmp_path / write.__name__, files=5)
        assert evaluate(asked(), [str(folder)], spilling=SMALL, processes=1) == expected


def test_files_of_whole_queries_need_no_disk(
    whole: Path, expected: BulkCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryDirectory", None)
    for processes in (1, 2):
        found = evaluate(asked(), [str(whole)], whole=True, spilling=SMALL, processes=processes)
        assert found == expected


def test_files_said_to_hold_whole_queries_that_do_not_are_refused(scattered: Path) -> None:
    with pytest.raises(BulkRefused, match=r"[\d,]+ of 595 queries are split across files"):
        evaluate(asked(), [str(scattered)], whole=True, spilling=SMALL, processes=1)


def test_a_single_query_in_two_files_is_enough_to_be_refused(whole: Path, tmp_path: Path) -> None:
    extra = rows().slice(0, 1).set_column(1, "item", pa.array([-5]))
    path = written(extra, tmp_path / "late.parquet")
    with pytest.raises(BulkRefused, match=r"^1 of [\d,]+ queries are split"):
        evaluate(asked(), [str(whole), path], whole=True, spilling=SMALL, processes=1)


def test_a_file_too_large_for_memory_is_not_read_whole(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "LARGEST_WHOLE", 3_000)
    with pytest.raises(BulkRefused, match="rows in one file are too many for --whole"):
        evaluate(asked(), [str(whole)], whole=True, spilling=SMALL, processes=1)


def judgments_apart(folder: Path, *, files: int = 4) -> tuple[str, str, BulkCounts]:
    """Rankings and judgments in two data sets, and the counts of both in one."""
    together = rows()
    rng = np.random.default_rng(3)
    unranked = pa.array(rng.random(ROWS) < 0.1)
    scores = pa.compute.if_else(unranked, None, together.column("score"))
    together = together.set_column(2, "score", scores)
    graded = together.filter(pa.compute.is_valid(together.column("grade")))
    graded = graded.select(["user", "item", "grade", "country"])
    graded = graded.set_column(0, "user", graded.column("user").cast(pa.int32()))
    ranked = together.filter(pa.compute.is_valid(scores)).select(["user", "item", "score"])
    ranked = ranked.take(pa.array(rng.permutation(ranked.num_rows)))
    write_scattered(iter([ranked]), folder / "ranked", files=files)
    write_scattered(iter([graded]), folder / "graded", files=files, seed=5)
    needed = pa.compute.or_(
        pa.compute.is_valid(scores), pa.compute.is_valid(together.column("grade"))
    )
    return str(folder / "ranked"), str(folder / "graded"), counts(together.filter(needed), asked())


def test_rankings_and_judgments_of_two_data_sets_meet_by_key(tmp_path: Path) -> None:
    ranked, graded, expected = judgments_apart(tmp_path)
    names = asked()
    for spilling in (SMALL, Spilling()):
        found = evaluate(names, [ranked], judgments=[graded], spilling=spilling, processes=1)
        # rows are those of the rankings alone, everything else is as in one data set
        assert {name: (own.queries, own.sums.tolist()) for name, own in found.segments.items()} == {
            name: (own.queries, own.sums.tolist()) for name, own in expected.segments.items()
        }


def test_two_data_sets_that_could_never_meet_are_refused(tmp_path: Path) -> None:
    ranked = written(pa.table({"query": [1], "document": [1], "score": [1.0]}), tmp_path / "r.pq")
    texts = pa.table({"query": ["1"], "document": [1], "grade": [1]})
    graded = written(texts, tmp_path / "g.pq")
    with pytest.raises(BulkRefused, match="'query' is number in the rankings and text in the judg"):
        evaluate(plan(), [ranked], judgments=[graded])
    with pytest.raises(BulkRefused, match="without --judgments"):
        evaluate(plan(), [ranked], judgments=[graded], whole=True)
    numbers = written(texts.set_column(0, "query", pa.array([1])), tmp_path / "n.pq")
    with pytest.raises(BulkRefused, match="neither rankings nor judgments have country"):
        evaluate(plan(by="country"), [ranked], judgments=[numbers])


@pytest.mark.parametrize("twice", ["rankings", "judgments"])
def test_a_pair_twice_in_either_data_set_is_refused(tmp_path: Path, twice: str) -> None:
    ranked = pa.table({"query": [1, 2], "document": [1, 1], "score": [1.0, 1.0]})
    graded = pa.table({"query": [1, 2], "document": [1, 1], "grade": [1, 1]})
    if twice == "rankings":
        ranked = pa.concat_tables([ranked, ranked.slice(1)])
    else:
        graded = pa.concat_tables([graded, graded.slice(1)])
    paths = written(ranked, tmp_path / "r.pq"), written(graded, tmp_path / "g.pq")
    with pytest.raises(BulkRefused, match=f"query '2': document '1' appears twice in the {twice}"):
        evaluate(plan(), [paths[0]], judgments=[paths[1]])


def test_a_bucket_can_be_evaluated_again_and_buckets_merge_in_any_order(
    scattered: Path, expected: BulkCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[BulkCounts] = []

    def twice(*arguments: object) -> BulkCounts:
        once = evaluate_bucket(*arguments)  # type: ignore[arg-type]
        assert evaluate_bucket(*arguments) == once  # type: ignore[arg-type]
        found.append(once)
        return once

    monkeypatch.setattr(local, "evaluate_bucket", twice)
    assert evaluate(asked(), [str(scattered)], spilling=SMALL, processes=1) == expected
    assert len(found) == 9
    assert BulkCounts.merge(found[::-1]) == BulkCounts.merge([*found[4:], *found[:4]]) == expected


def test_spilling_has_a_limit_and_leaves_nothing(scattered: Path, tmp_path: Path) -> None:
    spilling = Spilling(str(tmp_path), limit=100_000, rows_per_bucket=2_400)
    with pytest.raises(BulkRefused, match=r"more than 9\.31e-05 GiB in .*: raise --spill-limit"):
        evaluate(asked(), [str(scattered)], spilling=spilling, processes=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_a_refusal_leaves_no_temporary_folder(
    scattered: Path, tmp_path: Path, processes: int
) -> None:
    spilling = Spilling(str(tmp_path), rows_per_bucket=2_400)
    skipping = plan("nDCG(empty='error')@5", **ASKED)
    with pytest.raises(MeasureError, match=r"query '.*: nDCG.*is not defined"):
        evaluate(skipping, [str(scattered)], spilling=spilling, processes=processes)
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_is_killed_is_said_and_leaves_nothing(
    scattered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "evaluate_bucket", kill)
    spilling = Spilling(str(tmp_path), rows_per_bucket=2_400)
    with pytest.raises(BulkRefused, match="a worker process was killed"):
        evaluate(asked(), [str(scattered)], spilling=spilling, processes=2)
    assert list(tmp_path.iterdir()) == []


def kill(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows that are not done with before a signal arrives."""
    return write_scattered(interactions(2_500_000), tmp_path_factory.mktemp("many"), files=3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_temporary_folder(
    many: Path, tmp_path: Path, number: signal.Signals
) -> None:
    (folder := tmp_path / "spill").mkdir()
    words = ["bulk", str(many), "--query", "user", "--document", "item", "--score", "score"]
    words += ("--grade", "grade", "--measures", "nDCG@10", "--workers", "2")
    process = subprocess.Popen(
        [sys.executable, "-m", "touchstone", *words, "--spill-folder", str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(partial(has_spilled, folder), process)
    process.send_signal(number)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert said.endswith("interrupted; temporary files were removed\n")
    assert list(folder.iterdir()) == []


def has_spilled(folder: Path) -> bool:
    return any(folder.glob("touchstone-bulk-*/*"))


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not is_so():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def test_progress_is_told(scattered: Path) -> None:
    told: list[tuple[str, int, int]] = []
    evaluate(
        asked(),
        [str(scattered)],
        spilling=SMALL,
        processes=1,
        progress=lambda *one: told.append(one),
    )
    assert told[0][1:] == (0, told[0][2])
    assert told[-1] == ("buckets evaluated", 9, 9)
    assert [what for what, done, of in told if done == of] == ["parts read", "buckets evaluated"]


def test_large_files_are_split_by_their_row_groups(tmp_path: Path, expected: BulkCounts) -> None:
    path = written(rows(), tmp_path / "one.parquet", row_group_size=1_000)
    assert pq.ParquetFile(path).num_row_groups == 20
    assert evaluate(asked(), [path], spilling=SMALL, processes=1) == expected


def test_files_that_change_while_they_are_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(table([("q", "a", 0.5, 1), ("r", "a", 0.5, 1)]), tmp_path / "one.parquet")
    assert report(plan(), evaluate(plan(), [path]))["rows"] == 2
    monkeypatch.setattr(local, "evaluate_rows", lambda *_: BulkCounts())
    with pytest.raises(BulkRefused, match="the files changed while they were read"):
        evaluate(plan(), [path])
