"""Files in, values out."""

import math

import pytest

from tests.touchstone.measures.file_builders import judged, run
from touchstone.measures.errors import MeasureError
from touchstone.measures.files import evaluate_file, explain_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.presets import preset

QRELS = """
q2 a 1
q2 b 0
q1 a 2
q1 c 1
q3 a 0
q4 z 1
"""
RUN = """
q1 a 1.0
q1 new 2.0
q9 a 1.0
q2 a 5
q2 b 5
q3 a 1
"""


def test_rows_are_the_judged_queries_and_then_those_of_the_run() -> None:
    found = evaluate_file(judged(QRELS), run(RUN), [parse_measure("RR"), parse_measure("P@2")])
    assert found.query_ids == ("q2", "q1", "q3", "q4", "q9")
    assert found.values.tolist() == [[0.5, 0.5], [0.5, 0.5], [0, 0], [0, 0], [0, 0]]
    assert found.counted[:, 0].tolist() == [True, True, True, True, False]
    assert found.counts == (4, 4)
    assert found.means == (0.25, 0.25)
    assert found.standard_errors[0] == pytest.approx(math.sqrt(1 / 48))


def test_without_a_preset_the_mean_is_exact() -> None:
    lines = "".join(f"q{n:02} a 1\nq{n:02} b 1\n" for n in range(30))
    answers = "".join(f"q{n:02} a 1\n" for n in range(30))
    found = evaluate_file(judged(lines), run(answers), [parse_measure("P@10")])
    assert found.means == (0.1,)
    as_tool = evaluate_file(
        judged(lines), run(answers), [parse_measure("P@10")], preset("trec_eval")
    )
    assert as_tool.means == (sum([0.1] * 30) / 30,)
    assert as_tool.means != found.means


def test_measures_with_other_tie_rules_are_evaluated_side_by_side() -> None:
    names = ("RR", "RR(ties='listed')", "RR(scores='float64')")
    found = evaluate_file(judged(QRELS), run(RUN), [parse_measure(name) for name in names])
    assert found.values[0].tolist() == [0.5, 1.0, 0.5]


def test_documents_of_the_same_name_are_told_apart_from_new_ones() -> None:
    found = evaluate_file(judged("q a 1\nq b 1"), run("q x 3\nq y 2\nq b 1"), [parse_measure("RR")])
    assert found.values.tolist() == [[1 / 3]]


def test_a_query_without_gain_is_named_where_that_is_an_error() -> None:
    with pytest.raises(MeasureError, match="query q3: nDCG"):
        evaluate_file(judged(QRELS), run(RUN), [parse_measure("nDCG(empty='error')@5")])


def test_a_file_with_hundreds_of_grades_is_refused() -> None:
    lines = "".join(f"q d{n} {n}\n" for n in range(300))
    with pytest.raises(MeasureError, match="more than 255 different grades"):
        evaluate_file(judged(lines), run("q d1 1"), [parse_measure("RR")])


@pytest.mark.parametrize(
    "grades", [[3], [4, 0, 4, 1], [-2, 1022], [-2, 1023], [-(2**31) + 1, 0, 2**31 - 1]]
)
def test_the_scale_is_the_grades_that_occur_however_far_apart(grades: list[int]) -> None:
    text = "".join(f"q d{place} {grade}\n" for place, grade in enumerate(grades))
    assert judged(text).grades.codes == tuple(sorted(set(grades)))


def test_an_unknown_query_cannot_be_explained() -> None:
    with pytest.raises(MeasureError, match=r"neither some\.qrels nor some\.run has query 'q7'"):
        explain_file(judged(QRELS), run(RUN), [parse_measure("RR")], "q7")
