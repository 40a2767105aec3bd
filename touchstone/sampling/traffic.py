"""A traffic log as a frame: queries with their searches; how concentrated they are; strata.

A log is read in blocks and never held whole, so that its size is limited by what the caller keeps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt

from touchstone.files.csv_columns import CsvBlock, CsvColumns, numbers, read_csv_columns
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.reading import Limits, Progress
from touchstone.files.table_columns import Parts
from touchstone.files.table_preview import HEAD, preview_file
from touchstone.sampling.errors import SamplingError

Int64s = npt.NDArray[np.int64]

TRAFFIC_PARTS: Final = Parts(
    {
        "query": ("query", "text", "query_text", "search_term", "search_query", "keywords", "term"),
        "searches": ("searches", "count", "frequency", "volume", "n", "impressions", "weight"),
        "segment": ("segment", "category", "market", "country", "device"),
    },
    keeps_others=False,
    tsv_ids=("query", "text", "query_text", "search_term", "search_query", "keywords", "term"),
)
LIMITS: Final = Limits(lines=20_000_001, line=8 * 1024)
MOST_SEARCHES: Final = 2**50  # of one query: float64 holds the sum of 2³ frames exactly
MOST_STRATA: Final = 8
DELIMITERS: Final = {"commas": ",", "semicolons": ";", "vertical bars": "|", "tabs": "\t"}
_NAMES: Final = {1: ("all",), 2: ("head", "tail"), 3: ("head", "torso", "tail")}


@dataclass(frozen=True)
class TrafficBlock:
    """Some queries of a log.

    lines: the line of each. texts: in UTF-8, as they stand. searches: int64 (n,), 1 or more.
    segments: of each, without blanks around it; empty where the log has none.
    """

    lines: Sequence[int]
    texts: list[bytes]
    searches: Int64s
    segments: list[str]


def read_traffic(
    source: BinaryIO,
    *,
    name: str,
    columns: Mapping[str, str],
    progress: Progress | None = None,
) -> Iterator[TrafficBlock]:
    """The queries of a CSV or TSV file with a header, gzipped or not, block after block.

    source: can be read from its beginning again. columns: the part ("query", "searches",
    "segment" or "") of columns, by name; the others are recognised by their names.
    Raises FileRefused, at the latest after the last block, with the lines that break a rule: a
    query without a text, searches that are no whole number from 1. Repeated queries are the
    caller's to find.
    """
    problems = Problems(name)
    wanted, parts = _columns(source, name, columns, problems)
    source.seek(0)
    is_empty = True
    for block in read_csv_columns(
        source, wanted, limits=LIMITS, problems=problems, progress=progress
    ):
        is_empty = False
        yield _block(block, parts, problems)
    if is_empty and not problems:
        raise problems.stop(1, Rule.EMPTY, "the file has no queries.")
    problems.raise_if_any()


def _columns(
    source: BinaryIO, name: str, columns: Mapping[str, str], problems: Problems
) -> tuple[CsvColumns, dict[str, str]]:
    """What is read, and the name of the column of each part."""
    found = preview_file(source.read(HEAD), TRAFFIC_PARTS, name=name, columns=columns)
    if found.problem:
        raise problems.stop(1, Rule.HEADER, found.problem)
    if not found.has_header:
        raise problems.stop(1, Rule.HEADER, "the first line must name the columns, as CSV or TSV.")
    parts = {column.part: column.name for column in found.columns if column.part}
    if "searches" not in parts:
        has = ", ".join(column.name for column in found.columns)
        raise problems.stop(1, Rule.HEADER, f"no column has the searches; the file has {has}.")
    delimiter = DELIMITERS[found.separator]
    return CsvColumns(tuple(parts.values()), delimiter=delimiter), parts


def _block(block: CsvBlock, parts: Mapping[str, str], problems: Problems) -> TrafficBlock:
    queries, lines = block.columns[parts["query"]], block.lines
    if "" in queries:
        for query, line in zip(queries, lines, strict=True):
            if not query:
                problems.add(line, Rule.ID, "the query is empty.")
    found = numbers(block.columns[parts["searches"]], lines, "number of searches", problems)
    wrong = ~np.isnan(found) & ((found < 1) | (found > MOST_SEARCHES) | (found != np.floor(found)))
    for place in np.flatnonzero(wrong).tolist():
        message = "searches are a whole number from 1: a query without any is never drawn."
        problems.add(lines[place], Rule.NUMBER, message)
    segment = parts.get("segment")
    return TrafficBlock(
        lines,
        "\n".join(queries).encode().split(b"\n"),  # a cell ends in its line
        np.where(wrong | np.isnan(found), 1, found).astype(np.int64),
        [] if segment is None else [cell.strip() for cell in block.columns[segment]],
    )


@dataclass(frozen=True, eq=False)
class Concentration:
    """How searches are spread over queries, exactly.

    searches: int64 (k,), every number of searches that a query has, largest first.
    queries: int64 (k,), how many queries have it.
    """

    searches: Int64s
    queries: Int64s

    @classmethod
    def of(cls, searches: Int64s) -> "Concentration":
        """searches: of each query, (N,)."""
        values, counts = np.unique(searches, return_counts=True)
        return cls(values[::-1].astype(np.int64), counts[::-1].astype(np.int64))

    @property
    def total_queries(self) -> int:
        return int(self.queries.sum())

    @property
    def total_searches(self) -> int:
        return int((self.queries * self.searches).sum())

    def share_of_top(self, queries: int) -> float:
        """The share of all searches that the most frequent queries have. queries: how many."""
        ends = np.cumsum(self.queries)
        place = int(np.searchsorted(ends, queries))
        if place == len(ends):
            return 1.0
        before = int((self.queries[:place] * self.searches[:place]).sum())
        own = queries - (int(ends[place - 1]) if place else 0)
        return (before + own * int(self.searches[place])) / self.total_searches

    def queries_for(self, share: float) -> int:
        """How few queries have at least this share of all searches."""
        sums = np.cumsum(self.queries * self.searches)
        wanted = share * float(sums[-1])
        place = min(int(np.searchsorted(sums, wanted)), len(sums) - 1)
        before = int(sums[place - 1]) if place else 0
        own = -int(-(wanted - before) // int(self.searches[place]))
        return int(self.queries[:place].sum()) + min(own, int(self.queries[place]))


@dataclass(frozen=True, eq=False)
class TrafficStrata:
    """Queries parted by their searches, the most frequent first.

    least: int64 (n_strata,), the fewest searches of a query of each. queries, searches: of each.
    """

    names: tuple[str, ...]
    least: Int64s
    queries: Int64s
    searches: Int64s

    def codes(self, searches: Int64s) -> npt.NDArray[np.int16]:
        """The stratum of queries with these searches, by its place."""
        rising = self.least[:-1][::-1]
        return (len(rising) - np.searchsorted(rising, searches, side="right")).astype(np.int16)


def traffic_strata(concentration: Concentration, cuts: Sequence[float]) -> TrafficStrata:
    """Strata by cumulative traffic.

    cuts: rising shares of all searches between 0 and 1; 0.5 and 0.9 make three strata, of which
    the first has the fewest of the most frequent queries that have half of all searches. Queries
    with equally many searches are in the same stratum.
    Raises SamplingError for cuts that do not rise, for more than 8 strata, and for a stratum of
    fewer than two queries, which says nothing of how values vary in it.
    """
    inner = list(cuts)
    if len(inner) >= MOST_STRATA:
        raise SamplingError(f"at most {MOST_STRATA} strata")
    if any(not 0 < cut < 1 for cut in inner) or sorted(set(inner)) != inner:
        raise SamplingError("cuts are rising shares between 0 and 100 % of the searches")
    sums = np.cumsum(concentration.queries * concentration.searches)
    wanted = np.array(inner) * float(sums[-1])
    ends = np.append(np.searchsorted(sums, wanted), len(sums) - 1)
    names = _NAMES.get(len(ends)) or _shares([0.0, *inner, 1.0])
    starts = np.concatenate(([0], ends[:-1] + 1))
    queries, searches = [], []
    for name, start, end in zip(names, starts.tolist(), ends.tolist(), strict=True):
        own = slice(start, end + 1)
        queries.append(int(concentration.queries[own].sum()))
        searches.append(int((concentration.queries * concentration.searches)[own].sum()))
        if queries[-1] < 2:
            has = "no query" if not queries[-1] else "one query alone"
            raise SamplingError(
                f"the stratum {quoted(name)} would have {has}, which has no variance; move its cut"
            )
    return TrafficStrata(names, concentration.searches[ends], np.array(queries), np.array(searches))


def search_effects(concentration: Concentration, strata: TrafficStrata) -> npt.NDArray[np.float64]:
    """Kish's design effect of the searches within each stratum, (n_strata,): N Σt² / (Σt)².

    By it the variance of a mean per search is larger than that of a mean per query, where queries
    of a stratum are drawn with equal probabilities and values do not depend on searches.
    """
    codes = strata.codes(concentration.searches)
    squares = concentration.queries * concentration.searches.astype(np.float64) ** 2
    sums = np.bincount(codes, squares, len(strata.names))
    return np.asarray(strata.queries * sums / strata.searches.astype(np.float64) ** 2)


def _shares(bounds: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{100 * low:.6g}-{100 * high:.6g} %" for low, high in pairwise(bounds))
