"""`touchstone sample`: what it prints, and how it refuses."""

import json
import os
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

from tests.touchstone.sampling.builders import traffic
from touchstone.cli import main
from touchstone.sampling.designs import sequential_poisson

RECORDED = Path(__file__).parents[2] / "reference" / "recorded" / "survey.json"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run `touchstone sample` in a folder with a frame; gives status, output and errors."""
    monkeypatch.chdir(tmp_path)
    frame = traffic()
    lines = [
        f"{frame.queries[row]},{frame.strata[frame.stratum[row]]},{frame.size[row]:.0f}"
        for row in range(len(frame))
    ]
    Path("frame.csv").write_text("\n".join(["query,band,searches", *lines, ""]))

    def run_it(*words: str, status: int = 0) -> str:
        assert main(["sample", *words]) == status
        out, err = capsys.readouterr()
        return out if status == 0 else err

    return run_it


PLAN = ("plan", "frame.csv", "--n", "40", "--seed", "7")


def test_a_simple_plan_is_the_smallest_keyed_hashes(run):
    found = json.loads(run(*PLAN, "--json"))
    assert found.keys() == {"seed", "frame_digest", "queries"}
    assert found["seed"] == 7
    queries = [f"query {i}" for i in range(400)]
    queries.sort(key=lambda text: blake2b(text.encode(), digest_size=8, key=b"7").digest())
    assert [row["query"] for row in found["queries"]] == sorted(queries[:40])
    assert all(row == {**row, "stratum": None, "pi": 0.1} for row in found["queries"])


def test_a_plan_by_size_is_the_librarys(run):
    found = json.loads(run(*PLAN, "--size", "searches", "--json"))
    expected = sequential_poisson(traffic(), 40, seed=7)
    assert [row["query"] for row in found["queries"]] == expected.queries
    assert [row["pi"] for row in found["queries"]] == expected.pi.tolist()


def test_a_stratified_plan_names_the_stratum_of_each_query(run):
    found = json.loads(run(*PLAN, "--strata", "band", "--json"))
    frame = traffic()
    bands = {frame.queries[row]: frame.strata[frame.stratum[row]] for row in range(400)}
    assert {row["query"]: row["stratum"] for row in found["queries"]}.items() <= bands.items()
    weights = sum(1 / row["pi"] for row in found["queries"])
    assert weights == pytest.approx(400, rel=1e-12)


def test_a_plan_goes_through_judging_to_an_estimate(run):
    """What a plan prints is what an estimate reads, value aside."""
    plan = json.loads(run(*PLAN, "--strata", "band", "--json"))
    rng = np.random.default_rng(1)
    rows = [
        f"{row['query']},{row['stratum']},{row['pi']!r},{rng.random()!r}" for row in plan["queries"]
    ]
    Path("sample.csv").write_text("\n".join(["query,stratum,pi,value", *rows, ""]))
    found = json.loads(run("estimate", "sample.csv", "--json"))
    errors = found["standard_errors"]
    assert errors.keys() == {"with_replacement", "horvitz_thompson", "yates_grundy"}
    assert found["total"] == pytest.approx(400 * found["mean"], rel=1e-12)
    assert errors["yates_grundy"] < errors["with_replacement"]


def test_the_published_stratified_example_is_met(run):
    own = json.loads(RECORDED.read_text())["api_stratified"]
    rows = [
        f"{value},{own['stratum'].count(name) / count!r},{name},{count}"
        for value, name, count in zip(own["value"], own["stratum"], own["counts"], strict=True)
    ]
    Path("api.csv").write_text("\n".join(["value,pi,stratum,N_h", *rows, ""]))
    found = json.loads(run("estimate", "api.csv", "--json"))
    assert round(found["mean"], 2) == 662.29
    for name in ("horvitz_thompson", "yates_grundy"):
        assert found["standard_errors"][name] == pytest.approx(
            own["without_replacement"][1], rel=1e-10
        )
        assert round(found["mean_standard_errors"][name], 4) == 9.4089
    assert found["standard_errors"]["with_replacement"] == pytest.approx(
        own["with_replacement"][1], rel=1e-10
    )
    assert "9.40894" in run("estimate", "api.csv")


def test_joint_chances_give_surveys_errors(run):
    own = json.loads(RECORDED.read_text())["election"]
    rows = [f"{value},{pi!r}" for value, pi in zip(own["Bush"], own["pi"], strict=True)]
    Path("sample.csv").write_text("\n".join(["value,pi", *rows, ""]))
    Path("joint.csv").write_text("".join(",".join(map(repr, row)) + "\n" for row in own["joint"]))
    found = json.loads(run("estimate", "sample.csv", "--joint", "joint.csv", "--json"))
    for name, error in found["standard_errors"].items():
        recorded = own[f"Bush_{name}"]
        assert found["total"] == pytest.approx(recorded[0], rel=1e-12)
        assert error == pytest.approx(recorded[1], rel=1e-10)
        assert found["mean_standard_errors"][name] == pytest.approx(recorded[3], rel=1e-10)
    assert found["standard_errors"].keys() == {
        "with_replacement",
        "horvitz_thompson",
        "yates_grundy",
    }
    alone = json.loads(run("estimate", "sample.csv", "--json"))
    assert alone["standard_errors"].keys() == {"with_replacement"}


def test_a_variance_that_comes_out_negative_has_no_error(run, capsys):
    Path("sample.csv").write_text("value,pi\n1,0.5\n1,0.5\n")
    Path("joint.csv").write_text("0.5,0.1\n0.1,0.5\n")
    words = ["sample", "estimate", "sample.csv", "--joint", "joint.csv", "--json"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["standard_errors"]["horvitz_thompson"] is None
    assert "negative" in err


def test_tables_say_what_was_drawn_and_estimated(run):
    plan = run(*PLAN, "--strata", "band", "--size", "searches").splitlines()
    assert plan[0].startswith("40 of 400 queries, seed 7; ")
    assert {"head", "tail", "torso"} <= {line.split()[0] for line in plan if line}
    Path("sample.csv").write_text("value,pi\n1,0.5\n2,0.25\n4,0.5\n")
    table = run("estimate", "sample.csv")
    assert "3 queries" in table
    assert "with replacement" in table


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*PLAN[:2], "--n", "0", "--seed", "1"), "--n"),
        ((*PLAN[:2], "--n", "4", "--seed", "-1"), "seed"),
        ((*PLAN[:2], "--n", "401", "--seed", "1"), "401 queries can't be drawn from 400"),
        ((*PLAN, "--strata", "segment"), "frame.csv:1: header: missing column segment"),
        ((*PLAN, "--size", "band"), "frame.csv:2: number: "),
        (("plan", "none.csv", "--n", "1", "--seed", "1"), "none.csv:1: unreadable"),
        (("estimate", "frame.csv"), "frame.csv:1: header: missing column value, pi"),
        (("estimate", "one.csv"), "one query"),
    ],
)
def test_what_is_wrong_is_said_and_the_status_is_2(run, words, said):
    Path("one.csv").write_text("value,pi\n1,0.5\n")
    assert said in run(*words, status=2)


def test_a_stratum_of_one_query_is_refused(run):
    Path("frame.csv").write_text("query,band\na,x\nb,x\nc,y\n")
    words = ("plan", "frame.csv", "--n", "3", "--seed", "1", "--strata", "band")
    assert "'y' has one query" in run(*words, status=2)


def test_it_imports_nothing_that_takes_long(run):
    code = (
        "import sys\nfrom touchstone.cli import main\n"
        "main(['sample', 'plan', 'frame.csv', '--n', '4', '--seed', '1', '--json'])\n"
        "slow = {'scipy', 'numba', 'django', 'krippendorff'} & set(sys.modules)\n"
        "sys.exit(f'it imports {slow}' if slow else 0)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(RECORDED.parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
