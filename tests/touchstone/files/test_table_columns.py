"""Queries and documents as CSV: which column is what, and what the first bytes tell of it."""

import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.files.collections import read_documents, read_queries
from touchstone.files.errors import FileRefused
from touchstone.files.table_columns import (
    DOCUMENT_PARTS,
    LEFT_OUT,
    QUERY_PARTS,
    guess_parts,
    plain_name,
)
from touchstone.files.table_preview import HEAD, preview_file


def queries(text: str, columns: dict[str, str] | None = None):
    columns = columns or {}
    return list(read_queries(io.BytesIO(text.encode()), name="q.csv", columns=columns))


def documents(text: str, columns: dict[str, str] | None = None):
    columns = columns or {}
    return list(read_documents(io.BytesIO(text.encode()), name="d.csv", columns=columns))


@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_columns_are_told_by_their_names_in_any_order(separator: str) -> None:
    lines = ["Search term,Category,QID,Frequency,Remark", "red shoes,shoes,q1,12,", "hat,,q2,,new"]
    found = queries("\n".join(lines).replace(",", separator))
    assert [(one.query_id, one.text, one.segment, one.weight) for one in found] == [
        ("q1", "red shoes", "shoes", 12.0), ("q2", "hat", "", 1.0),
    ]  # fmt: skip
    assert [one.line for one in found] == [2, 3]


def test_what_is_no_part_of_a_document_is_a_field_of_it() -> None:
    (found,) = documents("Product ID,Name,Description,Price\n7,Shoe,A shoe,12\n")
    assert (found.doc_id, found.title, found.text) == ("7", "Shoe", "A shoe")
    assert found.fields == {"Price": "12"}
    (both,) = documents("id,title,text,description\n7,Shoe,long,short\n")
    assert (both.text, both.fields) == ("long", {"description": "short"})


def test_a_person_says_what_columns_are() -> None:
    text = "id,key,words,note\n1,q1,shoes,x\n"
    (found,) = queries(text, {"key": "query_id", "words": "text", "id": LEFT_OUT})
    assert (found.query_id, found.text) == ("q1", "shoes")
    (one,) = documents(text, {"key": "doc_id", "words": "body text", "note": LEFT_OUT})
    assert (one.doc_id, one.fields) == ("q1", {"id": "1", "body text": "shoes"})


def test_a_cell_may_have_quotes_and_several_lines() -> None:
    found = documents('doc_id,text\n\nd1,"a ""red"" shoe,\n\nnew"\nd2,=1+1\nd3,\'=1+1\n')
    assert [(one.doc_id, one.text, one.line) for one in found] == [
        ("d1", 'a "red" shoe,\n\nnew', 3), ("d2", "=1+1", 6), ("d3", "=1+1", 7),
    ]  # fmt: skip


def test_tsv_is_what_it_was_and_is_mapped_where_a_person_says_so() -> None:
    assert [one.text for one in queries('q1\t"a, b\nq2\tid,text\n')] == ['"a, b', "id,text"]
    text = 'key\twords\nq1\t"shoes\n'
    assert [one.query_id for one in queries(text)] == ["key", "q1"]
    (found,) = queries(text, {"key": "query_id", "words": "text"})
    assert (found.query_id, found.text) == ("q1", '"shoes')


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"other": "text"}, "no column"),
        ({"text": "query_id", "id": "query_id"}, "two columns are"),
        ({"text": "txet"}, "no part of a query"),
        ({"id": LEFT_OUT}, "no column is the query_id"),
    ],
)
def test_what_a_person_says_of_columns_is_checked(columns: dict[str, str], words: str) -> None:
    with pytest.raises(FileRefused) as refused:
        queries("id,text\nq1,x\n", columns)
    assert (refused.value.problems[0].line, refused.value.problems[0].rule) == (1, "header")
    assert words in refused.value.problems[0].message


def test_names_are_compared_without_case_blanks_and_signs() -> None:
    assert plain_name(" Product-ID ") == "product_id"
    assert guess_parts(["Title", "ID", "body"], DOCUMENT_PARTS) == {
        "Title": "title", "ID": "doc_id", "body": "text",
    }  # fmt: skip
    assert guess_parts(["query", "id", "text"], QUERY_PARTS) == {
        "query": LEFT_OUT, "id": "query_id", "text": "text",
    }  # fmt: skip


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0\ufeff"), max_size=20)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_what_the_csv_module_writes_is_read_again(rows: list[tuple[str, str]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["doc_id", "text", "note"])
    writer.writerows((f"d{place}", f"x{text}x", f"x{note}x")
                     for place, (text, note) in enumerate(rows))  # fmt: skip
    found = documents(out.getvalue())
    assert [(one.text, one.fields["note"]) for one in found] == [
        (f"x{text}x", f"x{note}x") for text, note in rows
    ]


def test_the_first_bytes_tell_what_a_file_would_be_read_as() -> None:
    text = b'id;query;note\nq1;"a; b";x\nq2;c;y\n'
    for head in (text, gzip.compress(text)):
        found = preview_file(head, QUERY_PARTS, name="q.csv")
        assert (found.form, found.separator, found.has_header) == ("csv", "semicolons", True)
        assert [(one.name, one.part, one.examples) for one in found.columns] == [
            ("id", "query_id", ("q1", "q2")), ("query", "text", ("a; b", "c")),
            ("note", LEFT_OUT, ("x", "y")),
        ]  # fmt: skip
    assert preview_file(text, QUERY_PARTS, name="q", columns={"id": ""}).problem


def test_the_preview_of_other_files() -> None:
    tsv = preview_file(b"q1\tone\nq2\ttwo\n", QUERY_PARTS, name="q")
    assert (tsv.form, tsv.has_header, tsv.columns[1].examples) == ("tsv", False, ("one", "two"))
    headed = preview_file(b"query_id\ttext\nq1\tone\n", QUERY_PARTS, name="q")
    assert (headed.form, headed.has_header) == ("tsv", True)
    lines = preview_file(b'{"id": "q1", "text": "x"}\n', QUERY_PARTS, name="q")
    assert (lines.form, [one.name for one in lines.columns]) == ("jsonl", ["id", "text"])
    for head in (b"key,words\n1,2\n", b"PK\x03\x04zip", b"{", b"", b"\x1f\x8bxx"):
        assert preview_file(head, QUERY_PARTS, name="q").problem


def test_a_line_that_the_beginning_cuts_off_is_no_example() -> None:
    text = b"id,query\n" + b"".join(b"q%d,%s\n" % (n, b"x" * 40_000) for n in range(3))
    found = preview_file(text[:HEAD], QUERY_PARTS, name="q")
    assert len(found.columns[0].examples) == 1
