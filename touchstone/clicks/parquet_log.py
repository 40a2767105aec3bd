"""A click log as Parquet: a row for each event, with the columns of a CSV log (`csv_log`).

Needs pyarrow, the extra `parquet`; importing this module does not.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.columns import NO_RANK, Coded, EventColumns, add_columns
from touchstone.clicks.csv_log import ALIASES, NEEDED, OPTIONAL, check_columns
from touchstone.clicks.log import LogBuilder
from touchstone.clicks.ubi import USUAL_ACTIONS, Actions
from touchstone.files.errors import Problems, Rule
from touchstone.files.reading import Progress, Source, size_of

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]

MAGIC: Final = b"PAR1"
ROWS: Final = 1 << 16  # read at a time
NO_PYARROW: Final = "reading Parquet needs pyarrow: pip install 'touchstone-relevance[parquet]'."
MIX: Final = np.uint64(0x9E3779B97F4A7C15)


def read_parquet(
    source: Source,
    builder: LogBuilder,
    *,
    name: str,
    actions: Actions = USUAL_ACTIONS,
    progress: Progress | None = None,
) -> None:
    """Add the events of a file to a builder. progress: as for a file of text, in bytes.

    Raises FileRefused for a file that is no Parquet, or whose columns are not those of events.
    """
    problems = Problems(name)
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise problems.stop(1, Rule.FIELD, NO_PYARROW) from error
    import pyarrow as pa  # noqa: PLC0415

    try:
        with pq.ParquetFile(source, pre_buffer=False, buffer_size=1 << 20) as file:
            columns = _columns(file.schema_arrow.names, problems)
            for number, batch in enumerate(_batches(file, columns)):
                first = number * ROWS
                rank = _ranks(batch.column(columns["rank"]), problems, first)
                _add(builder, batch, columns, rank, actions=actions, problems=problems, first=first)
                if progress is not None:
                    done = min((number + 1) * ROWS / max(file.metadata.num_rows, 1), 1)
                    progress(int(done * _size(source)))
    except (pa.ArrowException, OSError) as error:
        raise problems.stop(1, Rule.FIELD, f"the file is not sound Parquet: {error}") from error


def _columns(names: Sequence[str], problems: Problems) -> dict[str, str]:
    """The file's name of each column that is read."""
    known = {*NEEDED, *OPTIONAL}
    read_as = [(ALIASES.get(name.lower(), name.lower()), name) for name in names]
    own = [(part, name) for part, name in read_as if part in known]
    check_columns(1, [part for part, _ in own], problems)
    return dict(own)


def _batches(file: Any, columns: dict[str, str]) -> "Iterator[pa.RecordBatch]":
    batches: Iterator[pa.RecordBatch] = file.iter_batches(
        batch_size=ROWS, columns=list(columns.values()), use_threads=False
    )
    return batches


def _add(
    builder: LogBuilder,
    batch: "pa.RecordBatch",
    columns: dict[str, str],
    rank: Ints,
    *,
    actions: Actions,
    problems: Problems,
    first: int,
) -> None:
    def coded(part: str) -> Coded:
        if part not in columns:
            return Coded((), np.full(len(batch), -1, np.int64))
        result = _coded(batch.column(columns[part]))
        _check_characters(result, problems, first)
        return result

    texts = {
        part: coded(part) for part in (*NEEDED, *OPTIONAL) if part not in ("rank", "timestamp")
    }
    add_columns(
        builder,
        EventColumns(
            action=texts["action"],
            query=texts["query"],
            document=texts["document"],
            rank=rank,
            application=texts["application"],
            query_id=texts["query_id"],
            identity=_identities(batch, columns, texts, rank),
        ),
        actions=actions,
    )


def _coded(column: "pa.Array") -> Coded:
    """A column of texts, or of whole numbers as texts; "" is none."""
    import pyarrow as pa  # noqa: PLC0415

    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    values = column.dictionary.cast(pa.string()).to_pylist()
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    empty = [place for place, value in enumerate(values) if not value]
    if empty:
        codes = np.where(np.isin(codes, empty), -1, codes)
    return Coded([value or "" for value in values], codes)


def _check_characters(texts: Coded, problems: Problems, first: int) -> None:
    """Refuse what PostgreSQL could not look up."""
    wrong = [code for code, value in enumerate(texts.values) if "\x00" in value]
    if wrong and len(rows := np.flatnonzero(np.isin(texts.codes, wrong))):
        raise problems.stop(first + int(rows[0]) + 1, Rule.NUL, "a NUL character.")


def _ranks(column: "pa.Array", problems: Problems, first: int) -> Ints:
    import pyarrow as pa  # noqa: PLC0415

    try:
        ranks = column.cast(pa.int64()).fill_null(NO_RANK).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        message = "a rank is not a whole number from 0."
        raise problems.stop(first + 1, Rule.FIELD, message) from error
    wrong = np.flatnonzero((ranks < 0) & column.is_valid().to_numpy(zero_copy_only=False))
    if len(wrong):
        row = int(wrong[0])
        message = f"the rank {int(ranks[row])} is less than 0."
        raise problems.stop(first + row + 1, Rule.FIELD, message)
    result: Ints = ranks.astype(np.int64)
    return result


def _identities(
    batch: "pa.RecordBatch", columns: dict[str, str], texts: dict[str, Coded], rank: Ints
) -> Ints:
    """A hash of everything that is read of each event; 0 without a time."""
    if "timestamp" not in columns:
        return np.zeros(len(batch), np.int64)
    time = _coded(batch.column(columns["timestamp"])).hashes()
    mixed = time.view(np.uint64) ^ rank.view(np.uint64)
    for coded in texts.values():
        mixed = mixed * MIX + coded.hashes().view(np.uint64)
    return np.where(time == 0, 0, mixed.view(np.int64) | 1)


def _size(source: Source) -> int:
    if hasattr(source, "size"):
        return int(source.size)
    return size_of(source)
