"""`touchstone estimate`: what it prints, and how it refuses."""

import json
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from touchstone.cli import main

KEYS = {"estimate", "se", "ci", "lambda", "n_human", "n_judge", "method"}
FILES = ("--human", "human.csv", "--judge", "judge.csv")


def write(name: str, rows: dict[str, float], header: str = "query_id,value\n") -> None:
    lines = [f"{query},{value!r}\n" for query, value in rows.items()]
    Path(name).write_text(header + "".join(lines))


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run `touchstone estimate` in a folder with two files; gives its output, or its errors."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(12)
    truth = rng.beta(2, 1.5, 100)
    machine = np.clip(0.7 * truth + 0.25 + rng.normal(0, 0.1, 100), 0, 1)
    write("judge.csv", {f"q{i}": float(value) for i, value in enumerate(machine)})
    rows = rng.permutation(100)[:24]
    write("human.csv", {f"q{i}": float(truth[i]) for i in rows})

    def run_it(*words: str, status: int = 0) -> str:
        assert main(["estimate", *words]) == status
        out, err = capsys.readouterr()
        return out if status == 0 else err

    return run_it


def read(name: str) -> dict[str, float]:
    rows = (line.split(",") for line in Path(name).read_text().splitlines()[1:])
    return {query: float(value) for query, value in rows}


def test_a_sample_by_z_is_the_formulas(run):
    found = json.loads(run(*FILES, "--interval", "z", "--json"))
    y, every = read("human.csv"), read("judge.csv")
    own = np.array([every[query] for query in y])
    others = np.array([value for query, value in every.items() if query not in y])
    human, n, left = np.array(list(y.values())), 24, 76
    weight = np.cov(human, own)[0, 1] / ((1 + n / left) * np.var([*own, *others], ddof=1))
    residuals = human - weight * own
    estimate = weight * others.mean() + residuals.mean()
    error = sqrt(weight**2 * others.var(ddof=1) / left + residuals.var(ddof=1) / n)
    assert found.keys() == {*KEYS, "human", "judge"}
    assert found["lambda"] == pytest.approx(weight, rel=1e-12)
    assert found["estimate"] == pytest.approx(estimate, rel=1e-12)
    assert found["se"] == pytest.approx(error, rel=1e-12)
    expected = [estimate - 1.959963984540054 * error, estimate + 1.959963984540054 * error]
    assert found["ci"] == pytest.approx(expected, rel=1e-12)
    assert (found["n_human"], found["n_judge"]) == (24, 100)


def test_a_fixed_list_is_its_regression_estimate(run):
    found = json.loads(run(*FILES, "--design", "fixed", "--json"))
    y, every = read("human.csv"), read("judge.csv")
    own, human = np.array([every[query] for query in y]), np.array(list(y.values()))
    slope, intercept = np.polyfit(own, human, 1)
    assert found["lambda"] == pytest.approx(slope, rel=1e-10)
    expected = slope * np.mean(list(every.values())) + intercept
    assert found["estimate"] == pytest.approx(expected, rel=1e-10)
    rest = ((human - slope * own - intercept) ** 2).sum() / 22
    assert found["se"] == pytest.approx(sqrt((1 - 24 / 100) * rest / 24), rel=1e-10)
    assert found["judge"]["se"] == 0


def test_people_and_the_machine_alone_stand_beside_it(run):
    found = json.loads(run(*FILES, "--json"))
    people, machine = found["human"], found["judge"]
    assert people.keys() == machine.keys() == KEYS
    assert people["estimate"] == pytest.approx(np.mean(list(read("human.csv").values())))
    assert machine["estimate"] == pytest.approx(np.mean(list(read("judge.csv").values())))
    assert (people["lambda"], people["n_human"], people["n_judge"]) == (0, 24, 0)
    assert (machine["lambda"], machine["n_human"], machine["n_judge"]) == (None, 0, 100)
    assert found["se"] < people["se"]


def test_a_higher_level_makes_the_interval_wider(run):
    low, high = (json.loads(run(*FILES, "--level", x, "--json"))["ci"] for x in ("0.9", "0.99"))
    assert high[0] < low[0] < low[1] < high[1]


def test_the_order_of_lines_and_a_missing_header_change_nothing(run):
    before = json.loads(run(*FILES, "--json"))
    write("human.csv", dict(reversed(read("human.csv").items())), header="")
    write("judge.csv", dict(reversed(read("judge.csv").items())), header="")
    after = json.loads(run(*FILES, "--json"))
    assert after["ci"] == pytest.approx(before["ci"], rel=1e-12)


def test_a_table_shows_the_three_means(run):
    lines = run(*FILES).splitlines()
    assert lines[0].startswith("24 of 100 queries judged by people; λ = ")
    assert [line.split("  ")[0] for line in lines[2:5]] == [
        "corrected",
        "people only",
        "machine only",
    ]
    assert "does not account for the machine's bias" in lines[-1]


@pytest.mark.parametrize("design", ["superpopulation", "fixed"])
def test_below_15_queries_the_reason_is_given(run, design):
    write("human.csv", dict(list(read("human.csv").items())[:14]))
    said = run(*FILES, "--design", design, status=2)
    assert said.startswith("human.csv: people judged 14 queries; the correction takes 15 or more")


def test_a_whole_list_judged_by_people_is_no_estimate_any_more(run):
    short = dict(list(read("human.csv").items())[:9])
    write("human.csv", short)
    write("judge.csv", dict.fromkeys(short, 0.5))
    found = json.loads(run(*FILES, "--design", "fixed", "--json"))
    assert (
        found["ci"] == [found["estimate"]] * 2 == [pytest.approx(np.mean(list(short.values())))] * 2
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query_id,value\nq1,0.5\nstranger,0.5\n", "human.csv:3: id: "),
        ("query_id,value\nq1,0.5\nq1,0.6\n", "human.csv:3: duplicate: "),
        ("query_id,value\nq1,high\n", "human.csv:2: number: "),
        ("query_id,value\na b,0.5\n", "human.csv:2: id: "),
        ("query_id,score\nq1,0.5\n", "human.csv:1: header: missing column value"),
        ("", "human.csv:1: empty: "),
    ],
)
def test_a_wrong_line_is_named(run, text, said):
    Path("human.csv").write_text(text)
    assert said in run(*FILES, status=2)


@pytest.mark.parametrize("level", ["0", "1", "95"])
def test_a_level_is_between_0_and_1(run, level):
    assert "--level" in run(*FILES, "--level", level, status=2)
