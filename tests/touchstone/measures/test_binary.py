"""P, R, Hit, RR, AP and Judged by hand, and their laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.measures.builders import value_of
from touchstone.measures.grades import Grades

RANKED = st.lists(st.none() | st.integers(0, 4), max_size=12)
ALSO = st.lists(st.integers(0, 4), max_size=8)
# B A D C E F, of which A, C and F are relevant
LETTERS = [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Hit@1", 0.0),
        ("Hit@2", 1.0),
        ("P@5", 0.4),
        ("R@5", 2 / 3),
        ("RR", 0.5),
        ("RR@1", 0.0),
        ("RR@2", 0.5),
        ("AP", (1 / 2 + 2 / 4 + 3 / 6) / 3),
        ("AP@4", (1 / 2 + 2 / 4) / 3),
        ("Judged@3", 1.0),
        ("nDCG(ideal='local')@5", 0.6509),
        ("nDCG@5", 0.4982),
    ],
)
def test_the_worked_example_of_the_articles(name: str, expected: float) -> None:
    assert value_of(name, LETTERS) == pytest.approx(expected, abs=5e-5)


def test_precision_divides_by_the_cutoff_even_where_fewer_are_shown() -> None:
    assert value_of("P@10", [1, 1]) == 0.2


def test_judged_divides_by_what_is_shown_where_that_is_less() -> None:
    assert value_of("Judged@10", [1, None, 0, None]) == 0.5
    assert value_of("Judged@1", [None, 1]) == 0.0
    assert value_of("Judged", [None, 1, 0]) == 2 / 3
    assert value_of("Judged@10", [], also_judged=[1]) == 0.0


def test_average_precision_divides_by_all_relevant_documents() -> None:
    assert value_of("AP", [1], also_judged=[1, 2, 3]) == 0.25


@pytest.mark.parametrize(("rel", "expected"), [(0, 1.0), (1, 0.75), (2, 0.5), (4, 0.25), (5, 0.0)])
def test_the_threshold_says_from_which_grade_on_a_document_is_relevant(
    rel: int, expected: float
) -> None:
    assert value_of(f"P(rel={rel})@4", [0, 1, 2, 4]) == expected


def test_the_threshold_is_about_values_not_codes() -> None:
    shares = Grades.of({0: 0.1, 1: 0.7, 2: 0.9})
    assert value_of("P(rel=0.8)@2", [1, 2], grades=shares) == 0.5


def test_an_unjudged_document_is_never_relevant() -> None:
    assert value_of("P(rel=-5)@2", [None, 0]) == 0.5


@pytest.mark.parametrize("name", ["P@5", "R@5", "Hit@5", "RR", "AP", "RR@5", "AP@5"])
def test_no_relevant_document_makes_nothing_but_zero(name: str) -> None:
    assert value_of(name, [0, None, 0]) == 0.0
    assert value_of(name, [], also_judged=[0]) == 0.0
    assert value_of(name, [], also_judged=[3]) == 0.0


def test_unjudged_documents_can_be_taken_out_first() -> None:
    ranked = [None, None, 1, 0]
    assert value_of("RR(unjudged='condensed')", ranked) == 1.0
    assert value_of("P(unjudged='condensed')@1", ranked) == 1.0
    assert value_of("RR", ranked) == 1 / 3


@given(RANKED, ALSO, st.integers(1, 15), st.integers(0, 5))
def test_values_are_fractions_and_hang_together(
    ranked: list[int | None], also: list[int], k: int, rel: int
) -> None:
    def value(family: str) -> float:
        return value_of(f"{family}(rel={rel})@{k}", ranked, also_judged=also)

    values = {family: value(family) for family in ("P", "R", "Hit", "RR", "AP")}
    assert all(0.0 <= v <= 1.0 for v in values.values())
    assert (values["Hit"] == 1.0) == (values["P"] > 0) == (values["RR"] > 0) == (values["AP"] > 0)
    assert values["RR"] <= values["Hit"]
    assert 0.0 <= value_of(f"Judged@{k}", ranked, also_judged=also) <= 1.0


@given(RANKED, ALSO, st.integers(1, 14))
def test_a_deeper_cutoff_never_lowers_recall_hit_rr_or_ap(
    ranked: list[int | None], also: list[int], k: int
) -> None:
    for family in ("R", "Hit", "RR", "AP"):
        shallow = value_of(f"{family}@{k}", ranked, also_judged=also)
        assert value_of(f"{family}@{k + 1}", ranked, also_judged=also) >= shallow


@given(ALSO)
def test_a_perfect_ranking_has_average_precision_one(grades: list[int]) -> None:
    best = sorted(grades, reverse=True)
    assert value_of("AP", best) == (1.0 if any(best) else 0.0)


def test_precision_can_divide_by_what_is_returned() -> None:
    assert value_of("P(denominator='returned')@10", [1, 0]) == 0.5
    assert value_of("P(denominator='returned')@1", [1, 0]) == 1.0
    assert value_of("P(denominator='returned')@10", [], also_judged=[1]) == 0.0
    assert value_of("P(denominator='k')@10", [1, 0]) == 0.1


def test_average_precision_has_three_denominators() -> None:
    ranked, also = [1, 0, 2], [3, 4]
    total = 1 + 2 / 3
    assert value_of("AP", ranked, also_judged=also) == pytest.approx(total / 4)
    assert value_of("AP(denominator='returned')", ranked, also_judged=also) == total / 2
    assert value_of("AP(denominator='cutoff')@3", ranked, also_judged=also) == total / 3
    assert value_of("AP(denominator='cutoff')@9", ranked, also_judged=also) == total / 4
    assert value_of("AP(denominator='returned')@2", ranked, also_judged=also) == 1.0
    assert value_of("AP(denominator='returned')", [0], also_judged=also) == 0.0


def test_r_precision_looks_as_far_as_there_are_relevant_documents() -> None:
    assert value_of("Rprec", [1, 0, 1]) == 0.5
    assert value_of("Rprec", [0, 0, 1]) == 0.0
    assert value_of("Rprec", [1], also_judged=[1, 1]) == 1 / 3
    assert value_of("Rprec(rel=2)", [2, 1, 3]) == 0.5


def test_unjudged_is_what_judged_leaves() -> None:
    assert value_of("Unjudged@10", [1, None, 0, None]) == 0.5
    assert value_of("Unjudged@1", [None, 1]) == 1.0
    assert value_of("Unjudged@10", [], also_judged=[1]) == 0.0
