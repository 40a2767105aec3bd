"""What the tests of every address share."""

import pytest

from tests.builders import World, make_world


@pytest.fixture
def world(settings, tmp_path) -> World:
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }
    return make_world()
