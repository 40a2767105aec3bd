"""alpha-nDCG and ERR-IA against what ndeval printed."""

import io
import json
from pathlib import Path

import pytest

from touchstone.cli import main
from touchstone.files.errors import FileRefused
from touchstone.files.subtopics import read_subtopic_qrels
from touchstone.files.trec import read_run
from touchstone.measures.diversity import evaluate_diversity, parse_diversity
from touchstone.measures.errors import MeasureError

# made up with ties, grades below 0 and a query without anything relevant; values by pyndeval 0.0.8
QRELS = """\
q1 3 d1 2
q1 1 d2 0
q1 3 d2 2
q1 2 d3 1
q1 3 d3 1
q1 1 d4 2
q1 2 d4 0
q1 3 d4 -1
q1 1 d5 0
q1 2 d5 1
q1 4 d5 1
q1 1 d6 1
q1 4 d6 1
q1 3 d7 1
q1 2 d8 1
q1 3 d8 -1
q2 3 d0 0
q2 3 d1 1
q2 2 d2 1
q2 4 d2 2
q2 1 d3 1
q2 3 d3 0
q2 4 d3 -1
q2 3 d4 -1
q2 4 d4 1
q2 1 d5 0
q2 4 d5 2
q2 1 d6 0
q2 2 d6 -1
q2 1 d7 -1
q2 2 d7 1
q2 1 d8 0
q2 3 d8 1
q2 4 d8 -1
q3 2 d0 1
q3 3 d0 2
q3 1 d1 -1
q3 1 d2 0
q3 2 d3 1
q3 4 d4 2
q3 1 d5 1
q3 3 d5 1
q3 1 d6 -1
q3 3 d6 1
q3 4 d7 1
q4 1 d1 0
q5 1 d1 1
"""
RUN = """\
q1 Q0 d0 1 2.0 t
q1 Q0 d1 1 2.0 t
q1 Q0 d3 1 2.0 t
q1 Q0 d4 1 3.0 t
q1 Q0 d5 1 0.0 t
q1 Q0 d6 1 0.0 t
q1 Q0 d8 1 3.0 t
q1 Q0 x 1 3.0 t
q2 Q0 d1 1 3.0 t
q2 Q0 d2 1 3.0 t
q2 Q0 d3 1 0.0 t
q2 Q0 d5 1 3.0 t
q2 Q0 d7 1 1.0 t
q2 Q0 x 1 3.0 t
q3 Q0 d1 1 2.0 t
q3 Q0 d3 1 1.0 t
q3 Q0 d4 1 2.0 t
q3 Q0 d6 1 0.0 t
q3 Q0 d7 1 3.0 t
q3 Q0 d8 1 3.0 t
q3 Q0 x 1 2.0 t
q4 Q0 d1 1 1.0 t
"""
NDEVAL = {
    "alpha_nDCG@5": [0.4838082907931029, 0.7642710294634879, 0.31524981988031797, 0.0],
    "alpha_nDCG@20": [0.7087648819877246, 0.8054162841036708, 0.48295558895181995, 0.0],
    "ERR_IA@5": [0.3086232980332829, 0.4114977307110439, 0.20423600605143724, 0.0],
    "ERR_IA@20": [0.39137399176012255, 0.43881976914848625, 0.2586975644931145, 0.0],
    "alpha_nDCG(alpha=0.3)@5": [0.44502088224922254, 0.7784230480262895, 0.3139976678777033, 0.0],
    "alpha_nDCG(alpha=0.3)@20": [0.6937037903085598, 0.7869191286159528, 0.4609476999477046, 0.0],
    "ERR_IA(alpha=0.3)@5": [0.25802874136615594, 0.36022836049549617, 0.17834339476778424, 0.0],
    "ERR_IA(alpha=0.3)@20": [0.3374125881923147, 0.3692191497420877, 0.21579315697805745, 0.0],
}


def test_every_value_is_ndevals() -> None:
    qrels = read_subtopic_qrels(io.BytesIO(QRELS.encode()), name="qrels")
    run = read_run(io.BytesIO(RUN.encode()), name="run")
    found = evaluate_diversity(qrels, run, [parse_diversity(name) for name in NDEVAL])
    assert found.query_ids == ("q1", "q2", "q3", "q4", "q5")
    for column, (name, theirs) in enumerate(NDEVAL.items()):
        # q5 is judged, and not answered
        assert found.values[:, column].tolist() == pytest.approx([*theirs, 0.0], abs=1e-12), name
        assert found.means[column] == pytest.approx(sum(theirs) / 5)
    assert set(found.counts) == {5}


def test_a_perfect_ranking_has_one_and_another_subtopic_is_worth_more() -> None:
    qrels = read_subtopic_qrels(io.BytesIO(b"q 1 a 1\nq 1 b 1\nq 2 c 1\n"), name="qrels")
    values = {}
    for order in ("cab", "abc"):
        lines = [f"q Q0 {document} 0 {-place} t\n" for place, document in enumerate(order)]
        run = read_run(io.BytesIO("".join(lines).encode()), name="run")
        values[order] = evaluate_diversity(qrels, run, [parse_diversity("alpha_nDCG@3")]).means[0]
    assert values["cab"] == 1.0
    assert values["abc"] < 1.0


@pytest.mark.parametrize(
    "name", ["alpha_nDCG", "alpha_nDCG@0", "alpha_nDCG(alpha=2)@5", "alpha_nDCG(b=1)@5", "ERR_IA()"]
)
def test_what_is_no_such_measure_is_refused(name: str) -> None:
    with pytest.raises(MeasureError):
        parse_diversity(name)


def test_every_mistake_of_the_qrels_is_named() -> None:
    text = b"# a comment\nq 1 a 1\n\nq 1 a 0\nq 1 b\nq 1 b x\nq 2 a 1\n"
    with pytest.raises(FileRefused) as refused:
        read_subtopic_qrels(io.BytesIO(text), name="qrels")
    told = [(own.line, own.rule) for own in refused.value.problems]
    assert told == [(4, "duplicate"), (5, "columns"), (6, "grade")]
    with pytest.raises(FileRefused):
        read_subtopic_qrels(io.BytesIO(b"\n"), name="qrels")


def test_the_command_evaluates_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    files = ("--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run"))
    words = ("evaluate", *files, "--measures", "alpha_nDCG@5 ERR_IA@20", "--per-query", "--json")
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)["runs"]["run"]["measures"]
    assert found["alpha_nDCG@5"]["n"] == 5
    assert found["ERR_IA@20"]["per_query"]["q2"] == pytest.approx(NDEVAL["ERR_IA@20"][1])
    assert main(("evaluate", *files, "--measures", "alpha_nDCG@5 AP")) == 2
    assert "can't be combined" in capsys.readouterr().err
    assert main(("evaluate", *files, "--measures", "ERR_IA@5", "--preset", "trec_eval")) == 2
    assert "--preset" in capsys.readouterr().err
