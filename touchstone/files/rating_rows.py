"""One judgment on its way into a file or out of it."""

from collections.abc import Callable
from typing import NamedTuple

from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.ids import id_problem, query_id_problem
from touchstone.files.reading import Progress, Source


class Rating(NamedTuple):
    """What a file says of one pair. query: its id, or its text. value: as it stands there."""

    line: int
    query: str
    doc_id: str
    value: str


class JudgedPair(NamedTuple):
    """A judgment to be written. query_text: "" where nothing but the id is known."""

    query_id: str
    query_text: str
    doc_id: str
    grade: int

    @property
    def query_name(self) -> str:
        """What a file that names queries by their text calls it."""
        return " ".join(self.query_text.split()) or self.query_id


RatingReader = Callable[[Source, Problems, Progress | None], list[Rating]]


def sound_ids(
    line: int, query: str, doc_id: str, problems: Problems, *, by_text: bool = False
) -> bool:
    """Whether both can be what they are meant to be; else a problem is noted."""
    query_wrong = (None if query else "is empty") if by_text else query_id_problem(query)
    for what, value, wrong in (
        ("query", query, query_wrong),
        ("document", doc_id, id_problem(doc_id)),
    ):
        if wrong:
            problems.add(line, Rule.ID, f"the {what} {quoted(value)} {wrong}.")
            return False
    return True
