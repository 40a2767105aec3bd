"""`touchstone bulk`: what it prints and refuses, and that it says what `evaluate` says."""

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.touchstone.bulk.builders import table, written
from tests.touchstone.bulk.generator import interactions, write_scattered
from touchstone.bulk import errors, local
from touchstone.cli import main

NAMES = ("--query", "user", "--document", "item", "--score", "score", "--grade", "grade")
COLUMNS = ("--query", "query", "--document", "document", "--score", "score", "--grade", "grade")
MEASURES = (
    "nDCG@5 nDCG(gain='exp2')@10 nDCG(ideal='local')@10 AP RR@10 P(rel=2)@5 Judged@10 Bpref "
    "ERR(top=4)@20 nDCG(ties='averaged')@10 RBP(p=0.8)"
)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(words) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.strip()


def write_trec(rows: pa.Table, folder: Path) -> tuple[str, str]:
    """The same rows as qrels and run."""
    qrels, run = folder / "some.qrels", folder / "some.run.gz"
    own = rows.to_pylist()
    judged = [row for row in own if row["grade"] is not None]
    qrels.write_text("".join(f"{r['user']} 0 {r['item']} {r['grade']}\n" for r in judged))
    with gzip.open(run, "wt") as file:
        ranked = (row for row in own if row["score"] is not None)
        file.writelines(f"{r['user']} Q0 {r['item']} 1 {r['score']!r} t\n" for r in ranked)
    return str(qrels), str(run)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("preset", [None, "trec_eval", "trec_eval_c"])
def test_it_says_what_evaluate_says_of_the_same_rows_as_trec_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: bool, preset: str | None
) -> None:
    rows = pa.concat_tables(interactions(8_000, seed=5, giant=0.1, text=text))
    missing = pa.array([n % 13 == 0 for n in range(rows.num_rows)])
    rows = rows.set_column(2, "score", pa.compute.if_else(missing, None, rows.column("score")))
    data = str(write_scattered(iter([rows]), tmp_path / "data", files=3))
    qrels, run = write_trec(rows, tmp_path)
    measures = MEASURES if preset is None else "nDCG@10 P@5 AP RR Bpref Judged@10"
    more = () if preset is None else ("--preset", preset)
    here = printed(capsys, "bulk", data, *NAMES, "--measures", measures, *more, "--json")
    there = printed(
        capsys, "evaluate", "--qrels", qrels, "--run", run, "--measures", measures, *more, "--json"
    )
    expected = there["runs"]["some.run.gz"]["measures"]
    assert here["measures"].keys() == expected.keys()
    for name, own in here["measures"].items():
        if preset is None:
            assert own["mean"] == expected[name]["mean"], name
        assert own["mean"] == pytest.approx(expected[name]["mean"], rel=1e-12), name


def test_the_object_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("q", "a", 0.9, 0, "DE"), ("q", "b", 0.8, 1, "DE"), ("r", "a", 0.7, 1, "US")]
    path = written(table(rows, "country"), tmp_path / "some.parquet")
    words = ("bulk", path, *COLUMNS, "--measures", "RR trec_eval:P@1", "--json")
    found = printed(capsys, *words, "--by", "country")

    def measure(mean: float, se: float | None, total: int) -> dict[str, Any]:
        return {"mean": mean, "se": se, "sum": str(total), "scale": 60}

    half = 2**59
    assert found == {
        "rows": 3,
        "queries": 2,
        "measures": {
            "RR": measure(0.75, 0.25, 3 * half),
            "trec_eval:P@1": measure(0.5, 0.5, 2 * half),
        },
        "segments": {
            "DE": {
                "rows": 2,
                "queries": 1,
                "measures": {
                    "RR": measure(0.5, None, half),
                    "trec_eval:P@1": measure(0.0, None, 0),
                },
            },
            "US": {
                "rows": 1,
                "queries": 1,
                "measures": {
                    "RR": measure(1.0, None, 2 * half),
                    "trec_eval:P@1": measure(1.0, None, 2 * half),
                },
            },
        },
    }
    assert printed(capsys, *words)["segments"] == {}


def test_the_table_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("q", "a", 0.9, 0, "DE"), ("q", "b", 0.8, 1, "DE"), ("r", "a", 0.7, 1, None)]
    path = written(table(rows, "country"), tmp_path / "some.parquet")
    assert main(("bulk", path, *COLUMNS, "--measures", "RR", "--by", "country")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 rows, 2 queries; s.e.: standard error of the mean"
    assert [line.split() for line in lines[1:]] == [
        ["segment", "queries", "RR", "s.e."],
        ["all", "2", "0.7500", "0.2500"],
        ["(none)", "1", "1.0000", "–"],
        ["DE", "1", "0.5000", "–"],
    ]


def test_judgments_and_signals_are_options_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranked = pa.table({"query": [1, 1], "document": [1, 2], "score": [0.9, 0.8]})
    watched = pa.table({"query": [1, 1], "document": [2, 3], "grade": [75.5, 3.0]})
    paths = written(ranked, tmp_path / "r.parquet"), written(watched, tmp_path / "w.parquet")
    for option in ("--signals", "--gain"):
        words = ("bulk", paths[0], "--judgments", paths[1], *COLUMNS, "--measures", "RR", "--json")
        found = printed(capsys, *words, option, ">=60=1, >=0=0")
        assert found["measures"]["RR"]["mean"] == 0.5


def test_rows_are_brought_together_in_the_folder_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "Spilling", partial(local.Spilling, rows_per_bucket=1_000))
    rows = pa.concat_tables(interactions(4_000, seed=5))
    data = str(write_scattered(iter([rows]), tmp_path / "data", files=3))
    (folder := tmp_path / "spill").mkdir()
    words = (
        "bulk",
        data,
        *NAMES,
        "--measures",
        "RR",
        "--workers",
        "1",
        "--spill-folder",
        str(folder),
    )
    assert printed(capsys, *words, "--json")["rows"] == 4_000
    assert "raise --spill-limit" in refused(capsys, *words, "--spill-limit", "0.00001")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "celery"), "--engine celery is only available on a Touchstone server"),
        (("--engine", "spark", "--whole"), "--whole and --workers only apply to --engine local"),
        (("--workers", "0"), "--workers must be 1 or more"),
        (("--spill-limit", "0"), "--spill-limit must be above 0"),
        (("--spill-limit", "nan"), "--spill-limit must be above 0"),
        (("--preset", "none"), "unknown preset 'none'"),
        (("--signals", "like"), "Write E=3 or >=60=3"),
        (("--by", "nobody"), "no column 'nobody'; available: query, document, score"),
        (("--measures", "Coverage@5"), "plain means over queries"),
    ],
)
def test_bad_options_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    path = written(table([("q", "a", 0.5, 1)]), tmp_path / "some.parquet")
    assert message in refused(capsys, "bulk", path, *COLUMNS, "--measures", "RR", *words)


def test_a_note_says_where_a_tool_is_not_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(table([("q", "a", 0.5, 1)]), tmp_path / "some.parquet")
    assert main(("bulk", path, *COLUMNS, "--measures", "nDCG@5", "--preset", "lightgbm")) == 0
    assert "Note: " in capsys.readouterr().err


def test_without_pyarrow_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda _: None)
    said = refused(capsys, "bulk", "some.parquet", *COLUMNS, "--measures", "RR")
    assert said.endswith("pip install 'touchstone-relevance[parquet]'")
