"""Why two definitions differ: the parameters that do it, and how much each."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.measures.builders import value_of
from tests.touchstone.measures.file_builders import judged, run
from touchstone.measures.definition import Measure
from touchstone.measures.differences import MOST_IN_ALL_ORDERS, difference
from touchstone.measures.errors import MeasureError
from touchstone.measures.files import compare_file, evaluate_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.presets import NDCG_PRESETS, preset
from touchstone.measures.tool_rules import apply

QRELS = "q a 3\nq b 0\nq c 1\nq unseen 4\nq d 2"
RUN = "q a 9\nq new 8\nq b 8\nq c 6\nq d 6"


def of_ranking(measure: Measure) -> float:
    return value_of(measure, [1, None, 4, 0, 3], also_judged=[4, 2])


def found(one: str, other: str) -> dict[tuple[str, ...], float]:
    apart = difference(parse_measure(one), parse_measure(other), of_ranking)
    return {part.parameters: part.effect for part in apart.parts}


def test_a_single_parameter_makes_the_whole_difference() -> None:
    effects = found("nDCG@5", "nDCG(gain='exp2')@5")
    assert effects == {("gain",): of_ranking(parse_measure("nDCG(gain='exp2')@5"))
                       - of_ranking(parse_measure("nDCG@5"))}  # fmt: skip


def test_two_parameters_share_what_they_make_together() -> None:
    def value(name: str) -> float:
        return of_ranking(parse_measure(name))

    plain, gain = value("nDCG@5"), value("nDCG(gain='exp2')@5")
    ideal, both = value("nDCG(ideal='local')@5"), value("nDCG(gain='exp2',ideal='local')@5")
    effects = found("nDCG@5", "nDCG(gain='exp2',ideal='local')@5")
    assert effects["gain",] == pytest.approx((gain - plain + both - ideal) / 2)
    assert effects["ideal",] == pytest.approx((ideal - plain + both - gain) / 2)


def test_a_parameter_that_makes_nothing_here_is_told_last() -> None:
    effects = found("nDCG@5", "nDCG(gain='exp2',empty=1)@5")
    assert list(effects) == [("gain",), ("empty",)]
    assert effects["empty",] == 0.0


def test_parameters_that_say_one_thing_together_are_switched_together() -> None:
    effects = found("nDCG@5", "nDCG(discount='burn-in',b=2)@5")
    assert list(effects) == [("discount", "b")]


def test_what_makes_no_sense_without_another_is_switched_with_it() -> None:
    # arithmetic='cumulative' asks for the recall ideal, short='zero' for a cutoff
    one = "nDCG@5"
    other = "nDCG(discount='ln/ln2',ideal='recall',arithmetic='cumulative')@5"
    assert {frozenset(group) for group in found(one, other)} == {
        frozenset({"discount"}),
        frozenset({"ideal", "arithmetic"}),
    }
    (group,) = found("nDCG", "nDCG(short='zero')@3")
    assert set(group) == {"cutoff", "short"}


def test_definitions_of_two_families_have_no_parts() -> None:
    apart = difference(parse_measure("nDCG@5"), parse_measure("P@5"), of_ranking)
    assert apart.parts == ()
    assert apart.total == of_ranking(parse_measure("P@5")) - of_ranking(parse_measure("nDCG@5"))


def test_equal_definitions_have_no_parts() -> None:
    assert found("nDCG@5", "nDCG@5") == {}
    assert found("nDCG@5", "nDCG(queries='returned')@5") == {}


MANY = {
    "gain": "exp2",
    "discount": "reciprocal",
    "ideal": "recall",
    "empty": 0.5,
    "short": "zero",
    "unjudged": "condensed",
    "negatives": "removed",
    "scores": "float64",
    "cutoff": 3,
    "decimals": 2,
}


@given(st.sets(st.sampled_from(sorted(MANY)), min_size=1), st.integers(1, 10))
def test_the_parts_add_up_to_the_difference(chosen: set[str], k: int) -> None:
    one = Measure(family="nDCG", cutoff=k)
    fields: dict[str, Any] = {"family": "nDCG", "cutoff": k, **{p: MANY[p] for p in chosen}}
    other = Measure(**fields)
    apart = difference(one, other, of_ranking)
    assert math.fsum(p.effect for p in apart.parts) == pytest.approx(apart.total, abs=1e-12)


def test_more_parameters_than_have_their_orders_counted_add_up_as_well() -> None:
    other = Measure(family="nDCG", **{"cutoff": 10, **MANY})  # type: ignore[arg-type]
    apart = difference(Measure(family="nDCG", cutoff=10), other, of_ranking)
    assert len(apart.parts) > MOST_IN_ALL_ORDERS
    assert math.fsum(p.effect for p in apart.parts) == pytest.approx(apart.total, abs=1e-12)


@pytest.mark.parametrize("name", sorted(set(NDCG_PRESETS) - {"letor4_eval"}))
def test_every_preset_is_taken_apart_and_ends_at_its_own_value(name: str) -> None:
    measures = [parse_measure("nDCG@3")]
    pair = (measures[0], apply(preset(name), measures[0]))
    (apart,) = compare_file(judged(QRELS), run(RUN), [pair], "q")
    assert apart.one == measures[0]
    values = evaluate_file(judged(QRELS), run(RUN), measures, preset(name)).values
    assert apart.other_value == pytest.approx(float(values[0, 0]), abs=1e-5)
    assert math.fsum(p.effect for p in apart.parts) == pytest.approx(apart.total, abs=1e-12)


def test_the_order_of_ties_can_make_a_difference() -> None:
    names = ["nDCG@2", "nDCG(ties='listed')@2", "nDCG(ties='averaged')@2"]
    measures = [parse_measure(name) for name in names]
    plain, *others = measures
    pairs = [(plain, other) for other in others]
    first, second = compare_file(judged(QRELS), run("q b 1\nq d 1\nq a 1"), pairs, "q")
    assert [part.parameters for part in (*first.parts, *second.parts)] == [("ties",)] * 2
    assert first.total != second.total


def test_a_query_that_nobody_has_is_refused() -> None:
    with pytest.raises(MeasureError, match="has query 'nobody'"):
        compare_file(judged(QRELS), run(RUN), [], "nobody")
