"""Tables as Parquet, where pyarrow is installed (the extra `parquet`)."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final

MEDIA_TYPE: Final = "application/vnd.apache.parquet"
GROUP: Final = 20_000  # rows of a row group


def can_write_parquet() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def parquet_bytes(
    columns: Mapping[str, type], rows: Iterable[Sequence[object]], *, title: str
) -> bytes:
    """A file with a row for each row, every digit, and the title beside the schema.

    columns: str, float, int, bool or datetime (in UTC), by the columns' names; a cell may be None.
    """
    return b"".join(parquet_chunks(columns, rows, title=title))


def parquet_chunks(
    columns: Mapping[str, type], rows: Iterable[Sequence[object]], *, title: str
) -> Iterator[bytes]:
    """The file of `parquet_bytes` in parts, of which each needs GROUP rows in memory."""
    # the extra `parquet`, which not every installation has
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    kinds = {
        str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_(),
        datetime: pa.timestamp("us", tz="UTC"),
    }  # fmt: skip
    schema = pa.schema(
        [(name, kinds[kind]) for name, kind in columns.items()], metadata={"title": title}
    )
    out = _Parts()
    left = iter(rows)
    with parquet.ParquetWriter(out, schema) as writer:
        while group := list(islice(left, GROUP)):
            cells = zip(*group, strict=True)
            arrays = [pa.array(own, kind) for own, kind in zip(cells, schema.types, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            yield from out.take()
    yield from out.take()


class _Parts(io.RawIOBase):
    """What pyarrow writes to: it holds the parts until they are taken."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self.parts.append(bytes(part))
        self.size += len(self.parts[-1])
        return len(self.parts[-1])

    def tell(self) -> int:
        return self.size

    def take(self) -> list[bytes]:
        taken, self.parts = self.parts, []
        return taken
