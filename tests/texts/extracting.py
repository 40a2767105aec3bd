"""The texts that are marked, as Babel finds them in templates, Python and scripts."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from django.utils.translation.template import templatize

from tests.texts.sources import (
    KEYWORDS,
    PYTHON,
    PYTHON_WITH_ENGLISH,
    ROOT,
    SCRIPTS,
    list_files,
    list_templates,
)


def make_template() -> Catalog:
    """A catalogue of every marked text, without translations, in the order of the files."""
    catalog = Catalog(fuzzy=False)
    for file, line, message, comments, context in _extracted():
        catalog.add(
            message,
            locations=[(str(file.relative_to(ROOT)), line)],
            auto_comments=comments,
            context=context,
        )
    return catalog


def _extracted() -> Iterator[tuple[Path, int, Any, list[str], str | None]]:
    for file in list_templates():
        # what is left of a template looks like Python, but for its indentation
        code = templatize(file.read_text(encoding="utf-8"), origin=str(file))
        lines = "\n".join(line.strip() for line in code.splitlines())
        yield from ((file, *found) for found in _extract("python", lines))
    for file in list_files((*PYTHON, *PYTHON_WITH_ENGLISH)):
        yield from ((file, *found) for found in _extract("python", file.read_text("utf-8")))
    for file in list_files(SCRIPTS):
        yield from ((file, *found) for found in _extract("javascript", file.read_text("utf-8")))


def _extract(method: str, text: str) -> Iterator[tuple[int, Any, list[str], str | None]]:
    source = io.BytesIO(text.encode())
    yield from extract(
        method,
        source,
        keywords=KEYWORDS,
        comment_tags=("Translators:",),
        options={"parse_template_string": True},
    )
