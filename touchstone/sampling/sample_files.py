"""A judged sample from a CSV file: a value and a chance for each query, perhaps strata."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from touchstone.files.csv_columns import CsvColumns, numbers, read_csv_columns
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.reading import Limits, Source, read_lines
from touchstone.sampling.estimation import Floats

COLUMNS: Final = CsvColumns(("value", "pi"), ("query", "stratum", "N_h"))
LIMITS: Final = Limits(lines=1_000_000)
JOINT_LIMITS: Final = Limits(line=16 * 1024 * 1024, lines=20_000)
SAME: Final = 1e-6  # relative: chances that differ by rounding in a file are the same


@dataclass(frozen=True, eq=False)
class JudgedSample:
    """Values and chances, (n,) each.

    stratum: codes from 0; names: of the strata, in the file's order; one empty name without them.
    counts: N_h of each stratum, from the column, or n_h/π where all chances of a stratum are equal
    and that is a whole number; None where there is neither column, or where chances within a
    stratum differ.
    """

    values: Floats
    pi: Floats
    stratum: npt.NDArray[np.int64]
    names: tuple[str, ...]
    counts: Floats | None


def read_sample(source: Source, *, name: str) -> JudgedSample:
    """The sample in a CSV file, gzipped or not: columns `value`, `pi`, optional `stratum`, `N_h`.

    Raises FileRefused with every line that breaks a rule: a value that is no number, a chance not
    above 0 or above 1, a query twice (with a column `query`), an N_h that differs within a stratum,
    is below n_h, or contradicts the stratum's equal chances.
    """
    problems = Problems(name)
    rows = _read_rows(source, problems)
    if not rows.lines and not problems:
        raise problems.stop(1, Rule.EMPTY, "the file has no values.")
    pi = np.array(rows.chances)
    for row in np.flatnonzero((pi <= 0) | (pi > 1)).tolist():
        problems.add(rows.lines[row], Rule.NUMBER, "pi is a chance, above 0 and at most 1.")
    problems.raise_if_any()
    codes: dict[str, int] = {}
    stratum = np.array([codes.setdefault(one, len(codes)) for one in rows.strata or [""] * len(pi)])
    strata = _Strata(pi, stratum, tuple(codes), rows.lines, problems)
    counts = None
    if rows.sizes:
        counts = strata.given_counts(np.array(rows.sizes))
    elif rows.strata:
        counts = strata.counts_by_chances()
    problems.raise_if_any()
    return JudgedSample(np.array(rows.values), pi, stratum, tuple(codes), counts)


class _SampleRows(NamedTuple):
    """The columns of a file; `strata` and `sizes` are empty where it does not have them."""

    lines: list[int]
    values: list[float]
    chances: list[float]
    strata: list[str]
    sizes: list[float]


def _read_rows(source: Source, problems: Problems) -> _SampleRows:
    rows = _SampleRows([], [], [], [], [])
    seen: dict[str, int] = {}
    for block in read_csv_columns(source, COLUMNS, limits=LIMITS, problems=problems):
        cells, lines = block.columns, block.lines
        rows.lines.extend(lines)
        rows.values.extend(numbers(cells["value"], lines, "value", problems))
        rows.chances.extend(numbers(cells["pi"], lines, "pi", problems))
        rows.strata.extend(map(str.strip, cells.get("stratum", ())))
        rows.sizes.extend(numbers(cells.get("N_h", ()), lines, "N_h", problems))
        for query, line in zip(cells.get("query", ()), lines, strict=False):
            first = seen.setdefault(query, line)
            if first != line:
                problems.add(line, Rule.DUPLICATE, f"the query is already on line {first}.")
    return rows


@dataclass(frozen=True, eq=False)
class _Strata:
    pi: Floats
    stratum: npt.NDArray[np.int64]
    names: tuple[str, ...]
    lines: list[int]
    problems: Problems

    def given_counts(self, sizes: Floats) -> Floats | None:
        """N_h of each stratum, from the column; None where chances within a stratum differ."""
        found = np.empty(len(self.names))
        is_simple = True
        for code, name in enumerate(self.names):
            rows = np.flatnonzero(self.stratum == code)
            found[code] = count = sizes[rows[0]]
            other = rows[sizes[rows] != count]
            if len(other):
                message = f"the stratum {quoted(name)} has another N_h on an earlier line."
                self.problems.add(self.lines[other[0]], Rule.NUMBER, message)
            elif count < len(rows) or count != round(count):
                message = (
                    f"N_h is a whole number, {len(rows):,} or more: so many are in the sample."
                )
                self.problems.add(self.lines[rows[0]], Rule.NUMBER, message)
            elif not self._is_equal(rows):
                is_simple = False
            elif abs(self.pi[rows[0]] * count / len(rows) - 1) > 1e-3:
                message = (
                    f"pi is {self.pi[rows[0]]:.6g}, but n_h/N_h of the stratum {quoted(name)} is "
                    f"{len(rows)}/{count:.0f} = {len(rows) / count:.6g}."
                )
                self.problems.add(self.lines[rows[0]], Rule.NUMBER, message)
        return found if is_simple else None

    def counts_by_chances(self) -> Floats | None:
        """n_h/π of each stratum; None where one has unequal chances, or has no whole N_h."""
        found = np.empty(len(self.names))
        for code in range(len(self.names)):
            rows = np.flatnonzero(self.stratum == code)
            count = len(rows) / self.pi[rows[0]]
            found[code] = round(count)
            if not self._is_equal(rows) or abs(found[code] / count - 1) > SAME:
                return None
        return found

    def _is_equal(self, rows: npt.NDArray[np.int64]) -> bool:
        return bool(np.ptp(self.pi[rows]) <= SAME * self.pi[rows[0]])


def read_joint(source: Source, *, name: str, pi: Floats) -> Floats:
    """Joint chances πᵢⱼ of a sample, (n, n), from a CSV without header, in the sample's order.

    Raises FileRefused for another number of rows or columns, and for a chance that is not above 0,
    above either query's own, not the same in both directions, or off pi on the diagonal.
    """
    problems = Problems(name)
    rows: list[Floats] = []
    lines: list[int] = []
    for line, text in read_lines(source, limits=JOINT_LIMITS, problems=problems):
        if not text.strip():
            continue
        cells = text.split(",")
        if len(cells) != len(pi):
            message = f"{len(cells):,} columns, but the sample has {len(pi):,} queries."
            raise problems.stop(line, Rule.COLUMNS, message)
        if len(rows) == len(pi):
            raise problems.stop(line, Rule.LINES, f"more than the sample's {len(pi):,} queries.")
        rows.append(numbers(cells, [line] * len(cells), "joint chance", problems))
        lines.append(line)
    problems.raise_if_any()
    if len(rows) < len(pi):
        message = f"{len(rows):,} rows, but the sample has {len(pi):,} queries."
        raise problems.stop(max(lines, default=1), Rule.LINES, message)
    joint = np.array(rows)
    _check_joint(joint, pi, lines, problems)
    problems.raise_if_any()
    return joint


def _check_joint(joint: Floats, pi: Floats, lines: list[int], problems: Problems) -> None:
    rules = (
        (joint <= 0, "a joint chance of two queries of the sample is above 0."),
        (joint > np.minimum.outer(pi, pi) * (1 + SAME), "a joint chance above a query's own."),
        (abs(joint - joint.T) > SAME * joint, "the matrix is not symmetric."),
        (np.diag(abs(np.diag(joint) - pi) > SAME * pi), "the diagonal is not the sample's pi."),
    )
    for broken, message in rules:
        for row, column in np.argwhere(broken)[:1].tolist():
            problems.add(lines[row], Rule.NUMBER, f"column {column + 1}: {message}")
