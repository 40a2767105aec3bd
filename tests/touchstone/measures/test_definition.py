"""What a measure may be, and what it refuses to be."""

from typing import Any

import pytest

from touchstone.measures.definition import FAMILIES, Measure, gain_table
from touchstone.measures.errors import MeasureError
from touchstone.measures.wording import describe


def test_usual_values_stay_out_of_the_name() -> None:
    assert Measure(family="nDCG", cutoff=10).name == "nDCG@10"
    assert Measure(family="AP", rel=2, cutoff=100).name == "AP(rel=2)@100"
    assert str(Measure(family="RR")) == "RR"


def test_parameters_stand_in_one_order_whatever_order_they_were_given_in() -> None:
    one = Measure(family="nDCG", ideal="local", gain="exp2", cutoff=10)
    other = Measure(family="nDCG", cutoff=10, gain="exp2", ideal="local")
    assert one == other
    assert one.name == other.name == "nDCG(gain='exp2',ideal='local')@10"


def test_equal_numbers_of_other_types_make_equal_measures_and_names() -> None:
    assert Measure(family="P", cutoff=5, rel=2) == Measure(family="P", cutoff=5, rel=2.0)
    assert Measure(family="P", cutoff=5, rel=2).name == Measure(family="P", cutoff=5, rel=2.0).name


def test_every_parameter_of_the_family_is_told_for_storage() -> None:
    stored = Measure(family="Judged", cutoff=5).parameters()
    assert stored == {
        "cutoff": 5,
        "ties": "docid",
        "scores": "float32",
        "queries": "returned",
        "decimals": None,
        "rounding": "nearest",
        "rounded": "query",
        "average": "macro",
    }


def test_every_family_has_a_revision_to_store_beside_its_values() -> None:
    assert all(family.revision >= 1 for family in FAMILIES.values())
    assert Measure(family="RR").revision == FAMILIES["RR"].revision


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("unknown measure", {"family": "DCG"}),
        ("needs a cutoff", {"family": "P"}),
        ("whole number from 1", {"family": "P", "cutoff": 0}),
        ("whole number from 1", {"family": "P", "cutoff": -3}),
        ("whole number from 1", {"family": "P", "cutoff": True}),
        ("whole number from 1", {"family": "P", "cutoff": 2_000_000}),
        ("has no parameter gain", {"family": "P", "cutoff": 5, "gain": "exp2"}),
        ("has no parameter rel", {"family": "nDCG", "rel": 2}),
        ("allowed words are 'log2'", {"family": "nDCG", "discount": "log10"}),
        ("allowed words are 'linear'", {"family": "nDCG", "gain": "exp"}),
        ("allowed words are 'skip'", {"family": "nDCG", "empty": "none"}),
        ("from 0 to 1", {"family": "nDCG", "empty": 2.0}),
        ("finite number", {"family": "RR", "rel": float("nan")}),
        ("finite number", {"family": "RR", "rel": True}),
        ("too large", {"family": "RR", "rel": 1e30}),
        ("must be set together", {"family": "nDCG", "discount": "burn-in"}),
        ("must be set together", {"family": "nDCG", "b": 2.0}),
        ("above 1", {"family": "nDCG", "discount": "burn-in", "b": 1.0}),
        ("needs a cutoff", {"family": "nDCG", "discount": "linear"}),
        ("needs a cutoff", {"family": "nDCG", "short": "zero"}),
        ("ideal='max'", {"family": "nDCG", "top": 4.0}),
        ("ideal_depth", {"family": "nDCG", "ideal": "local", "ideal_depth": "all"}),
        ("allowed words are 'zero', 'unjudged'", {"family": "RR", "negatives": "raw"}),
        ("one gain per grade", {"family": "nDCG", "gain": ()}),
        ("one gain per grade", {"family": "nDCG", "gain": ((1.0, 1.0), (1.0, 2.0))}),
        ("must be set together", {"family": "P", "cutoff": 5, "unjudged": "prior"}),
        ("must be set together", {"family": "nDCG", "prior": 1.0}),
        ("ideal='recall'", {"family": "nDCG", "ideal_first": 100}),
        ("whole number from 1", {"family": "nDCG", "ideal": "recall", "ideal_first": 0}),
        ("whole number from 0 to 15", {"family": "nDCG", "decimals": 2.5}),
        ("whole number from 0 to 15", {"family": "nDCG", "decimals": 16}),
        ("number of decimals", {"family": "nDCG", "rounding": "floor"}),
        ("needs rounding='floor'", {"family": "nDCG", "decimals": 2, "rounded": "rank"}),
        (
            "at most 6",
            {"family": "nDCG", "decimals": 7, "rounding": "floor", "rounded": "rank"},
        ),
        ("below 0: with", {"family": "nDCG", "negative_ideal": "empty"}),
        ("allowed words are 'docid'", {"family": "RR", "ties": "averaged"}),
        ("does not depend", {"family": "nDCG", "ties": "averaged", "ideal": "local"}),
        ("needs ideal='recall'", {"family": "nDCG", "arithmetic": "cumulative"}),
        ("gain_table", {"family": "nDCG", "gain": ((2.0, 1.0), (1.0, 2.0))}),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(said: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(MeasureError, match=said):
        Measure(**wrong)


def test_every_family_reads_in_plain_words() -> None:
    for family in FAMILIES.values():
        cutoff = None if family.cutoff == "none" else 7
        words = describe(Measure(family=family.name, cutoff=cutoff))
        assert ("the first 7" in words) == (cutoff is not None)
        assert "{" not in words


def test_a_reading_names_the_prior_the_depth_of_the_ideal_and_the_rounding() -> None:
    words = describe(
        Measure(
            family="nDCG",
            cutoff=10,
            ideal="recall",
            ideal_first=100,
            unjudged="prior",
            prior=0.5,
            decimals=2,
            rounding="half_up",
        )
    )
    assert "ideal from the first 100 returned" in words
    assert "count as grade 0.5" in words
    assert "rounded half up to 2 decimals" in words


def test_a_reading_names_what_is_unusual() -> None:
    measure = Measure(
        family="nDCG",
        cutoff=10,
        gain=gain_table({0: 0, 1: 1, 2: 3}),
        discount="burn-in",
        b=2,
        ideal="max",
        top=2,
        empty="skip",
        unjudged="condensed",
        negatives="raw",
        scores="float64",
    )
    words = describe(measure)
    for part in (
        "2 → 3",
        "log2(rank) after rank 2",
        "grade 2 at every rank",
        "left out",
        "unjudged documents removed",
        "cost gain",
        "double precision",
    ):
        assert part in words
