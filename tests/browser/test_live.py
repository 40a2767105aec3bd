"""An open leaderboard with a listener and without: what it asks for, and when."""

import time

import pytest
from playwright.sync_api import Page, Request

from tests.browser.windows import Opener

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
window.tell = (event, type = "message") => {
  const data = JSON.stringify({ event, spread: 100 });
  window.streams.at(-1).dispatchEvent(new MessageEvent(type, { data }));
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
    dora.go(BOARD)
    wait_for_streams(page, 1)
    return page, requests


def wait_for_streams(page: Page, count: int) -> None:
    deadline = time.monotonic() + 10
    while page.evaluate("window.streams?.length ?? 0") != count:
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)


def count_in(page: Page, requests: list[Request], seconds: float) -> int:
    before = len(requests)
    page.wait_for_timeout(1000 * seconds)
    return len(requests) - before


def now() -> int:
    return int(time.time() * 1000)


def test_it_asks_once_after_an_event_and_polls_again_when_the_stream_fails(
    asked: tuple[Page, list[Request]],
) -> None:
    page, requests = asked
    assert page.evaluate("streams[0].address") == "/live?ticket=a%3Aticket"
    page.wait_for_timeout(500)
    assert count_in(page, requests, 3) == 0
    event = now()
    for later in range(5):
        page.evaluate(f"tell({event + later})")
    assert count_in(page, requests, 2.5) == 1
    assert requests[-1].headers["x-live-event"] == str(event + 4)
    page.evaluate("streams[0].dispatchEvent(new Event('error'))")
    assert count_in(page, requests, 3.5) >= 2
    assert requests[-1].headers["x-live-event"] == "0"
    assert page.evaluate("streams.length") == 1  # it is tried again later
    assert page.evaluate("streams[0].isClosed")


def test_a_stream_that_is_over_is_followed_by_another(
    asked: tuple[Page, list[Request]],
) -> None:
    page, _ = asked
    page.evaluate("tell(0, 'over')")
    wait_for_streams(page, 2)
