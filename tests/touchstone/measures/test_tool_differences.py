"""Every preset of one run at once says what each says alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.measures.file_builders import judged, run
from touchstone.files.id_columns import IdColumn
from touchstone.files.trec import RunFile, read_qrels, read_run
from touchstone.measures.definition import Measure
from touchstone.measures.errors import MeasureError
from touchstone.measures.files import evaluate_file
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import NDCG_PRESETS
from touchstone.measures.tool_differences import (
    PresetMean,
    RankReversals,
    places,
    preset_means,
    rank_reversals,
)
from touchstone.measures.tool_rules import apply

QRELS = "q1 a 2\nq1 b -1\nq1 c 4\nq2 a 1\nq2 z 0\nq3 a 3\nq5 b 0\n"
RUN = (
    "q2 z 1\nq2 a 1\nq2 y 0.5\nq1 b 16777217\nq1 a 16777216\nq1 n 3\nq1 c 3\n"
    "q4 a 2\nq5 b 1\nq5 a 0.5"
)


def alone(own: JudgedQueries, ranked: RunFile, name: str, cutoff: int) -> PresetMean:
    measure = Measure(family="nDCG", cutoff=cutoff)
    try:
        found = evaluate_file(own, ranked, [measure], NDCG_PRESETS[name])
    except MeasureError as error:
        return PresetMean(name, None, 0, error.message.rpartition(": ")[2])
    return PresetMean(name, found.means[0], found.counts[0])


@pytest.mark.parametrize("cutoff", [1, 3, 10])
@pytest.mark.parametrize("name", NDCG_PRESETS)
def test_a_preset_among_all_says_what_it_says_alone(name: str, cutoff: int) -> None:
    own, ranked = judged(QRELS), run(RUN)
    spoken = {one.preset: one for one in preset_means(own, ranked, cutoff)}
    assert spoken[name] == alone(own, ranked, name, cutoff)


@pytest.mark.data
def test_the_nasty_files_give_each_preset_its_own_bits(data_dir: Path) -> None:
    nasty = data_dir / "reference" / "nasty"
    own = JudgedQueries(read_qrels(nasty / "nasty.qrels", name="nasty.qrels"))
    ranked = read_run(nasty / "nasty.run", name="nasty.run")
    spoken = preset_means(own, ranked, 10)
    assert list(spoken) == [alone(own, ranked, name, 10) for name in NDCG_PRESETS]
    assert len({one.mean for one in spoken}) > 10


def test_presets_come_in_the_order_of_their_registry() -> None:
    assert [one.preset for one in preset_means(judged(QRELS), run(RUN), 5)] == list(NDCG_PRESETS)


def test_a_preset_that_lacks_a_grade_says_so_and_stops_no_other() -> None:
    spoken = {one.preset: one for one in preset_means(judged(QRELS), run(RUN), 5)}
    assert spoken["letor4_eval"].mean is None
    assert "grade" in spoken["letor4_eval"].problem
    assert not spoken["trec_eval"].problem


def test_qrels_without_a_judgment_are_refused() -> None:
    own = judged(QRELS)
    nothing = replace(
        own.qrels,
        query_ids=(),
        starts=np.zeros(1, np.int64),
        ids=IdColumn.of([]),
        grades=np.zeros(0, np.int32),
    )
    with pytest.raises(MeasureError, match="no judgment"):
        preset_means(JudgedQueries(nothing), run(RUN), 5)


def test_a_measure_is_the_one_that_evaluate_applies() -> None:
    ranked = run("q1 a 1")
    found = preset_means(judged("q1 a 1"), ranked, 7, {"gdeval": NDCG_PRESETS["gdeval"]})
    meant = apply(NDCG_PRESETS["gdeval"], Measure(family="nDCG", cutoff=7))
    assert found == (PresetMean("gdeval", 1.0, 1),)
    assert meant.cutoff == 7


def test_equal_values_share_their_place_and_the_next_is_left_out() -> None:
    assert places([0.5, None, 0.7, 0.5, 0.1]) == (2, None, 1, 2, 4)


def test_a_pair_is_disputed_where_presets_stand_on_both_sides() -> None:
    values = {"one": [0.5, 0.4, 0.1], "two": [0.4, 0.5, 0.1], "three": [0.6, 0.6, 0.2]}
    (found,) = rank_reversals(values).pairs
    assert (found.first, found.second) == (0, 1)
    assert (found.for_first, found.for_second) == (("one",), ("two",))


def test_a_missing_value_takes_no_side() -> None:
    assert rank_reversals({"one": [0.5, 0.4], "two": [None, 0.5]}).pairs == ()
    assert rank_reversals({}).pairs == ()
    assert rank_reversals({"one": []}).pairs == ()


def test_the_most_divided_pair_comes_first() -> None:
    values = {
        "one": [3.0, 2.0, 1.0],
        "two": [3.0, 1.0, 2.0],
        "three": [2.0, 3.0, 1.0],
        "four": [2.0, 3.0, 1.0],
    }
    assert next((one.first, one.second) for one in rank_reversals(values).pairs) == (0, 1)


@given(
    st.integers(1, 5).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(0, 4), min_size=size, max_size=size), min_size=1, max_size=5
        )
    )
)
def test_pairs_are_disputed_exactly_where_two_presets_disagree(table: list[list[int]]) -> None:
    values = {f"p{row}": [float(one) for one in own] for row, own in enumerate(table)}
    expected = {
        (first, second)
        for first in range(len(table[0]))
        for second in range(first + 1, len(table[0]))
        if any(own[first] > own[second] for own in table)
        and any(own[first] < own[second] for own in table)
    }
    found = rank_reversals(values)
    assert {(one.first, one.second) for one in found.pairs} == expected
    assert found.count == len(expected)
    assert rank_reversals(values, most=2) == RankReversals(found.pairs[:2], found.count)


def test_the_most_divided_of_very_many_pairs_are_named() -> None:
    n = 120
    values = {"up": list(map(float, range(n))), "down": list(map(float, range(n, 0, -1)))}
    values["swapped"] = [1.0, 0.0, *values["up"][2:]]
    values["swapped too"] = values["swapped"]
    every, some = rank_reversals(values), rank_reversals(values, most=3)
    assert some.pairs == every.pairs[:3]
    assert some.count == n * (n - 1) // 2
