"""The list of a query's pairs, in which one labels: a grade goes to the row that is chosen."""

from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.presses import press, shown
from tests.browser.windows import PHONE, Opener, Place

pytestmark = pytest.mark.browser
IN_QUERY: Final = 16  # of the scene's pairs
READ: Final = 400  # milliseconds: longer than a row is chosen before a click grades it
SIDEWAYS: Final = {"viewport": {"width": 844, "height": 390}, "has_touch": True}
CHOSEN: Final = '[data-part="list-rows"] [aria-current]'
STORED: Final = """
SELECT d.title, l.outcome, l.grade FROM annotation_label l
JOIN annotation_labeltiming t ON t.label_id = l.id
JOIN annotation_pair p ON p.id = l.pair_id JOIN judgments_document d ON d.id = p.document_id
ORDER BY t.made_at"""


def open_list(page: Page) -> Locator:
    page.keyboard.press("v")
    expect(page.locator("#label-page")).to_have_attribute("data-mode", "query")
    return page.locator('[data-part="list-rows"] > li')


def title_of(row: Locator) -> str:
    return row.locator(".strong").inner_text()


def grade_chosen(page: Page, key: str) -> str:
    """Press a grade; the title of the row that had been chosen. Waits for the next one."""
    row = page.locator(CHOSEN)
    title = title_of(row)
    page.wait_for_timeout(READ)
    page.keyboard.press(key)
    expect(page.locator(CHOSEN).locator(".strong")).not_to_have_text(title)
    return title


@pytest.mark.parametrize(
    "look",
    [
        pytest.param({"viewport": {"width": 1440, "height": 900}}, marks=pytest.mark.long),
        {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    ],
    ids=["1440", "1280"],
)
def test_rows_are_graded_corrected_and_left_by_keyboard(
    open_window: Opener, place: Place, look: dict[str, Any]
) -> None:
    ben = open_window("ben", **look)
    page = ben.label_page()
    before = shown(page)
    press(page, "2")
    rows = open_list(page)
    expect(rows).to_have_count(IN_QUERY)
    titles = [title_of(row) for row in rows.all()]
    assert titles[0] == before[1]
    assert len(set(titles)) == IN_QUERY
    expect(rows.nth(1)).to_be_focused()
    ben.check_accessible()
    assert grade_chosen(page, "3") == titles[1]
    page.keyboard.press("ArrowDown")
    assert grade_chosen(page, "1") == titles[3]
    page.wait_for_timeout(READ)
    page.keyboard.press("x")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("3")
    expect(rows.nth(5)).to_have_attribute("aria-current", "true")
    for _ in range(9):
        page.keyboard.press("ArrowUp")
    expect(rows.nth(0)).to_be_focused()
    assert grade_chosen(page, "4") == titles[0]
    marks = [row.locator(".grade").inner_text() for row in rows.all()]
    assert marks == ["4", "3", "–", "1", "?", *["–"] * (IN_QUERY - 5)]
    count = page.locator('[data-part="list-count"]')
    expect(count).to_have_text(f"4 of {IN_QUERY} labelled.")
    expect(rows.nth(2)).to_be_focused()  # the next one without a label
    for key in ("h", "s", "/", "f"):  # about a document that is not shown
        page.keyboard.press(key)
    expect(page.locator('[data-part="find"]')).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#label-page")).to_have_attribute("data-mode", "labelling")
    assert shown(page)[1] == titles[2]
    press(page, "0")
    assert shown(page)[1] == titles[5]
    ben.expect_saved()
    assert place.rows(STORED) == [
        (titles[0], "graded", 2),
        (titles[1], "graded", 3),
        (titles[3], "graded", 1),
        (titles[4], "unsure", None),
        (titles[0], "graded", 4),
        (titles[2], "graded", 0),
    ]


@pytest.mark.parametrize(
    ("width", "columns"), [(1440, 6), pytest.param(390, 2, marks=pytest.mark.long)]
)
def test_a_grid_is_walked_in_both_directions_and_stays_in_this_browser(
    open_window: Opener, place: Place, width: int, columns: int
) -> None:
    ben = open_window("ben", viewport={"width": width, "height": 800})
    page = ben.label_page()
    rows = open_list(page)
    expect(rows).to_have_count(IN_QUERY)
    button = page.locator('[data-action="grid"]')
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(rows.nth(0)).to_be_focused()
    tops = [box["y"] for row in rows.all() if (box := row.bounding_box())]
    assert len(set(tops[:columns])) == 1
    assert tops[columns] > tops[0]
    ben.check_accessible()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(columns)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(rows.nth(columns + 1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(rows.nth(columns)).to_be_focused()
    title = grade_chosen(page, "3")
    page.keyboard.press("Escape")
    ben.expect_saved()
    assert place.rows(STORED) == [(title, "graded", 3)]
    ben.label_page()
    open_list(page)
    expect(page.locator('[data-part="list"]')).to_have_class("label-list is-grid")


def test_what_was_labelled_before_the_page_is_listed_below_and_all_in_the_persons_order(
    open_window: Opener,
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    press(page, "41")
    ben.expect_saved()
    ben.label_page()
    rows = open_list(page)
    expect(rows).to_have_count(IN_QUERY)
    titles = [title_of(row) for row in rows.all()]
    marks = [row.locator(".grade").inner_text() for row in rows.all()]
    assert marks == [*["–"] * (IN_QUERY - 2), "1", "4"]
    page.keyboard.press("Escape")
    expect(page.locator("#label-page")).to_have_attribute("data-mode", "labelling")
    for title in titles[:3]:
        expect(page.locator('[data-part="title"]')).to_have_text(title)
        press(page, "0")


def test_a_key_too_many_changes_no_label_of_a_query_that_is_done(
    open_window: Opener, place: Place
) -> None:
    place.keep_pairs(4)
    ben = open_window("ben")
    page = ben.label_page()
    rows = open_list(page)
    expect(rows).to_have_count(4)
    for _ in range(3):
        grade_chosen(page, "2")
    page.wait_for_timeout(READ)
    page.keyboard.press("2")
    leave = page.locator('[data-part="list-leave"]')
    expect(leave).to_be_focused()
    page.wait_for_timeout(READ)
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    expect(page.locator("#label-page")).to_have_attribute("data-mode", "labelling")
    ben.expect_saved()
    assert [grade for _, _, grade in place.rows(STORED)] == [2] * 4


@pytest.mark.parametrize(
    "look", [PHONE, pytest.param(SIDEWAYS, marks=pytest.mark.long)], ids=["phone", "sideways"]
)
def test_a_tap_chooses_a_row_and_a_second_tap_on_a_grade_labels_no_other(
    open_window: Opener, place: Place, look: dict[str, Any]
) -> None:
    ben = open_window("ben", **look)
    page = ben.label_page()
    page.locator(".label-actions summary").tap()
    page.get_by_role("button", name="List this query").tap()
    rows = page.locator('[data-part="list-rows"] > li')
    expect(rows).to_have_count(IN_QUERY)
    ben.check_accessible()
    rows.nth(1).tap()
    title = title_of(rows.nth(1))
    page.wait_for_timeout(READ)
    page.locator('[data-grade="3"]').dblclick()
    expect(page.locator('[data-part="done"]')).to_have_text("1")
    expect(page.get_by_text("Too fast: that click was ignored.")).to_be_visible()
    page.get_by_role("button", name="Back to labelling").tap()
    expect(page.locator('[data-part="stage"]')).to_be_visible()
    ben.expect_saved()
    assert place.rows(STORED) == [(title, "graded", 3)]
