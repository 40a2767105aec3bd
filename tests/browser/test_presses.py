"""Clicks, taps and held keys that come too fast for anyone to have read what they would grade."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.presses import press, shown
from tests.browser.windows import PHONE, Opener, Place

pytestmark = pytest.mark.browser
READ = 400  # milliseconds: longer than a pair is on the screen before a click grades it
TOO_FAST = "Too fast: that click was ignored."


def expect_done(page: Page, count: int) -> None:
    expect(page.locator('[data-part="done"]')).to_have_text(str(count))


def test_a_double_click_labels_one_document_and_says_that_it_ignored_the_second(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    page.wait_for_timeout(READ)
    first = shown(page)
    page.locator('[data-grade="3"]').dblclick()
    expect(page.get_by_text(TOO_FAST)).to_be_visible()
    expect_done(page, 1)
    assert shown(page) != first
    page.wait_for_timeout(READ)
    page.locator('[data-grade="1"]').click()
    expect_done(page, 2)
    ben.expect_saved()
    assert place.labels() == [("graded", 3), ("graded", 1)]


def test_a_second_tap_labels_nothing_and_keys_are_as_fast_as_before(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben", **PHONE)
    page = ben.label_page()
    page.wait_for_timeout(READ)
    box = page.locator('[data-grade="2"]').bounding_box()
    assert box is not None
    for _ in range(2):
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_text(TOO_FAST)).to_be_visible()
    expect_done(page, 1)
    press(page, "0123")
    ben.expect_saved()
    assert [grade for _, grade in place.labels()] == [2, 0, 1, 2, 3]


def test_a_press_that_began_on_another_document_labels_nothing(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    page.wait_for_timeout(READ)
    page.locator('[data-grade="4"]').hover()
    page.mouse.down()
    press(page, "1")
    page.wait_for_timeout(READ)
    page.mouse.up()
    expect(page.get_by_text(TOO_FAST)).to_be_visible()
    expect_done(page, 1)
    ben.expect_saved()
    assert place.labels() == [("graded", 1)]


@pytest.mark.parametrize("key", ["Control+z", pytest.param("u", marks=pytest.mark.long)])
def test_a_held_undo_takes_back_one_label(open_window: Opener, place: Place, key: str) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    press(page, "012")
    *held, last = key.split("+")
    for one in held:
        page.keyboard.down(one)
    for _ in range(4):
        page.keyboard.down(last)
    for one in (last, *held):
        page.keyboard.up(one)
    expect_done(page, 2)
    page.keyboard.press("Control+z")
    expect_done(page, 1)
    ben.expect_saved()
    assert place.labels()[0] == ("graded", 0)
    assert [outcome for outcome, _ in place.labels()] == ["graded", "retracted", "retracted"]


def test_a_held_enter_on_a_grade_labels_once(open_window: Opener, place: Place) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    page.locator('[data-grade="2"]').focus()
    for _ in range(4):
        page.keyboard.down("Enter")
        page.wait_for_timeout(50)
    page.keyboard.up("Enter")
    expect_done(page, 1)
    ben.expect_saved()
    assert place.labels() == [("graded", 2)]
