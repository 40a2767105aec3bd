"""What a key costs the browser: the next pair in one frame, as it stays, and then rest."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.presses import press
from tests.browser.windows import PHONE, Opener, Window

pytestmark = [pytest.mark.browser, pytest.mark.long]
REST = 700  # milliseconds, long after all that one key brings
# the next pair, the counts, and the document made ready after it
FEW = 8
NEAR = 2  # pixels
# What is seen in each of the frames after a key, in pixels: where the first marked word is, how
# high the frame with HTML, and where the pieces of the text in sight.
WATCH = """
window.seen = [];
addEventListener("keydown", () => {
  const look = () => {
    const part = (name) => document.querySelector(`[data-part="${name}"]`);
    const { top, bottom } = part("scroll").getBoundingClientRect();
    const isSeen = ({ top: start, bottom: end }) => end > top && start < bottom;
    const pieces = [...part("text").children].map((one) => one.getBoundingClientRect());
    const inSight = pieces.filter(isSeen).map((one) => one.top - top);
    const [term] = [...(CSS.highlights.get("terms") ?? [])]
      .filter((range) => part("text").contains(range.startContainer));
    seen.push([
      term ? term.getBoundingClientRect().top - top : 0,
      part("frame").querySelector("iframe")?.offsetHeight ?? 0, ...inSight,
    ]);
  };
  const follow = (left) => {
    const after = new MessageChannel();
    after.port1.onmessage = () => { look(); if (left > 0) follow(left - 1); };
    requestAnimationFrame(() => after.port2.postMessage(0));
  };
  follow(5);
}, true);
"""


def open_with(ben: Window, **document: str) -> Page:
    """The label page, with this in every document, and the first ones made ready."""

    def change(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        for pair in body["pairs"]:
            pair["document"].update(document)
        route.fulfill(response=answer, json=body)

    ben.context.add_init_script(WATCH)
    ben.page.route("**/next", change)
    page = ben.label_page()
    page.wait_for_timeout(REST)
    return page


def seen_after(page: Page, key: str) -> list[float]:
    """What the first frame after the key shows, which is what the others show."""
    page.evaluate("seen.length = 0")
    page.keyboard.press(key)
    page.wait_for_timeout(REST)
    first, *others = page.evaluate("seen")
    assert len(others) == 5
    for other in others:
        assert other == pytest.approx(first, abs=NEAR)
    seen: list[float] = first
    return seen


def test_a_label_is_painted_and_then_nothing_moves_until_the_next(open_window: Opener) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    client = ben.context.new_cdp_session(page)
    client.send("Performance.enable")

    def layouts() -> int:
        metrics = client.send("Performance.getMetrics")["metrics"]
        return next(int(one["value"]) for one in metrics if one["name"] == "LayoutCount")

    page.keyboard.press("1")
    ben.expect_saved()
    page.wait_for_timeout(REST)
    before = layouts()
    page.keyboard.press("2")
    page.wait_for_timeout(REST)
    assert 0 < layouts() - before <= FEW


def test_the_first_frame_shows_a_long_document_as_it_stays(open_window: Opener) -> None:
    prose = "Nothing of it stands here, only filler that fills the lines to their end and beyond.\n"
    unit = prose * 3 + "\n    x = {y: 1};\n    return (a);\n\n"
    page = open_with(open_window("ben"), text=unit * 300 + "Here is the number.\n" + unit * 300)
    term, _, *in_sight = seen_after(page, "1")
    assert len(in_sight) > 3
    assert 100 < term < 500


def test_html_has_a_frame_of_its_own_height_from_the_first_moment(open_window: Opener) -> None:
    words = "<p>A line of a document that is as long as they come, and breaks in its frame.</p>"
    page = open_with(open_window("ben"), html=words * 100)
    _, height, *_ = seen_after(page, "1")
    inside = "() => document.querySelector('iframe').contentDocument.body.offsetHeight"
    assert abs(height - page.evaluate(inside)) < 60


def test_a_phone_shows_the_counts_and_the_pace_without_moving_the_text(open_window: Opener) -> None:
    ben = open_window("ben", **PHONE)
    page = ben.label_page()
    expect(page.locator('[data-part="in-query"]')).to_be_visible()
    top = "document.querySelector('[data-part=scroll]').getBoundingClientRect().top"
    before = page.evaluate(top)
    press(page, "01234")
    pace = page.locator('[data-part="pace"]')
    expect(pace).to_contain_text("left")
    pace.evaluate("one => { one.textContent = 'about 12 h 45 min left'; }")
    for part in ("in-query", "pace", "state"):
        box = page.locator(f'[data-part="{part}"]').bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= PHONE["viewport"]["width"]
    assert page.evaluate(top) == before
    ben.check_accessible()
