"""The command `touchstone` as a process: what it imports, prints, and how it ends."""

import csv
import json
import os
import random
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import call_command
from scipy import stats

from tests.forks import run_forked
from touchstone.cli import COMMANDS
from touchstone.files import trec_pairs
from touchstone.files.errors import FileRefused
from touchstone.files.trec import read_qrels

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {"django", "celery", "rest_framework", "numba", "llvmlite", "scipy.stats", "krippendorff"}
QUERIES, DOCUMENTS = 30, 20


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qrels, and three runs of which the second is the better the later."""
    folder, dice = tmp_path_factory.mktemp("files"), random.Random(5)
    grades = {(q, d): dice.choice((0, 0, 1, 2)) for q in range(QUERIES) for d in range(DOCUMENTS)}
    lines = [f"q{q} 0 d{d} {grade}\n" for (q, d), grade in grades.items()]
    (folder / "some.qrels").write_text("".join(lines))
    for name, skill in (("first.run", 0.5), ("second.run", 2.0), ("third.run", 0.6)):
        rows = [
            f"q{q} Q0 d{d} 1 {skill * grade + dice.gauss(0, 1):.6f} t\n"
            for (q, d), grade in grades.items()
        ]
        (folder / name).write_text("".join(rows))
    return folder


def touchstone(folder: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = run_forked(("-m", "touchstone", *words), cwd=folder, env=environment)
    assert done.returncode == status, done.stderr
    return done


def helps(parser: ArgumentParser) -> Iterator[str]:
    """Of a parser and all commands below it."""
    yield parser.format_help()
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for own in action.choices.values():
                yield from helps(own)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_the_commands_below_it_have_help(name: str) -> None:
    parser = ArgumentParser(prog=f"touchstone {name}")
    import_module(f"touchstone.cli.{name}").add_arguments(parser)
    assert all(text.startswith(f"usage: touchstone {name}") for text in helps(parser))


EVALUATE = ("evaluate", "--qrels", "some.qrels", "--run", "first.run", "--measures", "nDCG@10 RR")
COMPARE = ("compare", "--qrels", "some.qrels", "--run", "first.run", "second.run", "third.run")


def test_a_small_file_is_evaluated_without_what_takes_long_to_import(files: Path) -> None:
    code = (
        "import runpy, sys\n"
        f"sys.argv = ['touchstone', *{EVALUATE!r}]\n"
        "try:\n    runpy.run_module('touchstone', run_name='__main__')\n"
        "except SystemExit as ended:\n    assert not ended.code\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=files,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_evaluate_prints_what_manage_py_prints(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)
    for more in ((), ("--json", "--per-query"), ("--format", "trec")):
        call_command(*EVALUATE, *more)
        assert touchstone(files, *EVALUATE, *more).stdout == capsys.readouterr().out
    assert json.loads(touchstone(files, *EVALUATE, "--json").stdout)["preset"] is None


def test_files_may_be_larger_than_an_upload_may(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)
    call_command(*EVALUATE)
    printed = capsys.readouterr().out
    monkeypatch.setattr(trec_pairs, "BYTES_PER_PAIR", 10_000_000)  # of 600 pairs
    with pytest.raises(FileRefused, match="more pairs and ids than fit"):
        read_qrels("some.qrels", name="some.qrels")
    call_command(*EVALUATE)
    assert capsys.readouterr().out == printed


def test_agreement_is_a_command_of_it(files: Path) -> None:
    with (files / "labels.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("annotator", "query_id", "doc_id", "grade"))
        rows.writerows((who, "q1", f"d{n}", n % 3) for n in range(9) for who in ("ada", "ben"))
    found = json.loads(touchstone(files, "agreement", "labels.csv", "--json").stdout)
    assert (found["alpha"], found["labels"]) == (1.0, 18)


def values(files: Path, run: str) -> dict[str, float]:
    words = ("evaluate", "--qrels", "some.qrels", "--run", run, "--measures", "nDCG@10")
    found = json.loads(touchstone(files, *words, "--per-query", "--json").stdout)
    own: dict[str, float] = found["runs"][run]["measures"]["nDCG@10"]["per_query"]
    return own


def test_compare_by_the_t_test_is_scipys(files: Path) -> None:
    done = touchstone(files, *COMPARE, "--measure", "nDCG@10", "--test", "t", "--json")
    found = json.loads(done.stdout)
    assert (found["measure"], found["baseline"]) == ("nDCG@10", "first.run")
    before = values(files, "first.run")
    keys = {"run", "n", "difference", "ci", "p", "p_holm", "mdd"}
    for row in found["comparisons"]:
        assert row.keys() == keys
        own = values(files, row["run"])
        expected = stats.ttest_rel([own[query] for query in before], list(before.values()))
        interval = expected.confidence_interval(0.95)
        assert row["n"] == QUERIES
        assert row["p"] == pytest.approx(expected.pvalue, rel=1e-9)
        assert row["ci"] == pytest.approx([interval.low, interval.high], rel=1e-9)
    second, third = found["comparisons"]
    assert (second["run"], third["run"]) == ("second.run", "third.run")
    assert second["p"] < 0.001 < third["p"]
    assert second["p_holm"] == pytest.approx(2 * second["p"])
    assert third["p_holm"] == third["p"]


def test_compare_follows_from_its_seed_and_takes_any_baseline(files: Path) -> None:
    words = (*COMPARE, "--measure", "lightgbm:nDCG@10", "--baseline", "second.run", "--json")
    found = touchstone(files, *words).stdout
    assert touchstone(files, *words).stdout == found
    assert touchstone(files, *words, "--seed", "1").stdout != found
    rows = json.loads(found)["comparisons"]
    assert [row["run"] for row in rows] == ["first.run", "third.run"]
    for row in rows:
        low, high = row["ci"]
        assert low < row["difference"] < high < 0


def test_compare_prints_a_table(files: Path) -> None:
    title, head, *rows = touchstone(files, *COMPARE, "--measure", "RR").stdout.splitlines()
    assert title == "RR, compared with first.run"
    assert head.split()[:3] == ["run", "n", "difference"]
    assert [row.split()[0] for row in rows] == ["second.run", "third.run"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*EVALUATE, "--preset", "nobody"), "nobody"),
        ((*COMPARE, "--measure", "nDCG@10", "--baseline", "x.run"), "--baseline x.run"),
        ((*COMPARE, "--measure", "nDCG@10", "--seed", "-1"), "--seed"),
        ((*COMPARE, "--measure", "nDCX"), "nDCX"),
        (("compare", "--qrels", "some.qrels", "--run", "first.run", "--measure", "RR"), "--run"),
        (("agreement", "none.csv"), "none.csv"),
    ],
)
def test_what_is_wrong_is_said_and_the_status_is_2(
    files: Path, words: tuple[str, ...], said: str
) -> None:
    done = touchstone(files, *words, status=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_bad_line_is_named_with_its_file(files: Path) -> None:
    (files / "bad.run").write_text("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 much t\n")
    words = ("--qrels", "some.qrels", "--run", "bad.run", "--measures", "RR")
    assert touchstone(files, "evaluate", *words, status=2).stderr.startswith("bad.run:2:")
