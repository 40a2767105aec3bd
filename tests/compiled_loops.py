"""Working with compiled loops, or without them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from touchstone import compiled
from touchstone.measures import compiled as evaluating


@contextmanager
def loops(*, wanted: bool) -> Iterator[None]:
    """All that compiled loops can do is done by them, or nothing is."""
    limit = 0 if wanted else sys.maxsize
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluating, "LEAST", 0)
        patch.setattr(compiled, "LOADING", limit)
        patch.setattr(compiled, "COMPILING", limit)
        yield
