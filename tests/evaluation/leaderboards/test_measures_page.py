"""The page that says what measures mean."""

import re
from html import unescape

import pytest
from django.urls import reverse

from tests.builders import make_user
from tests.evaluation.browsing import signed_in, text_of
from touchstone.measures.defaults import CUTOFF_USES, DEFAULT_MEASURES
from touchstone.measures.definition import FAMILIES, PARAMETERS
from touchstone.measures.presets import PRESETS
from touchstone.measures.wording import describe
from touchstone.measures.worked import claims

pytestmark = pytest.mark.django_db


def get(query: str = ""):
    return signed_in(make_user(username="ben")).get(reverse("measures") + query)


def section(page: str, title: str) -> str:
    """The page's section with this heading's id."""
    return page.partition(f'aria-labelledby="{title}"')[2].partition("</section>")[0]


def test_every_family_and_preset_has_a_row_of_its_own():
    page = get()
    text, html = text_of(page), page.content.decode()
    families = re.findall(r'<th scope="row" class="mono">.*?>(\w+)(?:@k)?</a></th>', html)
    assert families == list(FAMILIES)
    for family in FAMILIES.values():
        assert family.title in text
    presets = re.findall(r'<th scope="row" class="mono">(\w+)</th>', section(html, "presets"))
    assert presets == list(PRESETS)
    for preset in PRESETS.values():
        assert f"{preset.name} {preset.tool} {preset.reading}. {preset.caveat}".strip() in text
    for measure in DEFAULT_MEASURES:
        assert f"{measure.name} {describe(measure)}" in text


def test_every_parameter_has_a_row_for_every_word_and_number_that_it_can_be():
    html = section(get().content.decode(), "parameters")
    shown = {}
    for rows in re.split(r'(?=<th scope="rowgroup")', html)[1:]:
        name = re.search(r">(\w+)</th>", rows)[1]
        values = re.findall(r'<td class="mono">(.*?)</td>', rows)
        families = re.search(r'<td class="muted" rowspan="\d+">(.*?)</td>', rows)[1]
        shown[name] = ([unescape(value) for value in values], families.split(", "))
    number = {
        "choice": [],
        "number": ["a number"],
        "whole": ["a whole number"],
        "gain": ["a table"],
    }
    assert shown == {
        one.name: (
            [*number[one.kind], *(f"'{word}'" for word in one.choices)],
            [family.name for family in FAMILIES.values() if one.name in family.parameters],
        )
        for one in PARAMETERS.values()
    }


def test_every_family_leads_to_its_own_words():
    page = get().content.decode()
    for family in FAMILIES.values():
        found = re.search(rf'href="(\?measure={family.name}(?:%4010)?)"', page)
        assert found, family.name
        assert get(found[1]).status_code == 200, family.name


def test_every_family_has_its_formula_its_source_and_what_it_does_at_the_edges():
    text = text_of(get())
    for family in FAMILIES.values():
        assert family.formula in text
        assert family.source in text
        for edge, words in family.edges.items():
            assert f"{edge} {words}" in text, (family.name, edge)


def test_a_reader_with_a_number_from_an_article_finds_what_comes_out():
    text = text_of(get())
    for claim, computed in claims():
        assert f"{claim} {computed}" in text


def test_every_use_says_which_cutoff_suits_it_and_why():
    text = text_of(get())
    for use in CUTOFF_USES:
        assert f"{use.cutoffs} {use.use} {use.why}" in text


def test_every_value_of_a_parameter_is_put_into_words_of_its_own():
    page = get().context["page"]
    for parameter in page.parameters:
        words = [choice.words for choice in parameter.choices]
        assert all(words), parameter.name
        assert len(set(words)) == len(words), parameter.name
        usual = [choice.usual for choice in parameter.choices if choice.usual]
        if PARAMETERS[parameter.name].kind in ("number", "whole"):
            assert usual == []
        elif parameter.name == "denominator":
            assert usual == ["default for P", "default for AP"]
        elif parameter.name == "queries":
            but = "default, except for Judged and Unjudged"
            assert usual == [but, "default for Judged and Unjudged"]
        else:
            assert usual == ["default"], parameter.name


def test_a_name_is_put_into_words_on_request():
    text = text_of(get("?measure=nDCG(gain=%27exp2%27)@3"))
    assert "nDCG of the first 3: exponential gain" in text


def test_what_is_no_measure_is_said_kindly():
    page = get("?measure=%3Cb%3Enope@3")
    assert page.status_code == 400
    assert "Unknown measure." in text_of(page)
    assert "<b>" not in page.content.decode()
