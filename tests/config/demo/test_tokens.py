"""Cutting text into words."""

import pytest

from config.demo.tokens import stem, word_tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("os.path.isFile", ["os", "path", "file"]),
        ("read_text(encoding=None)", ["read", "text", "encoding", "none"]),
        ("HTTPServer XMLParser", ["http", "server", "xml", "parser"]),
        ("sha256 base64", ["sha", "256", "base", "64"]),
        ("How does this use split the strings?", ["split", "string"]),
        ("*.txt", ["txt"]),
        ("", []),
    ],
)
def test_words_and_identifiers_are_taken_apart(text: str, words: list[str]) -> None:
    assert word_tokens(text) == words


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("dictionaries", "dictionary"),
        ("files", "file"),
        ("class", "class"),
        ("status", "status"),
        ("bytes", "byte"),
        ("shoes", "shoe"),
        ("os", "os"),
    ],
)
def test_only_plural_endings_are_cut(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed
