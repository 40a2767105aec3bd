"""The catalogues hold every text of the translated pages, in every language but English."""

import gettext
import re

import pytest
from babel.messages.catalog import Catalog
from django.conf import settings

from tests.texts.catalogues import LANGUAGES, compiled_of, forms, missing, read
from tests.texts.extracting import make_template

PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w+[^>]*>")


def texts(catalog: Catalog) -> set[tuple[object, str | None]]:
    return {(message.id, message.context) for message in catalog if message.id}


def wrong_placeholders(catalog: Catalog) -> list[str]:
    """Texts whose translation puts other values or elements than the text."""
    return [
        str(message.id)
        for message in catalog
        if message.id
        for form in forms(message.string)
        if sorted(PLACEHOLDER.findall(form)) != sorted(PLACEHOLDER.findall(forms(message.id)[-1]))
    ]


def test_there_is_a_catalogue_for_each_language_but_english_which_the_texts_are_in() -> None:
    assert {*LANGUAGES, "en"} == {language for language, _ in settings.LANGUAGES}


@pytest.mark.parametrize("language", LANGUAGES)
class TestACatalogue:
    def test_has_the_texts_that_are_marked_and_no_others(self, language: str) -> None:
        assert texts(read(language)) == texts(make_template()), "run ./run texts"

    def test_translates_them_all(self, language: str) -> None:
        assert missing(read(language)) == []

    def test_puts_the_same_values(self, language: str) -> None:
        assert wrong_placeholders(read(language)) == []

    def test_is_compiled(self, language: str) -> None:
        with compiled_of(language).open("rb") as file:
            compiled = vars(gettext.GNUTranslations(file))["_catalog"]
        said = {}
        for message in read(language):
            if message.id:
                prefix = f"{message.context}\x04" if message.context else ""
                for number, form in enumerate(forms(message.string)):
                    key = prefix + forms(message.id)[0]
                    said[(key, number) if message.pluralizable else key] = form
        assert {key: value for key, value in compiled.items() if key} == said, "run ./run texts"

    def test_has_two_forms_of_what_is_counted_as_the_scripts_have(self, language: str) -> None:
        assert read(language).plural_expr == "(n != 1)"


def test_what_lacks_is_found() -> None:
    catalog = Catalog(locale="de")
    catalog.add("Undo", "Rückgängig")
    catalog.add("Later", "")
    catalog.add("Note", "Notiz", flags=["fuzzy"])
    catalog.add(("one", "more"), ("eins", ""))
    assert missing(catalog) == ["Later", "Note", "('one', 'more')"]


def test_other_placeholders_are_found() -> None:
    catalog = Catalog(locale="de")
    catalog.add("{done} of {all}", "{done} von {all}")
    catalog.add("{count} left", "{anzahl} übrig")
    catalog.add("in <bdi>%(name)s</bdi>", "in %(name)s")
    assert wrong_placeholders(catalog) == ["{count} left", "in <bdi>%(name)s</bdi>"]
