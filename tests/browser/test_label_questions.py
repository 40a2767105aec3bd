"""Asking the lead while labelling, and reading what comes back, by keyboard alone."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.presses import press, shown
from tests.browser.windows import PHONE, Opener, Place, Window

pytestmark = pytest.mark.browser
DESK: Final[dict[str, Any]] = {"viewport": {"width": 1440, "height": 900}}
STORED: Final = """
SELECT d.title, s.text, m.is_answer FROM annotation_message m
JOIN judgments_sidetext s ON s.digest = m.words_id
JOIN annotation_question q ON q.id = m.question_id
JOIN annotation_pair p ON p.id = q.pair_id JOIN judgments_document d ON d.id = p.document_id
ORDER BY m.id"""


def open_dialog(page: Page, key: str = "a") -> Locator:
    page.keyboard.press(key)
    dialog = page.locator("#questions-dialog")
    expect(dialog).to_be_visible()
    expect(dialog.locator("[data-news]")).to_be_visible()
    return dialog


def tab_to(page: Page, target: Locator) -> None:
    """Tab until this has the focus, as a user without a mouse does."""
    for _ in range(40):
        if target.evaluate("e => e === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("Tab does not lead there")


def answer_all(ada: Window, place: Place, words: str) -> None:
    """The lead answers the first question that waits, by keyboard."""
    ada.go(f"/c/books/campaigns/{place.campaign}")
    page = ada.page
    tab_to(page, page.get_by_role("link", name="Answer", exact=True))
    page.keyboard.press("Enter")
    tab_to(page, page.locator("tbody a").first)
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("Your answer"))
    page.keyboard.type(words)
    tab_to(page, page.get_by_role("button", name="Answer", exact=True))
    page.keyboard.press("Enter")
    expect(page.locator(".thread .is-answer")).to_contain_text(words)


@pytest.mark.parametrize(
    "look", [pytest.param(DESK, marks=pytest.mark.long), PHONE], ids=["1440", "390"]
)
def test_a_question_is_asked_answered_and_read_by_keyboard(
    open_window: Opener, place: Place, look: dict[str, Any]
) -> None:
    ben, ada = open_window("ben", **look), open_window("ada", **look)
    page = ben.label_page()
    title = shown(page)[1]
    dialog = open_dialog(page)
    expect(dialog.locator("textarea")).to_be_focused()
    ben.check_accessible()
    page.keyboard.press("Control+Enter")  # nothing was written
    expect(dialog.locator(".errorlist, .field.invalid").first).to_be_visible()
    page.keyboard.type("Does 3 count?\n0 1 2")  # digits are no grades here
    page.keyboard.press("Control+Enter")
    expect(dialog.locator(".thread li")).to_have_count(1)
    expect(dialog.locator("textarea")).to_have_value("")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert shown(page)[1] == title
    assert place.labels() == []
    answer_all(ada, place, "It does.")
    ada.check_accessible()
    news = page.locator('[data-part="news"]')
    expect(news).to_be_hidden()
    press(page, "3")
    expect(news).to_be_visible()  # with the label's answer
    expect(page.locator('[data-part="news-count"]')).to_have_text("1")
    ben.check_accessible()
    tab_to(page, news)
    page.keyboard.press("Enter")
    expect(dialog.locator(".is-answer")).to_contain_text("It does.")
    ben.check_accessible()
    page.keyboard.press("Enter")  # Mark as read has the focus
    expect(dialog).to_be_hidden()
    expect(news).to_be_hidden()
    press(page, "2")
    ben.expect_saved()
    expect(news).to_be_hidden()
    assert place.rows(STORED) == [(title, "Does 3 count?\n0 1 2", 0), (title, "It does.", 1)]
    assert [grade for _, grade in place.labels()] == [3, 2]


def test_a_note_becomes_a_question_and_an_older_label_is_asked_about(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    first = shown(page)[1]
    press(page, "1")
    second = shown(page)[1]
    page.keyboard.press("n")
    page.keyboard.type("Which edition?")
    tab_to(page, page.get_by_role("button", name="Ask the lead"))
    page.keyboard.press("Enter")
    dialog = page.locator("#questions-dialog")
    expect(dialog.locator("textarea")).to_have_value("Which edition?")
    page.keyboard.press("Control+Enter")
    expect(dialog.locator(".thread li")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#label-page")).to_have_attribute("data-mode", "reviewing")
    open_dialog(page)
    page.keyboard.type("And this one?")
    page.keyboard.press("Control+Enter")
    expect(dialog.locator(".thread li")).to_have_count(1)
    assert [row[:2] for row in place.rows(STORED)] == [
        (second, "Which edition?"),
        (first, "And this one?"),
    ]
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    expect(page.locator('[data-part="said"]')).to_contain_text("4")
    ben.expect_saved()
    assert [grade for _, grade in place.labels()] == [4]


@pytest.mark.long
def test_an_announcement_stays_on_home_and_on_the_labelling_page_until_it_is_read(
    open_window: Opener, place: Place
) -> None:
    ben, ada = open_window("ben", **PHONE), open_window("ada")
    ada.go(f"/c/books/campaigns/{place.campaign}/announcements")
    tab_to(ada.page, ada.page.get_by_label("New announcement"))
    ada.page.keyboard.type("Read revision 2.")
    tab_to(ada.page, ada.page.get_by_role("button", name="Announce"))
    ada.page.keyboard.press("Enter")
    expect(ada.page.get_by_text("Read by 0 of 2")).to_be_visible()
    ben.go("/my-campaigns")
    expect(ben.page.get_by_text("Read revision 2.")).to_be_visible()
    ben.check_accessible()
    page = ben.label_page()
    news = page.locator('[data-part="news"]')
    expect(news).to_be_visible()
    tab_to(page, news)
    page.keyboard.press("Enter")
    expect(page.locator("#questions-dialog")).to_contain_text("Read revision 2.")
    page.keyboard.press("Escape")
    expect(news).to_be_visible()
    ben.go("/my-campaigns")
    tab_to(ben.page, ben.page.get_by_role("button", name=re.compile("Mark as read")))
    ben.page.keyboard.press("Enter")
    expect(ben.page.get_by_text("Read revision 2.")).to_be_hidden()
    ada.page.reload()
    expect(ada.page.get_by_text("Read by 1 of 2")).to_be_visible()
    ben.label_page()
    expect(page.locator('[data-part="state"]')).to_have_attribute("data-state", "saved")
    expect(news).to_be_hidden()


def test_without_a_connection_what_was_typed_stays(open_window: Opener, place: Place) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    dialog = open_dialog(page)
    page.keyboard.type("Will it be kept?")
    ben.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(dialog.locator('[data-part="thread-told"]')).to_contain_text("No connection")
    expect(dialog.locator("textarea")).to_have_value("Will it be kept?")
    ben.context.set_offline(False)
    page.keyboard.press("Control+Enter")
    expect(dialog.locator(".thread li")).to_have_count(1)
    assert len(place.rows(STORED)) == 1
