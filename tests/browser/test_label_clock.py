"""What the labelling page does as time goes by, with the browser's clock in the test's hand."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.presses import press
from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser
STRETCH = 11  # times not quite five minutes: longer than fifty minutes without a pause
SHOWN_AFTER = 31_000  # milliseconds; the page looks every half minute


def work_on(page: Page, times: int = STRETCH) -> None:
    """Somebody reads on, and moves the pointer before five minutes have gone."""
    for number in range(times):
        page.mouse.move(300 + number % 2, 300)
        page.clock.fast_forward("04:50")
    page.mouse.move(310, 310)


def test_leases_are_renewed_a_pause_is_suggested_and_time_away_is_not_counted(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    ben.page.clock.install()
    page = ben.label_page()
    with page.expect_request(re.compile("/next$")) as renewal:
        page.clock.fast_forward("05:01")
    assert len(renewal.value.post_data_json["held"]) > 10
    press(page, "2")
    ben.expect_saved()
    ((seconds,),) = place.rows("SELECT seconds FROM annotation_label")
    assert 0 < seconds < 100
    pause = page.get_by_text("A short pause keeps your judgement fresh")
    work_on(page, 5)
    page.clock.run_for(SHOWN_AFTER)
    expect(pause).to_be_hidden()
    work_on(page)
    page.clock.run_for(SHOWN_AFTER)
    expect(pause).to_be_visible()
    expect(page.locator('[data-part="pause-minutes"]')).to_have_text(re.compile(r"^[5-9]\d$"))
    ben.check_accessible()
    page.clock.fast_forward("06:00")  # a real pause
    page.clock.run_for(SHOWN_AFTER)
    expect(pause).to_be_hidden()
    work_on(page)
    page.clock.run_for(SHOWN_AFTER)
    with page.expect_request(re.compile("preferences")):
        page.get_by_role("button", name="Don’t suggest pauses").click()
        page.clock.run_for(1_000)
    expect(pause).to_be_hidden()
    work_on(page)
    page.clock.run_for(SHOWN_AFTER)
    expect(pause).to_be_hidden()
