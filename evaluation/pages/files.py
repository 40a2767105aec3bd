"""The files that a page offers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from touchstone.files.parquet import MEDIA_TYPE, can_write_parquet

Table = TypeVar("Table")
Content = TypeVar("Content", str, bytes)


@dataclass(frozen=True, slots=True)
class FileFormat(Generic[Table, Content]):
    """A format in which a table is written. name: in addresses; title: on the page."""

    name: str
    title: str
    extension: str
    media_type: str
    write: Callable[[Table], Content]


def offered(
    *formats: FileFormat[Table, str] | FileFormat[Table, bytes],
) -> Mapping[str, FileFormat[Table, str] | FileFormat[Table, bytes]]:
    """The formats that this server can write, by name."""
    can_parquet = can_write_parquet()
    return {one.name: one for one in formats if can_parquet or one.media_type != MEDIA_TYPE}
