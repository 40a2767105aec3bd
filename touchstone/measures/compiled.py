"""When evaluating is left to compiled loops: in large batches, once they are worth loading.

Small batches never ask for them, so that refreshing after a label never does.
"""

from typing import Any, Final

from touchstone import compiled

LOOPS: Final = "touchstone.measures.loops"
LEAST: Final = 1 << 16  # ranks, or values, of a batch that asks
_SAVED: Final = 2e-8  # seconds each


def loops_after(cells: int) -> Any:
    """The module `loops`, compiled, once it is worth it for so many ranks or values more."""
    return None if cells < LEAST else compiled.loops_after(LOOPS, cells * _SAVED)
