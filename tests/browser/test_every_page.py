"""Every page that links lead to, each once: axe finds nothing, and nothing scrolls sideways."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import pytest
from django.urls import Resolver404, resolve
from playwright.sync_api import Error

from tests.browser.windows import Opener, Place, Window

pytestmark = pytest.mark.browser

WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LINKS = """() => [...document.querySelectorAll("a[href]")].map(
  (link) => new URL(link.getAttribute("href"), document.baseURI).href  // in a drawing as well
)"""
# parts that the page loads after itself are on it
LOADED = "() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')"
# what scrolls takes the focus once the page has seen how wide it is
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# a page whose figures are there now comes again, maybe while it is looked at
STAYS = """addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.xhr.getResponseHeader("HX-Refresh")) event.preventDefault();
})"""
Look = tuple[int, str]
LOOKS: tuple[Look, ...] = ((1280, "light"), (390, "dark"))
DIFFER = {"home", "campaign"}  # by who looks


@pytest.mark.parametrize(
    "in_turns",
    [pytest.param(True, id="one look each"), pytest.param(False, marks=pytest.mark.long)],
)
def test_axe_finds_nothing_on_any_page_and_none_is_wider_than_a_phone(
    in_turns: bool, open_window: Opener, place: Place
) -> None:
    place.site.call("-m", "tests.browser.labels_scene")
    looked_at: set[str] = set()
    faults: list[str] = []
    for username in ("ada", "dora", "ben"):
        window = open_window(username, reduced_motion="reduce")  # colours do not fade in
        window.context.add_init_script(STAYS)
        for name in pages_of(window):
            if name not in looked_at or name in DIFFER:
                turn = len(looked_at) % len(LOOKS)
                faults += faults_of(window, LOOKS[turn : turn + 1] if in_turns else LOOKS)
            looked_at.add(name)
    window = open_window("root", reduced_motion="reduce")
    for path, look in zip(("/accounts", "/accounts/ben"), LOOKS, strict=True):
        assert opens(window, window.place.site.address + path)
        faults += faults_of(window, (look,) if in_turns else LOOKS)
    assert not faults, "\n".join(faults)
    assert {"home", "leaderboard", "campaign", "label", "run", "pair", "list-create"} <= looked_at
    # those that have something to say only once people have labelled
    assert {"campaign-quality", "campaign-overlap", "list-quality"} <= looked_at
    assert {"campaign-questions", "campaign-question", "label-question"} <= looked_at
    assert {"data-sets", "data-set", "data-set-new", "data-set-canaries"} <= looked_at
    assert {"data-set-comparisons", "data-set-comparison"} <= looked_at
    assert {"campaign-queue", "campaign-decide", "campaign-rule", "pair"} <= looked_at


def pages_of(window: Window) -> Iterator[str]:
    """Follow links from the start; stop at the first page of each name that an address has."""
    ahead = [f"{window.place.site.address}/"]
    seen = set()
    while ahead:
        url = ahead.pop(0)
        name = name_of(url)
        if name in seen:
            continue
        seen.add(name)
        if opens(window, url):
            yield name
        own = urlsplit(window.place.site.address).netloc
        links = [link.split("#")[0] for link in window.page.evaluate(LINKS)]
        ahead += [link for link in links if urlsplit(link).netloc == own]


def name_of(url: str) -> str:
    """The name of the address; an address that no one serves is a broken link."""
    path = urlsplit(url).path
    try:
        return resolve(path).url_name or path
    except Resolver404:
        pytest.fail(f"a link leads to {path}, which is no address")


def opens(window: Window, url: str) -> bool:
    """Whether it is a page, which is open then, and no file to download."""
    try:
        answer = window.page.goto(url)
    except Error as error:
        if "Download is starting" in error.message:
            return False
        raise
    return answer is not None and "text/html" in answer.headers.get("content-type", "")


def faults_of(window: Window, for_axe: Sequence[Look]) -> list[str]:
    faults = []
    for width, scheme in LOOKS:
        window.page.set_viewport_size({"width": width, "height": 780})
        window.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        window.page.wait_for_function(LOADED)
        window.page.evaluate(FRAMES)
        if (width, scheme) in for_axe:
            faults += window.violations()
        if (wider := window.page.evaluate(WIDER)) > 0:
            faults.append(f"{window.page.url} is {wider} px wider than {width}")
    return faults
