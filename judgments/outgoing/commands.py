"""Which commands may be sent to a Redis server."""

from typing import Final

# it only reads
COMMANDS: Final = ("FT.SEARCH",)


def read_command(body: object) -> list[str | int | float]:
    """The words of a command that may be sent. Raises ValueError for any other."""
    if not isinstance(body, list) or not body:
        raise ValueError("the body must be a JSON array: the words of a command")
    if not all(isinstance(word, str | int | float) and not isinstance(word, bool) for word in body):
        raise ValueError("the words of a command must be strings and numbers")
    if str(body[0]).upper() not in COMMANDS:
        raise ValueError(f"only {' and '.join(COMMANDS)} can be sent")
    return body
