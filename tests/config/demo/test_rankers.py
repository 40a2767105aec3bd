"""The rankers against numbers worked out by hand, and on the demo's own content."""

from collections import Counter
from math import log, sqrt

import numpy as np
import pytest

from config.demo.corpus import DemoDocument
from config.demo.inverted_index import InvertedIndex, inverted_index
from config.demo.queries import QUERIES
from config.demo.rankers import (
    RANKERS,
    LexicalRanker,
    bm25,
    query_likelihood,
    ranking,
    run_lines,
    tfidf_cosine,
)

TINY = (
    ("d1", "cat", "cat dog"),
    ("d2", "", "dog bird"),
    ("d3", "bird", "fish fish fish bird"),
)


@pytest.fixture
def tiny() -> InvertedIndex:
    return inverted_index(TINY)


@pytest.fixture(scope="module")
def library(documents: list[DemoDocument]) -> InvertedIndex:
    return inverted_index((d.docid, d.title, d.body) for d in documents)


@pytest.fixture(scope="module")
def pools(library: InvertedIndex) -> dict[str, set[str]]:
    return {
        query.qid: {
            docid
            for ranker in RANKERS
            for docid, _ in ranking(ranker, library, query.text, depth=10)
        }
        for query in QUERIES
    }


def test_counts_and_lengths_of_a_tiny_index(tiny: InvertedIndex) -> None:
    documents, counts = tiny.whole.of("bird")
    assert (documents.tolist(), counts.tolist()) == ([1, 2], [1.0, 2.0])
    assert tiny.whole.lengths.tolist() == [3.0, 2.0, 5.0]
    assert tiny.title_heavy.of("cat")[1].tolist() == [5.0]
    assert tiny.title_only.of("bird")[0].tolist() == [2]
    assert tiny.title_only.lengths.tolist() == [1.0, 0.0, 1.0]
    assert tiny.whole.of("horse")[0].tolist() == []


def test_bm25_by_hand(tiny: InvertedIndex) -> None:
    scores = bm25(tiny.whole, Counter(["cat", "bird"]), k1=1.2, b=0.75)
    mean = 10 / 3
    cat = log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    bird = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    by_hand = [
        cat * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / mean)),
        bird * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / mean)),
        bird * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 5 / mean)),
    ]
    np.testing.assert_allclose(scores, by_hand, rtol=1e-12)


def test_tfidf_cosine_by_hand(tiny: InvertedIndex) -> None:
    scores = tfidf_cosine(tiny.whole, Counter(["bird"]))
    common, rare = log(3 / 2), log(3)
    third = (1 + log(2)) * common
    by_hand = [common / sqrt(2 * common**2), third / sqrt(third**2 + ((1 + log(3)) * rare) ** 2)]
    assert scores[0] == -np.inf
    np.testing.assert_allclose(scores[1:], by_hand, rtol=1e-12)


def test_query_likelihood_by_hand(tiny: InvertedIndex) -> None:
    scores = query_likelihood(tiny.whole, Counter(["bird", "fish"]), mu=10)
    bird, fish = 3 / 10, 3 / 10
    constant = log(bird) + log(fish)
    second = log((1 + 10 * bird) / 12) + log((0 + 10 * fish) / 12)
    third = log((2 + 10 * bird) / 15) + log((3 + 10 * fish) / 15)
    assert scores[0] == -np.inf
    np.testing.assert_allclose(scores[1:], [second - constant, third - constant], rtol=1e-12)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: ranker.slug)
def test_a_query_of_unknown_words_finds_nothing(tiny: InvertedIndex, ranker: LexicalRanker) -> None:
    assert ranking(ranker, tiny, "horse cow") == []
    assert ranking(ranker, tiny, "the of and") == []


def test_equal_scores_are_ordered_by_docid_descending() -> None:
    index = inverted_index([("a", "", "cat"), ("c", "", "cat"), ("b", "", "cat"), ("d", "", "x")])
    found = ranking(RANKERS[0], index, "cat", depth=2)
    assert [docid for docid, _ in found] == ["c", "b"]


def test_a_run_is_in_the_form_of_trec(tiny: InvertedIndex) -> None:
    lines = list(run_lines(RANKERS[0], tiny, [("q1", "bird"), ("q2", "cat")]))
    assert [line.split()[:4] for line in lines] == [
        ["q1", "Q0", "d3", "1"],
        ["q1", "Q0", "d2", "2"],
        ["q2", "Q0", "d1", "1"],
    ]
    assert all(line.endswith(" bm25\n") for line in lines)


def test_rankings_are_deep_and_best_first(library: InvertedIndex) -> None:
    for ranker in RANKERS:
        found = ranking(ranker, library, "read a file line by line")
        scores = [score for _, score in found]
        assert len(found) == len({docid for docid, _ in found}) == 100
        assert scores == sorted(scores, reverse=True)


def test_every_ranker_finds_something_for_every_query(library: InvertedIndex) -> None:
    for ranker in RANKERS:
        assert all(ranking(ranker, library, query.text, depth=1) for query in QUERIES)


def test_no_two_rankers_agree_on_everything(library: InvertedIndex) -> None:
    tops = [
        tuple(tuple(d for d, _ in ranking(ranker, library, q.text, depth=10)) for q in QUERIES)
        for ranker in RANKERS
    ]
    for i, one in enumerate(tops):
        for other in tops[i + 1 :]:
            alike = sum(a == b for a, b in zip(one, other, strict=True))
            assert alike < len(QUERIES) / 4


def test_the_pool_is_a_day_of_work_and_not_a_month(pools: dict[str, set[str]]) -> None:
    assert 1_500 <= sum(len(pool) for pool in pools.values()) <= 3_000
    assert min(len(pool) for pool in pools.values()) >= 10
    assert max(len(pool) for pool in pools.values()) <= 60


@pytest.mark.parametrize(
    ("qid", "answers"),
    [
        ("files-5", {"py:tempfile.TemporaryDirectory"}),
        ("files-3", {"py:shutil.rmtree"}),
        ("text-1", {"py:str.split"}),
        ("data-1", {"py:collections.Counter"}),
        ("processes-1", {"py:subprocess.run", "py:subprocess.check_output"}),
        ("numbers-8", {"py:math.gcd"}),
    ],
)
def test_known_answers_are_in_the_pool(
    pools: dict[str, set[str]], qid: str, answers: set[str]
) -> None:
    assert answers <= pools[qid]
