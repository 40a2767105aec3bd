"""Where data sets may be: an administrator's list of folders and prefixes of object stores."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from touchstone.bulk.errors import BulkRefused, BulkUnreadable, check_pyarrow
from touchstone.errors import DomainError

LONGEST: Final = 1_000  # characters of an address
MOST_FILES: Final = 20_000
OFF: Final = (
    "This server reads no data sets. An administrator allows folders and object stores by listing "
    "them in TOUCHSTONE_DATA_SETS."
)

_STORE: Final = re.compile(
    r"(?P<scheme>s3|gs|abfss?)://(?P<path>[^/?#\s:][^?#\s:]*)(?P<options>\?[^#\s]*)?", re.ASCII
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class PlaceRefused(DomainError):
    """This address may not be read, or is not there."""

    def __init__(self, message: str) -> None:
        super().__init__("place_refused", message)


@dataclass(frozen=True)
class Place:
    """A folder or a prefix, with everything below it.

    address: as people write it. options: of an object store, such as
    `?endpoint_override=…`, which only an administrator sets.
    """

    address: str
    options: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether it is on the server's own disks."""
        return self.address.startswith("/")

    def holds(self, address: str) -> bool:
        """Whether an address without `.` and `..` is here."""
        return address == self.address or address.startswith(f"{self.address}/")

    def opened(self) -> tuple[Any, str]:
        """pyarrow's file system of an object store, and the prefix in it."""
        from pyarrow import fs  # noqa: PLC0415  (an extra, and slow to import)

        try:
            filesystem, prefix = fs.FileSystem.from_uri(f"{self.address}{self.options}")
        except (OSError, ValueError) as error:
            raise BulkUnreadable(f"{self.address}: {error}") from error
        return filesystem, str(prefix)


@dataclass(frozen=True)
class FoundFile:
    """A file of a data set. changed: its time of change, as the file system has it."""

    path: str
    size: int
    changed: str


@dataclass(frozen=True)
class Found:
    """The files at an address. filesystem: pyarrow's; None: the server's disks."""

    files: tuple[FoundFile, ...]
    filesystem: Any


def read_places(entries: Iterable[str]) -> tuple[Place, ...]:
    """The administrator's list. Raises ValueError for an entry that can't be one."""
    return tuple(_place(entry.strip()) for entry in entries if entry.strip())


def _place(entry: str) -> Place:
    if entry.startswith("/"):
        address = entry.rstrip("/")
        if not address or _odd(address.split("/")[1:]):
            raise ValueError(f"{entry}: name a folder other than / itself, without . and ..")
        return Place(address)
    match = _STORE.fullmatch(entry)
    if match is None:
        raise ValueError(
            f"{entry}: an absolute path, or s3://bucket/prefix, gs://… or abfs://…; credentials "
            "come from the environment"
        )
    path = match["path"].rstrip("/")
    if _odd(path.split("/")):
        raise ValueError(f"{entry}: an address has no empty parts, no . and no ..")
    return Place(f"{match['scheme']}://{path}", match["options"] or "")


def _odd(parts: Sequence[str]) -> bool:
    return any(part in ("", ".", "..") for part in parts)


def find_place(address: str, places: Sequence[Place]) -> Place:
    """The place that an address is in: the innermost. Raises PlaceRefused.

    Only the text is looked at; where links lead is checked when files are listed and read.
    """
    if not places:
        raise PlaceRefused(OFF)
    if len(address) > LONGEST or _CONTROL.search(address):
        raise PlaceRefused(f"An address has at most {LONGEST} characters, none of them invisible.")
    scheme, is_url, path = address.rpartition("://")
    if scheme == "file" or address.startswith("file:"):
        raise PlaceRefused("Enter the path alone, without file:, as in /srv/lake/interactions.")
    if is_url and ("?" in address or "#" in address):
        raise PlaceRefused("An address has no ? and no #.")
    if _odd((path if is_url else path.removeprefix("/")).split("/")):
        raise PlaceRefused("An address has no empty parts, no . and no ..")
    result = [place for place in places if place.holds(address)]
    if not result:
        allowed = ", ".join(place.address for place in places)
        raise PlaceRefused(f"{address} is not in a place that an administrator allows: {allowed}")
    return max(result, key=lambda place: len(place.address))


def find_files(address: str, places: Sequence[Place]) -> Found:
    """The Parquet files at an address: the file, or all in the folder, at any depth.

    Raises PlaceRefused, also for a link that leads out of the place; BulkRefused for a folder
    without Parquet, and for a Delta or Iceberg table; BulkUnreadable for what is not there.
    """
    check_pyarrow()
    place = find_place(address, places)
    found = _on_disk(address, place) if place.is_folder else _in_store(address, place)
    if not found.files:
        raise BulkRefused(f"{address}: no Parquet file found")
    return found


def check_file(found: FoundFile, filesystem: Any, place: Place) -> None:
    """Raises BulkRefused for a file that is not what was listed, PlaceRefused for a link out."""
    now = _on_disk_file(Path(found.path), place) if filesystem is None else None
    if now is None:
        now = _in_store_file(filesystem.get_file_info(found.path))
    if now != found:
        raise BulkRefused(f"{found.path}: changed after the evaluation began")


def _on_disk(address: str, place: Place) -> Found:
    top = _inside(Path(address), place)
    if top.is_file():
        return Found((_on_disk_file(Path(address), place),), None)
    files = sorted(_walk(Path(address), place))
    targets = {path.resolve(): path for path in files}
    if len(targets) < len(files):
        raise BulkRefused(f"{address}: two names lead to one file; its rows would count twice")
    return Found(tuple(_on_disk_file(path, place) for path in files), None)


def _walk(top: Path, place: Place) -> Iterator[Path]:
    from touchstone.bulk.data_sets import check_no_table, is_data  # noqa: PLC0415  (an extra)

    number = 0
    for folder, folders, names in os.walk(top):
        for name in folders:
            if (Path(folder) / name).is_symlink():
                raise PlaceRefused(f"{folder}/{name}: a link to a folder; links are not followed")
        check_no_table((f"{folder}/{name}" for name in folders), folder)
        check_no_table((f"{folder}/{name}" for name in ("metadata/version-hint.text",)
                        if (Path(folder) / name).exists()), folder)  # fmt: skip
        for name in names:
            path = Path(folder) / name
            if is_data(path.relative_to(top).as_posix()) and path.is_file():
                number += 1
                _check_number(number, str(top))
                yield path


def _on_disk_file(path: Path, place: Place) -> FoundFile:
    try:
        state = _inside(path, place).stat()
    except OSError as error:
        raise BulkUnreadable(f"{path}: {error.strerror}") from error
    return FoundFile(str(path), state.st_size, str(state.st_mtime_ns))


def _inside(path: Path, place: Place) -> Path:
    """Where a path leads. Raises PlaceRefused where that is outside, BulkUnreadable if nowhere."""
    try:
        result = path.resolve(strict=True)
        root = Path(place.address).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise BulkUnreadable(f"{path}: no such file or folder") from error
    if not result.is_relative_to(root):
        raise PlaceRefused(f"{path}: a link out of {place.address}")
    return result


def _in_store(address: str, place: Place) -> Found:
    from pyarrow import fs  # noqa: PLC0415

    from touchstone.bulk.data_sets import check_no_table, is_data  # noqa: PLC0415

    filesystem, prefix = place.opened()
    path = f"{prefix.rstrip('/')}{address.removeprefix(place.address)}"
    try:
        own = filesystem.get_file_info(path)
        if own.type == fs.FileType.File:
            return Found((_in_store_file(own),), filesystem)
        if own.type != fs.FileType.Directory:
            raise BulkUnreadable(f"{address}: no such file or folder")
        below = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
    except OSError as error:
        raise BulkUnreadable(f"{address}: {error}") from error
    check_no_table((one.path for one in below), path)
    files = sorted(
        (_in_store_file(one) for one in below
         if one.type == fs.FileType.File and is_data(one.path.removeprefix(f"{path}/"))),
        key=lambda one: one.path,
    )  # fmt: skip
    _check_number(len(files), address)
    return Found(tuple(files), filesystem)


def _in_store_file(info: Any) -> FoundFile:
    return FoundFile(info.path, info.size or 0, str(info.mtime_ns))


def _check_number(number: int, address: str) -> None:
    if number > MOST_FILES:
        raise BulkRefused(f"{address}: more than {MOST_FILES:,} files; write larger ones")
