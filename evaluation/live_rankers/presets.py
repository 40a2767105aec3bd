"""Requests and mappings of well-known engines, to begin with."""

from dataclasses import dataclass
from typing import Final

from evaluation.live_rankers.mapping import Mapping
from touchstone.files.json_lines import Json


@dataclass(frozen=True, kw_only=True)
class Preset:
    """How an engine is asked. body: JSON, None for a GET.

    secret_header: which header carries its key, of Redis which user; secret_hint: what the key
    looks like.
    """

    label: str
    method: str
    url: str
    body: Json = None
    headers: tuple[tuple[str, str], ...] = ()
    mapping: Mapping
    secret_header: str = ""
    secret_hint: str = ""


PRESETS: Final[dict[str, Preset]] = {
    "elasticsearch": Preset(
        label="Elasticsearch or OpenSearch",
        method="POST",
        url="http://localhost:9200/INDEX/_search",
        body={
            "size": "{{depth}}",
            "query": {"multi_match": {"query": "{{text}}", "fields": ["title^2", "text"]}},
        },
        mapping=Mapping(
            rows="hits.hits",
            id="_id",
            score="_score",
            title="_source.title",
            text="_source.text",
            url="_source.url",
            partial="timed_out || _shards.failed > `0`",
        ),
        secret_header="Authorization",  # noqa: S106
        secret_hint="ApiKey …, or Basic … for OpenSearch",  # noqa: S106
    ),
    "solr": Preset(
        label="Solr",
        method="GET",
        url="http://localhost:8983/solr/COLLECTION/select"
        "?q={{text}}&defType=edismax&rows={{depth}}&fl=*,score&wt=json",
        mapping=Mapping(
            rows="response.docs",
            id="id",
            score="score",
            title="title",
            text="text",
            url="url",
            partial="responseHeader.partialResults",
        ),
        secret_header="Authorization",  # noqa: S106
        secret_hint="Basic …",  # noqa: S106
    ),
    "vespa": Preset(
        label="Vespa",
        method="POST",
        url="http://localhost:8080/search/",
        body={
            "yql": "select * from sources * where userQuery()",
            "query": "{{text}}",
            "hits": "{{depth}}",
        },
        # a result without hits has no children, as one with errors has none
        mapping=Mapping(
            rows="root.children || (root.fields.totalCount == `0` && `[]`)",
            id="id",
            score="relevance",
            title="fields.title",
            text="fields.text",
            url="fields.url",
            partial="not_null(root.coverage.degraded, root.errors) != `null`",
        ),
        secret_header="Authorization",  # noqa: S106
        secret_hint="Bearer …",  # noqa: S106
    ),
    "algolia": Preset(
        label="Algolia",
        method="POST",
        url="https://APPLICATION-dsn.algolia.net/1/indexes/INDEX/query",
        body={"query": "{{text}}", "hitsPerPage": "{{depth}}"},
        headers=(("X-Algolia-Application-Id", "APPLICATION"),),
        # Algolia sorts by criteria one after the other; there is no one score
        mapping=Mapping(rows="hits", id="objectID", title="title", text="text", url="url"),
        secret_header="X-Algolia-API-Key",  # noqa: S106
        secret_hint="a search-only API key",  # noqa: S106
    ),
    "redis": Preset(
        label="Redis",
        method="REDIS",
        url="redis://localhost:6379",
        body=[
            *("FT.SEARCH", "INDEX", "{{any_word}}", "WITHSCORES", "RETURN", 2, "title", "text"),
            *("LIMIT", 0, "{{depth}}"),
        ],
        mapping=Mapping(
            rows="results",
            id="id",
            score="score",
            title="extra_attributes.title",
            text="extra_attributes.text",
            partial="length(warning || `[]`) > `0`",
        ),
        secret_header="default",  # noqa: S106
        secret_hint="the user’s password",  # noqa: S106
    ),
    "redis_vectors": Preset(
        label="Redis, by vectors",
        method="REDIS",
        url="redis://localhost:6379",
        body=[
            *("FT.SEARCH", "INDEX", "*=>[KNN $k @vector $query AS distance]", "PARAMS", 4),
            *("k", "{{depth}}", "query", "{{vector}}", "SORTBY", "distance"),
            *("RETURN", 2, "title", "text", "LIMIT", 0, "{{depth}}", "DIALECT", 2),
        ],
        # nearest first; there is no score of which more is better
        mapping=Mapping(
            rows="results",
            id="id",
            title="extra_attributes.title",
            text="extra_attributes.text",
            partial="length(warning || `[]`) > `0`",
        ),
        secret_header="default",  # noqa: S106
        secret_hint="the user’s password",  # noqa: S106
    ),
    "http": Preset(
        label="Another HTTP service",
        method="GET",
        url="http://localhost:8000/search?q={{text}}&k={{depth}}",
        mapping=Mapping(rows="results", id="id", score="score", title="title", text="text"),
    ),
}
