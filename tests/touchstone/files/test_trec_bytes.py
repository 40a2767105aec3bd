"""Lines read as arrays of bytes: what is found is what looking at each of them finds."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from touchstone.files.numbers import NUMBER
from touchstone.files.trec_bytes import lines_of, plain_numbers

WRITTEN = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-999, 999, allow_nan=False, allow_infinity=False, places=6).map(str),
    st.integers(-(10**16), 10**16).map(str),
    st.text("0123456789.-+eE", min_size=1, max_size=20),
)


@given(st.lists(WRITTEN, min_size=1, max_size=30))
@example(["-10000000.0"])
@example(["123456789", "12345678", "1234567.12345678", "12345678.5", "9999999.99999999"])
@example([".5", "5.", "-0", "-", "1.2.3", "0.1234567890123456", "007"])
def test_a_number_that_is_plain_is_the_one_that_python_reads(texts: list[str]) -> None:
    lines = lines_of("".join(f"a {text} b\n" for text in texts).encode(), len(texts), 3)
    assert lines is not None
    for whole in (False, True):
        values, others = plain_numbers(lines, 1, whole=whole)
        for row in set(range(len(texts))) - set(others.tolist()):
            assert re.fullmatch(NUMBER, texts[row])
            assert repr(float(values[row])) == repr(float(texts[row]))
            assert not whole or "." not in texts[row]


def test_most_numbers_are_plain() -> None:
    texts = ["12.345678", "-3.25", "0", "4", "0.123456789012", "-17", "1234567.5"]
    lines = lines_of("".join(f"{text}\n" for text in texts).encode(), len(texts), 1)
    assert lines is not None
    assert plain_numbers(lines, 0, whole=False)[1].tolist() == []
    assert plain_numbers(lines, 0, whole=True)[1].tolist() == [0, 1, 4, 6]


def fields(content: bytes, n_fields: int = 3) -> list[list[str]] | None:
    lines = lines_of(content, content.count(b"\n"), n_fields)
    if lines is None:
        return None
    rows = range(len(lines.starts))
    return [lines.texts(list(rows), column) for column in range(n_fields)]  # type: ignore[arg-type]


def test_blanks_tabs_and_carriage_returns_separate_fields_however_many_there_are() -> None:
    columns = [["a", "é"], ["b", "2"], ["c", "😀"]]
    assert fields("a b c\né 2 😀\n".encode()) == columns
    assert fields("  a\tb \t c  \r\né 2   😀\r\n".encode()) == columns


def test_whatever_is_out_of_the_ordinary_is_left_to_those_who_look_at_each_line() -> None:
    for content in (
        *("a b\nc d e f\n", "a b c\n\nd e f\n", "a b c d\ne f\n", "#a b c\n", " # b c\n"),
        *("a\x00 b c\n", "a b\x0b c\n", "a b\x7f c\n", "a b \x85c\n", "a b \ufeffc\n"),
        *("a b\rc d\n", "a b " + "c" * 201 + "\n"),
    ):
        assert fields(content.encode()) is None, content
    assert fields(b"a b \xff\n") is None
