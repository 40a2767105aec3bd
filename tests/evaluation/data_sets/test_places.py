"""Which files a data set may be: in an administrator's places, and nowhere else."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import fs

from evaluation.data_sets.places import (
    FoundFile,
    Place,
    PlaceRefused,
    check_file,
    find_files,
    find_place,
    read_places,
)
from tests.touchstone.bulk.builders import table, written
from touchstone.bulk.errors import BulkRefused, BulkUnreadable

ROWS = table([("q1", "d1", 1.0, 1)])
STORE = "s3://lake/touchstone"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    written(ROWS, tmp_path / "lake" / "day=1" / "a.parquet")
    written(ROWS, tmp_path / "secret" / "b.parquet")
    return tmp_path / "lake"


def names(address: Path | str, *places: Place) -> list[str]:
    found = find_files(str(address), places)
    return [Path(file.path).name for file in found.files]


@pytest.mark.parametrize(
    "entry",
    [
        *("lake", "./lake", "/", "/srv/../etc", "/srv//lake", "file:///srv", "http://lake/x"),
        *("s3://", "s3:///lake", "s3://key:secret@lake", "s3://lake/../other", "ftp://lake"),
        "s3://lake#x",
    ],
)
def test_what_can_be_no_place(entry: str) -> None:
    with pytest.raises(ValueError, match=r"^" + entry[:3]):
        read_places([entry])


def test_places_are_folders_and_prefixes() -> None:
    entries = [" /srv/lake/ ", "", "s3://lake/a?endpoint_override=minio:9000&scheme=http"]
    assert read_places([*entries, "gs://b", "abfss://c@account/x"]) == (
        Place("/srv/lake"),
        Place("s3://lake/a", "?endpoint_override=minio:9000&scheme=http"),
        Place("gs://b"),
        Place("abfss://c@account/x"),
    )


@pytest.mark.parametrize(
    "address",
    [
        *("/srv/lake/../secret", "/srv/lake/./x", "/srv/lake//x", "/srv/lakes", "/srv", "/", ""),
        *("srv", "file:///srv/lake", "file:/srv/lake", "FILE:///srv/lake", "/srv/lake/\x00"),
        *("/srv/lake/\n", "/srv/lake\\..\\x", "/srv/lake/" + "x" * 1_000, "s3://other/x"),
        *("s3://lake/touch", f"{STORE}?endpoint_override=evil", f"{STORE}/x?y=z"),
        *(f"{STORE}/../x", f"{STORE}/#x", f"S3{STORE[2:]}/x", "s3://key@lake/touchstone"),
        f"{STORE}/{'x' * 1_000}",
    ],
)
def test_addresses_outside_of_all_places_are_refused(address: str) -> None:
    with pytest.raises(PlaceRefused):
        find_place(address, read_places(["/srv/lake", STORE]))


def test_without_places_the_feature_is_off_and_says_how_to_turn_it_on() -> None:
    with pytest.raises(PlaceRefused, match="TOUCHSTONE_DATA_SETS"):
        find_place("/srv/lake", ())


def test_the_innermost_place_is_meant() -> None:
    places = read_places(["/srv/lake", "/srv/lake/a", f"{STORE}?region=x"])
    assert find_place("/srv/lake/a/b", places).address == "/srv/lake/a"
    assert find_place("/srv/lake", places).address == "/srv/lake"
    assert find_place(f"{STORE}/x y=1", places).options == "?region=x"


def test_files_of_a_folder_are_found_at_any_depth(lake: Path) -> None:
    for name in ("b.parquet", "_temporary/c.parquet", ".d.parquet", "notes.txt"):
        written(ROWS, lake / name)
    place = Place(str(lake))
    assert names(lake, place) == ["b.parquet", "a.parquet"]
    assert names(lake / "b.parquet", place) == ["b.parquet"]


def test_links_out_of_the_place_are_refused(lake: Path) -> None:
    place = Place(str(lake))
    (lake / "out").symlink_to(lake.parent / "secret")
    for address in (lake, lake / "out", lake / "out" / "b.parquet"):
        with pytest.raises(PlaceRefused, match="a link"):
            find_files(str(address), [place])
    (lake / "out").unlink()
    (lake / "b.parquet").symlink_to(lake.parent / "secret" / "b.parquet")
    for address in (lake, lake / "b.parquet"):
        with pytest.raises(PlaceRefused, match="a link out"):
            find_files(str(address), [place])


def test_a_place_may_be_a_link_itself_and_a_link_in_it_stays_in_it(lake: Path) -> None:
    link = lake.parent / "link"
    link.symlink_to(lake)
    assert names(link, Place(str(link))) == ["a.parquet"]
    (lake / "b.parquet").symlink_to(lake / "day=1" / "a.parquet")
    with pytest.raises(BulkRefused, match="two names lead to one file"):
        names(lake, Place(str(lake)))
    assert names(lake / "b.parquet", Place(str(lake))) == ["b.parquet"]


def test_a_file_that_becomes_a_link_out_after_it_was_listed_is_not_read(lake: Path) -> None:
    place = Place(str(lake))
    found = find_files(str(lake), [place])
    check_file(found.files[0], None, place)
    own = lake / "day=1" / "a.parquet"
    own.unlink()
    own.symlink_to(lake.parent / "secret" / "b.parquet")
    with pytest.raises(PlaceRefused, match="a link out"):
        check_file(found.files[0], None, place)


def test_a_file_that_changed_is_not_read(lake: Path) -> None:
    place = Place(str(lake))
    found = find_files(str(lake), [place])
    os.utime(found.files[0].path, (1, 1))
    with pytest.raises(BulkRefused, match="changed"):
        check_file(found.files[0], None, place)


def test_what_is_not_there_or_no_parquet(lake: Path) -> None:
    place = Place(str(lake))
    with pytest.raises(BulkUnreadable, match="no such file"):
        find_files(str(lake / "other"), [place])
    (lake / "empty").mkdir()
    with pytest.raises(BulkRefused, match="no Parquet"):
        find_files(str(lake / "empty"), [place])
    (lake / "delta" / "_delta_log").mkdir(parents=True)
    with pytest.raises(BulkRefused, match="Delta"):
        find_files(str(lake), [place])


def test_an_iceberg_table_is_refused(lake: Path) -> None:
    (lake / "metadata").mkdir()
    (lake / "metadata" / "version-hint.text").write_text("1")
    with pytest.raises(BulkRefused, match="Iceberg"):
        find_files(str(lake), [Place(str(lake))])


@dataclass(frozen=True)
class FolderAsStore(Place):
    """An object store that is a folder."""

    folder: str = ""

    def opened(self) -> tuple[Any, str]:
        return fs.SubTreeFileSystem(self.folder, fs.LocalFileSystem()), "touchstone"


def test_object_stores_are_read_through_pyarrow(tmp_path: Path) -> None:
    written(ROWS, tmp_path / "touchstone" / "x" / "day=1" / "a.parquet")
    written(ROWS, tmp_path / "touchstone" / "x" / "_b.parquet")
    place = FolderAsStore(STORE, folder=str(tmp_path))
    found = find_files(f"{STORE}/x", [place])
    assert [file.path for file in found.files] == ["touchstone/x/day=1/a.parquet"]
    assert found.files[0].size > 0
    check_file(found.files[0], found.filesystem, place)
    with pytest.raises(BulkRefused, match="changed"):
        check_file(FoundFile(found.files[0].path, 1, "1"), found.filesystem, place)
    assert find_files(f"{STORE}/x/day=1/a.parquet", [place]).files == found.files
    with pytest.raises(BulkUnreadable, match="no such file"):
        find_files(f"{STORE}/y", [place])
    (tmp_path / "touchstone" / "x" / "_delta_log").mkdir()
    with pytest.raises(BulkRefused, match="Delta"):
        find_files(f"{STORE}/x", [place])


def test_rows_from_an_object_store_are_those_of_the_files(tmp_path: Path) -> None:
    from evaluation.data_sets.plans import Columns, check_columns

    rows = table([("q1", "d1", 1.0, 1), ("q1", "d2", float("nan"), 0)])
    written(pa.concat_tables([ROWS, rows]), tmp_path / "touchstone" / "a.parquet")
    columns = Columns(
        rankings=STORE,
        judgments="",
        query=("query",),
        document="document",
        score="score",
        grade="grade",
        signals="",
        measures="nDCG@10",
        segments=(),
        day="",
    )
    with pytest.raises(BulkRefused, match=r"a\.parquet: 1 rows have a score that is NaN.*row 3"):
        check_columns(columns, [FolderAsStore(STORE, folder=str(tmp_path))])
