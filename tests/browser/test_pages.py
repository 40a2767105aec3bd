"""Dialogs: what they do with the focus, with a double click, and what axe says of them."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser
WIDEST = "Math.max(...[...document.querySelectorAll('.table')].map((e) => e.scrollWidth))"


def test_the_dialogs_of_the_label_page_take_the_focus_and_give_it_back(
    open_window: Opener,
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    for key in "gxn?a":
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


def test_on_a_phone_nothing_of_the_audit_log_is_out_of_sight(
    open_window: Opener,
) -> None:
    ada = open_window("ada", viewport={"width": 390, "height": 780})
    ada.go("/c/books/audit")
    cells = ada.page.locator("tbody td:not(:empty)")
    expect(cells.first).to_be_visible()
    ends = cells.evaluate_all("all => all.map(e => e.getBoundingClientRect().right)")
    assert max(ends) <= 390


def test_a_short_name_follows_the_name_until_somebody_writes_another(open_window: Opener) -> None:
    ada = open_window("ada")
    page = ada.page
    ada.go("/c/books/rankers/new")
    name, short = page.get_by_label("Name", exact=True), page.get_by_label("Short name")
    name.fill("BM25 (k1 = 0.9, Größe)")
    expect(short).to_have_value("bm25-k1-0-9-gro-e")
    short.fill("bm25")
    name.fill("BM25, titles")
    expect(short).to_have_value("bm25")


def test_an_invitation_for_a_week_ends_in_a_week_and_says_for_whom_it_is(
    open_window: Opener,
) -> None:
    ada = open_window("ada")
    page = ada.page
    ada.go("/c/books/members")
    page.get_by_label("For whom").fill("Fay")
    page.get_by_role("button", name="Create link").click()
    expect(page.get_by_role("heading", name="The invitation for Fay")).to_be_visible()
    expect(page.get_by_role("row", name="Fay")).to_contain_text("in 7 days")


def test_the_first_page_of_an_annotator_goes_on_by_enter(open_window: Opener) -> None:
    ben = open_window("ben")
    page = ben.page
    ben.go("/my-campaigns")
    expect(page.get_by_role("link", name="Label in First")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/label/"))


def test_a_decision_without_a_reason_leads_to_the_reason(open_window: Opener, place: Place) -> None:
    ada = open_window("ada")
    page = ada.page
    pair = place.rows("SELECT id FROM annotation_pair ORDER BY id LIMIT 1")[0][0]
    ada.go(f"/c/books/pairs/{pair}")
    page.keyboard.press("3")
    expect(page.get_by_text("Give a reason")).to_be_visible()
    page.keyboard.type("because")
    expect(page.locator("#id_reason")).to_have_value("because")


def test_a_long_description_leaves_the_start_page_its_columns_on_a_phone(
    open_window: Opener,
) -> None:
    ada = open_window("ada", viewport={"width": 390, "height": 780})
    page = ada.page
    ada.go("/collections/new")
    page.get_by_label("Name", exact=True).fill("Tools")
    page.get_by_label("Description").fill("What one buys who builds and mends, " * 4)
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/c/tools")
    ada.go("/")
    role = page.get_by_role("cell", name="lead").first.bounding_box()
    assert role is not None
    assert role["x"] + role["width"] <= 390


def test_a_leaderboard_fits_on_paper_without_what_paper_cannot_do(open_window: Opener) -> None:
    ada = open_window("ada", viewport={"width": 718, "height": 1000})  # A4 between its margins
    page = ada.page
    kept = ("nDCG@10", "nDCG@5", "nDCG@20", "nDCG(gain='exp2')@10", "RR@10", "AP@100")
    ada.go("/c/books/lists/main/leaderboard?measures=" + "%20".join(kept))
    more = page.locator("details.more > summary")
    expect(more.first).to_be_visible()
    assert page.evaluate(WIDEST) > 718
    page.emulate_media(media="print")
    expect(more.first).to_be_hidden()
    expect(page.locator(".table th > a > svg").first).to_be_hidden()
    assert page.evaluate(WIDEST) <= 718


def test_a_click_on_a_bar_leads_to_its_query_and_arrow_keys_reach_every_bar(
    open_window: Opener,
) -> None:
    dora = open_window("dora")
    page = dora.page
    dora.go("/c/books/lists/main/compare?runs=ranker0&runs=ranker1&measure=nDCG@10")
    chart = page.locator(".plot-area").first
    bars = chart.locator("a.mark")
    readout = page.locator(".readout").first
    expect(readout).to_have_text("Point at a bar to see its query, click to open it.")
    bars.nth(1).hover()
    expect(readout).to_have_text(bars.nth(1).locator("title").text_content() or "no title")
    page.locator(".plot.square a.mark").last.hover()  # all four queries have the same two values
    expect(page.locator(".plot.square .readout")).to_have_text(re.compile(r", and 3 more here$"))
    bars.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(bars.nth(2)).to_be_focused()
    address = bars.nth(2).get_attribute("href")
    assert address is not None
    assert "/query/q" in address
    dora.check_accessible()
    bars.nth(2).click()
    page.wait_for_url(f"**{address}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
