"""Judgments line by line: CSV, JSON Lines, BEIR's qrels and Quepid's CSV.

Quepid's form is that of its `export/ratings/show.basic.csv.erb`: query,docid,rating, a query
without ratings on a line of its own. BEIR's is the header query-id, corpus-id, score and tabs.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from touchstone.files.errors import Problems, Rule
from touchstone.files.json_lines import JsonRefusedError, json_object
from touchstone.files.rating_rows import JudgedPair, Rating, sound_ids
from touchstone.files.reading import TREC_LIMITS, Progress, Source, read_lines

QUERY_NAMES: Final = ("query_id", "query-id", "qid", "query")
DOCUMENT_NAMES: Final = ("doc_id", "corpus-id", "docid", "document")
GRADE_NAMES: Final = ("grade", "score", "rating", "relevance", "label", "signal")
CSV_HEADER: Final = ("query_id", "doc_id", "grade")
BEIR_HEADER: Final = ("query-id", "corpus-id", "score")
QUEPID_HEADER: Final = ("query", "docid", "rating")
BYTES_PER_RATING: Final = 200  # beyond the characters

# A spreadsheet takes such a cell for a formula. An apostrophe before it says that it is text, and
# a cell that has apostrophes of its own there gets one more, so that reading takes just one away.
_FORMULA: Final = re.compile(r"'*[=+\-@\t\r]")
_GUARDED: Final = re.compile(r"'+[=+\-@\t\r]")
_NUMBER_CELL: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")


def guarded(cell: str) -> str:
    """A cell that no spreadsheet computes; plain numbers stay as they are."""
    if _NUMBER_CELL.fullmatch(cell) or not _FORMULA.match(cell):
        return cell
    return f"'{cell}"


def unguarded(cell: str) -> str:
    """What `guarded` was given."""
    return cell[1:] if _GUARDED.match(cell) and not _NUMBER_CELL.fullmatch(cell) else cell


def read_csv(source: Source, problems: Problems, progress: Progress | None) -> list[Rating]:
    """CSV: query, document and grade in this order, or in any that a header names."""
    rows = (
        (number, [unguarded(cell) for cell in cells])
        for number, cells in csv_rows(source, problems, progress)
    )
    return _listed(_table(rows, CSV_HEADER, problems, by_text=False), problems)


def read_beir(source: Source, problems: Problems, progress: Progress | None) -> list[Rating]:
    """BEIR's qrels, with their header or without; nothing is quoted there."""
    cells = (
        (number, text.split("\t"))
        for number, text in read_lines(
            source, limits=TREC_LIMITS, problems=problems, progress=progress
        )
        if text.strip(" \t")
    )
    return _listed(_table(cells, BEIR_HEADER, problems, by_text=False), problems)


def read_quepid(source: Source, problems: Problems, progress: Progress | None) -> list[Rating]:
    """Quepid's CSV. A query without ratings has a line of its own, and says nothing."""
    rows = csv_rows(source, problems, progress)
    rated = (row for row in rows if any(cell.strip() for cell in row[1][1:]))
    return _listed(_table(rated, QUEPID_HEADER, problems, by_text=True), problems)


def read_json_lines(source: Source, problems: Problems, progress: Progress | None) -> list[Rating]:
    """One object a line; `query_id`, `doc_id` and `grade`, or the names that others give them."""
    result: list[Rating] = []
    size = 0
    lines = read_lines(source, limits=TREC_LIMITS, problems=problems, progress=progress)
    for number, text in lines:
        if not text.strip(" \t"):
            continue
        try:
            values = json_object(text)
        except JsonRefusedError as refused:
            problems.add(number, refused.rule, refused.message, column=refused.column)
            continue
        cells = []
        for names in (QUERY_NAMES, DOCUMENT_NAMES, GRADE_NAMES):
            value = next((values[name] for name in names if name in values), None)
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                message = f"{names[0]} is missing, or neither a text nor a number."
                problems.add(number, Rule.FIELD, message)
                break
            cells.append(str(value))
        else:
            size += _noted(result, Rating(number, *cells), problems, by_text=False)
            check_memory(size, number, problems)
    return result


def csv_rows(
    source: Source, problems: Problems, progress: Progress | None
) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, cells) of each record that is not empty; quoting as RFC 4180."""
    at = 0

    def lines() -> Iterator[str]:
        nonlocal at
        for number, text in read_lines(
            source, limits=TREC_LIMITS, problems=problems, progress=progress
        ):
            at = number
            yield text + "\n"

    reader = csv.reader(lines(), strict=True)
    while True:
        begins = at + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise problems.stop(max(at, 1), Rule.COLUMNS, f"not CSV: {error}.") from error
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield begins, cells


def _table(
    rows: Iterable[tuple[int, list[str]]],
    header: tuple[str, str, str],
    problems: Problems,
    *,
    by_text: bool,
) -> Iterator[tuple[int, str, str, str, bool]]:
    """(line, query, document, value, by_text) of each row with enough columns."""
    positions: tuple[int, ...] | None = None
    for number, cells in rows:
        if positions is None:
            if _is_of_a_run(cells):
                message = "a column of ranks, and none of grades; this is a run, not judgments."
                raise problems.stop(number, Rule.COLUMNS, message)
            positions = _places(cells)
            if positions is not None:
                continue
            positions = (0, 1, 2)
        if len(cells) <= max(positions) or (positions == (0, 1, 2) and len(cells) != 3):
            count = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
            message = f"{count}, but {', '.join(header)} are needed."
            problems.add(number, Rule.COLUMNS, message)
            continue
        query, doc_id, value = (cells[position].strip(" \t") for position in positions)
        yield number, query, doc_id, value, by_text


def _places(cells: Sequence[str]) -> tuple[int, ...] | None:
    """Where a header has the three columns; None if this is none."""
    names = [cell.strip().lower() for cell in cells]
    result = [
        next((names.index(name) for name in wanted if name in names), None)
        for wanted in (QUERY_NAMES, DOCUMENT_NAMES, GRADE_NAMES)
    ]
    positions = tuple(position for position in result if position is not None)
    return positions if len(positions) == 3 else None


def _is_of_a_run(cells: Sequence[str]) -> bool:
    """Whether a header is a run's, as PyTerrier and ir_measures call the columns of theirs.

    BEIR calls grades scores: what tells the two apart is the rank.
    """
    names = {cell.strip().lower() for cell in cells}
    return "rank" in names and names.isdisjoint({*GRADE_NAMES} - {"score"})


def _listed(rows: Iterable[tuple[int, str, str, str, bool]], problems: Problems) -> list[Rating]:
    result: list[Rating] = []
    size = 0
    for number, query, doc_id, value, by_text in rows:
        name = " ".join(query.split()) if by_text else query
        size += _noted(result, Rating(number, name, doc_id, value), problems, by_text=by_text)
        check_memory(size, number, problems)
    return result


def _noted(result: list[Rating], rating: Rating, problems: Problems, *, by_text: bool) -> int:
    if sound_ids(rating.line, rating.query, rating.doc_id, problems, by_text=by_text):
        result.append(rating)
    return BYTES_PER_RATING + len(rating.query) + len(rating.doc_id) + len(rating.value)


def check_memory(size: int, line: int, problems: Problems) -> None:
    """Stops reading when the ratings need more memory than they may."""
    if size > TREC_LIMITS.memory:
        message = f"more judgments than fit into {TREC_LIMITS.memory:,} bytes of memory."
        raise problems.stop(line, Rule.TOO_MUCH, message)


def write_csv(pairs: Sequence[JudgedPair]) -> bytes:
    """CSV below the header query_id, doc_id, grade; no cell that a spreadsheet would compute."""
    rows = ((guarded(pair.query_id), guarded(pair.doc_id), pair.grade) for pair in pairs)
    return _csv(CSV_HEADER, rows)


def write_quepid(pairs: Sequence[JudgedPair]) -> bytes:
    """Quepid's CSV, with the queries' texts.

    A text that a spreadsheet would compute gets a blank before it, as Quepid writes it. Document
    ids are as they are, as there: Quepid would look for one with a blank in vain.
    """
    rows = ((_blank_before(pair.query_name), pair.doc_id, pair.grade) for pair in pairs)
    return _csv(QUEPID_HEADER, rows)


def write_beir(pairs: Sequence[JudgedPair]) -> bytes:
    """BEIR's qrels. An id never has a tab or a line's end."""
    lines = ["\t".join(BEIR_HEADER)]
    lines += [f"{pair.query_id}\t{pair.doc_id}\t{pair.grade}" for pair in pairs]
    return ("\n".join(lines) + "\n").encode()


def write_json_lines(pairs: Sequence[JudgedPair]) -> bytes:
    """One object a line."""
    return "".join(
        json.dumps(
            {"query_id": pair.query_id, "doc_id": pair.doc_id, "grade": pair.grade},
            ensure_ascii=False,
        )
        + "\n"
        for pair in pairs
    ).encode()


def _blank_before(text: str) -> str:
    return f" {text}" if _FORMULA.match(text) else text


def _csv(header: tuple[str, ...], rows: Iterable[tuple[str, str, int]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for query, doc_id, grade in rows:
        writer.writerow([query, doc_id, grade])
    return out.getvalue().encode()
