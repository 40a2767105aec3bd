"""Labels from a CSV or JSONL file: who gave which grade to which pair."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.ids import id_problem
from touchstone.files.json_lines import JsonRefusedError, json_object
from touchstone.files.numbers import INTEGER, NUMBER
from touchstone.files.rating_lines import unguarded
from touchstone.files.reading import Limits, Progress, Source, read_lines
from touchstone.scales import Scale

COLUMNS: Final = ("annotator", "query_id", "doc_id", "grade")
LIMITS: Final = Limits(lines=20_000_000)
LONGEST_NAME: Final = 200

_INTEGER: Final = re.compile(INTEGER)
_NUMBER: Final = re.compile(NUMBER)


@dataclass(frozen=True)
class LabelFile:
    """Labels as arrays, one entry each: dense numbers of pairs and annotators, steps of grades.

    grades: the different grades of the file, ascending; a step is a place in them.
    """

    units: NDArray[np.int64]
    annotators: NDArray[np.int64]
    steps: NDArray[np.int64]
    grades: tuple[float, ...]
    pair_count: int
    annotator_count: int


def read_labels(source: Source, *, name: str) -> LabelFile:
    """Read a CSV or JSONL of labels, gzipped or not.

    A first line that names the four columns may put them in any order, with others between;
    without one they are annotator, query_id, doc_id, grade. A grade is a number. A person has
    one label of a pair.
    Raises FileRefused with every line that breaks a rule.
    """
    problems = Problems(name)
    rows = named_rows(source, problems)
    pairs: dict[tuple[str, str], int] = {}
    people: dict[str, int] = {}
    seen: dict[tuple[int, int], int] = {}
    given: list[float] = []
    for line, values in rows:
        grade = _grade(line, values, problems) if names_sound(line, values, problems) else None
        if grade is None:
            continue
        pair = pairs.setdefault((values["query_id"], values["doc_id"]), len(pairs))
        person = people.setdefault(values["annotator"], len(people))
        first = seen.setdefault((pair, person), line)
        if first != line:
            message = f"{quoted(values['annotator'])} already labels this pair on line {first}."
            problems.add(line, Rule.DUPLICATE, message)
            continue
        given.append(grade)
    if not seen and not problems:
        raise problems.stop(1, Rule.EMPTY, "the file has no labels.")
    problems.raise_if_any()
    keys = np.array(list(seen), dtype=np.int64).reshape(-1, 2)
    grades, steps = np.unique(np.array(given), return_inverse=True)
    return LabelFile(
        units=keys[:, 0],
        annotators=keys[:, 1],
        steps=steps.astype(np.int64),
        grades=tuple(float(grade) for grade in grades),
        pair_count=len(pairs),
        annotator_count=len(people),
    )


def named_rows(
    source: Source,
    problems: Problems,
    progress: Progress | None = None,
    *,
    columns: tuple[str, ...] = COLUMNS,
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Every line that has these columns, by their names, as text; the others become problems.

    A file whose first line begins with { is JSONL, any other CSV.
    """
    lines = (
        (line, text)
        for line, text in read_lines(source, limits=LIMITS, problems=problems, progress=progress)
        if text.strip()
    )
    first = next(lines, None)
    if first is not None:
        is_json = first[1].lstrip().startswith("{")
        read = _json_rows if is_json else _csv_rows
        yield from read(chain([first], lines), problems, columns)


def _json_rows(
    lines: Iterable[tuple[int, str]], problems: Problems, wanted: tuple[str, ...]
) -> Iterator[tuple[int, Mapping[str, str]]]:
    for line, text in lines:
        values = _values(line, text, problems, wanted)
        if values is not None:
            yield line, values


def _csv_rows(
    lines: Iterable[tuple[int, str]], problems: Problems, wanted: tuple[str, ...]
) -> Iterator[tuple[int, Mapping[str, str]]]:
    columns: tuple[str, ...] | None = None
    for line, text in lines:
        cells = _cells(line, text, problems)
        if cells is None:
            continue
        if columns is None:
            columns = _header(line, cells, problems, wanted)
            if columns is not None:
                continue
            columns = wanted
        if len(cells) != len(columns):
            needed = ", ".join(columns)
            message = f"{len(cells)} columns, but {len(columns)} are needed ({needed})."
            problems.add(line, Rule.COLUMNS, message)
        else:
            yield line, dict(zip(columns, (unguarded(cell.strip()) for cell in cells), strict=True))


def ids_sound(line: int, values: Mapping[str, str], problems: Problems) -> bool:
    """Whether the query's and the document's id can be taken; what is wrong becomes a problem."""
    for column in ("query_id", "doc_id"):
        wrong = id_problem(values[column])
        if wrong:
            problems.add(line, Rule.ID, f"the {column} {wrong}.")
            return False
    return True


def names_sound(line: int, values: Mapping[str, str], problems: Problems) -> bool:
    """Whether the ids and the annotator's name can be taken; what is wrong becomes a problem."""
    if not ids_sound(line, values, problems):
        return False
    if not 0 < len(values["annotator"]) <= LONGEST_NAME:
        problems.add(
            line, Rule.ID, f"an annotator's name must have 1 to {LONGEST_NAME} characters."
        )
        return False
    return True


def read_grade(line: int, text: str, scale: Scale, problems: Problems) -> int | None:
    """A grade of the scale; what is none becomes a problem."""
    if not _INTEGER.fullmatch(text) or len(text) > 5:
        problems.add(line, Rule.GRADE, f"the grade {quoted(text)} is not a whole number.")
        return None
    if not scale.contains(int(text)):
        problems.add(line, Rule.SCALE, f"the list has no grade {int(text)}; it has {scale}.")
        return None
    return int(text)


def _values(
    line: int, text: str, problems: Problems, wanted: tuple[str, ...]
) -> Mapping[str, str] | None:
    """One JSON object's values as the text that a CSV would have; null is an empty one."""
    try:
        result = json_object(text)
    except JsonRefusedError as refused:
        problems.add(line, refused.rule, refused.message, column=refused.column)
        return None
    values = {
        name: "" if value is None else str(value).strip()
        for name, value in result.items()
        if not isinstance(value, bool | list | dict)
    }
    missing = [name for name in wanted if name not in values]
    if missing:
        problems.add(line, Rule.COLUMNS, f"missing {', '.join(missing)}, as text or a number.")
        return None
    return values


def _cells(line: int, text: str, problems: Problems) -> list[str] | None:
    try:
        return next(csv.reader([text], strict=True))
    except csv.Error:
        problems.add(line, Rule.COLUMNS, "a quotation mark that does not end in this line.")
        return None


def _header(
    line: int, cells: list[str], problems: Problems, wanted: tuple[str, ...]
) -> tuple[str, ...] | None:
    """The columns that a first line names; None where it holds a label already."""
    names = tuple(cell.strip().lower() for cell in cells)
    named = [name for name in wanted if name in names]
    if not named:
        return None
    missing = [name for name in wanted if name not in names]
    if missing:
        message = f"missing column {', '.join(missing)}; needed: {', '.join(wanted)}."
        raise problems.stop(line, Rule.HEADER, message)
    twice = [name for name in wanted if names.count(name) > 1]
    if twice:
        raise problems.stop(line, Rule.HEADER, f"the column {twice[0]} appears twice.")
    return names


def _grade(line: int, values: Mapping[str, str], problems: Problems) -> float | None:
    """The grade of a sound line; what is wrong with another becomes a problem."""
    if not _NUMBER.fullmatch(values["grade"]):
        problems.add(line, Rule.GRADE, f"the grade {quoted(values['grade'])} is not a number.")
        return None
    grade = float(values["grade"])
    if not np.isfinite(grade):
        problems.add(line, Rule.NOT_FINITE, f"the grade {quoted(values['grade'])} is too large.")
        return None
    return grade
