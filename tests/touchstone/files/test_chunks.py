"""A run that is read some whole queries at a time is the run that is read whole."""

import os
import threading
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.compiled_loops import loops
from tests.touchstone.files.hostile_trec import all_cases
from touchstone.files import reading, trec, trec_pairs
from touchstone.files.errors import FileRefused
from touchstone.files.reading import TREC_LIMITS
from touchstone.files.trec import RunFile, RunToRead, read_run
from touchstone.files.trec_lines import RUN_LINES, read_chunks
from touchstone.files.trec_pairs import NonContiguousQueriesError


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (trec, trec_pairs):
        monkeypatch.setattr(module, "TOGETHER", 3)
    monkeypatch.setattr(reading, "BLOCK", 50)


def pairs(run: RunFile) -> list[tuple[str, str, float, int]]:
    """(query, document, score, line) of each pair."""
    return [
        (query_id, doc_id, score, line)
        for place, (query_id, doc_ids, scores) in enumerate(run.rankings())
        for doc_id, score, line in zip(
            doc_ids, scores.tolist(), run.lines[run.span(place)].tolist(), strict=True
        )
    ]


def written(folder: Path, lengths: list[int]) -> RunToRead:
    """A run of queries with so many documents each."""
    (path := folder / "some.run").write_text(
        "".join(
            f"q{query} Q0 {'document' * (rank % 3)}{rank} 1 {-rank / 3} tag\n"
            for query, length in enumerate(lengths)
            for rank in range(length)
        )
    )
    return RunToRead(path=path, name="some.run")


@pytest.mark.parametrize("wanted", [False, True])
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=9))
@example(lengths=[1] * 30)
@example(lengths=[40, 1, 1, 40])
def test_the_chunks_of_a_run_are_the_run(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], wanted: bool
) -> None:
    run = written(tmp_path_factory.mktemp("runs"), lengths)
    with loops(wanted=wanted):
        whole = run.whole()
        for chunks in (list(run.chunks()), list(whole.chunks())):
            assert [pair for own in chunks for pair in pairs(own)] == pairs(whole)
            found = [query_id for own in chunks for query_id in own.query_ids]
            assert found == list(whole.query_ids)  # no query is in two of them
            assert len(chunks) > 1 or sum(lengths) < 50


def test_a_chunk_has_no_more_queries_than_it_needs(tmp_path: Path) -> None:
    run = written(tmp_path, [2] * 40)
    assert {len(own) for own in run.whole().chunks()} == {2}
    assert max(len(own) for own in run.chunks()) <= 12  # of 80: blocks are small


def test_a_query_whose_lines_are_apart_is_in_several_chunks(tmp_path: Path) -> None:
    lines = [f"q{number % 7} Q0 d{number} 1 {number} tag\n" for number in range(70)]
    (path := tmp_path / "run").write_text("".join(lines))
    found = [q for own in RunToRead(path=path, name="run").chunks() for q in own.query_ids]
    assert len(found) > len(set(found)) == 7
    assert all(len(list(same)) == 1 for _, same in groupby(found))


def is_left_to_others(run: RunToRead) -> bool:
    """Whether it can't be told from its chunks, or a query is in several, what is in a run."""
    try:
        found = [query_id for own in run.chunks() for query_id in own.query_ids]
    except NonContiguousQueriesError:
        return True
    return len(found) > len(set(found))


def test_every_hostile_run_is_refused_or_read_alike(tmp_path: Path) -> None:
    cases = [case for case in all_cases() if isinstance(case.content, bytes) and not case.limits]
    runs = [case for case in cases if case.kind.startswith("run")]
    assert len(runs) > 20
    (path := tmp_path / "f").touch()
    for case in runs:
        path.write_bytes(case.content)  # type: ignore[arg-type]
        try:
            whole = pairs(read_run(path, name="f"))
        except FileRefused:
            assert is_left_to_others(RunToRead(path=path, name="f")), case
        else:
            chunks = RunToRead(path=path, name="f").chunks()
            assert sorted(pair for own in chunks for pair in pairs(own)) == sorted(whole), case


def test_one_query_that_does_not_fit_is_left_to_whoever_reads_it_whole(tmp_path: Path) -> None:
    run = written(tmp_path, [50])
    small = TREC_LIMITS.__class__(memory=1000)
    with pytest.raises(NonContiguousQueriesError):
        list(read_chunks(run.path, RUN_LINES, name="run", limits=small))
    many = written(tmp_path, [1] * 50)  # more than fit together, but not at once
    assert list(read_chunks(many.path, RUN_LINES, name="run", limits=small))


def test_what_can_be_read_but_once_is_read_whole(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    run = RunToRead(path=pipe, name="run")
    with pytest.raises(NonContiguousQueriesError):
        next(run.chunks())
    writer = threading.Thread(target=pipe.write_text, args=("q Q0 d 1 2.5 tag\n",))
    writer.start()
    assert pairs(run.whole()) == [("q", "d", 2.5, 1)]
    writer.join()


def test_only_the_queries_asked_for_are_in_a_run(tmp_path: Path) -> None:
    path = written(tmp_path, [3] * 9).path
    run = RunToRead(path=path, name="run", queries={"q3", "q7", "q9"})
    assert run.whole().query_ids == ("q3", "q7")
    assert [q for own in run.chunks() for q in own.query_ids] == ["q3", "q7"]
