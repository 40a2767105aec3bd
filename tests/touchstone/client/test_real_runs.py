"""The real runs of TREC-COVID's first round, pushed in a loop as a notebook does."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.running_server import running_server
from tests.services import find_data
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
SEED = """
import json
import django
django.setup()
from django.core.management import call_command
from judgments.models import Collection
from tests.api.callers import make_token
from tests.builders import make_member
call_command("import_qrels", "covid/main", {qrels!r}, "--create", "--scale", "0..2")
make_member(collection=Collection.objects.get(), username="dora", role="researcher")
print(json.dumps({{"TOUCHSTONE_TOKEN": make_token(username="dora")}}))
"""


def test_seventeen_pushed_runs_have_the_values_of_evaluate_to_the_last_bit(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    folder = find_data() / "trec-covid-r1-sample" / "raw"
    qrels = folder / "qrels-rnd1.txt.gz"
    runs = {path.name: path for path in sorted((folder / "runs").iterdir())}
    assert len(runs) == 17
    with running_server(make_home(tmp_path / "home"), seed=SEED.format(qrels=str(qrels))) as found:
        client = Client(found["TOUCHSTONE"], found["TOUCHSTONE_TOKEN"])
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
    judged = JudgedQueries(read_qrels(qrels, name="qrels"))
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
    assert compared == 17 * len(MEASURES) * len(judged.qrels.query_ids)
    assert json.dumps(board["version"]) == "1"
