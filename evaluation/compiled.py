"""When evaluating is left to compiled loops: once they are worth what loading them costs.

Loading them takes about a second of CPU time, so small batches never ask for them, and large ones
not before that second has been spent without. Where Numba is missing or has nowhere to keep what it
compiled, everything is worked out without them.
"""

from functools import cache
from types import ModuleType
from typing import Final

LEAST: Final = 1 << 16  # ranks, or values, of a batch that asks
PATIENCE: Final = 50_000_000  # of those, that a process works on without compiled loops


class _Patience:
    """How many ranks and values this process has worked on so far without compiled loops."""

    cells = 0


def loops_after(cells: int) -> ModuleType | None:
    """The module `loops`, once so many ranks or values more are worth it; None until then."""
    if cells < LEAST:
        return None
    if _Patience.cells < PATIENCE:
        _Patience.cells += cells
    return compiled_loops() if _Patience.cells >= PATIENCE else None


@cache
def compiled_loops() -> ModuleType | None:
    """The module `loops`; None where there is no Numba, or nowhere to keep what it compiles."""
    try:
        from evaluation import loops
    except (ImportError, RuntimeError):
        return None
    return loops
