"""Whether a snapshot waits to be looked at; for the sweep."""

from datetime import datetime

from evaluation.canaries.queries import list_due_canaries


def is_look_due(_: datetime) -> bool:
    """Whether the task `evaluation.check_canaries` would find something to do."""
    return list_due_canaries().exists()
