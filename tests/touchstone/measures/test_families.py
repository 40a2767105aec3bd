"""Every family says what it does at the edges, and does it."""

import re

import pytest

from tests.touchstone.measures.builders import graded, value_of
from touchstone.measures.definition import Measure
from touchstone.measures.engine import evaluate_batch
from touchstone.measures.errors import MeasureError
from touchstone.measures.families import FAMILIES, Family
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.parameters import CHOICES

PER_QUERY = [family for family in FAMILIES.values() if family.per_query]
RELEVANT = [family for family in PER_QUERY if "rel" in family.parameters or family.name == "nDCG"]


def name_of(family: Family, cutoff: int = 3) -> str:
    return family.name if family.cutoff == "none" else f"{family.name}@{cutoff}"


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_every_family_declares_its_formula_its_source_and_its_edges(family: Family) -> None:
    assert family.formula
    assert re.search(r"\d{4}|ir_measures", family.source)
    assert len(family.edges.items()) == 6
    assert all(words and not words.endswith(".") for _, words in family.edges.items())
    for parameter, words in family.words.items():
        assert parameter in family.parameters
        assert set(words) <= set(CHOICES[parameter])


@pytest.mark.parametrize("family", PER_QUERY, ids=lambda family: family.name)
def test_a_query_that_the_run_does_not_answer_has_the_value_declared(family: Family) -> None:
    if family.name in ("Judged", "Unjudged"):
        assert family.edges.missing.startswith("not in the mean")
        return
    declared = float(family.edges.missing.partition(",")[0])
    assert value_of(name_of(family), [], also_judged=[2, 1, 0]) == declared


@pytest.mark.parametrize("family", RELEVANT, ids=lambda family: family.name)
def test_a_query_without_a_relevant_document_is_worth_nothing(family: Family) -> None:
    assert family.edges.no_relevant in {"0", "`empty`, by default 0"}
    assert value_of(name_of(family), [0, None, 0]) == 0.0


@pytest.mark.parametrize("family", PER_QUERY, ids=lambda family: family.name)
def test_ties_are_averaged_exactly_where_that_is_declared(family: Family) -> None:
    averaged = "averaged over all orders" in family.edges.ties
    assert averaged == ("averaged" in family.words_of("ties"))
    asked = name_of(family).replace("@", "(ties='averaged')@")
    if averaged:
        assert parse_measure(asked).ties == "averaged"


@pytest.mark.parametrize("family", PER_QUERY, ids=lambda family: family.name)
def test_a_cutoff_beyond_the_list_is_no_error(family: Family) -> None:
    highest = 3.0 if family.name == "NumRet" else 1.0
    assert 0.0 <= value_of(name_of(family, 1000), [1, None, 2]) <= highest


def test_more_documents_than_a_sum_can_hold_are_refused() -> None:
    with pytest.raises(MeasureError, match="counts to 4,095, but a query of the run has 4,096"):
        value_of("NumRet", [1] + [None] * 4095)
    assert value_of("NumRet", [1] + [None] * 4094) == 4095


def test_what_is_no_mean_over_queries_is_refused_by_the_engine() -> None:
    scale = Grades.integers(range(2))
    rankings = graded({"q": {"a": 1}}, {"q": {"a": 1.0}}, scale)
    for name in ("Coverage@10", "Judged(average='micro')@10"):
        assert not parse_measure(name).is_mean
        with pytest.raises(MeasureError, match="over a whole run"):
            evaluate_batch([parse_measure(name)], rankings, scale)


def test_a_usual_denominator_stays_out_of_the_name() -> None:
    assert Measure(family="P", cutoff=5).denominator == "k"
    assert parse_measure("P(denominator='k')@5").name == "P@5"
    assert parse_measure("AP(denominator='relevant')").name == "AP"
    assert parse_measure("AP(denominator='cutoff')@5").name == "AP(denominator='cutoff')@5"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Rprec@5", "has no cutoff"),
        ("Bpref@5", "has no cutoff"),
        ("P(denominator='relevant')@5", "allowed words are 'k', 'returned'"),
        ("AP(denominator='cutoff')", "needs a cutoff"),
        ("R(denominator='k')@5", "no parameter denominator"),
        ("RBP(p=1)", "between 0 and 1"),
        ("RBP(p=0)", "between 0 and 1"),
        ("ERR(top=0)", "above 0"),
        ("Coverage", "needs a cutoff"),
        ("Coverage(rel=2)@5", "of='relevant'"),
        ("Judged(average='mean')@5", "allowed words are 'macro', 'weighted', 'segments', 'micro'"),
        ("P(average='micro')@5", "allowed words are 'macro', 'weighted', 'segments'"),
        ("infAP(unjudged='prior',prior=1)", "no parameter prior"),
    ],
)
def test_what_a_family_does_not_do_is_refused(text: str, said: str) -> None:
    with pytest.raises(MeasureError) as refused:
        parse_measure(text)
    assert said in refused.value.message
