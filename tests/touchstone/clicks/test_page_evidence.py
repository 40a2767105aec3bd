"""Result pages counted in buckets, and logs in Parquet: the same as in memory and as CSV."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.touchstone.clicks.logs import event, read, rows, written
from touchstone.clicks.events import EventBuckets
from touchstone.clicks.log import LogBuilder
from touchstone.clicks.log_files import read_click_log
from touchstone.clicks.page_evidence import count_pages
from touchstone.clicks.sessions import find_sessions
from touchstone.clicks.ubi import read_ubi
from touchstone.files.errors import FileRefused


def random_log(path: Path, *, pages: int = 300) -> Path:
    """Pages of 1 to 12 results, some with a gap or repeated impressions."""
    rng = random.Random(5)
    records = []
    for number in range(pages):
        ranks = [rank for rank in range(1, rng.randint(2, 12)) if rng.random() < 0.97]
        for rank in ranks:
            shown: dict[str, Any] = {
                "query": f"q{rng.randint(1, 9)}" if rank == 1 else f"q{number % 9}",
                "document": f"d{rng.randint(1, 20)}",
                "rank": rank,
                "query_id": f"p{number}",
                "application": "web",
            }
            records.append(event(**shown))
            if rng.random() < 0.3:
                records.append(event("click", **shown))
            if rng.random() < 0.1:
                records.append(event(**{**shown, "document": "again"}))
    rng.shuffle(records)
    return written(path, records)


def test_pages_are_the_same_in_buckets_as_in_memory(tmp_path: Path) -> None:
    path = random_log(tmp_path / "log")
    found = find_sessions(read(path))
    with EventBuckets() as events:
        builder = LogBuilder(events)
        read_ubi([(path, "log")], builder)
        pages, counts = count_pages(builder.log(join=False), {0: 1})
    expected = found.sessions.evidence
    assert len(found.sessions) > 100
    for column in ("query", "document", "rank", "impressions", "clicks"):
        assert (getattr(pages, column) == getattr(expected, column)).all()
    assert (counts[0].pages, counts[0].dropped) == (len(found.sessions), found.dropped)


CSV = """action,query,document,rank,query_id,client_id,timestamp
impression,shoes,d1,1,p1,c1,2026-10-01
impression,shoes,d2,2,p1,c1,2026-10-01
impression,shoes,d2,2,p1,c1,2026-10-01
click,shoes,d2,2,p1,c1,2026-10-01
click,,d2,2,p1,c1,2026-10-01
view,shoes,d2,2,p1,c1,2026-10-01
impression,shoes,d2,,p1,c1,2026-10-01
impression,shoes,d2,2,p1,c1,
impression,shoes,d2,2,p1,c1,
"""


def test_a_log_is_the_same_as_csv_and_as_parquet(tmp_path: Path) -> None:
    csv = pytest.importorskip("pyarrow.csv")
    pq = pytest.importorskip("pyarrow.parquet")
    path, other = tmp_path / "log.csv", tmp_path / "log"
    path.write_text(CSV)
    pq.write_table(csv.read_csv(path), other, row_group_size=3)
    logs = []
    for one in (path, other):
        builder = LogBuilder()
        with one.open("rb") as file:
            read_click_log(file, builder, name=one.name)
        logs.append(builder.log(join=False))
    assert (
        rows(logs[0]) == rows(logs[1]) == {("shoes", "d1", 1): (1, 0), ("shoes", "d2", 2): (3, 1)}
    )
    assert logs[0].ledger == logs[1].ledger
    assert logs[1].ledger.records == 9


def test_a_parquet_log_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {"action": ["click"], "query": ["q"], "document": ["d"]}
    for rank, problem in (([-1], "the rank -1 is less than 0"), (["x"], "not a whole number")):
        pq.write_table(pa.table(columns | {"rank": rank}), tmp_path / "log")
        with pytest.raises(FileRefused, match=problem):
            read_click_log(tmp_path / "log", LogBuilder(), name="log")
    nul = {**columns, "query": ["a", "a\x00b"], "action": ["click"] * 2, "document": ["d"] * 2}
    pq.write_table(pa.table(nul | {"rank": [1, 1]}), tmp_path / "log")
    with pytest.raises(FileRefused, match="log:2: nul: a NUL character"):
        read_click_log(tmp_path / "log", LogBuilder(), name="log")
    pq.write_table(pa.table(columns), tmp_path / "log")
    with pytest.raises(FileRefused, match="missing column rank"):
        read_click_log(tmp_path / "log", LogBuilder(), name="log")
    (tmp_path / "log").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FileRefused, match="not sound Parquet"):
        read_click_log(tmp_path / "log", LogBuilder(), name="log")
    assert np.iinfo(np.int16).max > 10_000  # ranks fit into what buckets hold
