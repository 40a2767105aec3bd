"""What the labelling page does with the room it has, from a phone on its side to a wide screen."""

from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.presses import press, shown
from tests.browser.windows import PHONE, Opener, Place

pytestmark = pytest.mark.browser
WIDE: Final = [pytest.param(1440, 900, "light", marks=pytest.mark.long), (1280, 800, "dark")]
SIDEWAYS: Final[dict[str, Any]] = {"viewport": {"width": 844, "height": 390}, "has_touch": True}
AT_400_PERCENT: Final = {"width": 320, "height": 256}
GRADES: Final = ["Irrelevant", "Related", "Partly relevant", "Highly relevant", "Perfect"]
# Words of the first line that are cut, or outside of the window; the name may be.
CUT: Final = """() => [...document.querySelectorAll(".label-status .column > :not(h1)")]
  .filter((one) => one.checkVisibility())
  .filter((one) => one.scrollWidth > Math.max(one.clientWidth, one.offsetWidth) + 1
    || one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 200))"""
LENGTHEN: Final = """() => {
  document.querySelector(".label-status h1").textContent = "A campaign with a long name ".repeat(9);
  document.querySelector('[data-part="state-words"]').textContent =
    "Offline: 1,234 not yet saved. Keep going.";
  document.querySelector('[data-part="total"]').textContent = "123,456";
}"""


def height(page: Page, selector: str) -> float:
    value: float = page.locator(selector).evaluate("e => e.getBoundingClientRect().height")
    return value


@pytest.mark.parametrize(("width", "high", "scheme"), WIDE)
def test_beside_the_document_are_the_definitions_and_the_last_labels_to_reopen(
    open_window: Opener, place: Place, width: int, high: int, scheme: str
) -> None:
    ben = open_window("ben", viewport={"width": width, "height": high}, color_scheme=scheme)
    page = ben.label_page()
    side = page.get_by_role("complementary")
    expect(side.locator("dd")).to_have_text([f"What {grade} means." for grade in (4, 3, 2, 1, 0)])
    expect(side.locator('[data-part="recent"]')).to_be_hidden()
    actions = page.locator(".label-actions > .button, .label-actions > .menu > summary")
    expect(actions.locator(".words")).to_have_text(["Undo", "Later", "Can’t tell", "Note", "More"])
    pairs = []
    for key in "012340":
        pairs.append(shown(page))
        press(page, key)
    last = side.locator("ol button")
    expect(last).to_have_text(
        [f"{key}{pairs[n][1]}" for n, key in reversed(list(enumerate("012340")))][:5]
    )
    ben.check_accessible()
    last.nth(2).click()
    expect(page.locator('[data-part="said"]')).to_contain_text("Your label: 3 Highly relevant")
    assert shown(page) == pairs[3]
    page.keyboard.press("1")
    expect(last.nth(2)).to_have_text(f"1{pairs[3][1]}")
    page.keyboard.press("ArrowRight")
    expect(page.locator('[data-part="said"]')).to_contain_text("Your label: 4 Perfect")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(last).to_have_count(5)
    ben.expect_saved()
    assert [grade for _, grade in place.labels()] == [0, 1, 2, 4, 1, None]


@pytest.mark.long
def test_the_first_line_cuts_no_words_but_the_name(open_window: Opener) -> None:
    page = open_window("ben").label_page()
    page.evaluate(LENGTHEN)
    for width in range(1280, 2561, 128):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(CUT) == [], width
        assert height(page, ".label-status") < 60


@pytest.mark.long
def test_the_grade_that_was_given_is_shown_for_a_moment_and_told_with_what_comes(
    open_window: Opener,
) -> None:
    page = open_window("ben").label_page()
    flash, live = page.locator('[data-part="flash"]'), page.locator('[data-part="live"]')
    expect(flash).to_be_hidden()
    press(page, "2")
    expect(flash).to_have_text("2 Partly relevant")
    expect(live).to_have_text(f"2 Partly relevant. {shown(page)[1]}")
    page.keyboard.press("u")
    expect(live).to_have_text(f"Label undone. {shown(page)[1]}")
    expect(flash).to_be_hidden()


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.long), "dark"])
def test_a_phone_has_one_line_of_counts_grades_under_the_thumb_and_no_keys(
    open_window: Opener, scheme: str
) -> None:
    ben = open_window("ben", **PHONE | {"color_scheme": scheme})
    page = ben.label_page()
    assert height(page, ".label-status") < 52
    assert (
        page.evaluate("[...document.querySelectorAll('kbd')].some((one) => one.checkVisibility())")
        is False
    )
    bar = page.locator('[data-part="bar"]').bounding_box()
    assert bar is not None
    assert bar["y"] > 780 * 0.75
    page.locator(".label-actions summary").tap()
    menu = page.locator(".menu-items")
    box = menu.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    ben.check_accessible()
    menu.get_by_role("button", name="Find").tap()
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(menu).to_be_hidden()


@pytest.mark.long
def test_a_phone_on_its_side_shows_the_document_and_every_grade(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben", **SIDEWAYS)
    page = ben.label_page()
    assert height(page, '[data-part="scroll"]') > 170
    for name in GRADES:
        words = page.locator('[data-part="bar"]').get_by_text(name, exact=True)
        assert words.evaluate("e => e.scrollWidth <= e.parentElement.clientWidth")
    ben.check_accessible()
    page.wait_for_timeout(400)  # what has just come is not graded by a tap
    page.locator('[data-grade="3"]').tap()
    expect(page.locator('[data-part="done"]')).to_have_text("1")
    ben.expect_saved()
    assert place.labels() == [("graded", 3)]


@pytest.mark.long
def test_at_400_percent_the_page_scrolls_and_all_of_it_can_be_reached(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben", viewport=AT_400_PERCENT)
    page = ben.label_page()
    ben.check_accessible()
    sizes = "({ scrollHeight, scrollWidth }) => [scrollHeight - innerHeight, scrollWidth]"
    over, wide = page.locator("html").evaluate(sizes)
    assert over > 0
    assert wide <= AT_400_PERCENT["width"]
    note = page.get_by_role("button", name="Note")
    note.scroll_into_view_if_needed()
    note.click()
    page.keyboard.type("small")
    page.get_by_role("button", name="Save note").click()
    press(page, "4")
    ben.expect_saved()
    assert place.labels() == [("graded", 4)]


@pytest.mark.parametrize(
    ("width", "high", "scheme"),
    [
        (390, 780, "dark"),
        pytest.param(1440, 900, "light", marks=pytest.mark.long),
        pytest.param(844, 390, "light", marks=pytest.mark.long),
    ],
)
def test_the_guideline_is_met_before_the_first_label_its_task_first_and_left_by_a_key_in_sight(
    open_window: Opener, place: Place, width: int, high: int, scheme: str
) -> None:
    size = {"width": width, "height": high}
    ben = open_window("ben", has_read=False, viewport=size, color_scheme=scheme)
    page = ben.label_page()
    guideline = page.get_by_role("dialog", name="Guideline")
    start = guideline.get_by_role("button", name="Start labelling")
    expect(start).to_be_in_viewport()
    expect(guideline.locator(".prose, .guideline-grades").first).to_have_class("prose")
    ben.check_accessible()
    guideline.evaluate("e => e.scrollTo(0, e.scrollHeight)")
    expect(start).to_be_in_viewport()
    assert guideline.evaluate("e => e.scrollWidth <= e.clientWidth")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(guideline).to_be_hidden()
    expect(page.locator('[data-part="done"]')).to_have_text("0")
    press(page, "1")
    page.keyboard.press("g")
    expect(guideline.get_by_role("button", name="Close")).to_be_in_viewport()
    expect(start).to_be_hidden()
    page.keyboard.press("Escape")
    ben.expect_saved()
    ben.label_page()
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert place.labels() == [("graded", 1)]
