"""The lines of a log in UBI's NDJSON, decoded: one JSON object a line."""

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Never

from touchstone.files.errors import Problems, Rule
from touchstone.files.json_lines import JsonRefusedError, json_object
from touchstone.files.reading import (
    GB,
    MB,
    Batch,
    Limits,
    Progress,
    Source,
    line_text,
    read_batches,
)

Record = dict[str, Any]

# a query record may hold the whole request and the ids of its results
LIMITS: Final = Limits(
    compressed=64 * GB, expanded=1024 * GB, line=4 * MB, lines=2**31 - 1, memory=64 * GB
)


def _constant(text: str) -> Never:
    raise ValueError(text)


_DECODER: Final = json.JSONDecoder(parse_constant=_constant)
# what json_object looks for in the strings
_SUSPICIOUS: Final = ("\\u0000", "\\ud", "\\uD")


def read_records(
    source: Source, problems: Problems, progress: Progress | None = None
) -> Iterator[tuple[int, list[Record | None]]]:
    """A block of lines at a time: the number of its first line, and the object on each line.

    None for an empty line, and for one that is no JSON object: that is a problem.
    Raises FileRefused where reading on makes no sense.
    """
    for batch in read_batches(source, limits=LIMITS, problems=problems, progress=progress):
        yield batch.line, _block(batch) or _line_by_line(batch, problems)


def _block(batch: Batch) -> list[Record | None] | None:
    """All lines of a block, decoded at once; None where they must be looked at one by one."""
    lines = batch.data[:-1]
    # so no object begins on one line and ends on another
    if lines.count(b"}\n{") != batch.count - 1:
        return None
    try:
        text = lines.decode().replace("\n", ",")
        if any(sign in text for sign in _SUSPICIOUS):
            return None
        with _no_collection():
            result: list[Record | None] = _DECODER.decode(f"[{text}]")
    except (ValueError, RecursionError):
        return None
    return result if len(result) == batch.count and set(map(type, result)) == {dict} else None


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector out: thousands of new dictionaries, none of them garbage.

    Looking through them takes a fifth of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _line_by_line(batch: Batch, problems: Problems) -> list[Record | None]:
    result: list[Record | None] = []
    for number, raw in enumerate(batch.data.split(b"\n")[:-1], start=batch.line):
        text = line_text(raw, number, problems)
        record = None
        if text is not None and text.strip():
            try:
                record = _object(text)
            except JsonRefusedError as refused:
                problems.add(number, refused.rule, refused.message, column=refused.column)
        result.append(record)
    return result


def _object(text: str) -> Record:
    """What a block's decoder makes of one line; json_object finds the words for what is wrong."""
    if any(sign in text for sign in _SUSPICIOUS):
        return json_object(text)
    try:
        record = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return json_object(text)
    if not isinstance(record, dict):
        raise JsonRefusedError(Rule.JSON, "not a JSON object, which begins with {.")
    return record
