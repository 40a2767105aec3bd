"""The demo's questions."""

from collections import Counter

from config.demo.queries import QUERIES
from config.demo.tokens import word_tokens


def test_there_are_enough_questions_in_enough_segments() -> None:
    segments = Counter(query.segment for query in QUERIES)
    assert len(QUERIES) >= 60
    assert len(segments) >= 10
    assert min(segments.values()) >= 2


def test_ids_and_texts_are_unique_and_ids_fit_a_run_file() -> None:
    assert len({query.qid for query in QUERIES}) == len(QUERIES)
    assert len({query.text for query in QUERIES}) == len(QUERIES)
    assert all(query.qid.split() == [query.qid] for query in QUERIES)


def test_a_description_tells_the_judge_what_a_good_answer_is() -> None:
    for query in QUERIES:
        assert query.description.count(".") >= 2, query.qid
        assert "good answer" in query.description, query.qid
        assert 80 <= len(query.description) <= 400, query.qid


def test_every_question_has_words_that_a_ranker_can_use() -> None:
    assert min(len(word_tokens(query.text)) for query in QUERIES) >= 2


def test_weights_are_positive() -> None:
    assert min(query.weight for query in QUERIES) > 0
