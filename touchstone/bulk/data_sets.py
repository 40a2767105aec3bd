"""Parquet on disk: files, folders, globs and Hive partitions, as files with their row groups."""

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.bulk.columns import Kind, RowsOf, columns_of, kind_of, normalised
from touchstone.bulk.errors import BulkRefused, BulkUnreadable
from touchstone.bulk.plan import Plan

SUFFIXES: Final = (".parquet", ".parq", ".pq")  # of the files that are read in folders
NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
ROWS_AT_ONCE: Final = 1 << 17  # decoded at a time

# What marks a folder as a table whose files are not all current, and its format.
_TABLES: Final = {"_delta_log": "Delta", "metadata/version-hint.text": "Iceberg"}


@dataclass(frozen=True)
class DataFile:
    """One Parquet file. groups: the rows of each row group.

    constants: what its folders say of every row, `day=2026-11-01`; None: no value.
    filesystem: pyarrow's, where the path is in one; None: on disk.
    """

    path: str
    groups: tuple[int, ...]
    constants: Mapping[str, str | int | None] = field(default_factory=dict)
    filesystem: Any = None

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(self.groups)


@dataclass(frozen=True)
class Portion:
    """Row groups of one file. judgments: as in `columns.normalised`."""

    file: DataFile
    groups: tuple[int, ...]
    judgments: bool | None

    @property
    def rows(self) -> int:
        """How many rows they have."""
        return sum(self.file.groups[group] for group in self.groups)


@dataclass(frozen=True)
class DataSet:
    """Files of one kind. judgments: as in `columns.normalised`.

    has_segments: whether they have the columns of --by. kinds: of the documents, and of queries of
    one column, whether they are numbers or text.
    """

    files: tuple[DataFile, ...]
    judgments: bool | None
    has_segments: bool
    kinds: Mapping[str, Kind]

    @property
    def rows(self) -> int:
        """How many rows the files have."""
        return sum(file.rows for file in self.files)


def read_data_set(paths: Sequence[str], plan: Plan, *, judgments: bool | None) -> DataSet:
    """The files of a data set, in the order of their paths; only their footers are read.

    paths: files, folders (all files in them, at any depth, that end in .parquet, .parq or .pq and
    are not hidden by a dot or an underscore), or globs. judgments: as in `columns.normalised`.
    Raises BulkRefused for what is not there or not Parquet, for a file without a column that the
    plan names, for ids that are numbers in one file and text in another, for a file named twice.
    """
    return read_files(list(_files(paths)), plan, judgments=judgments)


def read_files(
    paths: Sequence[str], plan: Plan, *, judgments: bool | None, filesystem: Any = None
) -> DataSet:
    """The data set that these files are; only their footers are read.

    filesystem: pyarrow's, in which the paths are; None: on disk. judgments: as in
    `columns.normalised`. Raises as `read_data_set` does.
    """
    constants = _typed([_constants(path) for path in paths])
    needed = columns_of(plan, judgments=judgments)
    files: list[DataFile] = []
    with_segments = 0
    kinds: dict[str, Kind] = {}
    for path, own in zip(paths, constants, strict=True):
        file, schema = _opened(path, own, filesystem)
        _check_columns(schema, [*needed, *(plan.by if judgments is None else ())], path)
        with_segments += all(name in schema.names for name in plan.by)
        for name in _ids(plan):
            kind = kind_of(schema.field(name).type, name, path)
            if kinds.setdefault(name, kind) != kind:
                message = f"{path}: column {name!r} is {kind}, in other files {kinds[name]}"
                raise BulkRefused(message)
        files.append(file)
    if 0 < with_segments < len(files):
        raise BulkRefused(f"some files of {paths[0]} have {', '.join(plan.by)}, others do not")
    return DataSet(tuple(files), judgments, bool(plan.by and with_segments), kinds)


def _ids(plan: Plan) -> list[str]:
    # queries of several columns become text, whatever those hold
    return [plan.document, *(plan.query if len(plan.query) == 1 else ())]


def portions(
    data_set: DataSet, *, rows: int, whole_files: bool = False
) -> Iterator[tuple[Portion, ...]]:
    """All row groups, some together that have about so many rows.

    Small files go together, large ones are split unless `whole_files`.
    """
    own: list[Portion] = []
    for file in data_set.files:
        for groups in _splits(file, file.rows if whole_files else rows):
            own.append(Portion(file, groups, data_set.judgments))
            if sum(portion.rows for portion in own) >= rows:
                yield tuple(own)
                own = []
    if own:
        yield tuple(own)


def _splits(file: DataFile, rows: int) -> Iterator[tuple[int, ...]]:
    """The file's row groups, in runs that reach so many rows."""
    groups: list[int] = []
    for group in range(len(file.groups)):
        groups.append(group)
        if sum(file.groups[one] for one in groups) >= rows:
            yield tuple(groups)
            groups = []
    if groups:
        yield tuple(groups)


def read_portion(portion: Portion, plan: Plan) -> Iterator[Any]:
    """Record batches with the kernel's columns. Raises BulkRefused, naming the file."""
    file = portion.file
    wanted = [*columns_of(plan, judgments=portion.judgments), *plan.by]
    try:
        with pq.ParquetFile(file.path, filesystem=file.filesystem) as opened:
            there = set(opened.schema_arrow.names) - set(file.constants)
            batches = opened.iter_batches(
                ROWS_AT_ONCE,
                row_groups=list(portion.groups),
                columns=[name for name in dict.fromkeys(wanted) if name in there],
                use_threads=False,
            )
            first = sum(file.groups[: portion.groups[0]]) if portion.groups else 0
            for batch in batches:
                whole = _with_constants(batch, file.constants, wanted)
                where = RowsOf(file.path, first)
                yield normalised(whole, plan, where=where, judgments=portion.judgments)
                first += batch.num_rows
    except OSError as error:
        raise BulkUnreadable(f"{file.path}: {_in_short(error)}") from None
    except pa.ArrowException as error:
        raise BulkRefused(f"{file.path}: {_in_short(error)}") from None


def _files(paths: Sequence[str]) -> Iterator[str]:
    taken: set[Path] = set()
    for named in paths:
        path = Path(named)
        matches = [named] if path.exists() else sorted(glob.glob(named, recursive=True))  # noqa: PTH207 -- may be absolute
        result = [file for match in matches for file in _files_in(Path(match))]
        if not result:
            raise BulkRefused(f"{named}: no Parquet file found")
        for file in result:
            if file.resolve() in taken:
                raise BulkRefused(f"{file}: named twice, its rows would count twice")
            taken.add(file.resolve())
            yield str(file)


def _files_in(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    for mark in _TABLES:
        if (path / mark).exists():
            check_no_table([f"{path}/{mark}"], str(path))
    return sorted(
        file
        for file in path.rglob("*")
        if is_data(file.relative_to(path).as_posix()) and file.is_file()
    )


def is_data(path: str) -> bool:
    """Whether a file of a folder is read: the name of a Parquet file, no part of it hidden.

    path: below the folder, with slashes.
    """
    parts = path.split("/")
    return parts[-1].endswith(SUFFIXES) and not any(one.startswith((".", "_")) for one in parts)


def check_no_table(paths: Iterable[str], folder: str) -> None:
    """Raises BulkRefused if these paths of a folder mark it as a Delta or Iceberg table."""
    for path in paths:
        for mark, table in _TABLES.items():
            if path == f"{folder}/{mark}" or path.startswith(f"{folder}/{mark}/"):
                raise BulkRefused(
                    f"{folder}: a {table} table; not all of its files are current. Read it with "
                    "Spark and touchstone.bulk.spark.evaluate"
                )


def _constants(path: str) -> dict[str, str | None]:
    """The parts of a path that look like `column=value`, by column."""
    folders = [part.partition("=") for part in Path(path).parts[:-1]]
    return {
        name: None if value == NO_VALUE else unquote(value)
        for name, is_one, value in folders
        if is_one and name
    }


def _typed(constants: Sequence[Mapping[str, str | None]]) -> list[dict[str, str | int | None]]:
    """Whole numbers as such, for columns that have no other values."""
    values: dict[str, list[str]] = {}
    for own in constants:
        for name, value in own.items():
            values.setdefault(name, []).extend([] if value is None else [value])
    # 007 stays a text: as a number it would be another id
    numbers = {
        name for name, own in values.items() if own and all(_is_plain_number(one) for one in own)
    }
    return [
        {
            name: int(value) if value is not None and name in numbers else value
            for name, value in own.items()
        }
        for own in constants
    ]


def _is_plain_number(text: str) -> bool:
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) < 19
    return is_number and str(int(text)) == text


def _opened(
    path: str, constants: Mapping[str, str | int | None], filesystem: Any
) -> tuple[DataFile, pa.Schema]:
    """A file, and its columns with those that its folders say."""
    try:
        with pq.ParquetFile(path, filesystem=filesystem) as opened:
            footer = opened.metadata
            groups = tuple(footer.row_group(g).num_rows for g in range(footer.num_row_groups))
            schema = opened.schema_arrow
    except OSError as error:
        raise BulkUnreadable(f"{path}: {_in_short(error)}") from None
    except pa.ArrowException as error:
        raise BulkRefused(f"{path}: {_in_short(error)}") from None
    fields = [own for own in schema if own.name not in constants]
    fields += [pa.field(name, _type_of(value)) for name, value in constants.items()]
    return DataFile(path, groups, constants, filesystem), pa.schema(fields)


def _type_of(constant: str | int | None) -> pa.DataType:
    return pa.int64() if isinstance(constant, int) else pa.large_string()


def _in_short(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def _check_columns(schema: pa.Schema, names: Iterable[str], path: str) -> None:
    for name in names:
        if name not in schema.names:
            known = ", ".join(schema.names)
            raise BulkRefused(f"{path}: no column {name!r}; available: {known}")
        if schema.names.count(name) > 1:
            raise BulkRefused(f"{path}: there are two columns {name!r}")


def _with_constants(
    batch: pa.RecordBatch, constants: Mapping[str, str | int | None], wanted: Iterable[str]
) -> pa.RecordBatch:
    for name in wanted:
        if name in constants and name not in batch.schema.names:
            constant = pa.scalar(constants[name], _type_of(constants[name]))
            batch = batch.append_column(name, pa.repeat(constant, batch.num_rows))
    return batch
