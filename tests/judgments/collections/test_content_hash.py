"""The hash of a document's content."""

import hashlib

import pytest

from judgments.collections.content_hash import content_hash


def test_the_hash_is_sha256_over_the_joined_parts():
    text = 'Title\n\x1fBody\x1f{"kind":"é","n":1}https://example.org/'
    assert (
        content_hash("Title", "Body", {"n": 1, "kind": "é"}, "https://example.org/")
        == hashlib.sha256(text.encode()).hexdigest()
    )


def test_the_order_of_fields_does_not_matter():
    assert content_hash("t", "b", {"x": 1, "y": 2}) == content_hash("t", "b", {"y": 2, "x": 1})


def test_no_fields_and_empty_fields_are_the_same():
    assert content_hash("t", "b") == content_hash("t", "b", {}) == content_hash("t", "b", None, "")


@pytest.mark.parametrize(
    "other",
    [
        ("title x", "body", None, ""),
        ("title", "x body", None, ""),
        ("title", "body", {"kind": "class"}, ""),
        ("title", "body", None, "https://example.org/"),
        ("title body", "", None, ""),
    ],
)
def test_any_change_of_what_is_shown_changes_the_hash(other):
    assert content_hash(*other) != content_hash("title", "body")


def test_text_that_is_not_unicode_is_refused():
    with pytest.raises(ValueError, match="surrogates"):
        content_hash("\ud800", "")
