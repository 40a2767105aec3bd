"""What one docstring is, wherever it was read from, and which of them are worth a document."""

import inspect
from typing import NamedTuple

FEWEST_WORDS = 3


class Docstring(NamedTuple):
    """One piece of documentation: `name` is dotted, `kind` is module, class, function, method or
    topic, `module` is where a programmer imports it from (empty for topics)."""

    name: str
    kind: str
    module: str
    title: str
    text: str


def tidy_text(text: str) -> str:
    """The docstring without its indentation, trailing blanks and control characters.

    text: as found in the source.
    Returns lines joined by a line feed, without empty lines at either end.
    """
    lines = inspect.cleandoc(text).replace("\r", "").split("\n")
    kept = ("".join(c for c in line if c == "\t" or c.isprintable()).rstrip() for line in lines)
    return "\n".join(kept).strip("\n")


def is_worth_reading(text: str) -> bool:
    """Whether a docstring says enough to be judged: at least three words."""
    return len(text.split()) >= FEWEST_WORDS
