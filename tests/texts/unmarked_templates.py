"""Finds texts of a template that no mark makes translatable."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

READ_ATTRIBUTES: Final = {
    "alt",
    "aria-label",
    "data-confirm",
    "data-confirm-detail",
    "data-confirm-yes",
    "placeholder",
    "title",
}
# names, keys and units, which are the same in every language
NAMES: Final = re.compile(r"Touchstone|Esc|Enter|Ctrl|Shift|UTC")
# what is no text of the page, or is marked
PASSED_OVER: Final = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"\{% comment %\}.*?\{% endcomment %\}",
        r"\{#.*?#\}",
        r"\{% block page_class %\}.*?\{% endblock %\}",
        r"\{%\s*blocktranslate\b.*?%\}.*?\{%\s*endblocktranslate\s*%\}",
        r"\{%\s*translate\b.*?%\}",
    )
)
TAG: Final = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
# a string that a tag shows, other than as _("…")
SAID_BY_TAG: Final = re.compile(
    r"(?:\b(?:title|text|label|heading|detail|words|note|asker)=|^\{% badge |^\{% sort_header "
    r"|^\{\{.*?default:)"
    r'("[^"]*[A-Za-z][^"]*")'
)
BETWEEN: Final = "\x1f"  # where a tag was
LETTERS: Final = re.compile(r"[^\W\d_]{2,}")


def find_unmarked(source: str) -> list[str]:
    """The texts of a template that a reader would see in English whatever their language."""
    for pattern in PASSED_OVER:
        source = pattern.sub(BETWEEN, source)
    parser = _Texts()
    parser.feed(TAG.sub(BETWEEN, source))
    parser.close()
    return [text for tag in TAG.findall(source) for text in SAID_BY_TAG.findall(tag)] + parser.found


def _texts(data: str) -> Iterator[str]:
    for text in data.split(BETWEEN):
        if LETTERS.search(NAMES.sub("", text)):
            yield " ".join(text.split())


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_code = tag in {"code", "script", "style"}
        for name, value in attrs:
            if name in READ_ATTRIBUTES:
                self.found += [f'{name}="{text}"' for text in _texts(value or "")]

    def handle_endtag(self, tag: str) -> None:
        self._is_code = False

    def handle_data(self, data: str) -> None:
        if not self._is_code:
            self.found += _texts(data)
