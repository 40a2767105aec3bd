"""Logs as CSV."""

from pathlib import Path

import numpy as np
import pytest

from tests.touchstone.clicks.logs import event, read, rows, written
from touchstone.clicks.columns import Coded, EventColumns, add_columns
from touchstone.clicks.csv_log import read_csv
from touchstone.clicks.ledger import Outcome
from touchstone.clicks.log import ClickLog, LogBuilder
from touchstone.files.errors import FileRefused


def read_text(path: Path, text: str) -> ClickLog:
    path.write_text(text)
    builder = LogBuilder()
    read_csv(path, builder, name=path.name)
    return builder.log(join=False)


def test_a_csv_is_the_same_evidence_as_ubi(tmp_path: Path) -> None:
    log = read_text(
        tmp_path / "log.csv",
        "action_name,user_query,doc_id,rank,timestamp,client_id,application\n"
        "impression,shoes,d1,1,5,c,shop\n"
        "impression,shoes,d1,1,5,c,shop\n"
        'impression,"shoes, red",d1,2,5,c,shop\n'
        "click,shoes,d1,1,5,c,shop\n"
        "\n"
        "search,shoes,,,6,c,shop\n"
        "click,shoes,,1,7,c,\n"
        "click,shoes,d1,,8,c,\n"
        "click,,d1,1,9,c,\n",
    )
    records = [
        event(timestamp=5, application="shop"),
        event(timestamp=5, application="shop"),
        event(timestamp=5, application="shop", query="shoes, red", rank=2),
        event("click", timestamp=5, application="shop"),
        event("search", application="shop"),
        event("click", document=None),
        event("click", rank=None),
        event("click", query=None, query_id=None),
    ]
    same = read(written(tmp_path / "log", records))
    assert rows(log) == rows(same)
    for outcome in Outcome:
        assert log.ledger[outcome] == same.ledger[outcome], outcome
    assert [one.name for one in log.ledger.applications] == ["shop", ""]
    assert [one.actions for one in log.ledger.applications] == [
        one.actions for one in same.ledger.applications
    ]


def test_lines_without_a_time_are_never_duplicates(tmp_path: Path) -> None:
    line = "click,shoes,d,0\n"
    log = read_text(tmp_path / "log.csv", f"action,query,document,rank\n{line}{line}")
    assert rows(log) == {("shoes", "d", 0): (0, 2)}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "log.csv:1: empty: the file has no events."),
        ("action,query,rank\n", "log.csv:1: header: missing column document; needed:"),
        ("action,document,rank\n", "log.csv:1: header: missing column query; needed:"),
        (
            "action,query,user_query,document,rank\n",
            "log.csv:1: header: the column “query” appears",
        ),
        ("action,query,document,rank\nclick,a,b\n", "log.csv:2: columns: 3 columns, but"),
        ("action,query,document,rank\nclick,a,b,x\n", "log.csv:2: field: the rank “x” is not"),
        ("action,query,document,rank\nclick,a,b,-1\n", "log.csv:2: field: the rank “-1” is not"),
        ('action,query,document,rank\nclick,"a,b,1\n', "log.csv:2: columns: a quotation mark"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_rule(
    text: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(FileRefused) as refused:
        read_text(tmp_path / "log.csv", text)
    assert str(refused.value).startswith(problem)


def test_columns_of_different_lengths_are_refused() -> None:
    none = Coded.of([None])
    columns = EventColumns(none, none, none, np.array([1, 2]), none, none, np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="one entry per event"):
        add_columns(LogBuilder(), columns)
