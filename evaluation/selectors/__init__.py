"""Reading what evaluation owns: plain values, for annotation, for pages and for commands."""

from evaluation.selectors.due import list_due_lists

__all__ = ["list_due_lists"]
