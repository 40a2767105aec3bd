"""A click log as CSV: a line for each event, below a header that names the columns.

    action        impression, click, or the name of another event
    query         the text; or query_id, where the texts stand in query records elsewhere
    document      its id
    rank          whole numbers from 0 or from 1
    query_id      of one result page: what it showed and what was clicked on it
    application, client_id, session_id, timestamp   may be there

With a timestamp, a line that repeats an earlier one is a duplicate.
"""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from touchstone.clicks.columns import NO_RANK, Coded, EventColumns, add_columns
from touchstone.clicks.csv_rows import csv_rows
from touchstone.clicks.log import LogBuilder
from touchstone.clicks.ubi import USUAL_ACTIONS, Actions
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.reading import Progress, Source

ALIASES: Final = {
    "action_name": "action",
    "user_query": "query",
    "object_id": "document",
    "doc_id": "document",
    "ordinal": "rank",
}
NEEDED: Final = ("action", "document", "rank")
OPTIONAL: Final = ("query", "query_id", "application", "client_id", "session_id", "timestamp")
BLOCK: Final = 1 << 17  # lines

_RANK: Final = re.compile(r"[0-9]{1,9}(?:\.0+)?")


def read_csv(
    source: Source,
    builder: LogBuilder,
    *,
    name: str,
    actions: Actions = USUAL_ACTIONS,
    progress: Progress | None = None,
) -> None:
    """Add the events of a file, gzipped or not, to a builder.

    name: what problems are reported under. Raises FileRefused with every line that breaks a rule.
    """
    problems = Problems(name)
    rows = csv_rows(source, problems, progress)
    header = next(rows, None)
    if header is None:
        raise problems.stop(1, Rule.EMPTY, "the file has no events.")
    columns = _header(header[0], header[1], problems)
    block: list[list[str]] = []
    for line, cells in rows:
        if len(cells) != len(columns):
            message = f"{len(cells)} columns, but the header has {len(columns)}."
            problems.add(line, Rule.COLUMNS, message)
            continue
        rank = cells[columns["rank"]]
        if rank and not _RANK.fullmatch(rank):
            problems.add(line, Rule.FIELD, f"the rank {quoted(rank)} is not a whole number from 0.")
            continue
        block.append(cells)
        if len(block) == BLOCK:
            add_columns(builder, _columns(block, columns), actions=actions)
            block.clear()
    problems.raise_if_any()
    if block:
        add_columns(builder, _columns(block, columns), actions=actions)


def _header(line: int, cells: Sequence[str], problems: Problems) -> dict[str, int]:
    """The place of each column; raises FileRefused where one is missing or there twice."""
    names = [ALIASES.get(cell.lower(), cell.lower()) for cell in cells]
    check_columns(line, names, problems)
    return {name: position for position, name in enumerate(names)}


def check_columns(line: int, names: Sequence[str], problems: Problems) -> None:
    """Raise FileRefused where a column is missing or there twice."""
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise problems.stop(line, Rule.HEADER, f"the column {quoted(twice[0])} appears twice.")
    missing = [name for name in NEEDED if name not in names]
    if "query" not in names and "query_id" not in names:
        missing.append("query")
    if missing:
        message = f"missing column {', '.join(missing)}; needed: action, query, document, rank."
        raise problems.stop(line, Rule.HEADER, message)


def _columns(block: Sequence[Sequence[str]], columns: dict[str, int]) -> EventColumns:
    def texts(name: str) -> list[str]:
        position = columns.get(name)
        return [""] * len(block) if position is None else [row[position] for row in block]

    positions = [columns[name] for name in (*NEEDED, *OPTIONAL) if name in columns]
    time = columns.get("timestamp")
    identities = [
        "\x00".join([row[position] for position in positions])
        if time is not None and row[time]
        else ""
        for row in block
    ]
    ranks = [int(float(rank)) if rank else NO_RANK for rank in texts("rank")]
    return EventColumns(
        action=Coded.of(texts("action")),
        query=Coded.of(texts("query")),
        document=Coded.of(texts("document")),
        rank=np.array(ranks, dtype=np.int64),
        application=Coded.of(texts("application")),
        query_id=Coded.of(texts("query_id")),
        identity=Coded.of(identities).hashes(),
    )
