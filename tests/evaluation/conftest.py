"""What tests of evaluation share."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def nothing_is_cached() -> None:
    """Lists of other tests have the same numbers."""
    cache.clear()
