"""Short names."""

import pytest

from touchstone.slugs import short_name


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("BM25_tuned", "bm25-tuned"),
        ("  Größe & Crème v2.1 ", "gro-e-creme-v2-1"),
        ("bm25-title", "bm25-title"),
        ("a" * 63 + " b", "a" * 63),
        ("检索", ""),
        ("..", ""),
    ],
)
def test_a_short_name_is_made_from_a_name_and_is_its_own(name: str, short: str) -> None:
    assert short_name(name) == short
    assert short_name(short) == short
