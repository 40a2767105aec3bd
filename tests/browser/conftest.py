"""A real server, a real browser, and windows in which nothing may go wrong unnoticed."""

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserType, sync_playwright

from tests import services
from tests.browser.warm import WarmSite
from tests.browser.windows import SWITCHES, Opener, Place
from tests.faults.site import Embedded

OF_LAYOUT = {"test_label_fonts", "test_label_frames", "test_label_reading"}
WIDEST = "DejaVu"
PAIRS = 64  # more than one person holds at a time
SETTINGS = {"DJANGO_SETTINGS_MODULE": "config.settings", "TOUCHSTONE_DATA_SETS": "/srv/lake"}


ONE_FONT = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>{folder}</dir>
  <include ignore_missing="yes">/etc/fonts/conf.d</include>
  <match target="pattern">
    <edit name="family" mode="append_last"><string>{font} Sans</string></edit>
  </match>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


class Built(NamedTuple):
    """A home as it is before anyone has done anything."""

    home: Path
    campaign: str
    passwords: dict[str, str]
    sessions: dict[str, list[str]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of layout with the widest font; in the long form with the others too."""
    if "browser" not in metafunc.fixturenames or "browser" in named_parameters(metafunc):
        return
    if metafunc.module.__name__.rpartition(".")[2] in OF_LAYOUT:
        with_fonts = [
            pytest.param(
                font, marks=[pytest.mark.fonts, *([] if font == WIDEST else [pytest.mark.long])]
            )
            for font in services.FONTS
        ]
        metafunc.parametrize("browser", with_fonts, indirect=True, scope="module")


def named_parameters(metafunc: pytest.Metafunc) -> set[str]:
    """What the test itself is parametrized by."""
    return {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all of them in one process of the suite's, which has one browser and builds one scene."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


class Started(NamedTuple):
    """Playwright, whose loop runs between the calls to it, and the browser with all fonts."""

    kind: BrowserType
    browser: Browser
    loop: asyncio.AbstractEventLoop

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        """Meanwhile the loop is this thread's. At other times Django would take the thread for
        an asynchronous one, which may not ask the database."""
        asyncio._set_running_loop(self.loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def started(chromium: Path) -> Iterator[Started]:
    """Chromium, headless, started once."""
    with sync_playwright() as playwright:
        kind = playwright.chromium
        browser = kind.launch(executable_path=chromium, args=SWITCHES)
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield Started(kind, browser, loop)
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture(scope="session")
def browser_with(
    started: Started, chromium: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Browser]]:
    """Gives the browser on a machine that has one font and no other; each is started once."""
    browsers: dict[str, Browser] = {}

    def launch(font: str) -> Browser:
        settings = tmp_path_factory.mktemp("fonts") / "fonts.conf"
        settings.write_text(ONE_FONT.format(font=font, folder=services.find_fonts()[font]))
        environment: dict[str, str | float | bool] = {
            **os.environ,
            "FONTCONFIG_FILE": str(settings),
        }
        return started.kind.launch(executable_path=chromium, args=SWITCHES, env=environment)

    def find(font: str) -> Browser:
        if font not in browsers:
            browsers[font] = launch(font)
        return browsers[font]

    yield find
    with started.at_hand():
        for browser in browsers.values():
            browser.close()


@pytest.fixture(scope="module")
def browser(
    request: pytest.FixtureRequest, started: Started, browser_with: Callable[[str], Browser]
) -> Iterator[Browser]:
    """The browser with all fonts, or with the one that the test is parametrized by."""
    font = getattr(request, "param", None)
    with started.at_hand():
        yield browser_with(font) if font else started.browser


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, make_home: Callable[[Path], Path]) -> Built:
    """A home with people, runs and an open campaign, made once; each place has a copy."""
    directory = tmp_path_factory.mktemp("scene")
    make_home(directory / "home")
    site = Embedded(directory, SETTINGS)
    scene = json.loads(site.call("-m", "tests.browser.scene", str(PAIRS)))
    return Built(directory / "home", scene["campaign"], scene["passwords"], scene["sessions"])


@pytest.fixture(scope="session")
def warm_site(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmSite]:
    """Where every place is served, one after the other."""
    directory = tmp_path_factory.mktemp("site")
    shutil.copytree(built.home, directory / "home")  # for the keys that are read at the start
    site = WarmSite(directory, SETTINGS)
    yield site
    site.close()


@pytest.fixture
def place(built: Built, warm_site: WarmSite) -> Iterator[Place]:
    """A served home as it is before anyone has done anything."""
    home = warm_site.directory / "home"
    shutil.rmtree(home)
    shutil.copytree(built.home, home)
    try:
        warm_site.begin()
        yield Place(warm_site, built.campaign, built.passwords, built.sessions)
    finally:
        warm_site.stop(patience=0)


@pytest.fixture
def open_window(browser: Browser, place: Place) -> Iterator[Opener]:
    """Opens windows, each of someone of the cast; in the end nothing may have gone wrong."""
    with ExitStack() as stack:
        yield Opener(browser, place, stack, os.environ.get("TOUCHSTONE_LOOK", "desktop"))
