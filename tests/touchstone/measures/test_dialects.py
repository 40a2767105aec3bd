"""P and AP as tools other than trec_eval mean them, worked out by hand; and rounding."""

import pytest

from tests.touchstone.measures.file_builders import judged, run
from touchstone.measures.errors import MeasureError
from touchstone.measures.files import evaluate_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.presets import preset
from touchstone.measures.tool_rules import apply
from touchstone.measures.wording import describe

# q1: 1, 0, 2 and an unjudged one are returned; two more relevant ones are not. q2 has none.
QRELS = """
q1 a 1
q1 b 0
q1 c 2
q1 x 1
q1 y 2
q2 z 0
"""
RUN = """
q1 a 9
q1 b 8
q1 c 7
q1 d 6
q2 z 1
"""


def values(name: str, chosen: str | None = None) -> list[float]:
    """The measure's value of each query."""
    preset_ = None if chosen is None else preset(chosen)
    found = evaluate_file(judged(QRELS), run(RUN), [parse_measure(name)], preset_)
    return [float(value) for value in found.values[:, 0]]


def mean(name: str) -> float | None:
    return evaluate_file(judged(QRELS), run(RUN), [parse_measure(name)]).means[0]


@pytest.mark.parametrize(
    ("chosen", "name", "first", "second"),
    [
        ("trec_eval", "P@10", 2 / 10, 0),
        ("trec_eval", "AP@10", 5 / 12, 0),
        ("xgboost_ndcg", "P@10", 2 / 4, 0),
        ("xgboost_ndcg", "AP@10", 5 / 6, 1),
        ("xgboost_ndcg", "AP@1", 1, 1),
        ("xgboost_ndcg_minus", "AP@10", 5 / 6, 0),
        ("ranklib", "P@10", 2 / 4, 0),
        ("ranklib", "AP@1", 5 / 6, 0),
        ("ranklib_qrel", "AP@1", 5 / 12, 0),
        ("mslr_eval", "P@10", 1 / 10, 0),
        ("mslr_eval", "AP", 1 / 3, 0),
        ("quepid_ndcg", "P@10", 2 / 4, 0),
        ("quepid_ndcg", "AP@10", 5 / 12, 0),
        ("opensearch_search_relevance", "P@3", 0.67, 0),
        ("opensearch_search_relevance", "AP@10", 0.42, 0),
        ("opensearch_search_relevance", "R@3", 0.5, 0),
        ("opensearch_search_relevance", "RR@3", 1, 0),
        ("rre_ndcg", "P@10", 0.75, 1),
    ],
)
def test_precision_in_the_dialects_of_tools(
    chosen: str, name: str, first: float, second: float
) -> None:
    assert values(name, chosen) == pytest.approx([first, second], abs=1e-15)


def test_a_share_of_judged_documents_is_ours_and_rounded_by_no_tool() -> None:
    for chosen in ("rre_ndcg", "opensearch_search_relevance"):
        assert apply(preset(chosen), parse_measure("Judged@3")).decimals is None


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("AP", (5 / 12 + 0) / 2),
        ("AP(decimals=2)", 0.21),  # (0.42 + 0) / 2
        ("AP(decimals=2,rounded='mean')", 0.21),
        ("AP(decimals=1,rounding='floor',rounded='mean')", 0.2),
        ("AP(decimals=1,rounding='half_up')", 0.2),
        ("AP(decimals=1,rounding='half_up',rounded='mean')", 0.2),
        ("P(decimals=1,rounding='half_up',rounded='mean')@4", 0.3),
        ("P(decimals=1,rounding='nearest',rounded='mean')@4", 0.2),
        ("nDCG(empty=1,decimals=1,rounded='mean')@1", 0.8),
        ("nDCG(empty=1,decimals=1)@1", 0.75),
        ("AP(empty=1)", 17 / 24),
        ("AP(empty='skip')", 5 / 12),
        ("P(average='segments',decimals=1,rounding='floor',rounded='mean')@4", None),
    ],
)
def test_the_mean_can_be_rounded_and_the_queries_left_as_they_are(
    name: str, right: float | None
) -> None:
    if right is None:
        with pytest.raises(MeasureError, match="--queries"):
            mean(name)
    else:
        assert mean(name) == pytest.approx(right, abs=1e-15)


def test_a_query_without_a_relevant_document_can_be_refused() -> None:
    with pytest.raises(MeasureError, match="query q2"):
        mean("AP(empty='error')")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("P(rounded='rank',decimals=2)@5", "'query', 'mean'"),
        ("P(rounded='mean')@5", "number of decimals"),
        ("AP(denominator='returned_cutoff')", "needs a cutoff"),
        ("Judged(average='micro',decimals=2)@5", "queries have no values"),
    ],
)
def test_what_can_not_be_rounded_or_divided_is_refused(name: str, said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        parse_measure(name)


def test_a_reading_names_the_rounding_of_the_mean() -> None:
    words = describe(parse_measure("P(decimals=2,rounded='mean')@5"))
    assert "rounded to 2 decimals, only the mean of the run" in words
    assert "1 for a query without a relevant document" in describe(parse_measure("AP(empty=1)"))
