"""The presets as data: every entry is whole, and says nothing that no measure takes."""

import inspect
import re

import pytest

from touchstone.measures import presets
from touchstone.measures.definition import FAMILIES, PARAMETERS
from touchstone.measures.errors import MeasureError
from touchstone.measures.presets import PRESETS, Preset, preset

ENTRIES = pytest.mark.parametrize("chosen", PRESETS.values(), ids=lambda chosen: chosen.name)


@ENTRIES
def test_an_entry_says_whose_rules_it_has_and_of_which_measures(chosen: Preset) -> None:
    assert chosen.tool
    assert chosen.reading
    assert not chosen.reading.endswith(".")
    assert chosen.caveat == "" or chosen.caveat.endswith(".")
    assert chosen.families
    assert chosen.families <= set(FAMILIES)


@ENTRIES
def test_an_entry_sets_what_its_families_take(chosen: Preset) -> None:
    taken = {p for family in chosen.families for p in FAMILIES[family].parameters}
    assert set(chosen.parameters) <= taken & set(PARAMETERS)
    for family, own in chosen.of_family.items():
        assert family in chosen.families
        assert set(own) <= FAMILIES[family].parameters | {"cutoff"}


def test_no_two_entries_have_one_name() -> None:
    written = re.findall(r'^ +name="(\w+)",$', inspect.getsource(presets), re.MULTILINE)
    assert written == list(PRESETS)


def test_a_preset_is_found_by_its_name() -> None:
    assert preset("gdeval").tool == "gdeval.pl 1.2"
    with pytest.raises(MeasureError, match="available: trec_eval, trec_eval_c"):
        preset("trec-eval")
