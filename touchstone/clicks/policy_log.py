"""Logged rewards with two policies' probabilities, as CSV."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.csv_rows import csv_rows
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.numbers import NUMBER
from touchstone.files.reading import Source

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COLUMNS: Final = ("reward", "logging_probability", "target_probability")
CLUSTER: Final = "cluster"

_NUMBER: Final = re.compile(NUMBER)


@dataclass(frozen=True)
class PolicyLog:
    """One entry for each logged action.

    clusters: codes; None without such a column. lines: of the file.
    """

    rewards: Floats
    logging: Floats
    target: Floats
    clusters: Ints | None
    lines: tuple[int, ...]


def read_policy_log(source: Source, *, name: str) -> PolicyLog:
    """Read a CSV with the columns reward, logging_probability, target_probability, and cluster.

    The header may name them in any order, with others between. A reward is a number; a logging
    probability is above 0 and at most 1, since what could not be logged can't be corrected for; a
    target probability is from 0 to 1.
    Raises FileRefused with every line that breaks a rule.
    """
    problems = Problems(name)
    rows = csv_rows(source, problems)
    header = next(rows, None)
    if header is None:
        raise problems.stop(1, Rule.EMPTY, "the file has no observations.")
    positions = _places(header[0], header[1], problems)
    values: list[tuple[float, float, float]] = []
    clusters: dict[str, int] = {}
    codes: list[int] = []
    lines: list[int] = []
    for line, cells in rows:
        if len(cells) != len(header[1]):
            message = f"{len(cells)} columns, but the header has {len(header[1])}."
            problems.add(line, Rule.COLUMNS, message)
            continue
        try:
            result = _values(cells, positions)
        except _BadValueError as bad:
            problems.add(line, bad.rule, str(bad))
            continue
        values.append(result)
        lines.append(line)
        if CLUSTER in positions:
            codes.append(clusters.setdefault(cells[positions[CLUSTER]], len(clusters)))
    problems.raise_if_any()
    if not values:
        raise problems.stop(header[0], Rule.EMPTY, "the file has no observations.")
    rewards, logging, target = np.array(values, dtype=np.float64).T
    owners = np.array(codes, dtype=np.int64) if CLUSTER in positions else None
    return PolicyLog(rewards, logging, target, owners, tuple(lines))


class _BadValueError(Exception):
    """A cell is not what it must be. rule: as in a FileProblem."""

    def __init__(self, rule: Rule, message: str) -> None:
        super().__init__(message)
        self.rule = rule


def _places(line: int, cells: Sequence[str], problems: Problems) -> dict[str, int]:
    names = [cell.lower() for cell in cells]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        message = f"missing column {', '.join(missing)}; needed: {', '.join(COLUMNS)}."
        raise problems.stop(line, Rule.HEADER, message)
    twice = [name for name in (*COLUMNS, CLUSTER) if names.count(name) > 1]
    if twice:
        raise problems.stop(line, Rule.HEADER, f"the column {twice[0]} appears twice.")
    return {name: names.index(name) for name in (*COLUMNS, CLUSTER) if name in names}


def _values(cells: Sequence[str], positions: Mapping[str, int]) -> tuple[float, float, float]:
    reward, logging, target = (_number(name, cells[positions[name]]) for name in COLUMNS)
    if not 0 < logging <= 1:
        message = f"the logging_probability {logging:g} is not above 0 and at most 1."
        raise _BadValueError(Rule.NUMBER, message)
    if not 0 <= target <= 1:
        raise _BadValueError(Rule.NUMBER, f"the target_probability {target:g} is not from 0 to 1.")
    if CLUSTER in positions and not cells[positions[CLUSTER]]:
        raise _BadValueError(Rule.ID, "the cluster is empty.")
    return reward, logging, target


def _number(name: str, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise _BadValueError(Rule.NUMBER, f"the {name} {quoted(text)} is not a number.")
    value = float(text)
    if not np.isfinite(value):
        raise _BadValueError(Rule.NOT_FINITE, f"the {name} {quoted(text)} is too large.")
    return value
