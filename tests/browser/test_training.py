"""Qualification by keyboard alone: an answer after each pair, then on to what counts, or not."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.presses import press
from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser
PURPOSES = """
SELECT s.purpose, l.grade FROM annotation_label l
JOIN annotation_assignment s ON s.id = l.assignment_id
JOIN annotation_labeltiming t ON t.label_id = l.id ORDER BY t.made_at"""


@pytest.fixture
def training(place: Place) -> Place:
    """Three pairs first, and two of them right; 3 is."""
    place.site.call("-m", "tests.browser.training_scene")
    return place


def answer(page: Page, key: str, heading: str, result: str) -> None:
    """Label the training pair on the screen, read what is right, and go on."""
    expect(page.locator('[data-part="stage"]')).not_to_have_attribute("aria-busy", "true")
    page.keyboard.press(key)
    told = page.locator('[data-part="told"]')
    expect(told.locator('[data-part="told-heading"]')).to_have_text(re.compile(heading))
    expect(told.locator('[data-part="told-words"]')).to_have_text("It says so.")
    expect(told.locator('[data-part="told-result"]')).to_have_text(re.compile(result))
    page.keyboard.press("Enter")
    expect(told).to_be_hidden()


def test_who_reaches_the_mark_reads_each_answer_and_goes_on_to_pairs_that_count(
    open_window: Opener, training: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    far = page.locator('[data-part="training"]')
    expect(far).to_have_text("Training: 0 of 3")
    answer(page, "3", "^Right: 3", "1 of 3 done, 1 right, 2 needed")
    expect(far).to_have_text("Training: 1 of 3")
    answer(page, "0", r"Your label: 0.*The right grade is 3", "2 of 3 done, 1 right")
    answer(page, "3", "^Right: 3", "Passed: 2 of 3 right. Your next labels count.")
    expect(far).to_be_hidden()
    press(page, "12")
    ben.expect_saved()
    assert training.rows("SELECT state, right FROM annotation_trainingattempt") == [("passed", 2)]
    said = [("training", 3), ("training", 0), ("training", 3), ("pool", 1), ("pool", 2)]
    assert training.rows(PURPOSES) == said


def test_who_does_not_reach_the_mark_gets_no_pair_that_counts_until_a_lead_says_so(
    open_window: Opener, training: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    answer(page, "0", r"The right grade is 3", "1 of 3 done, 0 right")
    answer(page, "3", "^Right: 3", "2 of 3 done, 1 right")
    answer(page, "1", r"The right grade is 3", "1 of 3 right, 2 needed")
    expect(page.locator('[data-part="stage"]')).to_be_hidden()
    ben.check_accessible()
    assert training.rows("SELECT state, right FROM annotation_trainingattempt") == [("failed", 1)]
    page.keyboard.press("2")
    ben.expect_saved()
    assert training.rows(PURPOSES) == [("training", 0), ("training", 3), ("training", 1)]
    ada = open_window("ada")
    ada.go(f"/c/books/campaigns/{training.campaign}/training")
    ada.page.get_by_role("button", name="Pass manually Ben").focus()
    ada.page.keyboard.press("Enter")
    sure = ada.page.get_by_role("button", name="Pass", exact=True)
    sure.focus()
    ada.page.keyboard.press("Enter")
    expect(ada.page.get_by_text("passed by Ada")).to_be_visible()
    page = ben.label_page()
    press(page, "4")
    ben.expect_saved()
    assert training.rows(PURPOSES)[-1] == ("pool", 4)
