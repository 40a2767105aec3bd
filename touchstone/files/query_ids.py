"""A file of query ids, one a line; what stands after a tab is not taken.

Empty lines and lines that begin with # are passed over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.files.errors import Problems, Rule
from touchstone.files.ids import query_id_problem
from touchstone.files.reading import KB, MB, Limits, Source, read_lines
from touchstone.files.rows import BLANKS

MOST_IDS: Final = 100_000
ID_LIMITS: Final = Limits(compressed=10 * MB, expanded=40 * MB, line=64 * KB, lines=2 * MOST_IDS)


@dataclass(frozen=True, slots=True)
class QueryIds:
    """The ids of a file and the line of each. file: what the file is called, for messages."""

    file: str
    lines: Mapping[str, int]


def read_query_ids(source: Source, *, name: str) -> QueryIds:
    """The ids in a file, in its order.

    Raises FileRefused for what is no id, an id that comes twice, none and too many.
    """
    problems = Problems(name)
    lines: dict[str, int] = {}
    for number, text in read_lines(source, limits=ID_LIMITS, problems=problems):
        query_id = text.partition("\t")[0].strip(BLANKS)
        if not text.strip(BLANKS) or query_id.startswith("#"):
            continue
        if problem := query_id_problem(query_id):
            problems.add(number, Rule.ID, f"the id {problem}.")
        elif query_id in lines:
            message = f"{query_id} is already on line {lines[query_id]}."
            problems.add(number, Rule.DUPLICATE, message)
        elif len(lines) == MOST_IDS:
            raise problems.stop(number, Rule.TOO_MUCH, f"more than {MOST_IDS:,} ids.")
        else:
            lines[query_id] = number
    if not lines and not problems:
        raise problems.stop(1, Rule.EMPTY, "the file has no ids.")
    problems.raise_if_any()
    return QueryIds(name, lines)


def check_known(ids: QueryIds, known: Iterable[str]) -> None:
    """FileRefused, line by line, for ids that the collection does not have."""
    problems = Problems(ids.file)
    for query_id in ids.lines.keys() - set(known):
        message = f"the collection has no query {query_id}."
        problems.add(ids.lines[query_id], "unknown-query", message)
    problems.raise_if_any()
