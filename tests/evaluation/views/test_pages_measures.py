"""The page that says what measures mean."""

import re

import pytest
from django.urls import reverse

from tests.builders import make_user
from tests.evaluation.views.browsing import signed_in, text_of
from touchstone.measures.defaults import CUTOFF_USES, DEFAULT_MEASURES
from touchstone.measures.definition import CHOICES, FAMILIES
from touchstone.measures.presets import PRESETS
from touchstone.measures.wording import describe
from touchstone.measures.worked import claims

pytestmark = pytest.mark.django_db


def get(query: str = ""):
    return signed_in(make_user(username="ben")).get(reverse("measures") + query)


def test_every_family_preset_and_parameter_is_there_with_its_plain_reading():
    text = text_of(get())
    for family in FAMILIES.values():
        assert family.title in text
    for preset in PRESETS.values():
        assert f"{preset.name} {preset.tool} {preset.reading}" in text
    for name, values in CHOICES.items():
        assert name in text
        for value in values:
            assert f"'{value}'" in text
    for measure in DEFAULT_MEASURES:
        assert f"{measure.name} {describe(measure)}" in text


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
        if parameter.name == "denominator":
            assert usual == ["usual for P", "usual for AP"]
        elif parameter.name == "queries":
            but = "usual, but not for Judged and Unjudged"
            assert usual == [but, "usual for Judged and Unjudged"]
        else:
            assert usual == ["usual"], parameter.name


def test_a_name_is_put_into_words_on_request():
    text = text_of(get("?measure=nDCG(gain=%27exp2%27)@3"))
    assert "nDCG of the first 3: exponential gain" in text


def test_what_is_no_measure_is_said_kindly():
    page = get("?measure=%3Cb%3Enope@3")
    assert page.status_code == 400
    assert "That is no measure." in text_of(page)
    assert "<b>" not in page.content.decode()
