"""Taking a value apart: the parts make the value again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.measures.builders import graded, random_qrels_and_run
from tests.touchstone.measures.file_builders import judged, run
from tests.touchstone.measures.test_engine import MANY
from touchstone.measures.explanation import explain
from touchstone.measures.files import explain_file
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure

QRELS = "q a 3\nq b 0\nq c 1\nq unseen 4"
RUN = "q a 9\nq new 8\nq b 7\nq c 6"


def test_gain_discount_contribution_and_the_ideal_stand_side_by_side() -> None:
    (found,) = explain_file(judged(QRELS), run(RUN), [parse_measure("nDCG@3")], "q")
    rows = [
        (r.rank, r.document and r.document.doc_id, r.document and r.document.grade, r.gain)
        for r in found.ranks
    ]
    assert rows == [(1, "a", 3, 3), (2, "new", None, 0), (3, "b", 0, 0)]
    assert [r.ideal_gain for r in found.ranks] == [4, 3, 1]
    assert found.ranks[2].ideal_contribution == 0.5
    assert found.dcg is not None
    assert found.ideal_dcg is not None
    assert found.value == found.dcg / found.ideal_dcg
    assert found.dcg == 3.0


def test_ranks_go_on_where_the_ideal_is_longer_than_the_ranking() -> None:
    (found,) = explain_file(judged(QRELS), run("q c 1"), [parse_measure("nDCG@5")], "q")
    assert [r.document is None for r in found.ranks] == [False, True, True]
    assert [r.ideal_gain for r in found.ranks] == [4, 3, 1]


def test_documents_that_a_measure_takes_out_are_not_shown() -> None:
    measure = parse_measure("nDCG(unjudged='condensed')@2")
    (found,) = explain_file(judged(QRELS), run(RUN), [measure], "q")
    assert [r.document.doc_id for r in found.ranks if r.document] == ["a", "b"]


def test_a_query_that_the_run_does_not_answer_shows_the_ideal_alone() -> None:
    (found,) = explain_file(judged(QRELS), run("other a 1"), [parse_measure("nDCG@2")], "q")
    assert found.value == 0.0
    assert [r.document for r in found.ranks] == [None, None]


def test_a_query_outside_the_mean_says_so() -> None:
    (found,) = explain_file(judged(QRELS), run("other a 1"), [parse_measure("RR")], "other")
    assert not found.counted


@given(seed=st.integers(0, 10**6))
def test_the_contributions_make_up_the_value(seed: int) -> None:
    scale = Grades.integers(range(-1, 5))
    qrels, answers = random_qrels_and_run(seed=seed, n_queries=1)
    rankings = graded(qrels, answers, scale)
    doc_ids = [str(rank) for rank in range(rankings.levels.shape[1])]
    for measure in map(parse_measure, MANY):
        found = explain(measure, doc_ids, rankings, scale)
        total = sum(rank.contribution for rank in found.ranks)
        if found.dcg is None:
            assert abs(total - found.value) <= 1e-12, measure.name
            continue
        assert abs(total - found.dcg) <= 1e-9, measure.name
        if found.ideal_dcg and measure.short == "as_is":
            rounded = 1e-12 if measure.decimals is None else 10.0**-measure.decimals
            assert found.value == pytest.approx(found.dcg / found.ideal_dcg, abs=rounded)
        ideal = [rank.ideal_contribution or 0 for rank in found.ranks]
        if measure.ideal_depth == "k" and measure.discount != "linear":
            assert abs(sum(ideal[: measure.cutoff]) - found.ideal_dcg) <= 1e-9, measure.name


def test_more_than_one_ranking_is_refused() -> None:
    scale = Grades.integers(range(-1, 5))
    qrels, answers = random_qrels_and_run(seed=1, n_queries=2)
    with pytest.raises(ValueError, match="one whole ranking"):
        explain(parse_measure("RR"), [], graded(qrels, answers, scale), scale)
