"""Reading what evaluation owns: plain values, for annotation, for pages and for commands."""

from evaluation.selectors.backlog import Backlog, get_backlog
from evaluation.selectors.due import list_due_lists, list_failures
from evaluation.selectors.runs import (
    RankedQuery,
    RunChoice,
    list_ranked_documents,
    list_runs,
)
from evaluation.selectors.what_if import (
    OtherBoard,
    WhatIf,
    get_other_board,
    get_resolution,
    list_what_if,
)

__all__ = [
    "Backlog",
    "OtherBoard",
    "RankedQuery",
    "RunChoice",
    "WhatIf",
    "get_backlog",
    "get_other_board",
    "get_resolution",
    "list_due_lists",
    "list_failures",
    "list_ranked_documents",
    "list_runs",
    "list_what_if",
]
