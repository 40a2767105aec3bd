"""Dialogs: what they do with the focus, with a double click, and what axe says of them."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser


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
