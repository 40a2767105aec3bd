"""The numbers of a leaderboard's page, for a file."""

from evaluation.leaderboards.board import LeaderboardTable
from evaluation.leaderboards.files import BoardRow, BoardTable, BoardValue
from judgments.models.lists import Takes
from judgments.sets.looks import Looks
from judgments.versions.takes import takes_at, takes_words


def get_board_table(board: LeaderboardTable, *, tag: str, looks: Looks | None) -> BoardTable:
    """What the page shows, in its order; runs without a value yet have empty ones.

    tag: of the rankers shown; "" for all. looks: at the numbers of a held-out set, of which this
    file is.
    """
    of = [f"{board.list.name}, version {board.version or 0}"]
    words = takes_at(list_id=board.list.pk, version=board.version)
    if words not in ("", takes_words(Takes.PEOPLE, None)):
        of.append(f"grades of {words}")
    if board.segment:
        of.append(f"segment {board.segment}")
    if board.sets.chosen:
        of.append(f"set {board.sets.chosen.name}{f' (held out, {looks.words})' if looks else ''}")
    if tag:
        of.append(f"rankers tagged {tag}")
    return BoardTable(
        title=", ".join(of),
        columns=tuple(column.name for column in board.measures),
        rows=tuple(
            BoardRow(
                row.ranker_name,
                row.run,
                tuple(
                    BoardValue(value.mean, value.low, value.high, value.n)
                    for value in row.values.values()
                )
                or (BoardValue(None, None, None, 0),) * len(board.measures),
            )
            for row in board.runs
        ),
    )
