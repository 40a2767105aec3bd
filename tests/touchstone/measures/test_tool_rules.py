"""Presets applied: what they set, what they refuse, how they round and add up."""

import numpy as np
import pytest

from touchstone.measures.definition import FAMILIES
from touchstone.measures.errors import MeasureError
from touchstone.measures.grammar import parse_measure
from touchstone.measures.presets import PRESETS, preset
from touchstone.measures.tool_rules import apply, printed, tool_mean


def some(family: str) -> str:
    """The name of a measure of this family."""
    return family if FAMILIES[family].cutoff == "none" else f"{family}@10"


def test_a_preset_sets_what_its_tool_means() -> None:
    meant = apply(preset("gdeval"), parse_measure("nDCG@10"))
    assert (meant.gain, meant.discount, meant.empty, meant.queries, meant.cutoff) == (
        "exp2",
        "ln",
        "skip",
        "relevant",
        10,
    )
    assert apply(preset("trec_eval_c"), parse_measure("AP(rel=2)")) == parse_measure("AP(rel=2)")


def test_the_rules_without_a_preset_are_those_of_trec_eval_c() -> None:
    # but for what is shown: its unj_k counts queries without an answer as 0
    for family in sorted(preset("trec_eval_c").families - {"Unjudged"}):
        measure = parse_measure(some(family))
        assert apply(preset("trec_eval_c"), measure) == measure


def test_a_parameter_that_agrees_with_the_preset_may_be_written_out() -> None:
    assert apply(preset("gdeval"), parse_measure("nDCG(gain='exp2')@10")).gain == "exp2"


def test_a_parameter_that_contradicts_the_preset_is_refused() -> None:
    with pytest.raises(MeasureError, match="sets gain, but preset gdeval has 'exp2'"):
        apply(preset("gdeval"), parse_measure("nDCG(gain={0:0,1:1})@10"))
    with pytest.raises(MeasureError, match="sets scores"):
        apply(preset("trec_eval"), parse_measure("RR(scores='float64')"))


def test_a_measure_that_the_tool_has_not_is_refused() -> None:
    with pytest.raises(MeasureError, match=r"gdeval\.pl 1\.2 has no RR; it has nDCG, ERR"):
        apply(preset("gdeval"), parse_measure("RR"))


def test_a_preset_fits_every_measure_of_its_families() -> None:
    for chosen in PRESETS.values():
        for family in chosen.families:
            apply(chosen, parse_measure(some(family)))


def test_a_tools_own_cutoff_holds_where_none_is_asked_for() -> None:
    assert apply(preset("xgboost_ndcg"), parse_measure("nDCG")).cutoff == 32
    assert apply(preset("xgboost_ndcg"), parse_measure("nDCG@5")).cutoff == 5
    assert apply(preset("trec_eval"), parse_measure("nDCG")).cutoff is None


def test_a_tool_adds_one_float_to_the_next_in_its_own_order() -> None:
    values = np.array([0.1, 0.2, 0.3])
    ids = ["9", "10", "1"]
    assert tool_mean(preset("trec_eval"), ids, values) == (0.3 + 0.2 + 0.1) / 3
    assert tool_mean(preset("lightgbm"), ids, values) == (0.1 + 0.2 + 0.3) / 3
    assert (0.3 + 0.2 + 0.1) / 3 != (0.1 + 0.2 + 0.3) / 3
    many = np.arange(1, 100) / 7
    assert tool_mean(preset("ranx_ndcg"), [f"{n:02}" for n in range(99)], many) == many.mean()
    assert tool_mean(preset("trec_eval"), [], np.array([])) is None


def test_a_tool_rounds_what_it_prints() -> None:
    assert printed(preset("gdeval"), np.array([0.123456, 1.0])).tolist() == [0.12346, 1.0]
    assert printed(preset("trec_eval"), np.array([0.123456])).tolist() == [0.123456]
