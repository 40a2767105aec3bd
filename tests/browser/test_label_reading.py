"""What someone who really reads meets on the labelling page, pair after pair."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.presses import press
from tests.browser.test_label_page import expect_labels, highlighted, said
from tests.browser.windows import PHONE, Opener, Place, Window

pytestmark = pytest.mark.browser
TITLE = "buckling of stiffened plates ."


def shows(window: Window, documents: list[dict[str, str]], query: str = "") -> None:
    """The first pairs are of these documents; with `query`, all of them answer it."""

    def change(route: Route) -> None:
        answer = route.fetch()
        body: dict[str, Any] = answer.json()
        for pair, document in zip(body["pairs"], documents, strict=False):
            pair["document"].update(document)
            if query:
                pair["query"]["text"] = query
        route.fulfill(response=answer, json=body)

    window.page.route("**/next", change)


def text_in_sight(page: Page) -> str:
    return page.locator('[data-part="text"]').inner_text().strip()


def test_a_title_that_the_text_repeats_is_read_once_and_places_are_still_those_of_the_text(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    shows(
        ben,
        [
            {"title": TITLE, "text": f"{TITLE} plates with ribs ."},
            {"title": "Buckling", "text": "Buckling of plates is met early."},
            {"title": "Buckling", "text": "BUCKLING\nof plates"},
            {"title": "Buckling", "text": "Buckling"},
        ],
    )
    page = ben.label_page()
    assert text_in_sight(page) == "plates with ribs ."
    page.keyboard.press("/")
    page.keyboard.type("plates")
    expect(page.locator('[data-part="found"]')).to_have_text("1 of 2")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Escape")
    expect(page.locator('[data-part="marks"] q')).to_have_text("plates")
    press(page, "4")
    assert text_in_sight(page) == "Buckling of plates is met early."
    press(page, "1")
    assert text_in_sight(page) == "of plates"
    press(page, "1")
    assert text_in_sight(page) == "Buckling"
    expect_labels(place, 3)
    stored = place.rows("SELECT spans FROM annotation_label WHERE grade = 4")
    start = len(TITLE) + 1
    assert json.loads(stored[0][0]) == [{"field": "body", "start": start, "end": start + 6}]


def test_words_are_marked_with_their_endings_and_short_ones_alone(open_window: Opener) -> None:
    ben = open_window("ben")
    text = "pressure presented pre and jets, a plate of web plates; shells, shelled"
    shows(ben, [{"title": "", "text": text}] * 3, query="pre jet plates shell due to stress")
    page = ben.label_page()
    assert highlighted(page, "terms") == ["pre", "jets", "plate", "plates", "shells", "shell"]


def test_another_query_is_seen_to_be_another(open_window: Opener) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    card = page.locator('[data-part="query-card"]')
    query = page.locator('[data-part="query"]')
    first = query.inner_text()
    expect(card).not_to_have_class("label-query is-new")
    for _ in range(30):
        press(page, "1")
        if query.inner_text() != first:
            break
    expect(card).to_have_class("label-query is-new")
    press(page, "1")
    expect(card).not_to_have_class("label-query is-new")


def test_the_full_text_is_left_without_a_keyboard_and_no_address_is_said(
    open_window: Opener,
) -> None:
    ben = open_window("ben", **PHONE)
    shows(ben, [{"url": ""}])
    page = ben.label_page()
    page.keyboard.press("o")
    expect(page.locator(".toasts")).to_contain_text("no URL")
    page.keyboard.press("f")
    expect(page.locator(".label-status")).to_be_hidden()
    page.get_by_role("button", name="Close full text").click()
    expect(page.locator(".label-status")).to_be_visible()
    expect(page.get_by_role("button", name="Close full text")).to_be_hidden()


def test_what_one_could_not_tell_is_called_as_it_was_in_the_question(open_window: Opener) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    page.keyboard.press("x")
    page.keyboard.press("4")
    page.keyboard.type("two papers in one")
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-part="done"]')).to_have_text("1")
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-part="said"]')).to_contain_text("Your label: can’t tell: Other")
    assert "two papers in one" in said(page)
