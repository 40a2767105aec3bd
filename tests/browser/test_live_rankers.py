"""The pages of a live ranker: to be read by everyone, and no wider than a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import Opener

pytestmark = pytest.mark.browser
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize(
    ("width", "scheme"), [pytest.param(1280, "light", marks=pytest.mark.long), (390, "dark")]
)
def test_how_a_ranker_is_asked_is_chosen_from_presets_and_refused_where_nothing_is_allowed(
    open_window: Opener, width: int, scheme: str
) -> None:
    ada = open_window("ada")
    page = ada.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ada.go("/c/books/rankers/new")
    page.get_by_label("Name", exact=True).fill(f"Engine {width}")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_text("registered")).to_be_visible()
    ada.go(f"/c/books/ranker/engine-{width}/live")
    expect(page.get_by_text("makes no requests to other servers")).to_be_visible()
    ada.check_accessible()
    assert page.evaluate(WIDER) == 0
    page.get_by_role("link", name="Solr").click()
    expect(page.get_by_label("Results", exact=True)).to_have_value("response.docs")
    ada.check_accessible()
    assert page.evaluate(WIDER) == 0
    page.get_by_role("button", name="Save revision").click()
    expect(page.locator("#id_url_error")).to_contain_text("TOUCHSTONE_OUTGOING")
    ada.go(f"/c/books/ranker/engine-{width}/live/canaries")
    ada.check_accessible()
