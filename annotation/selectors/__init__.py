"""Reading annotation's tables, each for the viewer it takes."""

from annotation.selectors.due import is_lease_due, list_due_lists

__all__ = ["is_lease_due", "list_due_lists"]
