"""Qrels with subtopics, as TREC's diversity tasks have them: query subtopic document grade."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.ids import id_problem, query_id_problem
from touchstone.files.numbers import INTEGER
from touchstone.files.reading import OWN_LIMITS, Source, read_lines

_INTEGER: Final = re.compile(INTEGER)
_BLANKS: Final = re.compile(r"[ \t]+")
FIELDS: Final = ("query", "subtopic", "document", "grade")


@dataclass(frozen=True)
class SubtopicQrels:
    """Per judged query, in the order of the file, its relevant documents and their subtopics.

    A document is relevant to a subtopic where its grade is above 0.
    """

    relevant: Mapping[str, Mapping[str, frozenset[str]]]


def read_subtopic_qrels(source: Source, *, name: str) -> SubtopicQrels:
    """The qrels of a file, all of them or nothing.

    source: a path or a binary file object, gzipped or not. name: what problems call the file.
    Raises FileRefused, which names every problem with its line.
    """
    problems = Problems(name)
    relevant: dict[str, dict[str, set[str]]] = {}
    first: dict[tuple[str, str, str], int] = {}
    for line, text in read_lines(source, limits=OWN_LIMITS, problems=problems):
        words = _BLANKS.split(text.strip(" \t"))
        if words[0].startswith("#") or words == [""]:
            continue
        if not _is_sound(words, line, problems):
            continue
        query, subtopic, document, grade = words
        before = first.setdefault((query, subtopic, document), line)
        if before != line:
            message = f"document {quoted(document)} of query {quoted(query)}, subtopic "
            message += f"{quoted(subtopic)}, is already on line {before}."
            problems.add(line, Rule.DUPLICATE, message)
        own = relevant.setdefault(query, {})
        if int(grade) > 0:
            own.setdefault(document, set()).add(subtopic)
    problems.raise_if_any()
    if not relevant:
        raise problems.stop(1, Rule.EMPTY, "the file has no data.")
    return SubtopicQrels(
        {
            query: {document: frozenset(subtopics) for document, subtopics in own.items()}
            for query, own in relevant.items()
        }
    )


def _is_sound(words: Sequence[str], line: int, problems: Problems) -> bool:
    """Whether a line says something; else a problem is noted."""
    if len(words) != len(FIELDS):
        wanted = f"{len(FIELDS)} are needed ({' '.join(FIELDS)})"
        problems.add(line, Rule.COLUMNS, f"{len(words)} columns, but {wanted}.")
        return False
    query, _, document, grade = words
    known = problems.total
    if wrong := query_id_problem(query):
        problems.add(line, Rule.ID, f"the query {quoted(query)} {wrong}.")
    if wrong := id_problem(document):
        problems.add(line, Rule.ID, f"the document {quoted(document)} {wrong}.")
    if not _INTEGER.fullmatch(grade):
        problems.add(line, Rule.GRADE, f"the grade {quoted(grade)} is not a whole number.")
    return problems.total == known
