"""Asking for a measure by its name, or as a tool means it."""

import pytest

from touchstone.measures.asking import ask, ask_all, every_preset, recognise
from touchstone.measures.errors import MeasureError
from touchstone.measures.families import FAMILIES
from touchstone.measures.grammar import parse_measure
from touchstone.measures.presets import NDCG_PRESETS, PRESETS, Preset, preset
from touchstone.measures.tool_rules import apply


def test_a_plain_name_is_the_measure_itself() -> None:
    asked = ask("ndcg@10")
    assert (asked.name, asked.canonical, asked.preset) == ("ndcg@10", "nDCG@10", None)
    assert asked.measure == asked.plain == parse_measure("nDCG@10")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_asked_for_and_its_name_reads_back(name: str) -> None:
    measure = "nDCG@10" if name in NDCG_PRESETS else "Judged@10"
    asked = ask(f"{name}:{measure.lower()}")
    assert asked.measure == apply(preset(name), parse_measure(measure))
    assert asked.canonical == f"{name}:{measure}"
    again = ask(asked.canonical)
    assert (again.measure, again.preset) == (asked.measure, asked.preset)


def test_a_colon_in_a_table_of_gains_names_no_tool() -> None:
    assert ask("nDCG(gain={0:0,1:3})@5").preset is None
    assert ask("quepid_ndcg:nDCG(negatives='raw')@5").preset is not None


def test_several_are_apart_by_blanks_or_commas() -> None:
    names = [one.canonical for one in ask_all("nDCG@10, trec_eval:AP(rel=2)@100\tRR")]
    assert names == ["nDCG@10", "trec_eval:AP(rel=2)@100", "RR"]
    usual = ask_all("nDCG@10 gdeval:nDCG@10", preset("lightgbm"))
    assert [one.canonical for one in usual] == ["lightgbm:nDCG@10", "gdeval:nDCG@10"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nope:nDCG@10", "unknown preset 'nope'"),
        ("lightgbm:AP", "LightGBM ndcg has no AP"),
        ("lightgbm:nope@3", "unknown measure 'nope'"),
        ("lightgbm:", "is not the name of a measure"),
        ("lightgbm:trec_eval:nDCG", "is not the name of a measure"),
    ],
)
def test_what_makes_no_sense_is_said(name: str, told: str) -> None:
    with pytest.raises(MeasureError) as refused:
        ask(name)
    assert told in refused.value.message


def test_the_tools_that_have_a_measure_are_offered() -> None:
    assert {one.preset.name for one in every_preset(parse_measure("nDCG@10")) if one.preset} == {
        *NDCG_PRESETS
    }
    averages = [one.canonical for one in every_preset(parse_measure("AP(rel=2)@5"))]
    assert averages[:2] == ["trec_eval:AP(rel=2)@5", "trec_eval_c:AP(rel=2)@5"]


@pytest.mark.parametrize("chosen", PRESETS.values(), ids=PRESETS)
def test_a_tools_definition_is_recognised_whatever_its_measure(chosen: Preset) -> None:
    for family in chosen.families:
        cutoff = "" if FAMILIES[family].cutoff == "none" else "@10"
        asked = ask(f"{chosen.name}:{family}{cutoff}")
        known = recognise(asked.measure)
        assert known.measure == asked.measure
        assert ask(known.canonical).measure == asked.measure
        # its own name where that says it all, else the name of a tool that means just this
        assert (known.preset is None) == (asked.measure.name == f"{family}{cutoff}")


def test_a_measure_of_ones_own_keeps_its_name() -> None:
    for name in ("nDCG@10", "nDCG(gain='exp2',b=3,discount='burn-in')@10", "P(rel=3)@5"):
        assert recognise(parse_measure(name)).canonical == parse_measure(name).name
    mslr = ask("mslr_eval:P@5").measure
    assert recognise(mslr).canonical == "mslr_eval:P@5"
    split = ask("lightgbm:nDCG(average='segments')@5").measure
    assert recognise(split).canonical == "lightgbm:nDCG(average='segments')@5"
