"""Answers of search engines, written from their published formats: examples, not recordings.

Each names the page and the version that it was written from. Fields that no mapping reads are left
out, but for those that say whether an answer is whole.
"""

from typing import Any, NamedTuple


class Example(NamedTuple):
    """An answer of an engine. rows: id and score (None: by rank) that its preset finds in it."""

    preset: str
    source: str
    answer: dict[str, Any]
    rows: list[tuple[str, float | None]]
    is_partial: bool = False


def search_answer(*, timed_out: bool = False, failed: int = 0) -> dict[str, Any]:
    return {
        "took": 5,
        "timed_out": timed_out,
        "_shards": {"total": 2, "successful": 2 - failed, "skipped": 0, "failed": failed},
        "hits": {
            "total": {"value": 2, "relation": "eq"},
            "max_score": 1.3862942,
            "hits": [
                {
                    "_index": "books",
                    "_id": "d1",
                    "_score": 1.3862942,
                    "_source": {"title": "One", "text": "First text", "url": "https://b.example/1"},
                },
                {"_index": "books", "_id": "d2", "_score": 0.6931471, "_source": {"title": "Two"}},
            ],
        },
    }


ELASTIC = (
    "Elasticsearch 8.17, Search API, "
    "www.elastic.co/guide/en/elasticsearch/reference/8.17/search-search.html"
)
OPENSEARCH = "OpenSearch 3.5, Search API, docs.opensearch.org/3.5/api-reference/search-apis/search/"
SOLR = (
    "Solr 9.8, Response Writers, solr.apache.org/guide/solr/9_8/query-guide/response-writers.html"
)
VESPA = "Vespa 8, Default JSON Result Format, docs.vespa.ai/en/reference/default-result-format.html"
ALGOLIA = (
    "Algolia REST API v1, Search an index, www.algolia.com/doc/rest-api/search/search-single-index"
)
TWO: list[tuple[str, float | None]] = [("d1", 1.3862942), ("d2", 0.6931471)]


def solr_answer(*docs: dict[str, Any], **header: Any) -> dict[str, Any]:
    return {
        "responseHeader": {"status": 0, "QTime": 3, "params": {"q": "a", "wt": "json"}, **header},
        "response": {
            "numFound": len(docs),
            "start": 0,
            "maxScore": 2.5,
            "numFoundExact": True,
            "docs": list(docs),
        },
    }


def vespa_answer(*children: dict[str, Any], degraded: bool = False, **root: Any) -> dict[str, Any]:
    coverage: dict[str, Any] = {"coverage": 100, "documents": 2, "full": not degraded, "nodes": 1}
    if degraded:
        coverage |= {"coverage": 50, "degraded": {"timeout": True, "match-phase": False}}
    hits = {"children": list(children)} if children else {}
    return {
        "root": {
            "id": "toplevel",
            "relevance": 1.0,
            "fields": {"totalCount": len(children)},
            "coverage": coverage,
            **hits,
            **root,
        }
    }


VESPA_HIT = {
    "id": "id:books:book::d1",
    "relevance": 0.25,
    "source": "books",
    "fields": {"documentid": "id:books:book::d1", "title": "One"},
}

EXAMPLES = [
    Example("elasticsearch", ELASTIC, search_answer(), TWO),
    Example("elasticsearch", OPENSEARCH, search_answer(), TWO),
    Example("elasticsearch", ELASTIC, search_answer(timed_out=True), TWO, is_partial=True),
    Example("elasticsearch", OPENSEARCH, search_answer(failed=1), TWO, is_partial=True),
    Example(
        "elasticsearch",
        ELASTIC,
        search_answer() | {"hits": {"total": {"value": 0}, "max_score": None, "hits": []}},
        [],
    ),
    Example(
        "solr",
        SOLR,
        solr_answer({"id": "d1", "title": ["One", "Uno"], "score": 2.5}, {"id": "d2", "score": 1}),
        [("d1", 2.5), ("d2", 1.0)],
    ),
    Example("solr", SOLR, solr_answer(), []),
    Example(
        "solr",
        SOLR,
        solr_answer({"id": "d1", "score": 2.5}, partialResults=True),
        [("d1", 2.5)],
        is_partial=True,
    ),
    Example("vespa", VESPA, vespa_answer(VESPA_HIT), [("id:books:book::d1", 0.25)]),
    Example("vespa", VESPA, vespa_answer(), []),
    Example(
        "vespa",
        VESPA,
        vespa_answer(VESPA_HIT, degraded=True),
        [("id:books:book::d1", 0.25)],
        is_partial=True,
    ),
    Example(
        "algolia",
        ALGOLIA,
        {
            "hits": [
                {"objectID": "433", "title": "One", "_highlightResult": {}},
                {"objectID": "434", "title": "Two", "_highlightResult": {}},
            ],
            "page": 0,
            "nbHits": 2,
            "nbPages": 1,
            "hitsPerPage": 20,
            "processingTimeMS": 1,
            "query": "a",
        },
        [("433", None), ("434", None)],
    ),
    Example("algolia", ALGOLIA, {"hits": [], "page": 0, "nbHits": 0, "nbPages": 0}, []),
]
# answers that are no results at all
FAILED: list[tuple[str, dict[str, Any]]] = [
    ("vespa", vespa_answer(errors=[{"code": 12, "summary": "Timed out"}])),
    ("elasticsearch", {"error": {"type": "parsing_exception"}, "status": 400}),
    ("solr", {"error": {"msg": "no field name specified", "code": 400}}),
]
