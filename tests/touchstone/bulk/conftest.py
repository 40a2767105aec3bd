"""Tests that need Spark are run by `./run tests --engines` alone."""

import os

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave them out, instead of skipping them: what was not asked for is not missing."""
    on_spark = [item for item in items if item.get_closest_marker("engines")]
    if os.environ.get("TOUCHSTONE_ENGINES"):
        for item in on_spark:  # pyspark warns of much that is not ours
            item.add_marker(pytest.mark.filterwarnings("default"))
        return
    config.hook.pytest_deselected(items=on_spark)
    items[:] = [item for item in items if not item.get_closest_marker("engines")]
