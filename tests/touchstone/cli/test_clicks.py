"""`touchstone clicks` as a process: what it prints, imports and refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.touchstone.clicks.logs import event, query, written

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {"django", "celery", "numba", "scipy.stats", "scipy.optimize", "krippendorff", "pyarrow"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Six result pages of three documents; the first is clicked on every other one."""
    records: list[dict[str, Any]] = []
    for page in range(6):
        shown = {"query_id": f"q{page}", "application": "shop", "timestamp": page}
        records.append({**query("shoes", shown["query_id"]), "application": "shop"})
        records += [event(document=f"d{rank}", rank=rank, **shown) for rank in (1, 2, 3)]
        if page % 2:
            records.append(event("click", document="d1", rank=1, **shown))
    records.append(event("click", query=None, document="d2", rank=2, query_id="q1", timestamp=9))
    return written(tmp_path / "log.ndjson", records)


def clicks(folder: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-m", "touchstone", "clicks", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done


def found(folder: Path, *words: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(clicks(folder, *words, "--json").stdout)
    return result


def test_summary_counts_every_record(log: Path) -> None:
    summary = found(log.parent, "summary", "log.ndjson")
    assert (summary["records"], summary["events"], summary["queries"]) == (28, 22, 6)
    assert sum(summary["classes"].values()) == 28
    shop = summary["applications"]["shop"]
    assert (shop["records"], shop["smallest_rank"], shop["rank_base"]) == (27, 1, 1)
    assert shop["actions"] == {"click": 3, "impression": 18}
    assert summary["classes"]["joinable"] == 1
    assert summary["evidence"] == {
        "rows": 3,
        "impressions": 18,
        "clicks": 3,
        "pairs_shown": 3,
        "pairs_shown_at_several_ranks": 0,
        "pairs_clicked_only": 0,
    }
    table = clicks(log.parent, "summary", "log.ndjson").stdout.splitlines()
    assert table[0].split() == ["all", "(no", "name)", "shop"]
    assert any(line.split() == ["records", "28", "1", "27"] for line in table)


def test_coec_has_the_promised_keys(log: Path) -> None:
    coec = found(log.parent, "coec", "log.ndjson")
    assert coec == {
        "clicks": 3,
        "expected": 3.0,
        "pairs": [
            {"query": "shoes", "document": "d1", "impressions": 6, "clicks": 3, "coec": 1.0},
            {"query": "shoes", "document": "d2", "impressions": 6, "clicks": 0, "coec": None},
            {"query": "shoes", "document": "d3", "impressions": 6, "clicks": 0, "coec": None},
        ],
    }
    assert found(log.parent, "coec", "log.ndjson", "--join")["clicks"] == 4
    assert found(log.parent, "coec", "log.ndjson", "--application", "shop") == coec
    lines = clicks(log.parent, "coec", "log.ndjson", "--top", "1").stdout.splitlines()
    assert lines[0] == "3 clicks, 3 expected, 3 pairs, 1 with the most clicks:"
    assert lines[2].split() == ["shoes", "d1", "6", "3", "1.0000"]


def test_several_files_are_one_log_and_csv_is_read_too(log: Path) -> None:
    (log.parent / "more.csv").write_text("action,query,document,rank\nimpression,shoes,d1,1\n")
    coec = found(log.parent, "coec", "log.ndjson", "more.csv")
    assert coec["pairs"][0]["impressions"] == 7
    assert found(log.parent, "coec", "log.ndjson", "log.ndjson")["clicks"] == 3


def test_ranks_that_start_differently_are_pointed_out(log: Path) -> None:
    path = written(log.parent / "zero.ndjson", [event(application="other", rank=0)])
    done = clicks(log.parent, "coec", "log.ndjson", path.name)
    assert done.stderr == (
        "Note: the smallest rank is 1 in shop, 0 in other; --application takes one of them.\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("coec", "log.ndjson", "--application", "x"),
            "--application x: the log has events without one, shop\n",
        ),
        (
            ("coec", "log.ndjson", "--clicks", "tap", "--impressions", "tap"),
            "an action is an impression or a click, not both\n",
        ),
        (("summary", "none"), "none:1: unreadable: no such file or directory.\n"),
    ],
)
def test_what_is_wrong_is_said_and_exits_with_2(
    log: Path, words: tuple[str, ...], message: str
) -> None:
    done = clicks(log.parent, *words, status=2)
    assert (done.stdout, done.stderr) == ("", message)


@pytest.mark.parametrize("figure", ["summary", "coec"])
def test_a_small_log_is_read_without_what_takes_long_to_import(log: Path, figure: str) -> None:
    code = (
        "import runpy, sys\n"
        f"sys.argv = ['touchstone', 'clicks', {figure!r}, 'log.ndjson', '--json']\n"
        "try:\n    runpy.run_module('touchstone', run_name='__main__')\n"
        "except SystemExit as ended:\n    assert not ended.code\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=log.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
