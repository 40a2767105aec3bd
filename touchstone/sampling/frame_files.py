"""A frame from a CSV file: a column `query`, and columns with a stratum and a size."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import numpy as np

from touchstone.files.csv_columns import CsvBlock, CsvColumns, numbers, read_csv_columns
from touchstone.files.errors import Problems, Rule
from touchstone.files.reading import OWN_LIMITS, Source
from touchstone.sampling.frames import (
    Frame,
    Ints,
    QueryTexts,
    RepeatedQueryError,
    frame_digest,
    starts_of,
)

QUERY: Final = "query"
MOST_STRATA: Final = 10_000


def read_frame(
    source: Source, *, name: str, strata: str | None = None, size: str | None = None
) -> Frame:
    """The frame in a CSV file, gzipped or not.

    strata, size: the names of the columns with the stratum and the size of a query; None for one
    stratum, and size 1. A query is its text as it stands; blanks around a stratum do not count.
    Memory: about 40 bytes a query besides the texts, and as much again for a moment.
    Raises FileRefused with every line that breaks a rule: a query without a text or that is there
    twice, a size that is not a number above 0, more than 10,000 strata.
    """
    problems = Problems(name)
    builder = _FrameBuilder(problems, strata, size)
    wanted = CsvColumns(tuple(dict.fromkeys(c for c in (QUERY, strata, size) if c is not None)))
    for block in read_csv_columns(source, wanted, limits=OWN_LIMITS, problems=problems):
        builder.add(block)
    if not builder.lines and not problems:
        raise problems.stop(1, Rule.EMPTY, "the file has no queries.")
    problems.raise_if_any()
    return builder.frame()


class _FrameBuilder:
    """Collects the blocks of a file, in a few large pieces of memory."""

    def __init__(self, problems: Problems, strata: str | None, size: str | None) -> None:
        self.problems = problems
        self.stratum_column = strata
        self.size_column = size
        self.texts = bytearray()
        self.lengths = array("i")
        self.sizes = array("d")
        self.codes: dict[str, int] = {}
        self.stratum = array("i")
        self.lines: list[Sequence[int]] = []
        self.firsts: list[int] = []  # the first row of each block

    def add(self, block: CsvBlock) -> None:
        queries = block.columns[QUERY]
        if "" in queries:
            for query, line in zip(queries, block.lines, strict=True):
                if not query:
                    self.problems.add(line, Rule.ID, "the query is empty.")
        self.firsts.append(len(self.lengths))
        self.lines.append(block.lines)
        encoded = [query.encode() for query in queries]
        self.texts += b"".join(encoded)
        self.lengths.extend(map(len, encoded))
        if self.size_column is not None:
            self._add_sizes(block.columns[self.size_column], block.lines)
        if self.stratum_column is not None:
            self._add_strata(block.columns[self.stratum_column], block.lines)

    def _add_sizes(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        found = numbers(cells, lines, "size", self.problems)
        for place in np.flatnonzero(found <= 0).tolist():
            message = "the size is not above 0: the query would never be drawn."
            self.problems.add(lines[place], Rule.NUMBER, message)
        self.sizes.frombytes(found.tobytes())

    def _add_strata(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        codes = self.codes
        for cell in set(cells) - codes.keys():
            codes[cell] = codes.setdefault(cell.strip(), len(codes))
        if len(codes) > MOST_STRATA:
            message = f"more than {MOST_STRATA:,} strata."
            raise self.problems.stop(lines[0], Rule.TOO_MUCH, message)
        self.stratum.extend(map(codes.__getitem__, cells))

    def frame(self) -> Frame:
        """The frame. Raises FileRefused for a query that appears twice."""
        queries = QueryTexts(self.texts, starts_of(self.lengths))
        n = len(queries)
        size = np.frombuffer(self.sizes) if self.size_column is not None else np.ones(n)
        names, stratum = self._strata(n)
        try:
            digest = frame_digest(queries, names, stratum, size)
        except RepeatedQueryError as repeated:
            raise self._repeated(repeated) from repeated
        return Frame(queries, names, stratum, size, digest)

    def _strata(self, n: int) -> tuple[tuple[str, ...], Ints]:
        if self.stratum_column is None:
            return ("",), np.zeros(n, np.int32)
        used = {name: code for name, code in self.codes.items() if name == name.strip()}
        names = sorted(used)
        place = np.zeros(len(self.codes), np.int32)
        place[[used[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        return tuple(names), place[np.frombuffer(self.stratum, np.int32)]

    def _repeated(self, repeated: RepeatedQueryError) -> Exception:
        first, second = self._line(repeated.first), self._line(repeated.second)
        message = f"the query is already on line {first}."
        return self.problems.stop(second, Rule.DUPLICATE, message)

    def _line(self, row: int) -> int:
        block = bisect_right(self.firsts, row) - 1
        return self.lines[block][row - self.firsts[block]]
