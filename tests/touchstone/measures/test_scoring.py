"""Scoring stored rankings: many runs at once give what one run and one query alone give."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.measures.defaults import DEFAULT_MEASURES
from touchstone.measures.definition import CHOICES, Measure
from touchstone.measures.errors import MeasureError
from touchstone.measures.exact import add, exact_sums, subtract, to_bytes
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.packing import pack, unpack_ranked
from touchstone.measures.scoring import (
    KEPT_QUERIES,
    STORED_ORDER,
    StoredJudgments,
    StoredRankings,
    can_be_stored,
    check_can_be_stored,
    score,
    score_sums,
)

GRADES = Grades.integers(range(-1, 5))
MEASURES = [*DEFAULT_MEASURES, parse_measure("nDCG"), parse_measure("nDCG(ideal='recall')@5")]

Qrels = Mapping[int, Mapping[int, int]]
Runs = list[Mapping[int, list[int]]]

documents = st.integers(1, 12)
qrels_of_queries = st.dictionaries(
    st.integers(1, 6), st.dictionaries(documents, st.integers(-1, 4), max_size=8), max_size=6
)
runs_of_queries = st.lists(
    st.dictionaries(st.integers(1, 6), st.lists(documents, max_size=12, unique=True)),
    min_size=1,
    max_size=4,
)


def judged_queries(qrels: Qrels, query_ids: list[int]) -> StoredJudgments:
    rows = [(q, d, g) for q in sorted(qrels) for d, g in sorted(qrels[q].items())]
    return StoredJudgments.of(
        np.array(query_ids, np.int64),
        judged_queries=np.array([q for q, _, _ in rows], np.int64),
        documents=np.array([d for _, d, _ in rows], np.int32),
        codes=np.array([g for _, _, g in rows], np.int8),
        grades=GRADES,
    )


def stored(runs: Runs, query_ids: list[int]) -> StoredRankings:
    rows = [
        (run_row, query_ids.index(query), ranking)
        for run_row, run in enumerate(runs)
        for query, ranking in run.items()
        if query in query_ids
    ]
    packed = [
        pack(np.array(r, np.int32), np.zeros(len(r)), np.arange(len(r), dtype=np.int64))
        for _, _, r in rows
    ]
    return StoredRankings(
        np.array([run_row for run_row, _, _ in rows], np.int64),
        np.array([query_row for _, query_row, _ in rows], np.int64),
        unpack_ranked([p.documents for p in packed], [p.order for p in packed]),
    )


@given(qrels_of_queries, runs_of_queries)
def test_a_batch_gives_every_run_and_query_the_bits_that_it_has_alone(
    qrels: Qrels, runs: Runs
) -> None:
    query_ids = sorted({*qrels, 3})
    together = score(
        MEASURES,
        GRADES,
        judged_queries(qrels, query_ids),
        stored(runs, query_ids),
        n_runs=len(runs),
    )
    for run_row, run in enumerate(runs):
        for query_row, query in enumerate(query_ids):
            alone = score(
                MEASURES, GRADES, judged_queries(qrels, [query]), stored([run], [query]), n_runs=1
            )
            here = together.values[run_row, query_row]
            assert here.tobytes() == alone.values[0, 0].tobytes()
            assert together.counted[run_row, query_row].tolist() == alone.counted[0, 0].tolist()


@given(qrels_of_queries, runs_of_queries, st.integers(1, 40))
def test_small_parts_give_the_bits_of_one_large_part(qrels: Qrels, runs: Runs, cells: int) -> None:
    query_ids = list(range(1, 7))
    judged, rankings = judged_queries(qrels, query_ids), stored(runs, query_ids)
    whole = score(MEASURES, GRADES, judged, rankings, n_runs=len(runs))
    parts = score(MEASURES, GRADES, judged, rankings, n_runs=len(runs), cells=cells)
    assert whole.values.tobytes() == parts.values.tobytes()
    assert whole.counted.tobytes() == parts.counted.tobytes()


@given(qrels_of_queries, qrels_of_queries, runs_of_queries)
def test_sums_moved_by_the_touched_queries_are_the_sums_from_scratch(
    old: Qrels, new: Qrels, runs: Runs
) -> None:
    def sums(qrels: Qrels, query_ids: list[int]) -> np.ndarray:
        return score_sums(
            MEASURES,
            GRADES,
            judged_queries(qrels, query_ids),
            stored(runs, query_ids),
            n_runs=len(runs),
        )

    touched = sorted(q for q in {*old, *new} if old.get(q, {}) != new.get(q, {}))
    from_scratch = sums(new, sorted(new))
    by_differences = add(subtract(sums(old, sorted(old)), sums(old, touched)), sums(new, touched))
    for run_row in range(len(runs)):
        assert to_bytes(by_differences[run_row]) == to_bytes(from_scratch[run_row])


def test_a_query_counts_while_it_is_judged_whether_or_not_a_run_answers_it() -> None:
    judged = judged_queries({1: {7: 3}, 2: {8: 0}}, [1, 2, 3])
    found = score([parse_measure("P@1")], GRADES, judged, stored([{1: [7]}, {}], [1]), n_runs=2)
    assert found.counted[:, :, 0].tolist() == [[True, True, False]] * 2
    assert found.values[:, :, 0].tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def test_no_query_and_no_ranking_give_no_sums() -> None:
    found = score(MEASURES, GRADES, judged_queries({}, []), stored([{}], []), n_runs=1)
    assert found.values.shape == (1, 0, len(MEASURES))
    assert not exact_sums(found.values, found.counted).any()


def test_a_ranking_deeper_than_two_bytes_count_is_scored_whole() -> None:
    depth = 70_000
    last = depth  # the only relevant document stands at the end
    rankings = stored([{1: list(range(1, depth + 1))}, {1: [last]}], [1])
    judged = judged_queries({1: {last: 1}}, [1])
    found = score([parse_measure("RR")], GRADES, judged, rankings, n_runs=2)
    assert found.values[:, 0, 0].tolist() == [1 / depth, 1.0]


def test_a_grade_that_is_not_on_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="not on the scale"):
        judged_queries({1: {7: 9}}, [1])


@pytest.mark.parametrize(
    "name",
    [
        "P(queries='all',average='weighted')@5",
        "P(queries='run',average='segments')@5",
        "Judged(average='micro')@5",
        "nDCG(negatives='error')@5",
        "nDCG(empty='error')",
    ],
)
def test_a_measure_whose_sums_cannot_be_kept_by_differences_says_so(name: str) -> None:
    with pytest.raises(MeasureError, match="leaderboard"):
        check_can_be_stored(parse_measure(name))


def one_of_each_choice() -> list[Measure]:
    """nDCG and P with every word that a parameter knows, as far as the two can be combined."""
    found = []
    for parameter, words in CHOICES.items():
        for word in words:
            for name in ("nDCG({})@3", "P({})@3"):
                extra = COMPANIONS.get(word, "")
                try:
                    found.append(parse_measure(name.format(f"{parameter}='{word}'{extra}")))
                except MeasureError:
                    continue
    return found


COMPANIONS = {
    "burn-in": ",b=2",
    "prior": ",prior=1",
    "half_up": ",decimals=3",
    "floor": ",decimals=3",
    "rank": ",decimals=3",
}


# test_refreshing keeps the others, of another order or of queries without judgments, in a list
KEPT = [
    measure
    for measure in dict.fromkeys(one_of_each_choice())
    if measure.ordering == STORED_ORDER
    and measure.queries in KEPT_QUERIES
    and can_be_stored(measure)
]


@given(old=qrels_of_queries, new=qrels_of_queries, runs=runs_of_queries)
def test_whatever_measure_may_be_kept_has_its_from_scratch_sums_by_differences(
    old: Qrels, new: Qrels, runs: Runs
) -> None:
    def sums(qrels: Qrels, query_ids: list[int]) -> np.ndarray:
        return score_sums(
            KEPT,
            GRADES,
            judged_queries(qrels, query_ids),
            stored(runs, query_ids),
            n_runs=len(runs),
        )

    old = {query: judged for query, judged in old.items() if judged}
    new = {query: judged for query, judged in new.items() if judged}
    touched = sorted(q for q in {*old, *new} if old.get(q, {}) != new.get(q, {}))
    moved = add(subtract(sums(old, sorted(old)), sums(old, touched)), sums(new, touched))
    differs = (moved != sums(new, sorted(new))).any(axis=(0, 2))
    assert [measure.name for measure, is_other in zip(KEPT, differs, strict=True) if is_other] == []


def test_most_choices_can_be_kept() -> None:
    kept = set()
    for measure in one_of_each_choice():
        try:
            check_can_be_stored(measure)
        except MeasureError:
            continue
        kept.add(measure.name)
    assert len(kept) > 15


def test_the_default_measures_can_all_be_kept() -> None:
    for measure in DEFAULT_MEASURES:
        check_can_be_stored(measure)
