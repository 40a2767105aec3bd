"""Click logs to test with."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from touchstone.clicks.log import ClickLog, LogBuilder
from touchstone.clicks.ubi import read_ubi

Record = Mapping[str, Any]


def event(
    action: str = "impression",
    *,
    query: str | None = "shoes",
    document: object = "d1",
    rank: object = 1,
    query_id: str | None = "q1",
    **others: object,
) -> dict[str, Any]:
    """An event of UBI; None leaves a field out."""
    fields = {"user_query": query, "query_id": query_id, **others}
    return {
        "action_name": action,
        "event_attributes": {"object": {"object_id": document}, "position": {"ordinal": rank}},
        **{name: value for name, value in fields.items() if value is not None},
    }


def query(text: str, query_id: str, *, at: object = None) -> dict[str, Any]:
    """A query record of UBI."""
    return {"user_query": text, "query_id": query_id, "timestamp": at}


def written(path: Path, records: Iterable[Record]) -> Path:
    """The records as NDJSON."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(path: Path, *, join: bool = False, times: int = 1) -> ClickLog:
    """The log of a file, or of the same one given several times."""
    builder = LogBuilder()
    read_ubi([(path, path.name)] * times, builder)
    return builder.log(join=join)


def rows(log: ClickLog) -> dict[tuple[str, str, int], tuple[int, int]]:
    """(impressions, clicks) by query, document and rank."""
    found = log.evidence
    return {
        (log.queries[query], log.documents[document], rank): (impressions, clicks)
        for query, document, rank, impressions, clicks in zip(
            found.query.tolist(),
            found.document.tolist(),
            found.rank.tolist(),
            found.impressions.tolist(),
            found.clicks.tolist(),
            strict=True,
        )
    }
