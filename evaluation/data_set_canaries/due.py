"""Whether an evaluation waits to be looked at; for the sweep."""

from datetime import datetime

from evaluation.data_set_canaries.queries import list_due_canaries_of_data_sets


def is_data_set_look_due(_: datetime) -> bool:
    """Whether the task `evaluation.check_data_sets` would find something to do."""
    return list_due_canaries_of_data_sets().exists()
