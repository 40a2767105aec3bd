"""docs/measures.md is what the registries say."""

import re

import pytest

from touchstone.measures.definition import FAMILIES, PARAMETERS
from touchstone.measures.documentation import PAGE, measures_page
from touchstone.measures.presets import PRESETS
from touchstone.measures.worked import claims, worked

COMMAND = "python -m touchstone.measures.documentation"


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == measures_page(), f"regenerate it: {COMMAND}"


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_every_word_of_every_parameter_is_explained(parameter: str) -> None:
    told = PARAMETERS[parameter]
    assert [word for word in told.choices if f"`'{word}'" not in told.words] == []


def rows(title: str) -> list[str]:
    """What the rows of a section's tables are about."""
    section = measures_page().partition(f"## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def test_every_family_parameter_and_preset_has_a_row_of_its_own() -> None:
    assert rows("Names") == rows("Edge cases") == list(FAMILIES)
    assert rows("Parameters") == list(PARAMETERS)
    assert rows("Presets") == list(PRESETS)


def test_every_family_and_preset_is_on_the_page_with_what_it_cannot_do() -> None:
    page = measures_page()
    for family in FAMILIES.values():
        assert f"| `{family.name}` | {family.formula} |" in page
    for preset in PRESETS.values():
        assert f"| `{preset.name}` | {preset.tool} | {preset.reading} |" in page
        assert preset.caveat in page


def test_the_numbers_that_circulate_are_set_right() -> None:
    computed = [number for _, number in claims()]
    assert computed[0] == "DCG 12.7796, ideal DCG 13.3472, NDCG 0.95748"
    assert computed[1].startswith("1.0:")
    assert computed[2].startswith("1.0:")
    assert computed[3].startswith("0.571 local, 0.444 recall, 0.414 global, 0.400 max")
    assert "0.6509 only with the local ideal, and 0.4982" in computed[4]
    assert computed[4].startswith("Hit@1 0, Hit@2 1, P@5 0.4, R@5 0.667, RR 0.5")
    assert computed[5] == "0.7939 with linear gain, 0.6640 with exponential"


def test_the_dcg_of_the_zoo_is_as_claimed() -> None:
    # 0.1 + 1.0 / 2, over the local ideal 1.0 + 0.1 / 2
    name = "nDCG(discount='reciprocal',ideal='local')@2"
    assert worked(name, [0.1, 1.0, 0.7], [0.9, 0.1]) == pytest.approx(0.6 / 1.05)
