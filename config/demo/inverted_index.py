"""An inverted index in flat arrays: for every word the documents that hold it, and how often."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from config.demo.tokens import word_tokens

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Postings:
    """One weighting of titles and bodies, as (word, document, count) sorted by word.

    words: the number of each word; starts: where a word's documents begin, one longer than words;
    documents, counts: per posting; lengths: the sum of counts of each document.
    """

    words: dict[str, int]
    starts: Integers
    documents: Integers
    counts: Floats
    lengths: Floats

    def of(self, word: str) -> tuple[Integers, Floats]:
        """The documents that hold the word, and its count in each; empty for an unknown word."""
        number = self.words.get(word)
        if number is None:
            return self.documents[:0], self.counts[:0]
        here = slice(self.starts[number], self.starts[number + 1])
        return self.documents[here], self.counts[here]

    @cached_property
    def document_frequencies(self) -> Integers:
        """In how many documents each word occurs."""
        return np.diff(self.starts)

    @cached_property
    def posting_words(self) -> Integers:
        """The number of the word of every posting."""
        return np.repeat(np.arange(len(self.words)), self.document_frequencies)


@dataclass(frozen=True)
class InvertedIndex:
    """The documents' ids in order, and three weightings: both parts alike, the title's words
    counted `TITLE_WEIGHT` times, and titles alone."""

    docids: Sequence[str]
    whole: Postings
    title_heavy: Postings
    title_only: Postings


TITLE_WEIGHT = 4


def inverted_index(documents: Iterable[tuple[str, str, str]]) -> InvertedIndex:
    """The index of some documents.

    documents: (docid, title, body), in an order of their own that the index keeps.
    """
    docids, rows = [], []
    words: dict[str, int] = {}
    for position, (docid, title, body) in enumerate(documents):
        docids.append(docid)
        in_title, in_body = Counter(word_tokens(title)), Counter(word_tokens(body))
        for word in {**in_title, **in_body}:
            number = words.setdefault(word, len(words))
            rows.append((number, position, in_title[word], in_body[word]))
    table = np.array(sorted(rows), dtype=np.int64).reshape(-1, 4)
    titles, bodies = table[:, 2].astype(float), table[:, 3].astype(float)
    return InvertedIndex(
        docids=docids,
        whole=_postings(words, table, titles + bodies, len(docids)),
        title_heavy=_postings(words, table, TITLE_WEIGHT * titles + bodies, len(docids)),
        title_only=_postings(words, table, titles, len(docids)),
    )


def _postings(words: dict[str, int], table: Integers, counts: Floats, size: int) -> Postings:
    held = counts > 0
    numbers, documents, counts = table[held, 0], table[held, 1], counts[held]
    frequencies = np.bincount(numbers, minlength=len(words))
    starts = np.concatenate(([0], np.cumsum(frequencies))).astype(np.int64)
    lengths = np.bincount(documents, weights=counts, minlength=size).astype(np.float64)
    return Postings(words, starts, documents, counts, lengths)
