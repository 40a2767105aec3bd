"""The catalogues in locale/: brought up to date with the sources, and compiled."""

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from tests.texts.extracting import make_template
from tests.texts.sources import ROOT

LOCALE: Final = ROOT / "locale"
# headers that differ from day to day and from machine to machine, or say nothing
LEFT_OUT: Final = (
    '"Report-Msgid-Bugs-To',
    '"POT-Creation-Date',
    '"PO-Revision-Date',
    '"Last-Translator',
    '"Language-Team',
    '"Generated-By',
)
LANGUAGES: Final = tuple(
    sorted(file.parent.parent.name for file in LOCALE.glob("*/LC_MESSAGES/*.po"))
)


def source_of(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


def compiled_of(language: str) -> Path:
    return source_of(language).with_suffix(".mo")


def read(language: str) -> Catalog:
    """The catalogue as it is, by hand."""
    with source_of(language).open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


def update(language: str) -> Catalog:
    """Bring new texts into the catalogue, drop those that are gone, and compile it."""
    catalog = read(language)
    header = catalog.header_comment
    catalog.update(make_template(), no_fuzzy_matching=True)
    catalog.header_comment = header
    # of no use, and the compiled file would differ each time
    catalog.creation_date = catalog.revision_date = datetime(2026, 1, 1, tzinfo=UTC)
    catalog.obsolete.clear()
    text = io.BytesIO()
    write_po(text, catalog, width=100, include_lineno=False)
    lines = text.getvalue().decode().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(LEFT_OUT)]
    source_of(language).write_text("".join(kept), encoding="utf-8")
    with compiled_of(language).open("wb") as file:
        write_mo(file, catalog)
    return catalog


def missing(catalog: Catalog) -> list[str]:
    """The texts without a translation, and those whose translation is in doubt."""
    return [
        str(message.id)
        for message in catalog
        if message.id and (message.fuzzy or not all(forms(message.string)))
    ]


def forms(text: object) -> tuple[str, ...]:
    """A text, or all forms of one that is counted; what is not translated yet is empty."""
    return tuple(str(one or "") for one in (text if isinstance(text, list | tuple) else (text,)))
