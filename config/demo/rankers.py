"""Six honest rankers that know nothing but words, and the run files they write.

Their runs enter the demo through the same door as any researcher's run file.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from config.demo.inverted_index import Floats, Integers, InvertedIndex, Postings
from config.demo.tokens import word_tokens

DEPTH = 100
DIGITS = 6


@dataclass(frozen=True)
class LexicalRanker:
    """`scores` gives every document a number; documents that share no word with the query get
    minus infinity and are left out of the run."""

    slug: str
    name: str
    description: str
    scores: Callable[[InvertedIndex, Counter[str]], Floats]


def bm25(postings: Postings, query: Counter[str], *, k1: float, b: float) -> Floats:
    """BM25 of every document.

    query: how often each word occurs in it.
    k1: how slowly repeated words stop counting; b: how far long documents are held back, 0 to 1.
    Source: Robertson & Zaragoza 2009, eq. 3.15, with the idf ln(1 + (N - n + ½) / (n + ½)), which
    is never negative.
    """
    scores: Floats = np.full(len(postings.lengths), -np.inf)
    norm = k1 * (1 - b + b * postings.lengths / max(postings.lengths.mean(), 1e-9))
    for word, times in query.items():
        documents, counts = postings.of(word)
        rarity = np.log1p((len(scores) - len(documents) + 0.5) / (len(documents) + 0.5))
        gains = times * rarity * counts * (k1 + 1) / (counts + norm[documents])
        _add(scores, documents, gains)
    return scores


def tfidf_cosine(postings: Postings, query: Counter[str]) -> Floats:
    """The cosine between query and document, both weighted (1 + ln count) · ln(N / n).

    query: how often each word occurs in it.
    Source: Manning, Raghavan & Schütze 2008, table 6.15, ltc.ltc.
    """
    size = len(postings.lengths)
    rarity = np.log(size / np.maximum(postings.document_frequencies, 1))
    weights = (1 + np.log(postings.counts)) * rarity[postings.posting_words]
    norms = np.sqrt(np.bincount(postings.documents, weights=weights**2, minlength=size))
    scores, query_norm = np.full(size, -np.inf), 0.0
    for word, times in query.items():
        documents, counts = postings.of(word)
        if len(documents):
            idf = np.log(size / len(documents))
            weight = (1 + np.log(times)) * idf
            query_norm += weight**2
            _add(scores, documents, weight * (1 + np.log(counts)) * idf)
    cosines: Floats = scores / np.maximum(norms * np.sqrt(query_norm), 1e-12)
    return cosines


def query_likelihood(postings: Postings, query: Counter[str], *, mu: float) -> Floats:
    """The log probability of the query in each document's language model, Dirichlet smoothed.

    query: how often each word occurs in it; words that no document holds are left out.
    mu: how many words of the whole collection are mixed into each document.
    Source: Zhai & Lafferty 2004, eq. 6.
    """
    scores: Floats = np.full(len(postings.lengths), -np.inf)
    length = 0
    total = postings.counts.sum()
    for word, times in query.items():
        documents, counts = postings.of(word)
        if len(documents):
            length += times
            _add(scores, documents, times * np.log1p(counts * total / (mu * counts.sum())))
    shares: Floats = np.log(mu / (postings.lengths + mu))
    return scores + length * shares


def _add(scores: Floats, documents: Integers, gains: Floats) -> None:
    scores[documents] = np.where(np.isinf(scores[documents]), 0.0, scores[documents]) + gains


RANKERS = (
    LexicalRanker(
        slug="bm25",
        name="BM25",
        description="BM25 over title and text, k1 = 1.2, b = 0.75.",
        scores=lambda index, query: bm25(index.whole, query, k1=1.2, b=0.75),
    ),
    LexicalRanker(
        slug="bm25-long",
        name="BM25, kinder to long texts",
        description="BM25 over title and text, k1 = 0.9, b = 0.4.",
        scores=lambda index, query: bm25(index.whole, query, k1=0.9, b=0.4),
    ),
    LexicalRanker(
        slug="bm25-title",
        name="BM25, title counted four times",
        description="BM25 with every word of the title counted four times, k1 = 1.2, b = 0.75.",
        scores=lambda index, query: bm25(index.title_heavy, query, k1=1.2, b=0.75),
    ),
    LexicalRanker(
        slug="tfidf",
        name="TF-IDF cosine",
        description="The cosine of TF-IDF vectors (ltc.ltc) over title and text.",
        scores=lambda index, query: tfidf_cosine(index.whole, query),
    ),
    LexicalRanker(
        slug="query-likelihood",
        name="Query likelihood",
        description="Query likelihood with Dirichlet smoothing, µ = 500, over title and text.",
        scores=lambda index, query: query_likelihood(index.whole, query, mu=500.0),
    ),
    LexicalRanker(
        slug="title-only",
        name="Titles alone",
        description="BM25 over titles only, k1 = 1.2, b = 0.75.",
        scores=lambda index, query: bm25(index.title_only, query, k1=1.2, b=0.75),
    ),
)


def ranking(
    ranker: LexicalRanker, index: InvertedIndex, text: str, depth: int = DEPTH
) -> list[tuple[str, float]]:
    """The first `depth` documents for a query: (docid, score), best first.

    text: the query as typed.
    Scores are rounded to six decimals; equal ones are ordered by docid, descending, as TREC's
    tools do.
    """
    scores = ranker.scores(index, Counter(word_tokens(text)))
    result = np.flatnonzero(np.isfinite(scores))
    if len(result) > depth:
        # Ties at the edge stay in until docids have decided.
        edge = np.partition(scores[result], -depth)[-depth]
        result = result[scores[result] >= edge - 10.0**-DIGITS]
    rounded = [(round(float(scores[i]), DIGITS), index.docids[i]) for i in result.tolist()]
    best = sorted(rounded, key=lambda pair: (pair[0], pair[1].encode()), reverse=True)
    return [(docid, score) for score, docid in best[:depth]]


def run_lines(
    ranker: LexicalRanker,
    index: InvertedIndex,
    queries: Iterable[tuple[str, str]],
    depth: int = DEPTH,
) -> Iterator[str]:
    """The lines of a TREC run file, each with its line end.

    queries: (qid, text).
    """
    for qid, text in queries:
        for rank, (docid, score) in enumerate(ranking(ranker, index, text, depth), start=1):
            yield f"{qid} Q0 {docid} {rank} {score:.{DIGITS}f} {ranker.slug}\n"
