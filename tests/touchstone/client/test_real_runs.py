"""The real runs of TREC-COVID's first round, pushed in a loop as a notebook does."""

import json
from pathlib import Path

import pytest

from touchstone import Client
from touchstone.files.trec import RunToRead, read_qrels
from touchstone.measures.files import evaluate_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.judged_files import JudgedQueries

pytestmark = [
    pytest.mark.data,
    pytest.mark.first_pass,
    pytest.mark.django_db,
    pytest.mark.xdist_group("live client"),
]
MEASURES = ("nDCG@10", "RR@10", "AP@100")


@pytest.mark.parametrize("n_runs", [3, pytest.param(17, marks=pytest.mark.long)])
def test_pushed_runs_have_the_values_of_evaluate_to_the_last_bit(
    server: dict[str, str], covid_qrels: Path, n_runs: int
) -> None:
    paths = sorted((covid_qrels.parent / "runs").iterdir())
    assert len(paths) == 17
    runs = {path.name: path for path in paths[-n_runs:]}
    client = Client(server["TOUCHSTONE_URL"], server["TOUCHSTONE_TOKEN"])
    pushed = {
        name: client.push(f"covid/{name}", path, create=True, wait=False)
        for name, path in runs.items()
    }
    for run in pushed.values():
        client.wait(run.path)
    board = client.get_leaderboard("covid/main", MEASURES)
    values = client.get_values("covid/main", MEASURES)
    means = {row["id"]: row["values"] for row in board["runs"]}
    own = {
        (row["run"].partition("/")[0], row["query_id"], row["measure"]): row["value"]
        for row in values["results"]
    }
    judged = JudgedQueries(read_qrels(covid_qrels, name="qrels"))
    measures = [parse_measure(name) for name in MEASURES]
    compared = 0
    for name, path in runs.items():
        expected = evaluate_file(judged, RunToRead(path=path, name=name), measures)
        ranker = pushed[name].path.split("/")[1]
        for column, measure in enumerate(MEASURES):
            assert means[pushed[name].id][measure]["mean"] == expected.means[column]
            for row, query in enumerate(expected.query_ids):
                if expected.counted[row, column]:
                    assert own[ranker, query, measure] == expected.values[row, column]
                    compared += 1
    assert compared == n_runs * len(MEASURES) * len(judged.qrels.query_ids)
    assert json.dumps(board["version"]) == "1"
