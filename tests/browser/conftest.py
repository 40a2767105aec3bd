"""A real server, a real browser, and windows in which nothing may go wrong unnoticed."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.windows import SWITCHES, Opener, Place
from tests.faults.site import Embedded

PAIRS = 64  # more than one person holds at a time
SETTINGS = {"DJANGO_SETTINGS_MODULE": "config.settings"}


class Built(NamedTuple):
    """A home as it is before anybody has done anything."""

    home: Path
    campaign: str
    passwords: dict[str, str]


# Not for the whole session: while it runs, Django takes this thread for an asynchronous one.
@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    """Chromium, without a head."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        yield started
        started.close()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, make_home: Callable[[Path], Path]) -> Built:
    """A home with people, runs and an open campaign, made once; each place has a copy."""
    directory = tmp_path_factory.mktemp("scene")
    make_home(directory / "home")
    site = Embedded(directory, SETTINGS)
    scene = json.loads(site.call("-m", "tests.browser.scene", str(PAIRS)))
    return Built(directory / "home", scene["campaign"], scene["passwords"])


@pytest.fixture
def place(built: Built, tmp_path: Path) -> Iterator[Place]:
    """`manage.py serve` in a home of its own."""
    shutil.copytree(built.home, tmp_path / "home")
    site = Embedded(tmp_path, SETTINGS)
    try:
        site.begin()
        yield Place(site, built.campaign, built.passwords)
    finally:
        site.stop()


@pytest.fixture
def open_window(browser: Browser, place: Place) -> Iterator[Opener]:
    """Opens windows, each of somebody of the cast; in the end nothing may have gone wrong."""
    with ExitStack() as stack:
        yield Opener(browser, place, stack, os.environ.get("TOUCHSTONE_LOOK", "desktop"))
