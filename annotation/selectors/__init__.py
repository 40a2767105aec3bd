"""Reading annotation's tables, each for the viewer it takes."""

from annotation.selectors.due import count_due, is_lease_due, list_due_lists

__all__ = ["count_due", "is_lease_due", "list_due_lists"]
