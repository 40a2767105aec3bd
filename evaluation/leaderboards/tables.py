"""The numbers of a leaderboard's page, for a file."""

from evaluation.leaderboards.board import LeaderboardPage, Value
from evaluation.leaderboards.files import BoardRow, BoardTable, BoardValue
from judgments.sets.looks import Looks


def get_board_table(page: LeaderboardPage, looks: Looks | None) -> BoardTable:
    """What the page shows, in its order; runs without a value yet have empty ones.

    looks: at the numbers of a held-out set, of which this file is.
    """
    of = [f"{page.list_name}, version {page.version.number if page.version else 0}"]
    if page.filters.segment:
        of.append(f"segment {page.filters.segment}")
    if page.sets.chosen:
        of.append(f"set {page.sets.chosen.name}{f' (held out, {looks.words})' if looks else ''}")
    if page.filters.tag:
        of.append(f"rankers tagged {page.filters.tag}")
    return BoardTable(
        title=", ".join(of),
        columns=tuple(column.name for column in page.columns),
        rows=tuple(
            BoardRow(
                row.ranker_name,
                row.run_name,
                tuple(_value(cell.value) for cell in row.cells)
                or (BoardValue(None, None, None, 0),) * len(page.columns),
            )
            for row in page.rows
        ),
    )


def _value(value: Value) -> BoardValue:
    low, high = value.interval or (None, None)
    return BoardValue(value.value, low, high, value.n)
