"""Files, folders, globs and Hive partitions, and what is refused of them."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.touchstone.bulk.builders import counts, plan, table, written
from touchstone.bulk.counts import report
from touchstone.bulk.data_sets import portions, read_data_set
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.local import evaluate

ROWS = [(f"u{n % 5}", f"d{n}", n / 7, n % 3) for n in range(40)]


def evaluated(*paths: object) -> dict[str, object]:
    return report(plan(), evaluate(plan(), [str(path) for path in paths]))


def test_a_folder_is_all_its_files_at_any_depth_but_hidden_ones(tmp_path: Path) -> None:
    written(table(ROWS[:10]), tmp_path / "a.parquet")
    written(table(ROWS[10:20]), tmp_path / "deep" / "er" / "b.snappy.parquet")
    written(table(ROWS[20:]), tmp_path / "deep" / "c.pq")
    written(table(ROWS), tmp_path / "_temporary" / "d.parquet")
    written(table(ROWS), tmp_path / ".e.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "README.md").write_text("not Parquet")
    expected = report(plan(), counts(ROWS, plan()))
    assert evaluated(tmp_path) == expected
    assert evaluated(tmp_path / "[ad]*") == expected
    assert evaluated(tmp_path / "a.parquet", tmp_path / "deep") == expected


def test_a_file_by_name_needs_no_ending(tmp_path: Path) -> None:
    assert evaluated(written(table(ROWS), tmp_path / "part-0"))["rows"] == 40


def test_folders_say_columns_of_their_rows(tmp_path: Path) -> None:
    for day in ("2026-11-01", "2026-11-02"):
        for shard in (7, 10):
            rows = table([(f"u{day}{shard}", "d", 0.5, 1)])
            written(rows, tmp_path / f"day={day}" / f"shard={shard}" / "a.parquet")
    written(table([("u", "d", 0.5, 1)]), tmp_path / "day=__HIVE_DEFAULT_PARTITION__" / "a.parquet")
    with pytest.raises(BulkRefused, match="no column 'shard'; available"):
        evaluate(plan(by="shard"), [str(tmp_path)])
    asked = plan("RR", by="day")
    found = report(asked, evaluate(asked, [str(tmp_path)]))["segments"]
    assert {name: own["queries"] for name, own in found.items()} == {
        "": 1,
        "2026-11-01": 2,
        "2026-11-02": 2,
    }
    asked = plan("RR", by=("day", "shard"))
    found = report(asked, evaluate(asked, [f"{tmp_path}/day=2*"]))["segments"]
    assert list(found) == [f"2026-11-0{day}, {shard}" for day in (1, 2) for shard in (10, 7)]


def test_a_partition_can_be_the_query_and_its_value_is_read_as_it_was_escaped(
    tmp_path: Path,
) -> None:
    rows = table(ROWS[:1]).drop_columns(["query"])
    for value in ("a%2Fb", "007"):
        written(rows, tmp_path / f"query={value}" / "a.parquet")
    asked = plan("RR", by="query")
    assert list(report(asked, evaluate(asked, [str(tmp_path)]))["segments"]) == ["007", "a/b"]


def test_what_a_folder_says_wins_over_what_its_files_say(tmp_path: Path) -> None:
    path = written(table([(*row, "old") for row in ROWS], "day"), tmp_path / "day=new" / "a.pq")
    asked = plan(by="day")
    assert list(report(asked, evaluate(asked, [path]))["segments"]) == ["new"]


def test_columns_may_lie_in_any_order_and_have_other_types_in_other_files(tmp_path: Path) -> None:
    one, other = table(ROWS[:20]), table(ROWS[20:])
    other = other.set_column(2, "score", other.column("score").cast(pa.float64()))
    other = other.set_column(3, "grade", other.column("grade").cast(pa.int8()))
    other = other.set_column(0, "query", other.column("query").dictionary_encode())
    written(one, tmp_path / "a.parquet")
    written(other.select(["grade", "document", "score", "query"]), tmp_path / "b.parquet")
    assert evaluated(tmp_path) == report(plan(), counts(ROWS, plan()))


def test_what_is_not_there_or_not_parquet_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BulkRefused, match="nowhere: no Parquet file"):
        evaluated(tmp_path / "nowhere")
    with pytest.raises(BulkRefused, match=r"none\*: no Parquet file"):
        evaluated(tmp_path / "none*")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BulkRefused, match="empty: no Parquet file"):
        evaluated(tmp_path / "empty")
    (tmp_path / "a.parquet").write_text("query,document\n")
    with pytest.raises(BulkRefused, match=r"a\.parquet: Parquet"):
        evaluated(tmp_path / "a.parquet")


def test_a_damaged_file_is_refused_by_name(tmp_path: Path) -> None:
    path = Path(written(table(ROWS * 500), tmp_path / "a.parquet", use_dictionary=False))
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = b"\xff" * (len(content) // 2 - 4)
    path.write_bytes(content)
    with pytest.raises(BulkRefused, match=r"a\.parquet: "):
        evaluated(path)


def test_a_file_without_a_column_is_refused_by_name(tmp_path: Path) -> None:
    """Readers of data sets fill such a column with nulls: rows that no one ranked."""
    written(table(ROWS), tmp_path / "a.parquet")
    written(table(ROWS).drop_columns(["score"]), tmp_path / "b.parquet")
    with pytest.raises(BulkRefused, match=r"b\.parquet: no column 'score'; available: q"):
        evaluated(tmp_path)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    rows = table(ROWS)
    twice = pa.Table.from_arrays([*rows.columns, rows.column(2)], [*rows.column_names, "score"])
    pq.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(BulkRefused, match="there are two columns 'score'"):
        evaluated(tmp_path)


def test_numbers_in_one_file_and_text_in_another_are_refused(tmp_path: Path) -> None:
    written(table(ROWS), tmp_path / "a.parquet")
    written(table([(1, "d", 0.5, 1)]), tmp_path / "b.parquet")
    with pytest.raises(BulkRefused, match=r"b\.parquet: column 'query' is number, in other files"):
        evaluated(tmp_path)


def test_a_file_named_twice_is_refused(tmp_path: Path) -> None:
    path = written(table(ROWS), tmp_path / "a.parquet")
    with pytest.raises(BulkRefused, match=r"a\.parquet: named twice"):
        evaluated(tmp_path, path)


@pytest.mark.parametrize(
    ("mark", "name"), [("_delta_log", "Delta"), ("metadata/version-hint.text", "Iceberg")]
)
def test_a_table_whose_files_are_not_all_current_is_refused(
    tmp_path: Path, mark: str, name: str
) -> None:
    written(table(ROWS), tmp_path / "a.parquet")
    (tmp_path / mark).mkdir(parents=True)
    with pytest.raises(BulkRefused, match=f"a {name} table; not all of its files are current"):
        evaluated(tmp_path)


def test_problems_of_a_row_name_its_file(tmp_path: Path) -> None:
    written(table(ROWS), tmp_path / "a.parquet")
    bad = table([(None, "d", 0.5, 1)])
    bad = bad.set_column(0, "query", bad.column("query").cast(pa.string()))
    written(bad, tmp_path / "b.parquet")
    with pytest.raises(BulkRefused, match=r"b\.parquet: 1 rows have no query \(null\)"):
        evaluated(tmp_path)


def test_portions_hold_all_row_groups_once(tmp_path: Path) -> None:
    for n in range(5):
        rows = table([(n, place, 0.5, 1) for place in range(100 * (n + 1))])
        written(rows, tmp_path / f"{n}.parquet", row_group_size=60)
    files = read_data_set([str(tmp_path)], plan(), judgments=None)
    assert files.rows == 1_500
    for rows_of_one in (1, 150, 400, 10_000):
        found = list(portions(files, rows=rows_of_one))
        groups = [(one.file.path, group) for part in found for one in part for group in one.groups]
        every = [(file.path, group) for file in files.files for group in range(len(file.groups))]
        assert groups == every
        assert all(sum(one.rows for one in part) >= rows_of_one for part in found[:-1])
        assert all(sum(one.rows for one in part) < 2 * rows_of_one + 60 for part in found)
        whole = list(portions(files, rows=rows_of_one, whole_files=True))
        assert [one.file for part in whole for one in part] == list(files.files)
