"""Tags: words to find and group rankers and runs by."""

import re
from typing import Final

from touchstone.errors import DomainError

MOST: Final = 10
LONGEST: Final = 40
_TAG: Final = re.compile(r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*")


class TagsRefused(DomainError):
    """The tags are not of the form that can be kept."""


def parse_tags(text: str) -> list[str]:
    """Tags with commas or blanks between, each once, in the order and with the capitals given.

    Raises TagsRefused for more than ten, and for one that is not made of letters, digits and,
    between them, dots, hyphens and underscores.
    """
    tags = list(dict.fromkeys(text.replace(",", " ").split()))
    if len(tags) > MOST:
        raise TagsRefused("too_many_tags", f"At most {MOST} tags.")
    for tag in tags:
        if len(tag) > LONGEST or not _TAG.fullmatch(tag):
            message = (
                f"Invalid tag {tag[:60]}: use letters (A-Z, a-z) and digits, with dots, hyphens or "
                f"underscores between them, at most {LONGEST} characters."
            )
            raise TagsRefused("tag_invalid", message)
    return tags
