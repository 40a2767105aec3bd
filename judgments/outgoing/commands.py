"""Which commands may be sent to a Redis server."""

from typing import Final

Word = str | int | float | list[float]

# it only reads
COMMANDS: Final = ("FT.SEARCH",)


def read_command(body: object) -> list[Word]:
    """The words of a command that may be sent; an array of numbers is a vector.

    Raises ValueError for any other.
    """
    if not isinstance(body, list) or not body:
        raise ValueError("the body must be a JSON array: the words of a command")
    if not all(isinstance(word, str) or _is_number(word) or _is_vector(word) for word in body):
        raise ValueError("the words of a command must be strings, numbers and vectors")
    if str(body[0]).upper() not in COMMANDS:
        raise ValueError(f"only {' and '.join(COMMANDS)} can be sent")
    return body


def _is_number(word: object) -> bool:
    return isinstance(word, int | float) and not isinstance(word, bool)


def _is_vector(word: object) -> bool:
    return isinstance(word, list) and bool(word) and all(map(_is_number, word))
