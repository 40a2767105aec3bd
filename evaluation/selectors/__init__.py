"""Reading what evaluation owns: plain values, for annotation, for pages and for commands."""

from evaluation.selectors.due import list_due_lists, list_failures
from evaluation.selectors.runs import (
    RankedQuery,
    RunChoice,
    list_ranked_documents,
    list_runs,
)

__all__ = [
    "RankedQuery",
    "RunChoice",
    "list_due_lists",
    "list_failures",
    "list_ranked_documents",
    "list_runs",
]
