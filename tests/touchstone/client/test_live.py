"""The client, its commands and what CI jobs hold of them, against a server with its worker."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET

import pandas
import pytest
import yaml
from scipy import stats

from tests.running_server import ROOT
from tests.touchstone.client.conftest import QUERIES
from touchstone import Client
from touchstone.client.errors import ClientUsageError, RequestRefusedError
from touchstone.client.run_texts import run_lines

# It is the same on both databases; the server's is a copy of the tests' own.
pytestmark = [
    pytest.mark.first_pass,
    pytest.mark.django_db,
    pytest.mark.xdist_group("live client"),
]
Scores = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def client(server: dict[str, str]) -> Client:
    return Client(server["TOUCHSTONE_URL"], server["TOUCHSTONE_TOKEN"])


@pytest.fixture(scope="module")
def grades(server: dict[str, str]) -> Scores:
    found: Scores = {}
    for line in server["qrels"].splitlines():
        qid, _, docid, grade = line.split()
        found.setdefault(qid, {})[docid] = float(grade)
    return found


def ranked(grades: Scores, *, skill: float, seed: int) -> Scores:
    """A run whose scores are the grades times its skill, with noise."""
    dice = random.Random(seed)
    return {
        qid: {docid: skill * grade + dice.gauss(0, 1) for docid, grade in own.items()}
        for qid, own in grades.items()
    }


def write_run(path: Path, scores: Scores) -> None:
    path.write_text("".join(run_lines(scores, tag="t")))


@pytest.fixture(scope="module")
def runs(client: Client, grades: Scores) -> dict[str, Any]:
    """Pushed: one that is live, one as good, one that is worse."""
    skills = {"live": (1.0, 1), "alike": (1.0, 2), "worse": (0.2, 3)}
    return {
        name: client.push(
            "shop/bm25", ranked(grades, skill=skill, seed=seed), name=name, wait=name == "worse"
        )
        for name, (skill, seed) in skills.items()
    }


def touchstone(
    server: dict[str, str], *words: str, status: int = 0, **more: Any
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["touchstone", *words], env=server, capture_output=True, text=True, check=False, **more
    )
    assert done.returncode == status, (done.stdout, done.stderr)
    return done


def test_the_same_content_is_the_same_run(client: Client, grades: Scores) -> None:
    scores = ranked(grades, skill=2.0, seed=9)
    first = client.push("shop/new-ranker", scores, name="monday", wait=False)
    assert (first.is_new, first.name, first.queries) == (True, "monday", QUERIES)
    rows = [(q, d, s) for q, own in scores.items() for d, s in own.items()]
    frame = pandas.DataFrame(rows, columns=["qid", "docno", "score"])
    again = client.push("shop/new-ranker", frame, name="tuesday", wait=False)
    assert (again.is_new, again.path, again.name) == (False, first.path, "monday")
    assert "monday" in again.note


def test_what_the_server_refuses_is_told(client: Client, server: dict[str, str]) -> None:
    with pytest.raises(RequestRefusedError, match=r"upload:1: unknown-query"):
        client.push("shop/bm25", {"nowhere": {"d1": 1.0}})
    with pytest.raises(RequestRefusedError, match="no collection 'nowhere'"):
        client.push("nowhere/bm25", {"q1": {"d1": 1.0}})
    with pytest.raises(RequestRefusedError, match="read-only"):
        Client(client.url, server["READ_ONLY"]).push("shop/bm25", {"q1": {"d1": 1.0}})
    with pytest.raises(RequestRefusedError, match="does not accept this token"):
        Client(client.url, "wrong").leaderboard("shop/main")
    with pytest.raises(ClientUsageError, match="COLLECTION/LIST"):
        client.leaderboard("main")


def test_push_prints_the_lines_that_are_refused(server: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "broken.run").write_text("q1 Q0 d1 1 2.0 t\nq1 Q0 d1 2 nan t\n")
    words = ("push", "broken.run", "--to", "shop/bm25")
    done = touchstone(server, *words, status=2, cwd=tmp_path)
    assert "broken.run:2:12: not-finite" in done.stderr
    assert touchstone(server, "push", "no.run", "--to", "shop/bm25", status=2).stdout == ""


def test_push_says_how_the_run_was_made(
    client: Client, server: dict[str, str], grades: Scores, tmp_path: Path
) -> None:
    write_run(tmp_path / "tuned.run", ranked(grades, skill=1.5, seed=12))
    words = ["push", "tuned.run", "--to", "shop/Tuned", "--param", "k1=0.9", "--param", "f=größe"]
    words += ("--order", "rank", "--commit", "3f2a", "--tag", "nightly", "--tag", "v2.1", "--json")
    run = json.loads(touchstone(server, *words, cwd=tmp_path).stdout)
    assert ["ordered by rank" in remark for remark in run["remarks"]] == [True]
    board = client.get_leaderboard("shop/main")
    assert run["id"] in {own["id"] for own in board["runs"]}
    address = f"{client.url}/api/v1/collections/shop/rankers/tuned/runs/{run['id']}"
    token = {"Authorization": f"Bearer {server['TOUCHSTONE_TOKEN']}"}
    with urlopen(Request(address, headers=token)) as answer:  # noqa: S310
        found = json.load(answer)
    assert found["parameters"] == {"k1": 0.9, "f": "größe"}
    assert (found["commit"], found["tags"]) == ("3f2a", ["nightly", "v2.1"])


def test_login_keeps_what_it_has_tried(server: dict[str, str], tmp_path: Path) -> None:
    bare = {name: value for name, value in server.items() if not name.startswith("TOUCHSTONE")}
    bare |= {"PYTHONPATH": server["PYTHONPATH"], "XDG_CONFIG_HOME": str(tmp_path)}
    touchstone(bare, "leaderboard", "shop/main", status=2)
    words = ("login", "--url", server["TOUCHSTONE_URL"])
    touchstone(bare, *words, input="wrong\n", status=2)
    assert list(tmp_path.iterdir()) == []
    said = touchstone(bare, *words, input=f"{server['TOUCHSTONE_TOKEN']}\n").stdout
    assert server["TOUCHSTONE_TOKEN"] not in said
    assert "shop/main, version 1" in touchstone(bare, "leaderboard", "shop/main").stdout


def test_a_client_command_starts_without_what_takes_long_to_import(server: dict[str, str]) -> None:
    code = (
        "import runpy, sys\n"
        "sys.argv = ['touchstone', 'leaderboard', 'shop/main']\n"
        "try:\n    runpy.run_module('touchstone', run_name='__main__')\n"
        "except SystemExit as ended:\n    assert not ended.code\n"
        "print(sorted({'numpy', 'scipy', 'pandas', 'polars', 'django'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=server, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


GATE = ("gate", "shop/main", "--baseline", "bm25/live", "--measure", "nDCG@10", "--max-drop")


@pytest.mark.usefixtures("runs")
def test_a_run_that_is_worse_fails(server: dict[str, str]) -> None:
    done = touchstone(server, *GATE, "0.01", "--run", "bm25/worse", "--json", status=1)
    found = json.loads(done.stdout)
    assert (found["verdict"], found["n"], found["version"]) == ("worse", QUERIES, 1)
    low, high = found["ci"]
    assert low < found["difference"] < high < 0
    assert low <= -0.01


@pytest.mark.usefixtures("runs")
def test_a_run_that_is_no_worse_passes(server: dict[str, str]) -> None:
    words = ("--run", "bm25/alike", "--strict", "--json")
    found = json.loads(touchstone(server, *GATE, "0.2", *words).stdout)
    assert found["verdict"] == "no worse"
    found = json.loads(touchstone(server, *GATE, "0", "--run", "bm25/live", *words[2:]).stdout)
    assert (found["verdict"], found["difference"]) == ("no worse", 0.0)


def test_too_few_queries_fail_only_where_that_is_asked_for(
    runs: dict[str, Any], server: dict[str, str]
) -> None:
    words = (*GATE, "0.0001", "--run", runs["alike"].id)
    assert touchstone(server, *words).stdout.startswith("inconclusive: bm25/alike minus bm25/live")
    found = json.loads(touchstone(server, *words, "--strict", "--json", status=3).stdout)
    assert found["needed"] > QUERIES


@pytest.mark.usefixtures("runs")
def test_the_gate_is_computed_as_scipy_would(client: Client) -> None:
    frame = client.per_query("shop/main", "nDCG@10", runs=("bm25/live", "bm25/alike"))
    table = frame.pivot_table(index="query_id", columns="run", values="value")
    expected = stats.ttest_rel(table["bm25/alike"], table["bm25/live"]).confidence_interval(0.9)
    found = client.gate(
        "shop/main",
        run="bm25/alike",
        baseline="bm25/live",
        measure="nDCG@10",
        max_drop=0.01,
        level=0.9,
    )
    assert found.ci == pytest.approx((expected.low, expected.high), rel=1e-9)


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"--run": "bm25/nowhere"}, 2),
        ({"--measure": "nDCG@ten"}, 2),
        ({"--max-drop": "-1"}, 2),
        ({"--level": "95"}, 2),
        ({"--url": "http://127.0.0.1:9"}, 4),
        ({"--timeout": "0.0001"}, 4),
    ],
)
def test_misuse_and_a_silent_server_have_statuses_of_their_own(
    server: dict[str, str], changes: dict[str, str], status: int
) -> None:
    options = {"--run": "bm25/worse", "--baseline": "bm25/live", "--measure": "nDCG@10"}
    options |= {"--max-drop": "0.01"} | changes
    words = (word for option in options.items() for word in option)
    done = touchstone(server, "gate", "shop/main", *words, status=status)
    assert done.stdout == ""
    assert done.stderr


@pytest.mark.usefixtures("runs")
def test_a_list_without_judgments_is_no_pass(server: dict[str, str]) -> None:
    words = ("--run", "bm25/worse", "--baseline", "bm25/live", "--measure", "nDCG@10")
    done = touchstone(server, "gate", "shop/empty", *words, "--max-drop", "1", status=2)
    assert "no judgments" in done.stderr


def test_values_are_those_of_evaluate_to_the_last_bit(
    runs: dict[str, Any], grades: Scores, server: dict[str, str], client: Client, tmp_path: Path
) -> None:
    (tmp_path / "some.qrels").write_text(server["qrels"])
    write_run(tmp_path / "worse.run", ranked(grades, skill=0.2, seed=3))
    words = ("--qrels", "some.qrels", "--run", "worse.run", "--measures", "nDCG@10 RR")
    done = touchstone(server, "evaluate", *words, "--per-query", "--json", cwd=tmp_path)
    expected = json.loads(done.stdout)["runs"]["worse.run"]["measures"]
    board = client.leaderboard("shop/main", "nDCG@10 RR")
    own = board[board["id"] == runs["worse"].id].set_index("measure")["mean"].to_dict()
    assert own == {name: found["mean"] for name, found in expected.items()}
    frame = client.per_query("shop/main", ["nDCG@10", "RR"], runs="bm25/worse")
    for name, found in expected.items():
        per_query = frame[frame["measure"] == name].set_index("query_id")["value"].to_dict()
        assert per_query == found["per_query"]
    printed = touchstone(server, "values", "shop/main", "--measures", "RR", "--runs", "bm25/worse")
    lines = [line.split(",") for line in printed.stdout.splitlines()]
    assert lines[0] == ["run", "query_id", "measure", "value"]
    assert {line[1]: float(line[3]) for line in lines[1:]} == expected["RR"]["per_query"]


@pytest.mark.usefixtures("runs")
def test_compare_gives_a_line_for_each_run(client: Client) -> None:
    names = ["bm25/alike", "bm25/worse"]
    found = client.compare("shop/main", names, baseline="bm25/live", measure="nDCG@10", margin=0.2)
    assert found["run"].tolist() == names
    assert found["verdict"].tolist() == ["no worse", "worse"]
    assert set(found["baseline"]) == {"bm25/live"}


def test_wait_ends_when_the_values_are_there(runs: dict[str, Any], server: dict[str, str]) -> None:
    touchstone(server, "wait", runs["worse"].path)
    touchstone(server, "wait", "shop/bm25/00000000-0000-0000-0000-000000000000", status=2)


FIXTURE = """
def test_it_is_no_worse(assert_no_regression):
    asked = {"baseline": "bm25/live", "measure": "nDCG@10"}
    assert_no_regression("shop/main", run="bm25/alike", max_drop=0.2, **asked)

def test_it_is_worse(assert_no_regression):
    asked = {"baseline": "bm25/live", "measure": "nDCG@10"}
    assert_no_regression("shop/main", run="bm25/worse", max_drop=0.01, **asked)
"""


@pytest.mark.usefixtures("runs")
def test_the_fixture_fails_a_test_whose_run_is_worse(
    server: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "test_ranker.py").write_text(FIXTURE)
    words = ("-m", "pytest", "-q", "-p", "touchstone.client.pytest_plugin", "-p", "no:django")
    done = subprocess.run(
        [sys.executable, *words, "test_ranker.py"],
        cwd=tmp_path,
        env=server,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout
    assert "worse: bm25/worse minus bm25/live" in done.stdout


def steps_of_the_action(inputs: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The commands of the GitHub Action after it is installed, and their variables."""
    action = yaml.safe_load((ROOT / "integrations" / "github" / "action.yml").read_text())
    assert {name for name, one in action["inputs"].items() if one.get("required")} <= inputs.keys()
    defaults = {name: one["default"] for name, one in action["inputs"].items() if "default" in one}
    given = {f"inputs.{name}": value for name, value in (defaults | inputs).items()}
    install, *steps = action["runs"]["steps"]
    assert "pip install" in install["run"]
    for step in steps:
        yield (
            step["run"],
            {
                name: given.get(text.removeprefix("${{ ").removesuffix(" }}"), text)
                for name, text in step["env"].items()
            },
        )


@pytest.mark.parametrize(("skill", "status"), [(1.0, 0), (0.1, 1)])
@pytest.mark.usefixtures("runs")
def test_the_github_action_gates_a_job(
    grades: Scores, server: dict[str, str], tmp_path: Path, skill: float, status: int
) -> None:
    write_run(tmp_path / "my bm25.run", ranked(grades, skill=skill, seed=5))
    inputs = {
        "url": server["TOUCHSTONE_URL"],
        "token": server["TOUCHSTONE_TOKEN"],
        "file": "my bm25.run",
        "ranker": "shop/bm25",
        "name": f"build $(exit 9) {skill}",
        "list": "shop/main",
        "baseline": "bm25/live",
        "measure": "nDCG@10",
        "max-drop": "0.15",
    }
    bare = {name: server[name] for name in ("PATH", "PYTHONPATH")}
    bare |= {"GITHUB_OUTPUT": str(tmp_path / "output"), "RUNNER_TEMP": str(tmp_path)}
    bare |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "HOME": str(tmp_path)}
    ended = []
    for command, variables in steps_of_the_action(inputs):
        outputs = dict(line.split("=", 1) for line in read_lines(tmp_path / "output"))
        own = {
            name: outputs["run"] if text == "${{ steps.push.outputs.run }}" else text
            for name, text in variables.items()
        }
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=bare | own, capture_output=True, check=False
        )
        ended.append(done.returncode)
    assert ended == [0, status]
    table = (tmp_path / "summary.md").read_text()
    assert f"bm25/build $(exit 9) {skill}" in table
    assert ("❌" in table) == bool(status)


def read_lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.usefixtures("runs")
def test_the_gitlab_include_gates_a_job(
    grades: Scores, server: dict[str, str], tmp_path: Path
) -> None:
    job = yaml.safe_load((ROOT / "integrations" / "gitlab" / "gate.yml").read_text())
    job = job[".touchstone-gate"]
    assert job["artifacts"]["reports"]["junit"] == "touchstone-gate.xml"
    write_run(tmp_path / "bm25.run", ranked(grades, skill=0.1, seed=6))
    given = {"RUN_FILE": "bm25.run", "RANKER": "shop/bm25", "LIST": "shop/main"}
    given |= {"BASELINE": "bm25/live", "RUN_NAME": "abc123"}
    # a runner joins the lines to one program that ends at the first failure
    program = "\n".join(("set -o errexit -o pipefail", *job["script"]))
    done = subprocess.run(
        ["bash", "-c", program],
        cwd=tmp_path,
        env=server | job["variables"] | given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    suite = ET.parse(tmp_path / "touchstone-gate.xml").getroot()  # noqa: S314  (our own)
    assert suite.get("failures") == "1"
    assert "abc123" in done.stdout
