"""What the tests of the demo read once."""

import pytest

from config.demo.corpus import DemoDocument, standard_library


@pytest.fixture(scope="session")
def documents() -> list[DemoDocument]:
    """The demo's documents: to read them takes four seconds of a processor."""
    return standard_library()
