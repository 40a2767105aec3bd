"""What can be wrong with a file, and how it is said: file, line, rule."""

from bisect import insort
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from touchstone.errors import DomainError

SHOWN: Final = 100  # problems that are kept and shown; more help no one
ENOUGH: Final = 10_000  # problems after which reading on is a waste
QUOTED: Final = 60  # characters of a file's content that a message repeats


class Rule(StrEnum):
    """The stable names of the rules that a file can break."""

    UNREADABLE = "unreadable"
    EMPTY = "empty"
    NOT_TEXT = "not-text"
    GZIP = "gzip"
    COMPRESSED_SIZE = "compressed-size"
    EXPANDED_SIZE = "expanded-size"
    TOO_MUCH = "too-much"
    LINE_LENGTH = "line-length"
    LINES = "lines"
    ENCODING = "encoding"
    BYTE_ORDER_MARK = "byte-order-mark"
    NUL = "nul"
    LINE_END = "line-end"
    COLUMNS = "columns"
    COMMENT = "comment"
    ID = "id"
    SCORE = "score"
    RANK = "rank"
    NOT_FINITE = "not-finite"
    GRADE = "grade"
    SCALE = "scale"
    DUPLICATE = "duplicate"
    HEADER = "header"
    JSON = "json"
    DEPTH = "depth"
    KEY = "key"
    NUMBER = "number"
    SURROGATE = "surrogate"
    FIELD = "field"
    TEXT = "text"
    WEIGHT = "weight"


@dataclass(frozen=True, slots=True)
class FileProblem:
    """One broken rule at one place of a file.

    line: counted from 1. column: the character in that line, counted from 1, where known.
    rule: one of `Rule`, or the word of a service that checks more than the format.
    """

    file: str
    line: int
    column: int | None
    rule: str
    message: str

    def __str__(self) -> str:
        column = "" if self.column is None else f":{self.column}"
        return f"{self.file}:{self.line}{column}: {self.rule}: {self.message}"


class FileRefused(DomainError):
    """A file broke at least one rule, and nothing of it is taken.

    problems: the first 100, by line. total: how many were found.
    complete: False where reading stopped early, so that there may be more.
    """

    def __init__(
        self, problems: tuple[FileProblem, ...], total: int, *, complete: bool = True
    ) -> None:
        self.problems = problems
        self.total = total
        self.complete = complete
        super().__init__("file_refused", _summary(problems, total, complete))


class Problems:
    """Collects the problems of one file: keeps the first 100 by line, and counts them all."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.total = 0
        self.kept: list[FileProblem] = []

    def __bool__(self) -> bool:
        return self.total > 0

    def add(self, line: int, rule: str, message: str, *, column: int | None = None) -> None:
        """Notes one problem. Raises FileRefused when there are so many that it is no use."""
        self.total += 1
        problem = FileProblem(self.file, line, column, rule, message)
        insort(self.kept, problem, key=lambda kept: kept.line)
        del self.kept[SHOWN:]
        if self.total >= ENOUGH:
            raise self.refusal(complete=False)

    def stop(self, line: int, rule: str, message: str) -> FileRefused:
        """Notes a problem after which the file can't be read on; returns what to raise."""
        self.total += 1
        del self.kept[SHOWN - 1 :]
        self.kept.append(FileProblem(self.file, line, None, rule, message))
        return self.refusal(complete=False)

    def refusal(self, *, complete: bool = True) -> FileRefused:
        """The refusal that names every problem found so far."""
        return FileRefused(tuple(self.kept), self.total, complete=complete)

    def raise_if_any(self) -> None:
        """Raises FileRefused if a problem was noted."""
        if self.total:
            raise self.refusal()


def quoted(text: str) -> str:
    """A piece of a file's content for a message: short, and with nothing invisible in it."""
    shown = text if len(text) <= QUOTED else text[: QUOTED - 1] + "…"
    safe = "".join(c if c.isprintable() else _escape(c) for c in shown)
    return f"“{safe}”"


def _escape(character: str) -> str:
    return f"\\u{{{ord(character):04X}}}"


def _summary(problems: tuple[FileProblem, ...], total: int, complete: bool) -> str:
    more = total - 1
    if not more:
        return str(problems[0])
    least = "" if complete else "at least "
    return f"{problems[0]} (and {least}{more:,} more)"
