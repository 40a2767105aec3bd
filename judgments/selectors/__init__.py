"""Reading the hub's tables: plain values, for other rooms and for pages."""

from judgments.selectors.collections import (
    list_document_ids,
    list_query_ids,
    map_documents,
    map_queries,
)
from judgments.selectors.judged import (
    Judged,
    get_judged,
    list_differences,
    list_touched_queries,
)

__all__ = [
    "Judged",
    "get_judged",
    "list_differences",
    "list_document_ids",
    "list_query_ids",
    "list_touched_queries",
    "map_documents",
    "map_queries",
]
