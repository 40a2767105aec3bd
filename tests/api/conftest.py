"""Every test of the interface has the usual world, and uploads of its own."""

from pathlib import Path
from typing import Any

import pytest

from tests.builders import World, make_world


@pytest.fixture
def world(db: None, settings: Any, tmp_path: Path) -> World:
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }
    return make_world()
