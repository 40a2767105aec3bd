"""A run that is evaluated some queries at a time has the values of one that is read whole."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compiled_loops import loops
from touchstone.files import reading, trec, trec_pairs
from touchstone.files.errors import FileRefused
from touchstone.files.trec import RunFile, RunToRead, read_qrels
from touchstone.files.trec_pairs import NonContiguousQueriesError
from touchstone.measures.errors import MeasureError
from touchstone.measures.files import FileValues, evaluate_file
from touchstone.measures.graded_runs import Reading, graded_run
from touchstone.measures.grammar import parse_measure
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import NDCG_PRESETS

MEASURES = [
    parse_measure(name)
    for name in (
        "nDCG@3", "nDCG(ideal='recall')@2", "nDCG(ties='averaged')", "AP", "RR(ties='docid_asc')",
        "P@5", "Judged(average='micro')@3", "nDCG(scores='float64',queries='all')@10",
    )
]  # fmt: skip
PLAIN = [parse_measure("nDCG@2")]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (trec, trec_pairs):
        monkeypatch.setattr(module, "TOGETHER", 5)
    monkeypatch.setattr(reading, "BLOCK", 60)


def files(folder: Path, seed: int, *, scattered: bool = False) -> tuple[JudgedQueries, RunToRead]:
    """Some queries that both have, some that one has, in another order; the lines of a query apart
    where scattered."""
    rng = random.Random(seed)
    queries = [f"q{number}" for number in range(rng.randint(1, 12))]
    in_run = [*rng.sample(queries, rng.randint(0, len(queries))), "only"]
    (qrels := folder / "qrels").write_text(
        "".join(
            f"{query} 0 d{document} {rng.randint(-1, 3)}\n"
            for query in queries
            for document in rng.sample(range(12), rng.randint(1, 9))
        )
    )
    lines = [
        f"{query} Q0 d{document} 1 {rng.randint(0, 5) / 3} tag\n"
        for query in in_run
        for document in rng.sample(range(12), rng.randint(1, 9))
    ]
    if scattered:
        rng.shuffle(lines)
    (run := folder / "run").write_text("".join(lines))
    return JudgedQueries(read_qrels(qrels, name="qrels")), RunToRead(path=run, name="run")


def told(found: FileValues) -> object:
    """All of it, bit for bit."""
    arrays = found.values.tobytes(), found.counted.tobytes()
    return found.query_ids, arrays, found.means, found.standard_errors, found.counts


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("wanted", [False, True])
@given(seed=st.integers(0, 2**32))
def test_no_bit_depends_on_the_way_of_reading(
    tmp_path_factory: pytest.TempPathFactory, seed: int, wanted: bool, scattered: bool
) -> None:
    judged, run = files(tmp_path_factory.mktemp("files"), seed, scattered=scattered)
    with loops(wanted=wanted), pytest.MonkeyPatch.context() as patch:
        in_chunks = told(evaluate_file(judged, run, MEASURES))
        whole = run.whole()
        patch.setattr(RunFile, "chunks", lambda own: iter([own]))
        assert told(evaluate_file(judged, whole, MEASURES)) == in_chunks


@pytest.mark.parametrize("name", ["trec_eval", "gdeval"])
def test_a_tools_mean_is_summed_in_the_order_of_the_run(tmp_path: Path, name: str) -> None:
    judged, run = files(tmp_path, 17)
    one = evaluate_file(judged, run, PLAIN, NDCG_PRESETS[name])
    graded = graded_run(judged, run.chunks(), [Reading.of(PLAIN)])
    answered = [q for own in run.chunks() for q in own.query_ids]
    assert [graded.query_ids[row] for row in graded.order()][: len(answered)] == answered
    assert sorted(graded.order()) == list(range(len(graded.query_ids)))
    assert told(one) == told(evaluate_file(judged, run.whole(), PLAIN, NDCG_PRESETS[name]))


def test_a_query_in_two_chunks_makes_the_run_be_read_whole(tmp_path: Path) -> None:
    for query in ("judged", "unknown"):
        lines = [f"{q} Q0 d{n} 1 {n} tag\n" for n in range(3) for q in [query, *"abcdefghij"]]
        (tmp_path / "run").write_text("".join(lines))
        (tmp_path / "qrels").write_text("a 0 d1 1\njudged 0 d2 1\n")
        judged = JudgedQueries(read_qrels(tmp_path / "qrels", name="qrels"))
        run = RunToRead(path=tmp_path / "run", name="run")
        with pytest.raises(NonContiguousQueriesError):
            graded_run(judged, run.chunks(), [Reading.of(PLAIN)])
        found = evaluate_file(judged, run, PLAIN)
        assert told(found) == told(evaluate_file(judged, run.whole(), PLAIN))
        assert found.query_ids[:2] == ("a", "judged")


def test_a_bad_line_behind_many_good_ones_is_named(tmp_path: Path) -> None:
    judged, run = files(tmp_path, 5)
    with Path(run.path).open("a") as file:
        lines = [f"r{n} Q0 d 1 1 tag\n" for n in range(40)]
        file.write("".join([*lines, "s Q0 d 1 high tag\n", lines[3]]))
    number = len(Path(run.path).read_text().splitlines())
    with pytest.raises(FileRefused) as refused:
        evaluate_file(judged, run, PLAIN)
    named = [(problem.line, problem.rule) for problem in refused.value.problems]
    assert named == [(number - 1, "score"), (number, "duplicate")]


def test_the_first_judged_query_without_an_ideal_is_named_in_both_ways(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("a 0 d 1\nb 0 d 0\nc 0 d 0\n")
    lines = [f"{query} Q0 d{n} 1 {n} tag\n" for query in "cba" for n in range(9)]
    (tmp_path / "run").write_text("".join(lines))
    judged = JudgedQueries(read_qrels(tmp_path / "qrels", name="qrels"))
    run = RunToRead(path=tmp_path / "run", name="run")
    for own in (run, run.whole()):
        with pytest.raises(MeasureError, match="query b:"):
            evaluate_file(judged, own, [parse_measure("nDCG(empty='error')@5")])


def test_a_run_of_no_judged_query_has_a_row_for_each_of_both(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("a 0 d 1\nb 0 d 1\n")
    (tmp_path / "run").write_text("x Q0 d 1 1 tag\n")
    judged = JudgedQueries(read_qrels(tmp_path / "qrels", name="qrels"))
    run = RunToRead(path=tmp_path / "run", name="run", queries=())
    none = graded_run(judged, run.chunks(), [Reading.of(PLAIN)])
    assert none.query_ids == ("a", "b")
    assert none.order() == [0, 1]
    assert none.rankings[PLAIN[0].ordering].lengths.tolist() == [0, 0]
    run = RunToRead(path=tmp_path / "run", name="run")
    one = graded_run(judged, run.chunks(), [Reading.of(PLAIN)])
    assert one.query_ids == ("a", "b", "x")
    np.testing.assert_array_equal(one.rankings[PLAIN[0].ordering].lengths, [0, 0, 1])
