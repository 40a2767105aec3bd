"""Languages and skills as tags: of people, and of the queries that need them."""

from collections.abc import Iterable
from typing import Final

MOST_TAGS: Final = 20
LONGEST_TAG: Final = 40  # characters


def split_tags(text: str) -> list[str]:
    """The tags of a text, in which commas or line ends separate them, as `clean_tags` has them."""
    return clean_tags(text.replace("\n", ",").split(","))


def clean_tags(tags: Iterable[str]) -> list[str]:
    """The tags in lower case and in order, each once.

    Raises ValueError, in words, for too many of them or one that is too long.
    """
    result = sorted({" ".join(tag.split()).lower() for tag in tags} - {""})
    if len(result) > MOST_TAGS:
        raise ValueError(f"Enter at most {MOST_TAGS} tags.")
    if any(len(tag) > LONGEST_TAG for tag in result):
        raise ValueError(f"A tag can have at most {LONGEST_TAG} characters.")
    return result
