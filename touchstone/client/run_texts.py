"""A run in whatever form another tool has it, as the lines of a TREC file."""

import gzip
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from touchstone.client.connection import Body
from touchstone.client.errors import ClientUsageError

# PyTerrier's names before ir_measures' and before others: its frames have a number of their own,
# `docid`, beside `docno`
QUERY_COLUMNS: Final = ("qid", "query_id", "q_id")
DOCUMENT_COLUMNS: Final = ("docno", "doc_id", "docid", "document_id")
LARGE: Final = 1024 * 1024  # bytes; a file of more is packed before it is sent
GZIP: Final = b"\x1f\x8b"
NAMELESS: Final = "upload"  # for the server a file without a name: it takes the run's tag
IN_QUOTES: Final = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})
FORMS: Final = (
    "a run is the path of a TREC file, {query: {document: score}}, a ranx Run, or a frame with the "
    "columns qid, docno and score (PyTerrier) or query_id, doc_id and score (ir_measures)"
)

# what parts a line's fields, or ends the line, and so can't be in an id
BLANKS: Final = re.compile(r"[\x00-\x20\x7f]")

Row = tuple[object, object, object]
Scalar = str | int | float | bool | None


@contextmanager
def run_form(run: Any, *, tag: str, fields: Mapping[str, str]) -> Iterator[Body]:
    """The run as the one file of a form with these fields.

    It is gzipped where it is large. tag: of lines that are made here.
    Raises ClientUsageError for what is no run, and for a file that can't be read.
    """
    boundary = secrets.token_hex(16)
    is_file = isinstance(run, str | os.PathLike)
    name = Path(run).name if is_file else NAMELESS
    quoted = name.translate(IN_QUOTES)
    with tempfile.TemporaryFile() as file:
        for field, value in fields.items():
            disposition = f'Content-Disposition: form-data; name="{field}"'
            file.write(f"--{boundary}\r\n{disposition}\r\n\r\n{value}\r\n".encode())
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"'
        file.write(f"{head}\r\nContent-Type: application/octet-stream\r\n\r\n".encode())
        if is_file:
            _copy(run, file)
        else:
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as packed:
                packed.writelines(line.encode() for line in run_lines(run, tag=tag))
        file.write(f"\r\n--{boundary}--\r\n".encode())
        length = file.tell()
        file.seek(0)
        yield Body(file, length, f"multipart/form-data; boundary={boundary}")


def run_lines(run: Any, *, tag: str) -> Iterator[str]:
    """The lines of a TREC run, in the order of its rows.

    Scores have every digit; a frame without the column `score` is ordered by its `rank`.
    Raises ClientUsageError for what is no run, an id that such a line can't hold, a score that is
    no number.
    """
    ranks: dict[str, int] = {}
    for query, document, score in _rows(run):
        qid, docid = _id(query, "query"), _id(document, "document")
        rank = ranks[qid] = ranks.get(qid, 0) + 1
        yield f"{qid} Q0 {docid} {rank} {_score(score)!r} {tag}\n"


def name_in(run: Any) -> str | None:
    """What the run calls itself, as a ranx Run does; None for a path, which the server looks at."""
    result = None if isinstance(run, str | os.PathLike) else getattr(run, "name", None)
    return result if isinstance(result, str) and result else None


def _rows(run: Any) -> Iterable[Row]:
    if hasattr(run, "columns"):
        return _of_frame(run)
    if not isinstance(run, Mapping) and hasattr(run, "to_dict"):
        run = run.to_dict()  # ranx
    if not isinstance(run, Mapping):
        raise ClientUsageError(f"{type(run).__name__} is no run: {FORMS}")
    return _of_mapping(run)


def _of_mapping(run: Mapping[Any, Any]) -> Iterator[Row]:
    for query, scores in run.items():
        if not isinstance(scores, Mapping):
            raise ClientUsageError(f"the scores of query {query!r} are no mapping: {FORMS}")
        for document, score in scores.items():
            yield query, document, score


def _of_frame(frame: Any) -> Iterator[Row]:
    """The rows of a frame of pandas or polars, or of a table of pyarrow."""
    names = list(getattr(frame, "column_names", frame.columns))
    query, document = _first(QUERY_COLUMNS, names), _first(DOCUMENT_COLUMNS, names)
    scores: Iterable[object]
    if "score" in names:
        scores = _column(frame, "score")
    elif "rank" in names:
        scores = [-_score(rank) for rank in _column(frame, "rank")]
    else:
        raise ClientUsageError(f"there is neither a column score nor rank: {FORMS}")
    return zip(_column(frame, query), _column(frame, document), scores, strict=True)


def _first(wanted: Iterable[str], names: list[Any]) -> str:
    for name in wanted:
        if name in names:
            return name
    raise ClientUsageError(f"no column is called {' or '.join(wanted)}: {FORMS}")


def _column(frame: Any, name: str) -> list[object]:
    column = frame[name]
    for method in ("to_list", "to_pylist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _id(value: object, kind: str) -> str:
    """An id as text. A number with a fraction is none: 1.0 is how a frame spoils 1."""
    if value is None or isinstance(value, float):
        raise ClientUsageError(f"{value!r} is no {kind} id: ids are texts or whole numbers")
    text = str(value)
    if not text or BLANKS.search(text):
        raise ClientUsageError(f"{text!r} is no {kind} id: it is empty or has blanks")
    return text


def _score(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ClientUsageError(f"{value!r} is no score") from None


def _copy(path: str | os.PathLike[str], file: IO[bytes]) -> None:
    """Add the file's bytes, packed where they are many and not packed yet."""
    try:
        with Path(path).open("rb") as source:
            is_packed = source.read(2) == GZIP
            is_large = source.seek(0, os.SEEK_END) > LARGE
            source.seek(0)
            if is_packed or not is_large:
                shutil.copyfileobj(source, file)
                return
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as packed:
                shutil.copyfileobj(source, packed)
    except OSError as error:
        raise ClientUsageError(f"{path}: {error.strerror}") from None
