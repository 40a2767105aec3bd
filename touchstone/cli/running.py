"""What commands share: where they print, and how they fail."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TextIO

from touchstone.client.errors import ServerUnavailableError
from touchstone.errors import DomainError
from touchstone.files.errors import FileRefused

BAD_INPUT: Final = 2
NO_ANSWER: Final = 4

Write = Callable[[str], object]  # lines, the last of which need not be ended
# gives the exit status where a command has more than one for what went well
Work = Callable[[Mapping[str, Any], Write, Write], int | None]


class BadOptionError(DomainError):
    """An option that argparse could not refuse by itself."""

    def __init__(self, message: str) -> None:
        super().__init__("bad_option", message)


def run(work: Work, options: Mapping[str, Any], *, say: Write, warn: Write) -> int:
    """Do it; the exit status: 2 for bad input, 4 where a server does not answer.

    What was wrong goes to `warn`.
    """
    try:
        return work(options, say, warn) or 0
    except ServerUnavailableError as error:
        warn(refusal(error))
        return NO_ANSWER
    except DomainError as error:
        warn(refusal(error))
        return BAD_INPUT


def refusal(error: DomainError) -> str:
    """What was wrong: a file's problems as `file:line: rule`, a line each, or one sentence."""
    if isinstance(error, FileRefused):
        return "\n".join(map(str, error.problems))
    return error.message


def writer(stream: TextIO) -> Write:
    """Write lines to the stream."""

    def write(text: str) -> None:
        stream.write(text if text.endswith("\n") else f"{text}\n")

    return write
