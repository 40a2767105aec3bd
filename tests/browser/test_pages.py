"""What axe says of the pages on which people spend their days: wide, dark, and on a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser

PAGES = {
    "ben": "/label/{campaign}",
    "dora": "/c/books/lists/main/leaderboard",
    "ada": "/c/books/campaigns/{campaign}",
}
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_axe_finds_nothing_serious_and_nothing_scrolls_sideways(
    open_window: Opener, place: Place
) -> None:
    for username, path in PAGES.items():
        window = open_window(username)
        page = window.page
        if username == "ben":
            window.label_page()
        else:
            window.go(path.format(campaign=place.campaign))
        for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
            page.set_viewport_size({"width": width, "height": 780})
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.wait_for_timeout(400)  # colours fade in
            window.check_accessible()
            assert page.evaluate(WIDER) <= 0, f"{page.url} is wider than {width}"


def test_the_dialogs_of_the_label_page_take_the_focus_and_give_it_back(
    open_window: Opener,
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    for key in "gxn?":
        page.keyboard.press(key)
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        assert dialog.evaluate("e => e.contains(document.activeElement)")
        ben.check_accessible()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Document"


def test_a_double_click_on_what_asks_first_leaves_the_question_open(
    open_window: Opener, place: Place
) -> None:
    ada = open_window("ada")
    page = ada.page
    ada.go(f"/c/books/campaigns/{place.campaign}")
    page.locator("form[action$='/close'] button").dblclick()
    question = page.get_by_role("dialog")
    expect(question).to_be_visible()
    page.mouse.click(5, 5)  # beside it
    expect(question).to_be_hidden()
