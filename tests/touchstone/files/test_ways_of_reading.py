"""Whichever way a file is read, the same is found: the same pairs, or the same problems."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.compiled_loops import loops
from tests.touchstone.files.hostile_trec import all_cases
from touchstone.files import compiled, trec_lines
from touchstone.files.errors import FileRefused
from touchstone.files.reading import TREC_LIMITS
from touchstone.files.trec import QrelsFile, RunFile, read_qrels, read_run

WORDS = st.one_of(
    st.sampled_from(["q1", "q2", "Q0", "0", "1", "-2", "12.5", "1e3", "-0", "007", "1234567890"]),
    st.sampled_from(["é", "d" * 8, "d" * 9, "d" * 16, "d" * 201, "#", "x\x7f", "x\x85", "\ufeff"]),
    st.floats(allow_nan=False).map(repr),
    st.text("0123456789.-+e", min_size=1, max_size=18),
)
GAPS = st.sampled_from([" ", " ", " ", "\t", "  ", " \t", "\xa0", "\r"])
LINES = st.builds(
    lambda words, gaps, end: "".join(w + g for w, g in zip(words, gaps, strict=False)) + end,
    st.lists(WORDS, min_size=3, max_size=7),
    st.lists(GAPS, min_size=7, max_size=7),
    st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n"]),
)
SOUND = st.builds(
    "{} 0 {} {} {:.4f} t\n".format,
    st.integers(1, 4),
    st.text("abé", min_size=1, max_size=20),
    st.integers(0, 9),
    st.floats(-9, 9),
)


def told(content: bytes, *, qrels: bool = False) -> object:
    """All that reading says: the pairs, or what is wrong."""
    source = io.BytesIO(content)
    try:
        found: QrelsFile | RunFile
        found = read_qrels(source, name="f") if qrels else read_run(source, name="f")
    except FileRefused as refused:
        return [(one.line, one.column, one.rule, one.message) for one in refused.problems]
    values = found.grades if isinstance(found, QrelsFile) else (found.scores, found.tag)
    read = found.query_ids, found.starts.tolist(), found.ids.texts(), found.lines.tolist()
    return repr((*read, values))


def all_ways(content: bytes, *, qrels: bool = False) -> list[object]:
    """What is told of a file: line by line, which is right, split, and by compiled loops."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec_lines, "_sound_part", lambda *_: None)
        found = [told(content, qrels=qrels)]
    for wanted in (False, True):
        with loops(wanted=wanted):
            found.append(told(content, qrels=qrels))
    return found


@settings(max_examples=150)
@given(st.lists(st.one_of(SOUND, SOUND, LINES), min_size=1, max_size=8).map("".join))
@example("1 0 a 1 5. t\n1 0 b 1 -0 t\n1 0 c 1 123456789.1234567 t\n2 0 c 1 .5 t")
@example("1 0 a 1 - t\n")
@example("1 0 . 1 1 t\n1 0 b 1 1 t\n")
@example("1 0 .. 1 1 t\n")
@example(".. 0 a 1 1 t\n")
@example("1 0 a 1 1 ..\n1 0 b 1 x ..\n")
@example("1 0 a 1 1_0 t\n1 0 b 1 inf t\n1 0 c 1 1e999 t\n")
@example("1 0 a 1 1.2.3 t\n")
def test_a_run_is_read_as_line_by_line(content: str) -> None:
    line_by_line, *others = all_ways(content.encode())
    assert others == [line_by_line] * 2


@settings(max_examples=100)
@given(
    st.lists(
        st.one_of(
            st.builds("{} 0 d{} {}\n".format, st.integers(1, 3), st.integers(), st.integers()),
            LINES,
        ),
        min_size=1,
        max_size=8,
    ).map("".join)
)
@example("1 0 a 2147483648\n")
@example("1 0 a 999999999\n1 0 b 2147483647\n1 0 c -1\n1 0 d 1.0\n")
def test_qrels_are_read_as_line_by_line(content: str) -> None:
    line_by_line, *others = all_ways(content.encode(), qrels=True)
    assert others == [line_by_line] * 2


def test_every_hostile_file_gets_the_same_answer() -> None:
    cases = [
        (case, case.content)
        for case in all_cases()
        if isinstance(case.content, bytes) and not case.limits
    ]
    assert len(cases) > 50
    for case, content in cases:
        line_by_line, *others = all_ways(content, qrels=case.kind.startswith("qrels"))
        assert others == [line_by_line] * 2, case


def test_a_large_file_is_read_by_them_from_its_first_line_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled._Bytes, "read", 0)
    lines = "".join(f"q 0 d{number} 1\n" for number in range(2_000))
    (small := tmp_path / "small").write_text(lines)
    (large := tmp_path / "large").write_text(lines * 999)
    found = []

    def scanned(*given: object) -> None:
        found.append(given)

    monkeypatch.setattr(trec_lines, "_scanned_part", scanned)
    read_qrels(small, name="f")
    assert not found
    with pytest.raises(FileRefused):  # it has its pairs more than once
        read_qrels(large, name="f", limits=replace(TREC_LIMITS, memory=10_000_000))
    assert found


def test_a_large_file_is_read_where_numba_may_write_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(name: str) -> None:
        raise RuntimeError(f"cannot cache function of {name}: no locator available")

    monkeypatch.setattr(compiled, "import_module", refused)
    monkeypatch.setattr(compiled, "_imported", compiled._imported.__wrapped__)
    (path := tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\n")
    with loops(wanted=True):
        assert read_qrels(path, name="f").doc_ids(0) == ["a", "b"]
