"""Reading annotation's tables, each for the viewer it takes."""

from annotation.selectors.due import (
    count_due,
    count_labels,
    find_oldest_due,
    is_lease_due,
    list_due_lists,
    list_due_reports,
)

__all__ = [
    "count_due",
    "count_labels",
    "find_oldest_due",
    "is_lease_due",
    "list_due_lists",
    "list_due_reports",
]
