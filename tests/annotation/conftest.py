"""What a module's tests get of the collection and the campaign that it has built.

A module has a fixture `built` over `shared_rows`, which makes both once. Modules that need other
objects, or rows of their own for each test, have fixtures of these names.
"""

from copy import deepcopy

import pytest

from annotation.models import Campaign
from tests.builders import World


@pytest.fixture
def world(built: tuple[World, Campaign]) -> World:
    return deepcopy(built[0])


@pytest.fixture
def campaign(built: tuple[World, Campaign]) -> Campaign:
    return deepcopy(built[1])
