"""Reading with compiled loops, or without them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from touchstone.files import compiled


@contextmanager
def loops(*, wanted: bool) -> Iterator[None]:
    """All that compiled loops can do is done by them, or nothing is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "WORTH", 0 if wanted else sys.maxsize)
        yield
