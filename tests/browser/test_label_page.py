"""The labelling page's own doings: keys, history, reasons in the text, finding, the guideline."""

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.presses import IS_READY, press, shown
from tests.browser.windows import PHONE, Opener, Place
from tests.faults.site import eventually

pytestmark = pytest.mark.browser


def expect_labels(place: Place, count: int) -> None:
    """So many statements have arrived, with those that were superseded."""
    asked = "SELECT count(*) FROM annotation_label"
    eventually(lambda: place.rows(asked) == [(count,)], f"{count} labels")


def said(page: Page) -> str:
    return page.locator('[data-part="said"]').inner_text()


def highlighted(page: Page, name: str) -> list[str]:
    """The words that are coloured so."""
    found: list[str] = page.evaluate(
        "name => [...(CSS.highlights.get(name) ?? [])].map(range => range.toString())", name
    )
    return found


def test_every_action_has_a_key_that_can_be_changed_and_holds_on_the_next_machine(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    without = page.locator(
        "#label-page button[data-action]:not([data-key]):visible, "
        "#label-page button[data-grade]:not([aria-keyshortcuts])"
    )
    expect(without).to_have_count(0)
    page.keyboard.press("?")
    page.get_by_role("button", name="change the key of Undo last label").click()
    page.keyboard.press("s")
    expect(page.locator('[data-part="keys-told"]')).to_contain_text("“s” is used by Later")
    page.keyboard.press("z")
    expect(page.locator('[data-part="keys-told"]')).to_contain_text("Now: z")
    page.get_by_role("button", name="change the key of Perfect").click()
    with page.expect_response(re.compile("preferences")):
        page.keyboard.press("p")
    page.keyboard.press("Escape")
    press(page, "p")
    page.keyboard.press("u")
    expect(page.locator('[data-part="done"]')).to_have_text("1")
    page.keyboard.press("z")
    expect(page.locator('[data-part="done"]')).to_have_text("0")
    with page.expect_response(re.compile("preferences")):
        page.keyboard.press("+")
    other = open_window("ben", **PHONE)
    page = other.label_page()
    expect(page.locator('[data-grade="4"]')).to_have_attribute("data-key", "p")
    expect(page.locator("#label-page")).to_have_class(re.compile("text-115"))
    press(page, "p")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_have_attribute("aria-keyshortcuts", "z")
    undo.tap()
    expect(page.locator('[data-part="done"]')).to_have_text("0")
    other.check_accessible()
    page.keyboard.press("?")
    with page.expect_response(re.compile("preferences")) as answer:
        page.get_by_role("button", name="Reset to defaults").click()
    assert answer.value.ok
    page.keyboard.press("Escape")
    expect(page.locator('[data-grade="4"]')).to_have_attribute("data-key", "4")


def test_ones_own_history_is_gone_through_filtered_changed_and_taken_back(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    first = shown(page)
    press(page, "3")
    second = shown(page)
    press(page, "1")
    page.keyboard.press("x")
    page.keyboard.press("4")
    page.keyboard.type("in Dutch")
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-part="done"]')).to_have_text("3")
    ben.expect_saved()
    page.reload()
    expect(page.locator('[data-part="in-query"]')).to_contain_text("This query")
    at_hand = shown(page)
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-part="said"]')).to_contain_text("can’t tell: Other")
    assert "in Dutch" in said(page)
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-part="said"]')).to_contain_text("1 Related")
    assert shown(page) == second
    page.wait_for_function(IS_READY)
    page.keyboard.press("4")
    expect(page.locator('[data-part="said"]')).to_contain_text("4 Perfect")
    expect(page.locator('[data-grade="4"]')).to_have_attribute("aria-pressed", "true")
    ben.check_accessible()
    page.get_by_label("Filter your labels").select_option("grade=3")
    expect(page.locator('[data-part="said"]')).to_contain_text("3 Highly relevant")
    assert shown(page) == first
    page.keyboard.press("Escape")
    assert shown(page) == at_hand
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(page.locator('[data-part="back"]')).to_be_hidden()
    assert shown(page) == at_hand
    for left in ("2", "1", "0"):
        page.keyboard.press("Control+z")
        expect(page.locator('[data-part="done"]')).to_have_text(left)
    assert shown(page) == first
    expect_labels(place, 7)
    assert {outcome for outcome, _ in place.labels()} == {"retracted"}
    graded = place.rows(
        "SELECT grade FROM annotation_label JOIN annotation_labeltiming ON label_id = id "
        "WHERE outcome='graded' ORDER BY made_at"
    )
    assert graded == [(3,), (1,), (4,)]


def test_the_reason_is_found_and_marked_by_keyboard_and_shown_again_and_a_query_is_skipped(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    words = page.locator('[data-part="text"]').inner_text()
    page.keyboard.press("/")
    page.keyboard.type("DOCUMENT")
    expect(page.locator('[data-part="found"]')).to_have_text("1 of 1")
    assert highlighted(page, "found-now") == ["document"]
    page.keyboard.press("Escape")
    page.keyboard.press("h")
    expect(page.locator('[data-part="marks"] q')).to_have_text("document")
    assert highlighted(page, "reasons") == ["document"]
    press(page, "2")
    assert highlighted(page, "reasons") == []
    expect_labels(place, 1)
    start = words.index("document")
    ((spans,),) = place.rows("SELECT spans FROM annotation_label")
    assert json.loads(spans) == [{"field": "body", "start": start, "end": start + 8}]
    page.reload()
    expect(page.locator('[data-part="in-query"]')).to_contain_text("This query")
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-part="marks"] q')).to_have_text("document")
    assert highlighted(page, "reasons") == ["document"]
    page.get_by_role("button", name="Remove document").click()
    expect(page.locator('[data-part="marks"]')).to_be_hidden()
    expect_labels(place, 2)
    assert place.labels() == [("graded", 2)]
    page.keyboard.press("Escape")
    page.wait_for_function(IS_READY)
    query, _ = shown(page)
    page.keyboard.press("q")
    page.keyboard.press("2")
    expect(page.locator('[data-part="query"]')).not_to_have_text(query)
    expect(page.locator('[data-part="in-query"]')).to_contain_text("This query")
    assert place.rows("SELECT reason FROM annotation_queryskip") == [("unfamiliar",)]
    ((spans,),) = place.rows("SELECT spans FROM annotation_label WHERE supersedes_id IS NOT NULL")
    assert json.loads(spans) == []


def test_a_revised_guideline_is_read_before_going_on(open_window: Opener, place: Place) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    press(page, "2")
    place.site.call(
        "-c",
        "import django; django.setup()\n"
        "from annotation.models import GuidelineRevision as R\n"
        "from django.utils import timezone\n"
        "old = R.objects.get()\n"
        "grades = [g | {'definition': g['definition'].replace('2', 'two')} for g in old.grades]\n"
        "R.objects.create(guideline=old.guideline, number=2, text=old.text + ' Be fair.',"
        " grades=grades, created_at=timezone.now())",
    )
    press(page, "3")
    changed = page.get_by_role("dialog", name="The guideline has changed")
    expect(changed).to_be_visible()
    expect(changed.locator(".pre ins")).to_have_text(["two", " Be fair."])
    expect(changed.locator(".pre del")).to_have_text(["2"])
    ben.check_accessible()
    page.keyboard.press("3")
    page.keyboard.press("Escape")
    expect(changed).to_be_visible()
    expect(page.locator('[data-part="done"]')).to_have_text("2")
    page.keyboard.press("Enter")
    expect(changed).to_be_hidden()
    expect(page.locator('[data-definition="2"]')).to_have_text("What two means.")
    press(page, "1")
    expect_labels(place, 3)
    revisions = place.rows(
        "SELECT number FROM annotation_label l JOIN annotation_guidelinerevision r"
        " ON r.id = l.guideline_revision_id"
        " JOIN annotation_labeltiming ON label_id = l.id ORDER BY made_at"
    )
    assert revisions == [(1,), (1,), (2,)]


def test_a_long_document_starts_at_the_first_of_the_querys_words_and_html_has_a_frame(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben", viewport={"width": 900, "height": 600})
    long = "Nothing of it here, only filler.\n" * 300
    code = "Then:\n\ndef f(x):\n    return {x: 1}\n\n"

    def lengthen(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        for pair in body["pairs"]:
            pair["document"]["text"] = long + "Here is a number of it.\n" + code + long
        body["pairs"][1]["document"]["html"] = "<h1>A number</h1><p>in <b>frames</b>"
        route.fulfill(response=answer, json=body)

    ben.page.route("**/next", lengthen)
    page = ben.label_page()
    top = page.get_by_role("button", name="Go to top")
    expect(top).to_be_visible()
    assert "number" in highlighted(page, "terms")
    rect = "[...CSS.highlights.get('terms')][0].getBoundingClientRect().top"
    assert 0 < page.evaluate(rect) < 600
    code_piece = page.locator('[data-part="text"] .piece.code')
    expect(code_piece).to_have_count(1)
    assert code_piece.evaluate("e => e.textContent").startswith("def f(x)")
    page.keyboard.press("f")
    expect(page.locator(".label-status")).to_be_hidden()
    bottom = "e => Math.round(e.getBoundingClientRect().bottom)"
    assert page.locator('[data-part="bar"]').evaluate(bottom) == 600
    page.keyboard.press("Escape")
    expect(page.locator(".label-status")).to_be_visible()
    assert page.locator('[data-part="text"]').evaluate("e => e.textContent.length") > 19_000
    page.keyboard.press("t")
    assert highlighted(page, "terms") == []
    top.click()
    expect(top).to_be_hidden()
    assert page.locator('[data-part="scroll"]').evaluate("e => e.scrollTop") == 0
    press(page, "1")
    frame = page.frame_locator('iframe[title="The document"]')
    frame.locator("b").dblclick()
    page.keyboard.press("h")
    expect(page.locator('[data-part="marks"] q')).to_have_text("frames")
    frame.locator("h1").click()
    press(page, "2")
    expect(page.locator('[data-part="frame"] iframe')).to_have_count(0)
    expect_labels(place, 2)
    stored = place.rows("SELECT spans FROM annotation_label WHERE grade = 2")
    assert json.loads(stored[0][0]) == [{"field": "html", "start": 11, "end": 17}]


def test_documents_of_any_script_and_length_look_right_and_addresses_open_on_purpose_alone(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben", viewport={"width": 900, "height": 600})
    lines = "A line of a document that is as long as they come.\n" * 5_000
    texts = [
        "البطارية تحوّل الطاقة إلى كهرباء.\nA second line runs the other way.",
        "🔋👩‍👩‍👧 電池は、化学エネルギーを変換する。",
        f"{lines}The last line.",
    ]
    address = f"{place.site.address}/healthz"

    def change(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        for pair, text in zip(body["pairs"], texts, strict=False):
            pair["document"].update(text=text, url=address)
        route.fulfill(response=answer, json=body)

    ben.page.route("**/next", change)
    page = ben.label_page()
    sides = page.locator('[data-part="text"]').evaluate(
        """(text) => {
          const { left, width } = text.getBoundingClientRect();
          const [node] = text.querySelector(".piece").childNodes;
          return [0, node.data.indexOf("A second")].map((place) => {
            const range = document.createRange();
            range.setStart(node, place);
            range.setEnd(node, place + 1);
            return (range.getBoundingClientRect().left - left) / width;
          });
        }"""
    )
    assert sides[0] > 0.5
    assert sides[1] < 0.1
    link = page.locator('[data-part="url"] a')
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    with ben.context.expect_page() as opened:
        page.keyboard.press("o")
    opened.value.wait_for_load_state()
    assert opened.value.evaluate("[document.referrer, window.opener]") == ["", None]
    opened.value.close()
    press(page, "1")
    page.keyboard.press("/")
    page.keyboard.type("電池")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Escape")
    press(page, "2")
    page.keyboard.press("End")
    page.wait_for_function(
        """() => {
          const last = document.querySelector('[data-part="text"]').lastElementChild;
          const seen = document.querySelector('[data-part="scroll"]').getBoundingClientRect();
          const { bottom } = last.getBoundingClientRect();
          return last.textContent.endsWith("The last line.") && bottom <= seen.bottom;
        }"""
    )
    press(page, "300")
    expect(page.locator('[data-part="pace"]')).to_contain_text("left")
    expect(page.locator('[data-part="pace"]')).to_contain_text("left")
    expect_labels(place, 5)
    ((spans,),) = place.rows("SELECT spans FROM annotation_label WHERE grade = 2")
    start = texts[1].index("電池")
    assert json.loads(spans) == [{"field": "body", "start": start, "end": start + 2}]
