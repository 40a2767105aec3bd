"""A parameter is said once: whatever speaks of parameters speaks of all of these, and no others."""

import re
from dataclasses import fields

import pytest

from touchstone.measures.definition import Measure, usual_value
from touchstone.measures.documentation import measures_page
from touchstone.measures.errors import MeasureError
from touchstone.measures.families import FAMILIES
from touchstone.measures.grammar import parse_measure
from touchstone.measures.parameters import CHOICES, PARAMETERS
from touchstone.measures.wording import choice_words, describe, parameter_words

# Names and stored definitions have the parameters in this order: a new one goes to the end.
STORED_ORDER = [
    *("rel", "gain", "discount", "b", "ideal", "ideal_depth", "ideal_first", "top", "empty"),
    *("negative_ideal", "unjudged", "prior", "negatives", "ties", "scores", "queries", "short"),
    *("arithmetic", "decimals", "rounding", "rounded", "denominator", "p", "average", "of"),
]


def test_the_order_of_names_and_of_stored_definitions_stays() -> None:
    assert list(PARAMETERS)[: len(STORED_ORDER)] == STORED_ORDER


def test_measures_have_these_parameters_and_no_others() -> None:
    own = [one.name for one in fields(Measure) if one.name not in {"family", "cutoff", "name"}]
    assert own == list(PARAMETERS)
    assert {p for family in FAMILIES.values() for p in family.parameters} == set(PARAMETERS)


def test_the_page_has_a_row_for_each_parameter_and_for_no_other() -> None:
    section = measures_page().partition("## Parameters\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section, re.MULTILINE)
    assert rows == [(one.name, one.words) for one in PARAMETERS.values()]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_the_grammar_takes_a_familys_parameters_and_refuses_the_others(family) -> None:
    cutoff = "" if family.cutoff == "none" else "@10"
    for name in (one for one in CHOICES if one in family.parameters):
        default = usual_value(family, name)
        read = parse_measure(f"{family.name}({name}='{default}'){cutoff}")
        assert read.name == f"{family.name}{cutoff}"
    for name in set(CHOICES) - family.parameters:
        word = CHOICES[name][-1]
        with pytest.raises(MeasureError, match=f"has no parameter {name}"):
            parse_measure(f"{family.name}({name}='{word}'){cutoff}")


def test_the_grammar_knows_these_parameters_and_no_others() -> None:
    with pytest.raises(MeasureError, match="available: ") as refused:
        parse_measure("nDCG(depth=3)@10")
    assert refused.value.message.endswith(f"available: {', '.join(PARAMETERS)}")


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=lambda one: one.name)
def test_every_value_has_its_words(parameter) -> None:
    assert parameter.words
    for word, choice in parameter.choices.items():
        assert choice_words(parameter.name, word)
        assert "{" not in choice_words(parameter.name, word)
        assert all(word in FAMILIES[name].words_of(parameter.name) for name in choice.by_family)
    if parameter.kind == "choice":
        assert parameter.default in ("", *parameter.choices)
        assert parameter.value == parameter.unset == ""
    if parameter.kind == "whole":
        assert parameter.bounds[0] < parameter.bounds[1]
    if parameter.source:
        assert re.search(r"\d{4}$", parameter.source)


def test_a_denominator_is_said_as_its_family_means_it() -> None:
    said = {
        name: parameter_words(parse_measure(name), ["denominator"])
        for name in (
            "P@5",
            "P(denominator='returned')@5",
            "AP@5",
            "AP(denominator='returned')@5",
            "AP(denominator='cutoff')@5",
            "AP(denominator='returned_cutoff')@5",
        )
    }
    assert list(said.values()) == [
        "divided by the cutoff",
        "divided by the number of documents shown, where that is below the cutoff",
        "divided by the number of relevant documents",
        "divided by the number of relevant documents shown",
        "divided by the number of relevant documents, but at most by the cutoff",
        (
            "divided by the number of relevant documents in the whole ranking, but at most by the "
            "cutoff"
        ),
    ]


def test_a_query_that_can_be_worth_nothing_lacks_what_its_family_asks_for() -> None:
    for name in ("empty='skip'", "empty=1"):
        assert "without gain" in parameter_words(parse_measure(f"nDCG({name})"), ["empty"])
        binary = parse_measure(f"AP({name})")
        assert "without a relevant document" in parameter_words(binary, ["empty"])
        assert "without a relevant document" in describe(binary)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_every_choice_can_be_put_into_a_familys_words(family) -> None:
    cutoff = None if family.cutoff == "none" else 10
    for name in CHOICES:
        for word in family.words_of(name) if name in family.parameters else ():
            try:
                measure = Measure(family=family.name, cutoff=cutoff, **{name: word})
            except MeasureError:  # goes together with another parameter
                continue
            assert "{" not in describe(measure)
