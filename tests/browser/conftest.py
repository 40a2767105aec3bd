"""A real server, a real browser, and windows in which nothing may go wrong unnoticed."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.windows import Opener, Place
from tests.faults.site import Embedded

PAIRS = 24
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


# Not for the whole session: while it runs, Django takes this thread for an asynchronous one.
@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    """Chromium, without a head."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        yield started
        started.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """`manage.py serve` in an empty home, with people, runs and an open campaign."""
    site = Embedded(tmp_path, {"DJANGO_SETTINGS_MODULE": "config.settings"})
    scene = json.loads(site.call("-m", "tests.browser.scene", str(PAIRS)))
    try:
        site.begin()
        yield Place(site, scene["campaign"], scene["passwords"])
    finally:
        site.stop()


@pytest.fixture
def open_window(browser: Browser, place: Place) -> Iterator[Opener]:
    """Opens windows, each of somebody of the cast; in the end nothing may have gone wrong."""
    with ExitStack() as stack:
        yield Opener(browser, place, stack)
