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


def lines_of(name: str) -> list[str]:
    return Path(name).read_text().splitlines()[1:]


def read(name: str) -> dict[str, float]:
    rows = (line.split(",") for line in lines_of(name))
    return {row[0]: float(row[1]) for row in rows}


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
    assert found.keys() == {*KEYS, "human", "judge", "reliable"}
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


def write_strata(sizes: dict[str, int]) -> dict[str, str]:
    """The machine's file again, with a stratum of each query; strata by query."""
    names = [name for name, size in sizes.items() for _ in range(size)]
    strata = dict(zip(read("judge.csv"), names, strict=True))
    every = read("judge.csv")
    lines = [f"{query},{value!r},{strata[query]}\n" for query, value in every.items()]
    Path("judge.csv").write_text("query_id,value,part\n" + "".join(lines))
    return strata


def write_judged(queries: list[str], pi: dict[str, float] | None = None) -> None:
    """People's file for these queries, with values from the machine's and chance."""
    rng, every = np.random.default_rng(5), read("judge.csv")
    rows = {query: 0.8 * every[query] + 0.2 * float(rng.random()) for query in queries}
    chances = [f",{pi[query]!r}" if pi else "" for query in rows]
    lines = [f"{q},{y!r}{p}\n" for (q, y), p in zip(rows.items(), chances, strict=True)]
    Path("human.csv").write_text(f"query_id,value{',pi' if pi else ''}\n" + "".join(lines))


@pytest.mark.parametrize("design", ["fixed", "superpopulation"])
def test_strata_are_corrected_one_by_one_and_weighted_by_their_queries(run, design):
    strata = write_strata({"tail": 60, "head": 40})
    some = [f"q{i}" for i in (*range(18), *range(60, 80))]
    write_judged(some)
    words = ("--strata", "part", "--design", design, "--interval", "z", "--json")
    found = json.loads(run(*FILES, *words))
    y, every = read("human.csv"), read("judge.csv")
    estimate = variance = weight = 0.0
    for part, share in (("tail", 0.6), ("head", 0.4)):
        own = [query for query in some if strata[query] == part]
        a = np.array([y[query] for query in own])
        f = np.array([every[query] for query in own])
        all_f = np.array([every[query] for query in every if strata[query] == part])
        rest = np.array([every[q] for q in every if strata[q] == part and q not in own])
        n, size = len(own), len(all_f)
        slope = np.cov(a, f)[0, 1] / np.var(f, ddof=1)
        if design == "superpopulation":
            slope = np.cov(a, f)[0, 1] / ((1 + n / len(rest)) * np.var(all_f, ddof=1))
        residuals = a - slope * f
        if design == "fixed":
            mean, error2 = slope * all_f.mean(), (1 - n / size) * residuals.var(ddof=1) / n
        else:
            mean = slope * rest.mean()
            error2 = slope**2 * rest.var(ddof=1) / len(rest) + residuals.var(ddof=1) / n
        estimate += share * (mean + residuals.mean())
        variance += share**2 * error2
        weight += share * slope
    assert found["lambda"] == pytest.approx(weight, rel=1e-12)
    assert found["estimate"] == pytest.approx(estimate, rel=1e-12)
    assert found["se"] == pytest.approx(sqrt(variance), rel=1e-12)
    assert found["ci"][1] == pytest.approx(estimate + 1.959963984540054 * sqrt(variance), rel=1e-12)
    assert found["method"].endswith("by stratum, z")


@pytest.mark.parametrize("sampling", ["poisson", "sequential-poisson"])
def test_unequal_probabilities_are_the_difference_estimator(run, sampling):
    some = [f"q{i}" for i in range(30)]
    pi = {query: 0.2 + 0.02 * place for place, query in enumerate(some)}
    write_judged(some, pi)
    words = ("--pi", "pi", "--sampling", sampling, "--design", "fixed", "--interval", "z", "--json")
    found = json.loads(run(*FILES, *words))
    y = {line.split(",")[0]: float(line.split(",")[1]) for line in lines_of("human.csv")}
    every = read("judge.csv")
    rest = {query: (y[query] - every[query]) / pi[query] for query in some}
    estimate = sum(every.values()) / 100 + sum(rest.values()) / 100
    if sampling == "poisson":
        variance = sum((1 - pi[query]) * rest[query] ** 2 for query in some)
    else:
        left = sum(1 - pi[query] for query in some)
        middle = sum((1 - pi[query]) * rest[query] for query in some) / left
        variance = 30 / 29 * sum((1 - pi[query]) * (rest[query] - middle) ** 2 for query in some)
    error = sqrt(variance) / 100
    assert found["estimate"] == pytest.approx(estimate, rel=1e-12)
    assert found["se"] == pytest.approx(error, rel=1e-12)
    assert found["ci"][0] == pytest.approx(estimate - 1.959963984540054 * error, rel=1e-12)
    assert found["lambda"] == 1
    weights = {query: 1 / pi[query] for query in some}
    hajek = sum(y[query] * weights[query] for query in some) / sum(weights.values())
    assert found["human"]["estimate"] == pytest.approx(hajek, rel=1e-12)


def test_a_stratum_in_which_people_judged_too_few_is_named(run):
    write_strata({"tail": 85, "head": 15})
    write_judged([f"q{i}" for i in (*range(20), *range(85, 94))])
    said = run(*FILES, "--strata", "part", "--design", "fixed", status=2)
    assert said.startswith("human.csv: stratum head: people judged 9 queries; the correction takes")
    # one that they judged whole is no estimate
    write_judged([f"q{i}" for i in (*range(20), *range(85, 100))])
    run(*FILES, "--strata", "part", "--design", "fixed")


@pytest.mark.parametrize("pi", [0.0, 1.5])
def test_a_probability_is_above_0_and_at_most_1(run, pi):
    write_judged(["q1"], {"q1": pi})
    said = run(*FILES, "--pi", "pi", "--design", "fixed", status=2)
    assert f"human.csv:2: number: the pi {pi:g} is not above 0" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pi", "pi"), "--pi needs --design fixed"),
        (("--sampling", "poisson"), "--sampling needs --pi"),
        (("--strata", "part"), "judge.csv:1: header: missing column part"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(run, words, said):
    assert said in run(*FILES, *words, status=2)


def test_an_interval_that_is_probably_too_short_is_said_to_be(run):
    assert json.loads(run(*FILES, "--json"))["reliable"]
    write("human.csv", dict.fromkeys(list(read("human.csv"))[:20], 1.0) | {"q0": 0.5})
    assert not json.loads(run(*FILES, "--json"))["reliable"]
    assert "probably too short" in run(*FILES)


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
