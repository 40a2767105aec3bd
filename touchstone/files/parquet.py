"""Tables as Parquet, where pyarrow is installed (the extra `parquet`)."""

import io
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Final

MEDIA_TYPE: Final = "application/vnd.apache.parquet"


def can_write_parquet() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def parquet_bytes(
    columns: Mapping[str, type], rows: Iterable[Sequence[object]], *, title: str
) -> bytes:
    """A file with a row for each row, every digit, and the title beside the schema.

    columns: str, float or int, by the columns' names; a cell may be None.
    """
    # the extra `parquet`, which not every installation has
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    kinds = {str: pa.string(), float: pa.float64(), int: pa.int64()}
    fields = [(name, kinds[kind]) for name, kind in columns.items()]
    cells = list(zip(*rows, strict=True)) or [()] * len(fields)
    arrays = [pa.array(own, kind) for own, (_, kind) in zip(cells, fields, strict=True)]
    out = io.BytesIO()
    schema = pa.schema(fields, metadata={"title": title})
    parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), out)
    return out.getvalue()
