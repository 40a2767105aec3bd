"""Values of queries by people and by a machine, from two CSV files `query_id,value`.

The machine's may have a column with each query's stratum, people's one with its chance to be drawn.
"""

import os
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.files.csv_columns import CsvColumns, numbers, read_csv_columns
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.ids import id_problem
from touchstone.files.reading import Limits

NAMES: Final = ("query_id", "value")
LIMITS: Final = Limits(lines=20_000_000)

Path = str | os.PathLike[str]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class JudgedValues:
    """human: (n,), of the queries that people judged, in the order of the people's file. judge:
    (M,), of every query. rows: (n,), the places of people's queries among these. strata: (M,),
    codes of `names`, sorted; one, "", where none are given. pi: (n,), chances; None without them.
    """

    human: Floats
    judge: Floats
    rows: Codes
    strata: Codes
    names: tuple[str, ...]
    pi: Floats | None


@dataclass(frozen=True, slots=True)
class _Values:
    """By query, in the file's order: its value, its line, and the cell of another column."""

    values: dict[str, float]
    lines: dict[str, int]
    more: dict[str, str]


def read_judged_values(
    human: Path, judge: Path, *, strata: str | None = None, pi: str | None = None
) -> JudgedValues:
    """The values of both files, gzipped or not; a header is optional.

    strata: a column of the machine's file. pi: one of people's, numbers above 0 up to 1. With them
    the file needs a header.
    Raises FileRefused for a line that breaks a rule: an id that is none, a value or chance that is
    no such number, a query twice, and one of the people's file that the machine's does not have.
    """
    by_people, by_machine = _read(human, pi), _read(judge, strata)
    problems = Problems(str(human))
    for query, line in by_people.lines.items():
        if query not in by_machine.values:
            message = f"the query {quoted(query)} is not in {judge}, which covers all queries."
            problems.add(line, Rule.ID, message)
    chances = None if pi is None else _chances(by_people, pi, problems)
    problems.raise_if_any()
    places = {query: place for place, query in enumerate(by_machine.values)}
    given = [by_machine.more.get(query, "") for query in by_machine.values]
    names, codes = np.unique(np.array(given, object).astype(str), return_inverse=True)
    return JudgedValues(
        human=np.array(list(by_people.values.values())),
        judge=np.array(list(by_machine.values.values())),
        rows=np.array([places[query] for query in by_people.values], np.int64),
        strata=codes.astype(np.int64),
        names=tuple(names.tolist()),
        pi=chances,
    )


def _chances(found: _Values, name: str, problems: Problems) -> Floats:
    lines = list(found.lines.values())
    result = numbers(list(found.more.values()), lines, name, problems)
    for line, value in zip(lines, result.tolist(), strict=True):
        if value <= 0 or value > 1:
            problems.add(line, Rule.NUMBER, f"the {name} {value:g} is not above 0 and at most 1.")
    return result


def _read(path: Path, more: str | None) -> _Values:
    """more: a further column, which the file has to have."""
    problems = Problems(str(path))
    columns = CsvColumns(NAMES, unnamed=NAMES) if more is None else CsvColumns((*NAMES, more))
    found = _Values({}, {}, {})
    for block in read_csv_columns(path, columns, limits=LIMITS, problems=problems):
        result = numbers(block.columns["value"], block.lines, "value", problems)
        others = block.columns[more] if more else [""] * len(result)
        rows = zip(block.columns["query_id"], result.tolist(), others, block.lines, strict=True)
        for cell, value, other, line in rows:
            query = cell.strip()
            if wrong := id_problem(query):
                problems.add(line, Rule.ID, f"the query_id {wrong}.")
            elif found.lines.setdefault(query, line) != line:
                message = f"the query is already on line {found.lines[query]}."
                problems.add(line, Rule.DUPLICATE, message)
            else:
                found.values[query], found.more[query] = value, other.strip()
    if not found.lines and not problems:
        raise problems.stop(1, Rule.EMPTY, "the file has no values.")
    problems.raise_if_any()
    return found
