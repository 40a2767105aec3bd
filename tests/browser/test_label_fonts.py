"""The labelling page's layout at every size of text, on three widths."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.windows import PHONE, Opener

pytestmark = [pytest.mark.browser, pytest.mark.long]

WIDTHS = (320, 390, 1280)  # pixels
TEXT_SIZES = (85, 100, 115, 130, 150, 175, 200)  # percent, as on the page
# What scrolls, and neither takes the focus itself nor holds anything that does.
OUT_OF_REACH = """() => [...document.querySelectorAll("#label-page *")]
  .filter((one) => one.checkVisibility() && /auto|scroll/.test(getComputedStyle(one).overflowY))
  .filter((one) => one.scrollHeight > one.clientHeight)
  .filter((one) => one.tabIndex < 0 && !one.querySelector("a, button, input, select, summary"))
  .map((one) => one.outerHTML.slice(0, 200))"""
# Controls whose words are cut, or that lie outside the window.
CUT_OFF = """() => [...document.querySelectorAll("#label-page :is(button, summary, select)")]
  .filter((one) => one.checkVisibility() && !one.closest(".menu-items"))
  .filter((one) => one.scrollWidth > one.clientWidth + 1
    || one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 200))"""
SCROLLS = """() => {
  const { scrollHeight, clientHeight } = document.querySelector('[data-part="query"]');
  return scrollHeight > clientHeight;
}"""


def set_text_size(page: Page, percent: int) -> None:
    script = "(name) => { document.getElementById('label-page').className = `live text-${name}`; }"
    page.evaluate(script, percent)


def test_no_line_is_cut_and_nothing_scrolls_out_of_reach_of_the_keyboard(
    open_window: Opener,
) -> None:
    ben = open_window("ben", **PHONE)
    page = ben.label_page()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 780})
        for percent in TEXT_SIZES:
            set_text_size(page, percent)
            where = f"{width} px, text at {percent} %"
            assert not page.evaluate(SCROLLS), f"a query of one line scrolls: {where}"
            assert page.evaluate(OUT_OF_REACH) == [], where
            assert page.evaluate(CUT_OFF) == [], where
        ben.check_accessible()


def test_a_query_too_long_for_a_phone_is_scrolled_by_keyboard(open_window: Opener) -> None:
    def lengthen(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        for pair in body["pairs"]:
            pair["query"]["text"] = "how to choose a running shoe " * 40
        route.fulfill(response=answer, json=body)

    ben = open_window("ben", **PHONE)
    ben.page.route("**/next*", lengthen)
    page = ben.label_page()
    query = page.locator('[data-part="query"]')
    assert page.evaluate(SCROLLS)
    expect(query).to_have_attribute("tabindex", "0")
    assert page.evaluate(OUT_OF_REACH) == []
    ben.check_accessible()
    query.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('[data-part=\"query\"]').scrollTop > 0")
