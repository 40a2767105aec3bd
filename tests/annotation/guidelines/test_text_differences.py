"""What differs between two states of a text."""

from hypothesis import given
from hypothesis import strategies as st

from annotation.guidelines.text_differences import (
    ADDED,
    KEPT,
    MOST,
    REMOVED,
    Passage,
    changed_wording,
)

texts = st.text(alphabet="ab .\n", max_size=80)


def test_only_the_words_that_differ_are_marked() -> None:
    assert changed_wording("Read it.\nBe fair.", "Read it.\nBe very fair.") == [
        Passage(KEPT, "Read it.\nBe"),
        Passage(ADDED, " very"),
        Passage(KEPT, " fair."),
    ]


@given(texts, texts)
def test_both_texts_can_be_read_out_of_the_passages(old: str, new: str) -> None:
    passages = changed_wording(old, new)
    assert "".join(one.text for one in passages if one.kind != ADDED) == old
    assert "".join(one.text for one in passages if one.kind != REMOVED) == new


def test_a_long_passage_differs_as_one() -> None:
    old, new = ("a " * MOST, "b " * MOST)
    assert changed_wording(old, new) == [Passage(REMOVED, old), Passage(ADDED, new)]
