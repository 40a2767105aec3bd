"""Reading the hub's tables: plain values, for other rooms and for pages."""

from judgments.selectors.collections import (
    list_document_ids,
    list_query_ids,
    map_documents,
    map_queries,
)
from judgments.selectors.jobs import is_job_due
from judgments.selectors.judged import (
    Judged,
    get_judged,
    list_differences,
    list_touched_queries,
)
from judgments.selectors.lists import get_list, get_qrels, get_version
from judgments.selectors.traits import (
    get_query_traits,
    has_judged_in_segment,
    list_segment_queries,
    list_segments,
    list_trait_changes,
)
from judgments.selectors.whole import get_all_judged

__all__ = [
    "Judged",
    "get_all_judged",
    "get_judged",
    "get_list",
    "get_qrels",
    "get_query_traits",
    "get_version",
    "has_judged_in_segment",
    "is_job_due",
    "list_differences",
    "list_document_ids",
    "list_query_ids",
    "list_segment_queries",
    "list_segments",
    "list_touched_queries",
    "list_trait_changes",
    "map_documents",
    "map_queries",
]
