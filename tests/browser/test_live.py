"""An open leaderboard with a listener and without: what it asks for, and when."""

import time

import pytest
from playwright.sync_api import Page, Request, expect

from judgments.live import pack_html
from tests.browser.windows import Opener

pytestmark = pytest.mark.browser
BOARD = "/c/books/lists/main/leaderboard"
# The listener's side of a stream, in the page: this server has none.
STREAM = """
window.EventSource = class extends EventTarget {
  constructor(address) {
    super();
    this.address = address;
    window.streams = [...(window.streams ?? []), this];
    setTimeout(() => this.dispatchEvent(new Event("open")));
  }
  close() { this.isClosed = true; }
};
window.tell = (data, type = "message") => {
  window.streams.at(-1).dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data) }));
};
"""


@pytest.fixture
def asked(open_window: Opener) -> tuple[Page, list[Request]]:
    """Dora's open board, and its requests for its part; tickets are added on the way."""
    dora = open_window("dora")
    page = dora.page
    page.add_init_script(STREAM)
    requests: list[Request] = []

    def give_ticket(route: object) -> None:
        answer = route.fetch()  # type: ignore[attr-defined]
        if route.request.headers.get("hx-request"):  # type: ignore[attr-defined]
            requests.append(route.request)  # type: ignore[attr-defined]
        headers = answer.headers | {"x-live-ticket": "a:ticket"}
        route.fulfill(response=answer, headers=headers)  # type: ignore[attr-defined]

    page.route(f"**{BOARD}", give_ticket)
    page.clock.install()
    dora.go(BOARD)
    wait_for_streams(page, 1)
    return page, requests


def wait_for_streams(page: Page, count: int) -> None:
    deadline = time.monotonic() + 10
    while page.evaluate("window.streams?.length ?? 0") != count:
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)


def let_pass(page: Page, seconds: float) -> None:
    """Let the page's clock go on by so many seconds, and what it asks for then be answered."""
    page.clock.run_for(int(1000 * seconds))
    page.wait_for_timeout(200)


def count_in(page: Page, requests: list[Request], seconds: float) -> int:
    before = len(requests)
    let_pass(page, seconds)
    return len(requests) - before


def tell(page: Page, event: str) -> None:
    page.evaluate("event => tell({ event, spread: 100 })", event)


def bring(page: Page, html: str) -> None:
    page.evaluate("part => tell({ part })", pack_html(html))


def test_it_asks_once_after_an_event_and_polls_again_when_the_stream_fails(
    asked: tuple[Page, list[Request]],
) -> None:
    page, requests = asked
    assert page.evaluate("streams[0].address") == "/live?ticket=a%3Aticket"
    let_pass(page, 0.5)
    assert count_in(page, requests, 3) == 0
    page.evaluate("[1, 2, 3].map(one => tell({ event: `event-${one}`, spread: 100 }))")
    assert count_in(page, requests, 2.5) == 1
    assert requests[-1].headers["x-live-event"] == "event-3"
    page.evaluate("streams[0].dispatchEvent(new Event('error'))")
    before = len(requests)
    for _ in range(40):  # within three seconds, and ten on a slow machine
        let_pass(page, 1)
        if len(requests) >= before + 2:
            break
    assert len(requests) >= before + 2
    assert requests[-1].headers["x-live-event"] == "0"
    assert page.evaluate("streams[0].isClosed")


def test_a_part_that_is_brought_is_put_in_place_as_an_answer_is_and_nothing_is_asked(
    asked: tuple[Page, list[Request]],
) -> None:
    page, requests = asked
    let_pass(page, 1.5)
    before = len(requests)
    tick = page.locator("#board input.tick").first
    tick.check()
    old = page.locator("#board").evaluate("board => board.outerHTML")
    cell = page.locator("#board [data-cell] .value").first
    number = cell.inner_text()
    bring(page, old.replace(number, "0.1234"))
    expect(cell).to_have_text("0.1234")
    expect(tick).to_be_checked()
    assert page.locator("#board .is-new").count()
    bring(page, old)  # as the first was: in the order in which they come
    expect(cell).to_have_text(number)
    assert len(requests) == before
    tell(page, "event-1")  # what was put in place asks like what was there before
    let_pass(page, 2)
    assert len(requests) == before + 1


def test_a_part_that_comes_while_the_page_asks_is_shown_after_the_answer(
    asked: tuple[Page, list[Request]],
) -> None:
    page, requests = asked
    let_pass(page, 1.5)
    old = page.locator("#board").evaluate("board => board.outerHTML")
    number = page.locator("#board [data-cell] .value").first.inner_text()
    part = pack_html(old.replace(number, "0.1234"))
    before = len(requests)
    page.evaluate(
        """part => {
          document.addEventListener("htmx:beforeSend", () => tell({ part }), { once: true });
          tell({ event: "event-1", spread: 0 });
        }""",
        part,
    )
    expect(page.locator("#board [data-cell] .value").first).to_have_text("0.1234")
    let_pass(page, 0.5)
    assert len(requests) == before + 1
    assert page.locator("#board [data-cell] .value").first.inner_text() == "0.1234"


def test_a_stream_that_is_over_is_followed_by_another_but_not_where_nothing_changes_any_more(
    asked: tuple[Page, list[Request]],
) -> None:
    page, requests = asked
    page.evaluate("tell({}, 'over')")
    page.clock.run_for(15_000)
    wait_for_streams(page, 2)
    let_pass(page, 1.5)
    old = page.locator("#board").evaluate("board => board.outerHTML")
    bring(page, old.replace(" data-live", "").replace("hx-get", "data-was"))
    expect(page.locator("[data-live]")).to_have_count(0)
    assert page.evaluate("streams[1].isClosed")
    assert count_in(page, requests, 5) == 0
