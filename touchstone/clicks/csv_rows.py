"""The rows of a CSV file of clicks: a row is a line, cells may be quoted."""

import csv
from collections.abc import Iterator

from touchstone.clicks.records import LIMITS
from touchstone.files.errors import Problems, Rule
from touchstone.files.reading import Progress, Source, read_lines


def csv_rows(
    source: Source, problems: Problems, progress: Progress | None = None
) -> Iterator[tuple[int, list[str]]]:
    """(line, cells without spaces around them) of every row; empty lines are skipped.

    Raises FileRefused where reading on makes no sense; a row that is none becomes a problem.
    """
    for line, text in read_lines(source, limits=LIMITS, problems=problems, progress=progress):
        if not text.strip():
            continue
        try:
            cells = next(csv.reader([text], strict=True))
        except csv.Error:
            message = "a quotation mark that does not end in this line."
            problems.add(line, Rule.COLUMNS, message)
            continue
        yield line, [cell.strip() for cell in cells]
