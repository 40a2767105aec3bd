"""What is printed: every digit, in the shapes that others script against."""

import csv
import json

from tests.touchstone.measures.file_builders import judged, run
from touchstone.measures.files import compare_file, evaluate_file, explain_file
from touchstone.measures.grammar import parse_measure, parse_measures
from touchstone.measures.reports import (
    ExplainedQuery,
    Report,
    as_csv,
    as_json,
    as_table,
    as_trec,
    explained_as_json,
    explained_as_table,
    run_names,
)

QRELS = "10 a 1\n10 b 1\n10 c 1\n9 a 1\n=1 a 1"
RUN = "10 x 3\n10 a 2\n9 a 1"
OTHER = "10 a 3"


def report(
    measures: str = "P@3 Success@1", *, per_query: bool = False, runs: int = 1, name: str = "r.run"
) -> Report:
    asked = parse_measures(measures)
    values = {
        f"{number or ''}{name}": evaluate_file(judged(QRELS), run(text), [m for _, m in asked])
        for number, text in enumerate((RUN, OTHER)[:runs])
    }
    return Report(None, tuple(n for n, _ in asked), values, per_query)


def test_json_has_the_stable_shape_and_the_names_as_they_were_asked_for() -> None:
    assert json.loads(as_json(report())) == {
        "preset": None,
        "runs": {
            "r.run": {
                "measures": {
                    "P@3": {"mean": 2 / 9, "n": 3},
                    "Success@1": {"mean": 1 / 3, "n": 3},
                }
            }
        },
    }


def test_json_holds_per_query_values_only_when_asked() -> None:
    found = json.loads(as_json(report("P@3", per_query=True)))
    assert found["runs"]["r.run"]["measures"]["P@3"] == {
        "mean": 2 / 9,
        "n": 3,
        "per_query": {"10": 1 / 3, "9": 1 / 3, "=1": 0.0},
    }


def test_json_says_null_where_no_query_is_in_the_mean() -> None:
    values = evaluate_file(judged("q a 0"), run("q a 1"), [parse_measure("nDCG(empty='skip')@5")])
    found = json.loads(as_json(Report("some", ("nDCG@5",), {"r": values}, True)))
    assert found["runs"]["r"]["measures"]["nDCG@5"] == {"mean": None, "n": 0, "per_query": {}}
    assert as_trec(Report(None, ("nDCG@5",), {"r": values}, True)) == "nDCG@5\tall\tnan"
    assert "–" in as_table(Report(None, ("nDCG@5",), {"r": values}, True))


def test_trec_lines_end_with_all_and_keep_every_digit() -> None:
    assert as_trec(report(per_query=True)).split("\n") == [
        "P@3\t10\t0.3333333333333333",
        "Success@1\t10\t0.0",
        "P@3\t9\t0.3333333333333333",
        "Success@1\t9\t1.0",
        "P@3\t=1\t0.0",
        "Success@1\t=1\t0.0",
        "P@3\tall\t0.2222222222222222",
        "Success@1\tall\t0.3333333333333333",
    ]
    assert as_trec(report("P@3")) == "P@3\tall\t0.2222222222222222"


def test_trec_lines_of_several_runs_are_told_apart() -> None:
    assert as_trec(report("P@3", runs=2)).split("\n") == [
        "runid\tall\tr.run",
        "P@3\tall\t0.2222222222222222",
        "runid\tall\t1r.run",
        "P@3\tall\t0.1111111111111111",
    ]


def test_csv_is_one_value_a_row_and_no_formula() -> None:
    rows = list(csv.reader(as_csv(report("P@3", per_query=True, name="@r")).splitlines()))
    assert rows == [
        ["run", "measure", "query_id", "value", "n"],
        ["'@r", "P@3", "", "0.2222222222222222", "3"],
        ["'@r", "P@3", "10", "0.3333333333333333", ""],
        ["'@r", "P@3", "9", "0.3333333333333333", ""],
        ["'@r", "P@3", "'=1", "0.0", ""],
    ]


def test_the_table_is_aligned_and_short() -> None:
    assert as_table(report(runs=2)).split("\n") == [
        "run     queries     P@3  Success@1",
        "r.run         3  0.2222     0.3333",
        "1r.run        3  0.1111     0.3333",
    ]
    assert "\n  10            0.3333     0.0000" in as_table(report(per_query=True))


def test_a_run_is_called_by_its_file_unless_two_are_called_the_same() -> None:
    assert run_names(["a/x.run", "y.run.gz"]) == ["x.run", "y.run.gz"]
    assert run_names(["a/x.run", "b/x.run", "c/z"]) == ["a/x.run", "b/x.run", "z"]


def explained(measures: str) -> ExplainedQuery:
    asked = parse_measures(measures)
    found = explain_file(judged(QRELS), run(RUN), [m for _, m in asked], "10")
    return ExplainedQuery(None, "10", tuple(name for name, _ in asked), {"r.run": found})


def test_an_explanation_as_a_table_shows_every_rank_and_both_sums() -> None:
    text = explained_as_table(explained("nDCG@2 RR"))
    assert "nDCG@2 of r.run, query 10: 0.38685280723454163" in text
    assert "  x            1  unjudged     0         1             0           1" in text
    assert "DCG 0.6309297535714575, ideal DCG 1.6309297535714575" in text
    assert "RR of r.run, query 10: 0.5" in text


def test_an_explanation_as_json_has_every_number() -> None:
    found = json.loads(explained_as_json(explained("nDCG@1 P@1")))
    assert found["query_id"] == "10"
    one = found["runs"]["r.run"]["nDCG@1"]
    assert (one["value"], one["dcg"], one["ideal_dcg"]) == (0.0, 0.0, 1.0)
    assert one["ranks"] == [
        {
            "rank": 1,
            "doc_id": "x",
            "grade": None,
            "gain": 0.0,
            "discount": 1.0,
            "contribution": 0.0,
            "ideal_gain": 1.0,
            "ideal_contribution": 1.0,
        }
    ]
    assert found["runs"]["r.run"]["P@1"]["dcg"] is None


def test_an_explanation_of_a_query_outside_the_mean_says_so() -> None:
    found = explain_file(judged(QRELS), run("new a 1"), [parse_measure("RR")], "new")
    outside = ExplainedQuery(None, "new", ("RR",), {"r.run": found})
    assert "query new: not in the mean" in explained_as_table(outside)
    assert json.loads(explained_as_json(outside))["runs"]["r.run"]["RR"]["value"] is None


def test_an_explanation_of_no_results_says_so() -> None:
    found = explain_file(judged(QRELS), run("new a 1"), [parse_measure("RR")], "10")
    assert "no document was returned" in explained_as_table(
        ExplainedQuery(None, "10", ("RR",), {"r.run": found})
    )


def test_definitions_side_by_side_say_which_parameter_makes_the_difference() -> None:
    measures = [parse_measure("nDCG@2"), parse_measure("nDCG(gain='exp2')@2"), parse_measure("RR")]
    qrels, ranked = judged("10 a 1\n10 b 3"), run("10 a 2\n10 b 1")
    found = explain_file(qrels, ranked, measures, "10")
    apart = compare_file(qrels, ranked, [(measures[0], one) for one in measures[1:]], "10")
    names = tuple(measure.name for measure in measures)
    query = ExplainedQuery(None, "10", names, {"r.run": found}, {"r.run": apart})
    text = explained_as_table(query)
    assert "nDCG@2 and nDCG(gain='exp2')@2 of r.run: 0.7967 and 0.7098" in text
    assert "  gain linear → exp2  -0.0869            100.0 %" in text
    assert "two measures, not two definitions of one" in text
    (first, second) = json.loads(explained_as_json(query))["differences"]["r.run"]
    assert first["parts"][0]["parameters"] == ["gain"]
    assert first["parts"][0]["effect"] == first["other_value"] - first["value"]
    assert second["parts"] == []
