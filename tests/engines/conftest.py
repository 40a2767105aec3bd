"""Tests against real search engines are run by `./run tests --engines` alone."""

import os

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave them out, instead of skipping them: what was not asked for is not missing."""
    if os.environ.get("TOUCHSTONE_ENGINES"):
        return
    own = [item for item in items if "tests/engines/" in item.nodeid]
    config.hook.pytest_deselected(items=own)
    items[:] = [item for item in items if item not in own]
