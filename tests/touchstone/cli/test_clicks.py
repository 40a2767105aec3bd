"""`touchstone clicks` as a process: what it prints, imports and refuses."""

import json
import os
import subprocess
import sys
from math import comb
from pathlib import Path
from typing import Any

import pytest

from tests.forks import run_forked
from tests.touchstone.clicks.logs import event, query, written

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {"django", "celery", "numba", "scipy.stats", "scipy.optimize", "krippendorff", "pyarrow"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Six result pages of three documents; the first is clicked on every other one."""
    records: list[dict[str, Any]] = []
    for page in range(6):
        shown: dict[str, Any] = {"query_id": f"q{page}", "application": "shop", "timestamp": page}
        records.append({**query("shoes", shown["query_id"]), "application": "shop"})
        records += [event(document=f"d{rank}", rank=rank, **shown) for rank in (1, 2, 3)]
        if page % 2:
            records.append(event("click", document="d1", rank=1, **shown))
    records.append(event("click", query=None, document="d2", rank=2, query_id="q1", timestamp=9))
    return written(tmp_path / "log.ndjson", records)


def clicks(folder: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = run_forked(("-m", "touchstone", "clicks", *words), cwd=folder, env=environment)
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
        "Note: the smallest rank is 1 in shop, 0 in other. Choose one with --application.\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("coec", "log.ndjson", "--application", "x"),
            "--application x: not in the log, which has events without one, shop\n",
        ),
        (
            ("coec", "log.ndjson", "--clicks", "tap", "--impressions", "tap"),
            "--impressions and --clicks can't name the same action\n",
        ),
        (("summary", "none"), "none:1: unreadable: no such file or directory.\n"),
    ],
)
def test_what_is_wrong_is_said_and_exits_with_2(
    log: Path, words: tuple[str, ...], message: str
) -> None:
    done = clicks(log.parent, *words, status=2)
    assert (done.stdout, done.stderr) == ("", message)


@pytest.mark.parametrize("figure", ["summary", "coec", "ctr", "sdbn", "pbm"])
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


@pytest.fixture
def moving(tmp_path: Path) -> Path:
    """Pages of two documents in both orders; the first place is seen twice as often."""
    records: list[dict[str, Any]] = []
    for page in range(400):
        name, order = f"q{page % 20}", ("d1", "d2") if page % 3 else ("d2", "d1")
        for rank, document in enumerate(order):
            fields: dict[str, Any] = {"query": name, "query_id": f"p{page}", "timestamp": page}
            records.append(event(document=document, rank=rank, **fields))
            if page % (4 * (rank + 1)) < 2 + (document == "d1"):
                records.append(event("click", document=document, rank=rank, **fields))
    return written(tmp_path / "moving.ndjson", records)


FIT = {"log_likelihood", "perplexity", "perplexity_shown", "perplexity_by_rank"}
SOURCE = {"application", "rank_base", "sessions", "results", "clicks", "dropped"}


def test_models_have_the_promised_keys(moving: Path) -> None:
    pbm = found(moving.parent, "pbm", moving.name, "--bootstrap", "20")
    more = {"examination", "held_out", "curves", "interventions", "pairs"}
    assert pbm.keys() == SOURCE | FIT | more
    assert (pbm["sessions"], pbm["rank_base"], len(pbm["examination"])) == (400, 0, 2)
    assert pbm["held_out"].keys() == FIT
    assert set(pbm["curves"]) == {"pbm", "all_pairs", "pivot_one", "adjacent_chain"}
    for curve in pbm["curves"].values():
        assert curve[0]["examination"] == 1.0
        assert 0 < curve[1]["low"] < curve[1]["examination"] < curve[1]["high"]
    assert pbm["interventions"] == [[0, 40], [40, 0]]
    assert pbm["pairs"][0].keys() == {
        "query",
        "document",
        "impressions",
        "clicks",
        "attractiveness",
    }
    ctr = found(moving.parent, "ctr", moving.name)
    assert ctr.keys() == SOURCE | {"rank", "document", "ranks", "pairs"}
    assert ctr["rank"].keys() == ctr["document"].keys() == FIT | {"held_out"}
    assert [one["rank"] for one in ctr["ranks"]] == [1, 2]
    assert sum(one["clicks"] for one in ctr["ranks"]) == ctr["clicks"]
    sdbn = found(moving.parent, "sdbn", moving.name)
    assert sdbn.keys() == SOURCE | FIT | {"held_out", "pairs"}
    (pair, *_) = sdbn["pairs"]
    assert pair["relevance"] == pair["attractiveness"] * pair["satisfaction"]


@pytest.mark.parametrize("figure", ["ctr", "sdbn", "pbm"])
def test_models_print_tables_and_follow_from_their_seed(moving: Path, figure: str) -> None:
    words = (figure, moving.name, "--seed", "3")
    table = clicks(moving.parent, *words).stdout
    assert table.startswith("400 result pages of (no name), ranks from 0, ")
    assert clicks(moving.parent, *words).stdout == table


def test_without_pages_models_say_why(log: Path) -> None:
    lonely = written(log.parent / "lonely.ndjson", [event(rank=7)])
    done = clicks(log.parent, "pbm", lonely.name, status=2)
    assert done.stderr.startswith("No result pages: the smallest rank of (no name) is neither 0")


POLICIES = "reward,logging_probability,target_probability,cluster\n"


def test_ips_has_the_promised_keys(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(f"{POLICIES}1,0.5,0.9,a\n0,0.5,0.1,a\n1,0.25,0.5,b\n")
    ips = found(tmp_path, "ips", "log.csv", "--clip", "1.9")
    assert ips["ips"] == pytest.approx((1.8 + 2) / 3)
    assert ips["snips"] == pytest.approx(3.8 / 4)
    assert ips["ess"] == pytest.approx(16 / (1.8**2 + 0.2**2 + 4))
    assert ips["max_weight"] == 2.0
    assert ips["ci"][0] < ips["ips"] < ips["ci"][1]
    assert (ips["n"], ips["clusters"]) == (3, 2)
    assert ips["largest_weights"][0] == {"line": 4, "weight": 2.0}
    assert [one["clip"] for one in ips["clipped"]] == [1.9]
    table = clicks(tmp_path, "ips", "log.csv").stdout
    assert table.startswith("3 observations in 2 clusters, effective sample size 2.2\n")
    assert clicks(tmp_path, "ips", "log.csv", "--clip", "0", status=2).stderr == (
        "--clip must be above 0\n"
    )


def test_interleaving_names_the_winner(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = []
    for page in range(40):
        clicked = "ab"[page % 4 == 0]
        for document, team in (("a", "A"), ("b", "B")):
            fields = {"document": document, "query_id": f"q{page}", "client_id": f"c{page % 13}"}
            said = {"interleaving": {"team": team}}
            one = event(**fields)
            one["event_attributes"] |= said
            records.append(one)
            if document == clicked and page < 36:
                records.append(event("click", **fields))
    path = written(tmp_path / "log", records)
    outcome = found(tmp_path, "interleaving", path.name)
    assert (outcome["rankers"], outcome["wins"], outcome["ties"]) == (
        ["A", "B"],
        {"A": 27, "B": 9},
        0,
    )
    assert outcome["delta"] == 0.25
    assert outcome["ci"][0] < 0.25 < outcome["ci"][1]
    assert outcome["p"] == pytest.approx(2 * sum(comb(36, wins) for wins in range(10)) / 2**36)
    assert (outcome["sessions"], outcome["clicked"], outcome["users"]) == (40, 36, 13)
    flipped = found(tmp_path, "interleaving", path.name, "--rankers", "B", "A")
    assert flipped["delta"] == -0.25
    lines = clicks(tmp_path, "interleaving", path.name).stdout.splitlines()
    assert lines[0].startswith("delta (A over B)  +0.2500  [+0.")
    refused = clicks(tmp_path, "interleaving", path.name, "--rankers", "A", "C", status=2)
    assert refused.stderr == "Two rankers are compared; the log has A, B.\n"
