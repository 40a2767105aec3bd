"""Values of queries by people and by a machine, from two CSV files `query_id,value`."""

import os
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.files.csv_columns import CsvColumns, numbers, read_csv_columns
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.ids import id_problem
from touchstone.files.reading import Limits

COLUMNS: Final = CsvColumns(("query_id", "value"), unnamed=("query_id", "value"))
LIMITS: Final = Limits(lines=20_000_000)

Path = str | os.PathLike[str]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JudgedValues:
    """human, judge: (n,), of the queries that people judged, in the order of the people's file.
    judge_all: (M,), of every query. others: (M − n,), of those that people did not judge."""

    human: Floats
    judge: Floats
    judge_all: Floats
    others: Floats


def read_judged_values(human: Path, judge: Path) -> JudgedValues:
    """The values of both files, gzipped or not; a header is optional.

    Raises FileRefused for a line that breaks a rule: an id that is none, a value that is no number,
    a query twice, and one of the people's file that the machine's does not have.
    """
    by_people, lines = _read(human)
    by_machine, _ = _read(judge)
    problems = Problems(str(human))
    for query, line in lines.items():
        if query not in by_machine:
            message = f"the query {quoted(query)} is not in {judge}, which covers all queries."
            problems.add(line, Rule.ID, message)
    problems.raise_if_any()
    return JudgedValues(
        human=np.array(list(by_people.values())),
        judge=np.array([by_machine[query] for query in by_people]),
        judge_all=np.array(list(by_machine.values())),
        others=np.array([value for query, value in by_machine.items() if query not in by_people]),
    )


def _read(path: Path) -> tuple[dict[str, float], dict[str, int]]:
    """The value of each query, and its line."""
    problems = Problems(str(path))
    values: dict[str, float] = {}
    lines: dict[str, int] = {}
    for block in read_csv_columns(path, COLUMNS, limits=LIMITS, problems=problems):
        result = numbers(block.columns["value"], block.lines, "value", problems)
        rows = zip(block.columns["query_id"], result.tolist(), block.lines, strict=True)
        for cell, value, line in rows:
            query = cell.strip()
            if wrong := id_problem(query):
                problems.add(line, Rule.ID, f"the query_id {wrong}.")
            elif lines.setdefault(query, line) != line:
                message = f"the query is already on line {lines[query]}."
                problems.add(line, Rule.DUPLICATE, message)
            else:
                values[query] = value
    if not lines and not problems:
        raise problems.stop(1, Rule.EMPTY, "the file has no values.")
    problems.raise_if_any()
    return values, lines
