"""What an identifier of a query or a document may be, in every file format alike."""

import re
from typing import Final

MAX_ID_CHARACTERS: Final = 200
# Not in an id: ASCII blanks and control characters, which other tools split at, and the byte
# order mark, which no one sees. Any other character is itself, U+00A0 too.
NOT_IN_IDS: Final = r"\x00-\x20\x7f-\x9f\ufeff"
NO_PLACES: Final = (".", "..")

_FOREIGN: Final = re.compile(rf"[{NOT_IN_IDS}\ud800-\udfff]")


def id_problem(value: str) -> str | None:
    """Why this can't be an id, in words that follow the name of the thing; None if it can.

    An id has 1 to 200 characters, none of them an ASCII blank, a control character, a byte
    order mark or half a surrogate pair; and it is neither `.` nor `..`.
    """
    if not value:
        return "is empty"
    if len(value) > MAX_ID_CHARACTERS:
        return f"has {len(value):,} characters; at most {MAX_ID_CHARACTERS} are allowed"
    if value in NO_PLACES:
        return f"is {value!r}, which no address can hold: browsers take it for a folder"
    foreign = _FOREIGN.search(value)
    if foreign:
        return f"contains {_name(foreign.group())}"
    return None


def query_id_problem(value: str) -> str | None:
    """Like `id_problem`; besides, `#` at a line's beginning would begin a comment in TREC files."""
    if value.startswith("#"):
        return "begins with #, and its lines would be comments in TREC files"
    return id_problem(value)


def _name(character: str) -> str:
    return "a blank" if character == " " else f"the invisible character U+{ord(character):04X}"
