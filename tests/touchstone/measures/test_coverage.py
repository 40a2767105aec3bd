"""What a run shows of the collection, and what a share counts over all queries together."""

from typing import Any

import numpy as np
import pytest

from tests.touchstone.measures.file_builders import judged, run
from touchstone.measures.coverage import coverage, first_ranks, relevant_coverage
from touchstone.measures.errors import MeasureError
from touchstone.measures.files import evaluate_file, explain_file
from touchstone.measures.grammar import parse_measure

QRELS = "1 a 1\n1 b 2\n1 c 0\n2 a 0\n2 d 3\n3 e 1"
RUN = "1 a 9\n1 x 8\n1 b 7\n2 a 9\n2 y 8"


def mean(name: str, **how: Any) -> float | None:
    return evaluate_file(judged(QRELS), run(RUN), [parse_measure(name)], **how).means[0]


def test_the_first_ranks_of_every_ranking() -> None:
    documents, lengths = np.array([5, 6, 7, 5, 8]), np.array([3, 0, 2])
    assert first_ranks(documents, lengths, 2).tolist() == [5, 6, 5, 8]
    assert coverage(documents, lengths, cutoff=2, size=10).share == 0.3
    assert relevant_coverage(
        documents, lengths, cutoff=1, relevant=np.array([5, 6, 5])
    ).share == pytest.approx(1 / 2)


def test_nothing_to_cover_has_no_share() -> None:
    none = np.array([], np.int64)
    assert coverage(none, none, cutoff=5, size=0).share is None


def test_coverage_is_the_share_of_the_collection_that_any_query_shows() -> None:
    assert mean("Coverage@1", collection_size=10) == 0.1
    assert mean("Coverage@2", collection_size=10) == 0.3
    assert mean("Coverage@9", collection_size=4) == 1.0


def test_coverage_of_the_relevant_needs_no_size_of_the_collection() -> None:
    assert mean("Coverage(of='relevant')@1") == 1 / 4  # a of a, b, d, e
    assert mean("Coverage(of='relevant')@3") == 2 / 4
    assert mean("Coverage(of='relevant',rel=2)@3") == 1 / 2


def test_coverage_says_what_it_lacks() -> None:
    with pytest.raises(MeasureError, match="--collection-size"):
        mean("Coverage@5")
    with pytest.raises(MeasureError, match="3 documents are shown"):
        mean("Coverage@2", collection_size=2)
    with pytest.raises(MeasureError, match="explained for a query"):
        explain_file(judged(QRELS), run(RUN), [parse_measure("Coverage@5")], "1")


def test_micro_counts_the_documents_of_all_queries_together() -> None:
    # judged: 2 of 3 and 1 of 2; query 3 is not answered
    assert mean("Judged") == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert mean("Judged(average='micro')") == 3 / 5
    assert mean("Judged(average='micro')@1") == 1.0
    assert mean("Unjudged(average='micro')") == 2 / 5
    assert mean("Unjudged@2") == 1 / 2


def test_what_is_no_mean_has_no_standard_error_and_says_how_many_queries_it_saw() -> None:
    names = ["Judged(average='micro')@2", "Coverage(of='relevant')@2", "Judged@2"]
    found = evaluate_file(judged(QRELS), run(RUN), [parse_measure(name) for name in names])
    assert found.counts == (2, 2, 2)
    assert found.standard_errors[:2] == (None, None)
    assert found.standard_errors[2] is not None


def test_micro_over_averaged_ties_counts_what_is_to_be_expected() -> None:
    tied = run("1 a 1\n1 x 1")
    name = "Judged(ties='averaged',average='micro')@1"
    assert evaluate_file(judged(QRELS), tied, [parse_measure(name)]).means == (0.5,)
