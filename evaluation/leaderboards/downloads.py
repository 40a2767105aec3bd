"""The files that a leaderboard's page offers: those of the command, and Parquet where it can be."""

from collections.abc import Mapping
from typing import Final

from evaluation.leaderboards.files import FORMATS, BoardTable
from evaluation.pages.files import FileFormat, offered
from touchstone.files.parquet import MEDIA_TYPE, parquet_bytes

COLUMNS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("ranker", "run", "measure"), str),
    **dict.fromkeys(("mean", "low", "high"), float),
    "n": int,
}


def as_parquet(table: BoardTable) -> bytes:
    """A row for each run and measure."""
    rows = (
        (row.ranker, row.run, column, value.mean, value.low, value.high, value.n)
        for row in table.rows
        for column, value in zip(table.columns, row.values, strict=False)
    )
    return parquet_bytes(COLUMNS, rows, title=table.title)


DOWNLOADS: Final = offered(
    *FORMATS.values(), FileFormat("parquet", "Parquet", "parquet", MEDIA_TYPE, as_parquet)
)
