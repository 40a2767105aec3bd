"""Laws that every measure keeps, whatever its family and parameters."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.touchstone.measures.builders import random_qrels_and_run
from tests.touchstone.measures.file_builders import judged, run
from tests.touchstone.measures.test_engine import MANY
from touchstone.measures.definition import Measure
from touchstone.measures.engine import Values, evaluate_batch
from touchstone.measures.files import evaluate_file
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.presets import NDCG_PRESETS
from touchstone.measures.rankings import GradedRankings
from touchstone.measures.tool_rules import apply

Lists = Mapping[str, Mapping[str, float]]

TOOLS = [preset for preset in NDCG_PRESETS.values() if preset.name != "letor4_eval"]  # lacks grades
MEASURES = [
    *map(parse_measure, MANY),
    *(apply(preset, parse_measure("nDCG@5")) for preset in TOOLS),
]
# Of rankings whose order is settled, with every query in the mean.
SETTLED = list(
    dict.fromkeys(
        replace(measure, ties="docid", scores="float32", queries="all") for measure in MEASURES
    )
)
# No fractions: counts; gains below 0 cost, and what the ideal is not made of can exceed it.
UNBOUNDED = {
    m for m in SETTLED if m.negatives == "raw" or m.ideal_first is not None or m.family == "NumRet"
}
# No promise that a better document nearer to the top is worth more: what is shown makes the ideal;
# what is not judged has a grade, or is what counts, or lets others close up; estimates; what
# is rounded at every rank; and AP by what is shown, where one more relevant document divides.
NO_PROMISE = UNBOUNDED | {
    m
    for m in SETTLED
    if m.family in ("Judged", "Unjudged", "RBPResidual", "Bpref", "infAP")
    or m.unjudged in ("condensed", "prior")
    or m.negatives in ("removed", "unjudged")
    or m.ideal == "local"
    or m.rounded == "rank"
    or (m.family == "AP" and m.denominator == "returned")
}
# A failure names its measure; a smaller example would take minutes.
QUICKLY = settings(max_examples=20, phases=(Phase.explicit, Phase.reuse, Phase.generate))
SCALE = Grades.integers(range(5))
RANKED = st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=14)
ALSO = st.lists(st.integers(0, 4), max_size=8)
Row = tuple[list[int | None], list[int]]
ROWS = st.lists(st.tuples(RANKED, ALSO), min_size=1, max_size=12)


def text(lists: Lists) -> str:
    return "\n".join(f"{q} {d} {v!r}" for q, own in lists.items() for d, v in own.items())


def shuffled(lists: Lists, rng: random.Random) -> dict[str, dict[str, float]]:
    queries = rng.sample(list(lists), len(lists))
    return {q: dict(rng.sample(list(lists[q].items()), len(lists[q]))) for q in queries}


def computed(rows: Sequence[Row]) -> Values:
    """Every settled measure of some rankings: the grades returned, those judged besides."""
    width = max(len(ranked) for ranked, _ in rows)
    levels = np.zeros((len(rows), width), np.uint8)
    judged_as = np.zeros((len(rows), 5), np.int64)
    for row, (ranked, also) in enumerate(rows):
        levels[row, : len(ranked)] = [0 if code is None else code + 1 for code in ranked]
        codes = [code for code in (*ranked, *also) if code is not None]
        judged_as[row] = np.bincount(codes, minlength=5)
    lengths = np.array([len(ranked) for ranked, _ in rows])
    return evaluate_batch(SETTLED, GradedRankings(levels, lengths, judged_as), SCALE)


@QUICKLY
@given(ROWS)
def test_a_value_is_a_fraction(rows: list[Row]) -> None:
    values = computed(rows).values
    for column, measure in enumerate(SETTLED):
        if measure not in UNBOUNDED:  # the last bit of a sum in another order than the ideal's
            assert (values[:, column] >= 0).all(), measure.name
            assert (values[:, column] <= 1 + 1e-12).all(), measure.name


@QUICKLY
@given(ROWS, st.randoms(use_true_random=False))
def test_a_better_document_moved_up_never_lowers_a_value(
    rows: list[Row], rng: random.Random
) -> None:
    swapped = []
    for ranked, also in rows:
        upper, lower = sorted(rng.choices(range(len(ranked)), k=2))
        moved = list(ranked)
        if (moved[lower] or 0) >= (moved[upper] or 0):
            moved[upper], moved[lower] = moved[lower], moved[upper]
        swapped.append((moved, also))
    before, after = computed(rows).values, computed(swapped).values
    for column, measure in enumerate(SETTLED):
        if measure not in NO_PROMISE:
            assert (after[:, column] >= before[:, column] - 1e-12).all(), measure.name


@QUICKLY
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=14), min_size=1, max_size=12))
def test_the_best_order_of_all_that_is_judged_has_ndcg_one(graded: list[list[int]]) -> None:
    best: list[tuple[list[int], list[int]]] = [
        (sorted(grades, reverse=True), []) for grades in graded if any(grades)
    ]
    if not best:
        return
    values = computed(best).values  # type: ignore[arg-type]
    for column, measure in enumerate(SETTLED):
        if measure.family != "nDCG" or measure.ideal == "max" or measure.short == "zero":
            continue
        if measure.ideal_first is not None:
            continue
        if measure.ideal_depth == "all" and measure.cutoff is not None:
            continue
        exact = measure.arithmetic in ("divide", "multiply_divide")
        away = np.abs(values[:, column] - 1.0)
        assert (away <= (0.0 if exact else 1e-12)).all(), measure.name


@QUICKLY
@given(st.integers(0, 10**6))
def test_the_order_of_lines_changes_no_bit_but_where_ties_stay_as_listed(seed: int) -> None:
    rng = random.Random(seed)
    qrels, answers = random_qrels_and_run(seed=seed, n_queries=8)
    own = [m for m in MEASURES if m.ties in ("docid", "docid_asc")]
    one = evaluate_file(judged(text(qrels)), run(text(answers)), own)
    other = evaluate_file(
        judged(text(shuffled(qrels, rng))), run(text(shuffled(answers, rng))), own
    )
    rows = [other.query_ids.index(query_id) for query_id in one.query_ids]
    for column, measure in enumerate(own):
        same = other.values[rows, column].tobytes() == one.values[:, column].tobytes()
        assert same, measure.name
    assert one.means == other.means  # exact: whatever the order of the queries


@QUICKLY
@given(st.integers(0, 10**6))
def test_averaged_ties_depend_on_no_order_and_no_id(seed: int) -> None:
    rng = random.Random(seed)
    qrels, answers = random_qrels_and_run(seed=seed, n_queries=8)
    names = {d for part in (qrels, answers) for docs in part.values() for d in docs}
    renamed = dict(zip(names, rng.sample(sorted(names), len(names)), strict=True))
    others = [
        {q: {renamed[d]: v for d, v in listed.items()} for q, listed in lists.items()}
        for lists in (qrels, shuffled(answers, rng))
    ]
    own = [m for m in MEASURES if m.ties == "averaged"]
    one = evaluate_file(judged(text(qrels)), run(text(answers)), own)
    other = evaluate_file(judged(text(others[0])), run(text(others[1])), own)
    rows = [other.query_ids.index(query_id) for query_id in one.query_ids]
    assert own
    for column, measure in enumerate(own):
        expected = pytest.approx(one.values[:, column].tolist(), abs=1e-12)
        assert other.values[rows, column].tolist() == expected, measure.name


@QUICKLY
@given(ROWS)
def test_one_call_for_many_queries_equals_many_calls_for_one(rows: list[Row]) -> None:
    together = computed(rows)
    alone = [computed([row]) for row in rows]
    for column, measure in enumerate(SETTLED):
        values = np.array([found.values[0, column] for found in alone])
        counted = np.array([found.counted[0, column] for found in alone])
        assert values.tobytes() == together.values[:, column].tobytes(), measure.name
        assert counted.tobytes() == together.counted[:, column].tobytes(), measure.name


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_name_reads_back_as_the_same_measure(measure: Measure) -> None:
    assert parse_measure(measure.name) == measure
