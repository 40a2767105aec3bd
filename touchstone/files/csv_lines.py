"""CSV that is written while its rows are read."""

import csv
from collections.abc import Iterable, Iterator

from touchstone.files.rating_lines import guarded


class _Line:
    """What csv writes to, a line at a time."""

    @staticmethod
    def write(line: str) -> str:
        return line


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """A line for each row, numbers with every digit; no text that a spreadsheet would compute."""
    writer = csv.writer(_Line(), lineterminator="\n")
    for row in rows:
        yield writer.writerow([guarded(one) if isinstance(one, str) else one for one in row])
