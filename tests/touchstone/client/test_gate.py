"""A gate's exit status and its summaries, from answers of every verdict."""

import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from touchstone.client.errors import ClientUsageError, ServerUnavailableError
from touchstone.client.gate import GateResult, gate_result, summary


def answer(verdict: str = "no worse", run: str = "bm25/new") -> dict[str, Any]:
    own = {
        "run": {"name": run},
        "needed": None,
        "n": 50,
        "difference": -0.001,
        "ci": [-0.004, 0.002],
        "verdict": verdict,
    }
    return {
        "version": 3,
        "measure": "nDCG@10",
        "baseline": {"name": "bm25/live", "n": 50},
        "margin": 0.01,
        "level": 0.95,
        "comparisons": [own | {"mdd": 0.0043}],
    }


def result(verdict: str = "no worse", run: str = "bm25/new") -> GateResult:
    return gate_result(answer(verdict, run), list_name="shop/main")


@pytest.mark.parametrize(
    ("verdict", "status", "strict_status"),
    [("better", 0, 0), ("no worse", 0, 0), ("worse", 1, 1), ("inconclusive", 0, 3)],
)
def test_the_exit_status_is_the_verdicts(verdict: str, status: int, strict_status: int) -> None:
    found = result(verdict)
    assert (found.exit_status(), found.exit_status(strict=True)) == (status, strict_status)


def test_one_run_by_two_names_is_no_worse_than_itself() -> None:
    found = gate_result(answer() | {"comparisons": []}, list_name="shop/main")
    assert (found.verdict, found.difference, found.ci) == ("no worse", 0.0, (0.0, 0.0))
    assert (found.run, found.exit_status(strict=True)) == ("bm25/live", 0)


@pytest.mark.parametrize("nothing", [{"baseline": None}, {"version": 0}])
def test_a_list_without_judgments_decides_nothing(nothing: dict[str, Any]) -> None:
    with pytest.raises(ClientUsageError, match="shop/main has no judgments"):
        gate_result(answer() | nothing, list_name="shop/main")


def test_an_answer_of_another_form_never_passes() -> None:
    with pytest.raises(ServerUnavailableError, match="another form"):
        gate_result({"version": 3, "baseline": {"name": "bm25/live"}}, list_name="shop/main")


def test_json_has_every_digit() -> None:
    found = json.loads(summary(result(), "json"))
    assert found["ci"] == [-0.004, 0.002]
    expected = {"verdict": "no worse", "difference": -0.001, "n": 50, "mdd": 0.0043, "version": 3}
    assert expected.items() <= found.items()


def test_markdown_has_a_table_that_no_name_breaks() -> None:
    text = summary(result("worse", "bm25/a|b`<img>`"), "md")
    assert "### ❌ nDCG@10: worse" in text
    head, rule, row = [line for line in text.splitlines() if line.startswith("|")]
    assert "bm25/a\\|b'&lt;img&gt;'" in row
    assert head.count("|") == rule.count("|") == row.replace("\\|", "").count("|")
    assert "version 3" in text


@pytest.mark.parametrize(
    ("verdict", "strict", "outcome"),
    [
        ("no worse", True, None),
        ("worse", False, "failure"),
        ("inconclusive", False, "skipped"),
        ("inconclusive", True, "failure"),
    ],
)
def test_junit_has_one_case_with_the_outcome(
    verdict: str, strict: bool, outcome: str | None
) -> None:
    text = summary(result(verdict, 'bm25/"<x>"'), "junit", strict=strict)
    suite = ET.fromstring(text)  # noqa: S314  (our own)
    (case,) = suite
    assert case.get("name") == 'nDCG@10: bm25/"<x>" against bm25/live'
    assert [own.tag for own in case] == ([outcome] if outcome else [])
    assert suite.get("failures") == str(int(outcome == "failure"))
    assert suite.get("skipped") == str(int(outcome == "skipped"))
