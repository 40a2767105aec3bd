"""The command `evaluate`, as a process and within: no database, exit 2 for bad input."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.forks import run_forked

ROOT = Path(__file__).resolve().parents[3]
QRELS = "q1 0 a 2\nq1 0 b 0\nq2 0 a 1\n"
RUN = "q1 Q0 b 1 0.9 t\nq1 Q0 a 2 0.5 t\nq2 Q0 z 1 1 t\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "some.qrels").write_text(QRELS)
    (tmp_path / "some.run").write_text(RUN)
    (tmp_path / "other.run.gz").write_bytes(gzip.compress(b"q2 Q0 a 1 1 t\n"))
    return tmp_path


def evaluate(files: Path, *words: str, runs: tuple[str, ...] = ("some.run",)) -> str:
    out = io.StringIO()
    paths = [str(files / name) for name in runs]
    call_command(
        "evaluate", "--qrels", str(files / "some.qrels"), "--run", *paths, *words, stdout=out
    )
    return out.getvalue()


def refusal(files: Path, *words: str, runs: tuple[str, ...] = ("some.run",)) -> str:
    err = io.StringIO()
    paths = [str(files / name) for name in runs]
    with pytest.raises(SystemExit) as ended:
        call_command(
            "evaluate", "--qrels", str(files / "some.qrels"), "--run", *paths, *words, stderr=err
        )
    assert ended.value.code == 2
    return err.getvalue()


def test_json_of_several_runs_some_gzipped(files: Path) -> None:
    words = ("--measures", "RR Success@1", "--format", "json", "--per-query")
    found = json.loads(evaluate(files, *words, runs=("some.run", "other.run.gz")))
    assert found["preset"] is None
    assert found["runs"]["some.run"]["measures"]["RR"] == {
        "mean": 0.25,
        "n": 2,
        "per_query": {"q1": 0.5, "q2": 0.0},
    }
    assert found["runs"]["other.run.gz"]["measures"]["Success@1"]["mean"] == 0.5


def test_runs_may_be_given_one_by_one(files: Path) -> None:
    words = ("--run", str(files / "other.run.gz"), "--measures", "RR")
    assert "other.run.gz" in evaluate(files, *words)
    assert "some.run" in evaluate(files, *words)


def test_trec_lines(files: Path) -> None:
    assert evaluate(files, "--measures", "RR", "--format", "trec") == "RR\tall\t0.25\n"


def test_a_preset_is_named_and_changes_the_mean(files: Path) -> None:
    words = ("--measures", "RR", "--preset", "trec_eval", "--format", "json")
    found = json.loads(evaluate(files, *words, runs=("other.run.gz",)))
    assert found["preset"] == "trec_eval"
    assert found["runs"]["other.run.gz"]["measures"]["RR"] == {"mean": 1.0, "n": 1}


def test_one_query_is_explained_as_table_and_json(files: Path) -> None:
    words = ("--measures", "nDCG@2", "--explain", "q1")
    assert "ideal DCG 2.0" in evaluate(files, *words)
    found = json.loads(evaluate(files, *words, "--format", "json"))
    assert found["runs"]["some.run"]["nDCG@2"]["ranks"][1]["doc_id"] == "a"
    assert "--explain needs --format" in refusal(files, *words, "--format", "trec")


def test_tools_definitions_stand_beside_each_other_under_the_names_asked_for(files: Path) -> None:
    words = ("--measures", "nDCG@2 lightgbm:nDCG@2 trec_eval:RR", "--format", "json")
    found = json.loads(evaluate(files, *words))["runs"]["some.run"]["measures"]
    assert list(found) == ["nDCG@2", "lightgbm:nDCG@2", "trec_eval:RR"]
    for name, own in (("lightgbm", "nDCG@2"), ("trec_eval", "RR")):
        alone = ("--measures", own, "--preset", name, "--format", "json")
        expected = json.loads(evaluate(files, *alone))["runs"]["some.run"]["measures"][own]
        assert found[f"{name}:{own}"] == expected


def test_why_definitions_differ_is_explained_for_one_query(files: Path) -> None:
    words = ("--explain", "q1", "--measures", "nDCG@2 lightgbm:nDCG@2 nDCG(gain='exp2')@2")
    told = evaluate(files, *words)
    assert "lightgbm:nDCG@2 of some.run, query q1" in told
    assert "nDCG@2 and lightgbm:nDCG@2 of some.run" in told
    assert "Each is the mean over all" in told
    found = json.loads(evaluate(files, *words, "--format", "json"))
    first, second = found["differences"]["some.run"]
    assert second["parts"][0]["parameters"] == ["gain"]
    total = sum(part["effect"] for part in first["parts"])
    assert total == pytest.approx(first["other_value"] - first["value"])
    alone = evaluate(files, "--explain", "q1", "--measures", "lightgbm:nDCG@2")
    assert "nDCG@2 and lightgbm:nDCG@2 of some.run" in alone


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--measures", "P@0"), "the cutoff must be a whole number from 1"),
        (("--measures", "nDGC@10"), "did you mean nDCG?"),
        (("--measures", ""), "enter a measure"),
        (("--measures", "RR", "--preset", "wrong"), "available: trec_eval, trec_eval_c"),
        (("--measures", "RR", "--preset", "gdeval"), "has no RR"),
        (("--measures", "RR", "--explain", "q7"), "has query 'q7'"),
    ],
)
def test_what_cannot_be_done_is_said_and_exits_2(
    files: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in refusal(files, *words)


def test_bad_lines_are_named_by_file_line_and_rule(files: Path) -> None:
    (files / "bad.run").write_text("q1 Q0 a 1 0.5 t\nq1 Q0 b 2\nq1 Q0 c 3 nan t\n")
    lines = refusal(files, "--measures", "RR", runs=("bad.run",)).splitlines()
    assert lines[0].startswith(f"{files / 'bad.run'}:2: columns: ")
    assert lines[1].startswith(f"{files / 'bad.run'}:3:")


def test_a_document_twice_in_a_query_is_refused_with_its_line(files: Path) -> None:
    (files / "twice.run").write_text("q1 Q0 a 1 0.5 t\nq1 Q0 a 2 0.4 t\n")
    assert f"{files / 'twice.run'}:2:" in refusal(files, "--measures", "RR", runs=("twice.run",))


def test_a_missing_file_is_named(files: Path) -> None:
    assert "none.run" in refusal(files, "--measures", "RR", runs=("none.run",))


def test_as_a_process_it_needs_no_database_and_is_quiet_on_stderr(files: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    common = ("manage.py", "evaluate", "--qrels", str(files / "some.qrels"), "--measures", "RR")
    good = subprocess.run(
        [sys.executable, *common, "--run", str(files / "some.run"), "--format", "trec"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (good.returncode, good.stdout, good.stderr) == (0, "RR\tall\t0.25\n", "")
    bad = run_forked((*common, "--run", str(files / "none.run")), env=environment)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith(str(files / "none.run"))


@pytest.fixture
def queries(files: Path) -> str:
    """q1 counts three times as much as q2; only q2 is in a segment, and q3 is not judged."""
    path = files / "queries.tsv"
    rows = ("query_id\ttext\tsegment\tweight", "q1\tone\t\t3", "q2\ttwo\ttail\t1", "q3\t3\tx\t9")
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_queries_are_weighed_and_told_apart_by_a_file_that_says_how(
    files: Path, queries: str
) -> None:
    names = "RR RR(average='weighted') RR(average='segments')"
    words = ("--measures", names, "--queries", queries, "--per-segment", "--format", "json")
    found = json.loads(evaluate(files, *words, runs=("some.run", "other.run.gz")))
    one, other = (found["runs"][run]["measures"] for run in ("some.run", "other.run.gz"))
    assert [own["mean"] for own in one.values()] == [0.25, 0.375, 0.25]
    assert [own["mean"] for own in other.values()] == [0.5, 0.25, 0.5]
    assert {own["n"] for own in one.values()} == {2}
    assert other["RR"]["per_segment"] == {
        "": {"mean": 0.0, "n": 1},
        "tail": {"mean": 1.0, "n": 1},
    }


def test_a_table_has_a_line_for_each_segment(files: Path, queries: str) -> None:
    words = ("--measures", "RR P@1", "--queries", queries, "--per-segment")
    lines = evaluate(files, *words, runs=("other.run.gz",)).splitlines()
    assert [line.split() for line in lines] == [
        ["run", "queries", "RR", "P@1"],
        ["other.run.gz", "2", "0.5000", "0.5000"],
        ["segment", "(none)", "1", "0.0000", "0.0000"],
        ["segment", "tail", "1", "1.0000", "1.0000"],
    ]


def test_a_judged_query_that_the_file_lacks_weighs_one(files: Path) -> None:
    (files / "few.tsv").write_text("query_id\ttext\tweight\nq1\tone\t3\n")
    words = ("--measures", "RR(average='weighted')", "--queries", str(files / "few.tsv"))
    found = json.loads(evaluate(files, *words, "--format", "json"))
    (values,) = found["runs"]["some.run"]["measures"].values()
    assert values == {"mean": 0.375, "n": 2}


def test_a_preset_leaves_weighing_to_us(files: Path, queries: str) -> None:
    words = ("--measures", "nDCG(average='weighted')@10", "--preset", "trec_eval_c")
    found = json.loads(evaluate(files, *words, "--queries", queries, "--format", "json"))
    plain = json.loads(evaluate(files, "--measures", "nDCG@10", "--format", "json", "--per-query"))
    (values,) = plain["runs"]["some.run"]["measures"].values()
    (mine,) = found["runs"]["some.run"]["measures"].values()
    right = (3 * values["per_query"]["q1"] + values["per_query"]["q2"]) / 4
    assert mine["mean"] == pytest.approx(right, rel=1e-15)


def test_a_set_of_queries_is_evaluated_as_if_there_were_no_others(files: Path) -> None:
    (files / "own.txt").write_text("# the canaries\nq2\tand its text\nq9\n")
    words = ("--measures", "RR nDCG@10", "--format", "json", "--per-query")
    every = json.loads(evaluate(files, *words, runs=("some.run", "other.run.gz")))
    own = json.loads(
        evaluate(files, *words, "--set", str(files / "own.txt"), runs=("some.run", "other.run.gz"))
    )
    for run, found in own["runs"].items():
        for name, values in found["measures"].items():
            of_all = every["runs"][run]["measures"][name]["per_query"]
            assert values["per_query"] == {"q2": of_all["q2"]}
            assert (values["mean"], values["n"]) == (of_all["q2"], 1)


def test_a_set_without_a_judged_query_is_refused(files: Path) -> None:
    (files / "own.txt").write_text("q9\n")
    words = ("--measures", "RR", "--set", str(files / "own.txt"))
    assert "no query in" in refusal(files, *words)
    (files / "own.txt").write_text("q1\nq1\n")
    assert "own.txt:2" in refusal(files, *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--measures", "RR(average='weighted')"), "with --queries"),
        (("--measures", "RR(average='segments')"), "with --queries"),
        (("--measures", "RR", "--per-segment"), "--per-segment needs --queries"),
        (
            ("--measures", "RR", "--per-segment", "--format", "trec", "--queries", "x"),
            "--format table or json",
        ),
        (("--measures", "RR", "--queries", "nowhere.tsv"), "nowhere.tsv"),
    ],
)
def test_what_weights_and_segments_need_is_said(
    files: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in refusal(files, *words)
