"""A sitting at the labelling page: queries that are skipped, toasts, and the end."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.presses import IS_READY, press, shown
from tests.browser.windows import PHONE, Opener, Place

pytestmark = pytest.mark.browser
WITHOUT_NAMES = """
import django; django.setup()
from annotation.models import GuidelineRevision
from django.utils import timezone
old = GuidelineRevision.objects.get()
GuidelineRevision.objects.create(
    guideline=old.guideline, number=2, text=old.text, created_at=timezone.now(),
    grades=[one | {"name": ""} for one in old.grades],
)
"""


def test_a_skipped_query_leaves_the_counts_at_once_and_comes_back_by_undo(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    total = page.locator('[data-part="total"]')
    all_pairs = int(total.inner_text())
    query, _ = shown(page)
    press(page, "2")
    ben.expect_saved()
    page.keyboard.press("q")
    page.keyboard.press("2")
    expect(page.locator('[data-part="query"]')).not_to_have_text(query)
    expect(total).to_have_text(str(all_pairs - all_pairs // 4 + 1))
    toasts = page.locator(".toast")
    expect(toasts).to_have_text("Query skipped.Undo")
    ben.check_accessible()
    toasts.get_by_role("button", name="Undo").click()
    expect(toasts).to_have_text("Query unskipped.")
    expect(total).to_have_text(str(all_pairs))
    page.wait_for_function(IS_READY)
    press(page, "1")
    expect(page.locator('[data-part="query"]')).to_have_text(query)
    assert place.rows("SELECT count(*) FROM annotation_queryskip WHERE returned_at IS NULL") == [
        (0,)
    ]


def test_one_toast_is_shown_at_a_time(open_window: Opener) -> None:
    page = open_window("ben").label_page()
    page.keyboard.press("o")
    expect(page.locator(".toast")).to_have_text("This document has no URL.")
    page.keyboard.press("h")
    expect(page.locator(".toast")).to_have_text("Select or find the evidence first.")


@pytest.mark.long
def test_the_end_says_what_was_labelled_in_this_sitting(open_window: Opener, place: Place) -> None:
    place.keep_pairs(3)
    ben = open_window("ben", **PHONE)
    page = ben.label_page()
    total = int(page.locator('[data-part="total"]').inner_text())
    page.keyboard.press("x")
    page.keyboard.press("3")
    expect(page.locator('[data-part="done"]')).to_have_text("1")
    page.wait_for_function(IS_READY)
    press(page, "40" + "3" * (total - 3))
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    summary = page.locator('[data-part="end-summary"]')
    expect(summary).to_have_text(re.compile(rf"^This session: {total} labels in "))
    expect(summary).to_contain_text(
        f"(4 Perfect: 1, 3 Highly relevant: {total - 3}, 0 Irrelevant: 1, can’t tell: 1)"
    )
    ben.check_accessible()


def test_a_scale_without_names_shows_its_numbers_once(open_window: Opener, place: Place) -> None:
    place.site.call("-c", WITHOUT_NAMES)
    ben = open_window("ben")
    page = ben.label_page()
    for grade in range(5):
        button = page.locator(f'[data-grade="{grade}"]')
        expect(button).to_have_accessible_name(str(grade))
        assert (
            button.evaluate("e => [...e.children].filter(one => one.offsetWidth > 1).length") == 1
        )
    ben.check_accessible()
    press(page, "3")
    expect(page.locator('[data-part="flash"]')).to_have_text("3")
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-part="said"]')).to_have_text(re.compile("^Your label: 3 ·"))
