"""An annotator whose browser is German: the pages, and labelling, in German at every width."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.presses import IS_READY, press
from tests.browser.windows import PHONE, Opener, Place
from tests.texts.catalogues import forms, read

pytestmark = pytest.mark.browser
DESK: Final[dict[str, Any]] = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"}
LOOKS: Final = pytest.mark.parametrize(
    "look", [pytest.param(DESK, marks=pytest.mark.long), PHONE], ids=["1440", "390"]
)
WIDER: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Buttons and words of the page whose text is cut, or lies outside of the window.
CUT: Final = """() => [...document.querySelectorAll("button, .button, summary, kbd, h2, .badge")]
  .filter((one) => one.checkVisibility() && !one.closest(".visually-hidden, .truncate"))
  .filter((one) => getComputedStyle(one).display !== "inline"
    && one.scrollWidth > one.clientWidth + 1
    || one.getBoundingClientRect().right > innerWidth + 1)
  .concat([...document.querySelectorAll(".table-wrap")]
    .filter((one) => getComputedStyle(one).overflowX === "visible")
    .filter((one) => one.scrollWidth > one.clientWidth))
  .map((one) => one.outerHTML.slice(0, 200))"""
# Every piece of text and every name that is read aloud.
SAID: Final = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const said = [];
  while (walk.nextNode()) said.push(walk.currentNode.data);
  for (const one of document.querySelectorAll("[title], [aria-label], [placeholder]"))
    for (const name of ["title", "aria-label", "placeholder"])
      said.push(one.getAttribute(name) ?? "");
  return said.map((one) => one.trim());
}"""
ENGLISH: Final = {
    text
    for message in read("de")
    for text, german in zip(forms(message.id), forms(message.string), strict=True)
    if text and text != german
}


def check_german(page: Page) -> None:
    assert page.locator("html").get_attribute("lang") == "de"
    assert ENGLISH.isdisjoint(page.evaluate(SAID))
    assert page.evaluate(WIDER) == 0
    assert page.evaluate(CUT) == []


@LOOKS
def test_ten_pairs_are_labelled_by_keys_on_the_german_page(
    open_window: Opener, place: Place, look: dict[str, Any]
) -> None:
    ben = open_window("ben", locale="de-DE", **look)
    page = ben.label_page()
    check_german(page)
    press(page, "0123401234")
    ben.expect_saved()
    expect(page.locator('[data-part="state-words"]')).to_have_text("Alles gespeichert")
    assert [grade for _, grade in place.labels()] == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
    expect(page.locator('[data-part="in-query"]')).to_have_text(re.compile("Diese Anfrage: 10 von"))
    check_german(page)
    ben.check_accessible()
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-part="said"]')).to_contain_text("Ihre Bewertung: 4 Perfect")
    check_german(page)
    page.keyboard.press("Escape")
    page.wait_for_function(IS_READY)
    page.keyboard.press("x")
    expect(page.get_by_role("dialog", name="Warum ist es unklar?")).to_be_visible()
    check_german(page)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Tasten")).to_be_visible()
    check_german(page)
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    expect(page.get_by_role("region", name="Paare dieser Anfrage")).to_be_visible()
    check_german(page)


@pytest.mark.long
@LOOKS
def test_an_annotator_s_other_pages_are_german_too(
    open_window: Opener, place: Place, look: dict[str, Any]
) -> None:
    place.site.call("-m", "tests.browser.labels_scene")
    ben = open_window("ben", locale="de-DE", **look)
    label = f"/label/{place.campaign}"
    for path in (
        "/my-campaigns",
        "/?all",
        f"{label}/mine",
        f"{label}/mine/labels",
        f"{label}/questions",
        f"{label}/feedback",
        "/password",
        "/language",
    ):
        ben.go(path)
        check_german(ben.page)
        ben.check_accessible()
    ben.go("/tokens")
    assert ben.page.locator("html").get_attribute("lang") == "en"
    ben.go("/language")
    ben.page.get_by_label("Sprache").select_option("en")
    ben.page.get_by_role("button", name="Speichern").click()
    expect(ben.page.get_by_role("heading", name="My campaigns")).to_be_visible()
    assert ben.page.locator("html").get_attribute("lang") == "en"


def test_the_german_page_weighs_no_more_than_the_english_may(open_window: Opener) -> None:
    ben = open_window("ben", locale="de-DE")
    sizes: list[int] = []
    kinds = {"document", "stylesheet", "script"}

    def keep(request: Any) -> None:
        if request.resource_type in kinds:
            sizes.append(request.sizes()["responseBodySize"])

    ben.page.on("requestfinished", keep)
    ben.label_page().wait_for_timeout(500)
    assert len(sizes) >= 4
    assert sum(sizes) < 60_000, sizes
