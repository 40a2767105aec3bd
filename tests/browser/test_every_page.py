"""Every page that links lead to, each once: axe finds nothing, and nothing scrolls sideways."""

from collections.abc import Iterator, Set
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from django.urls import Resolver404, resolve
from playwright.sync_api import APIResponse, Error, ViewportSize

from tests.browser.windows import Opener, Place, Window

pytestmark = pytest.mark.browser

LINKS = """() => [...document.querySelectorAll("a[href]")].map(
  (link) => new URL(link.getAttribute("href"), document.baseURI).href  // in a drawing as well
)"""
# By how much a page is too wide, once the parts that it loads after itself are on it, and it has
# seen how wide it is: what scrolls takes the focus then.
WIDER = """async () => {
  const coming = ".htmx-request, .htmx-swapping, .htmx-settling";
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  do await frame(); while (document.querySelector(coming));
  await frame();
  return document.documentElement.scrollWidth - document.documentElement.clientWidth;
}"""
# What axe need not look at: the top of the page, where it looked at the same one before, and the
# rows of a table that are like those before them.
LEAVE_OUT = """([look, rows]) => {
  const before = new Set(JSON.parse(sessionStorage.getItem(look) ?? "[]"));
  for (const one of document.querySelectorAll("body > :not(main)")) {
    const html = one.outerHTML.replace(/value="[^"]*"/g, "");  // tokens
    if (before.has(html)) one.setAttribute("data-looked-at", "");
    before.add(html);
  }
  sessionStorage.setItem(look, JSON.stringify([...before]));
  for (const table of document.querySelectorAll("tbody"))
    for (const row of [...table.rows].slice(rows)) row.setAttribute("data-looked-at", "");
}"""
# a page whose figures are there now comes again, maybe while it is looked at
STAYS = """addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.xhr.getResponseHeader("HX-Refresh")) event.preventDefault();
})"""
Look = tuple[int, str]
BOTH: tuple[Look, ...] = ((1280, "light"), (390, "dark"))
IN_TURN: tuple[Look, ...] = ((390, "light"), (390, "dark"))  # where least room is
DIFFER = {"home", "campaign"}  # by who looks
ROWS = 12


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
        for name in pages_of(window, looked_at - DIFFER):
            faults += faults_of(window, turn=len(looked_at) if in_turns else None)
            looked_at.add(name)
    window = open_window("root", reduced_motion="reduce")
    for turn, path in enumerate(("/accounts", "/accounts/ben")):
        assert opens(window, window.place.site.address + path)
        faults += faults_of(window, turn=turn if in_turns else None)
    assert not faults, "\n".join(faults)
    assert {"home", "leaderboard", "campaign", "label", "run", "pair", "list-create"} <= looked_at
    # those that have something to say only once people have labelled
    assert {"campaign-quality", "campaign-overlap", "list-quality"} <= looked_at
    assert {"campaign-questions", "campaign-question", "label-question"} <= looked_at
    assert {"data-sets", "data-set", "data-set-new", "data-set-canaries"} <= looked_at
    assert {"data-set-comparisons", "data-set-comparison"} <= looked_at
    assert {"campaign-queue", "campaign-decide", "campaign-rule", "pair"} <= looked_at


def pages_of(window: Window, known: Set[str]) -> Iterator[str]:
    """Follow links from the start; stop at the first page of each name that an address has.

    known: names at which it need not stop; their pages are asked for and not shown.
    """
    ahead = [f"{window.place.site.address}/"]
    own = urlsplit(window.place.site.address).netloc
    seen = set()
    while ahead:
        url = ahead.pop(0)
        name = name_of(url)
        if name in seen:
            continue
        seen.add(name)
        if name in known:
            links = links_of(window, url)
        elif is_file(window, url):
            continue
        else:
            if opens(window, url):
                yield name
            links = window.page.evaluate(LINKS)
        ahead += [link.split("#")[0] for link in links if urlsplit(link).netloc == own]


class Links(HTMLParser):
    """The addresses that a page links to, as they are written."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a link's."""
        self.found += [value for name, value in attrs if (tag, name) == ("a", "href") and value]


def answer_of(window: Window, url: str) -> APIResponse:
    """What the server says, which is not shown."""
    answer = window.context.request.get(url, headers={"Accept": "text/html"})
    assert answer.ok, f"{answer.status} {url}"
    return answer


def is_file(window: Window, url: str) -> bool:
    """Whether an address has the ending of a file, and is one."""
    if not Path(urlsplit(url).path).suffix:
        return False
    return "text/html" not in answer_of(window, url).headers.get("content-type", "")


def links_of(window: Window, url: str) -> list[str]:
    """Where a page leads."""
    answer = answer_of(window, url)
    if "text/html" not in answer.headers.get("content-type", ""):
        return []
    links = Links()
    links.feed(answer.text())
    return [urljoin(answer.url, link) for link in links.found]


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
    assert answer is None or answer.ok, f"{answer.status} {url}"
    return answer is not None and "text/html" in answer.headers.get("content-type", "")


def faults_of(window: Window, *, turn: int | None) -> list[str]:
    """What is wrong with the page on a phone, light or dark in turn.

    turn: which; None if it shall be seen in both looks, and all rows of long tables be looked at.
    """
    faults = []
    for width, scheme in BOTH if turn is None else [IN_TURN[turn % len(IN_TURN)]]:
        size: ViewportSize = {"width": width, "height": 780}
        if window.page.viewport_size != size:
            window.page.set_viewport_size(size)
        window.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        if (wider := window.page.evaluate(WIDER)) > 0:
            faults.append(f"{window.page.url} is {wider} px wider than {width}")
        if turn is not None:
            window.page.evaluate(LEAVE_OUT, [scheme, ROWS])
        faults += window.violations()
    return faults
