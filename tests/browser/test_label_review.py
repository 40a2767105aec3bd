"""Going back through one's labels: what is shown is what a key is about, the filter too."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.presses import press, shown
from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser


def mode(page: Page, name: str) -> None:
    expect(page.locator("#label-page")).to_have_attribute("data-mode", name)


def test_a_filter_that_nothing_matches_says_so_takes_no_grade_and_is_left_by_escape(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    press(page, "1")
    at_work = shown(page)
    page.keyboard.press("ArrowLeft")
    mode(page, "reviewing")
    which = page.get_by_label("Filter your labels")
    which.select_option("noted=true")
    expect(page.get_by_role("heading", name="No labels match this filter.")).to_be_visible()
    expect(which).to_be_visible()
    expect(which).to_have_value("noted=true")
    expect(page.locator('[data-part="stage"]')).to_be_hidden()
    expect(page.locator('[data-part="said"]')).to_have_text("Your labels")
    ben.check_accessible()
    for key in ("3", "s", "u", "h", "x"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Escape")
    mode(page, "labelling")
    assert shown(page) == at_work
    press(page, "2")
    ben.expect_saved()
    assert place.labels() == [("graded", 1), ("graded", 2)]


def test_a_filter_that_cannot_be_asked_for_leaves_what_is_shown_with_its_own_filter(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    labelled = shown(page)
    press(page, "12")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert shown(page) == labelled
    ben.expect_saved()
    ben.context.set_offline(True)
    which = page.get_by_label("Filter your labels")
    which.select_option("grade=4")
    expect(page.get_by_text("Older labels need a connection.")).to_be_visible()
    expect(which).to_have_value("")
    assert shown(page) == labelled
    page.keyboard.press("3")
    expect(page.locator('[data-part="said"]')).to_contain_text("3 Highly relevant")
    assert shown(page) == labelled
    ben.context.set_offline(False)
    ben.expect_saved()
    assert sorted(place.labels()) == [("graded", 2), ("graded", 3)]


def test_a_grade_before_a_slow_answer_is_for_the_pair_in_sight_and_calls_the_answer_off(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    press(page, "4")
    ben.expect_saved()
    page.reload()
    expect(page.locator('[data-part="in-query"]')).to_contain_text("This query")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "GET":
            held.append(route)
        else:
            route.continue_()

    page.route("**/labels*", hold)
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-part="loading"]')).to_be_visible()
    labelled = shown(page)
    press(page, "0")
    then = shown(page)
    assert then != labelled
    expect(page.locator('[data-part="loading"]')).to_be_hidden()
    ben.expect_saved()
    mode(page, "labelling")
    assert shown(page) == then
    rows = place.rows(
        "SELECT d.title FROM annotation_label l JOIN annotation_pair p ON p.id = l.pair_id"
        " JOIN judgments_document d ON d.id = p.document_id WHERE l.grade = 0"
    )
    assert rows == [(labelled[1],)]
    page.unroute("**/labels*")
    page.keyboard.press("ArrowLeft")
    mode(page, "reviewing")
    assert shown(page) == labelled


def test_a_row_of_the_table_opens_its_label_and_a_grade_corrects_it(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    press(page, "1")
    labelled = shown(page)
    press(page, "23")
    ben.expect_saved()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("link", name="Table").click()
    rows = page.locator("tr[data-label]")
    expect(rows).to_have_count(3)
    ben.check_accessible()  # once the page is there, not while the one before it goes
    page.get_by_role("link", name="Labelled (UTC)").click()
    rows.nth(1).get_by_role("link").click()
    mode(page, "reviewing")
    assert shown(page) == labelled
    expect(page.locator('[data-part="said"]')).to_contain_text("2 Partly relevant")
    page.keyboard.press("4")
    expect(page.locator('[data-part="said"]')).to_contain_text("4 Perfect")
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-part="said"]')).to_contain_text("1 Related")
    page.keyboard.press("Escape")
    mode(page, "labelling")
    ben.expect_saved()
    assert sorted(place.labels()) == [("graded", 1), ("graded", 3), ("graded", 4)]
    page.reload()
    mode(page, "labelling")
