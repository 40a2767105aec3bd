"""A campaign that closes, or loses someone, while they label: told at once, nothing hidden."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.presses import press, shown
from tests.browser.test_lossless import CLOSE
from tests.browser.windows import PHONE, Opener, Place

pytestmark = pytest.mark.browser
CLOSE_NOW = CLOSE.replace(" - timedelta(hours=1)", "")
REOPEN = """
from django.utils import timezone
from annotation.models import Campaign; from annotation.campaigns.services import reopen_campaign
from tests.builders import make_access
campaign = Campaign.objects.get(); access = make_access(collection=campaign.list.collection)
reopen_campaign(access=access, campaign=campaign, at=timezone.now())
"""
LEAVE = {
    "campaign": """
from annotation.models import CampaignAnnotator
CampaignAnnotator.objects.filter(user__username="ben").update(is_active=False)
""",
    "collection": """
from judgments.models import Membership
Membership.objects.filter(user__username="ben").delete()
""",
}


def call(place: Place, statement: str) -> None:
    place.site.call("manage.py", "shell", "-v0", "-c", statement)


def label_without_a_line(page: Page, keys: str) -> list[tuple[str, str]]:
    """Labels that do not reach the server yet; the pairs that they are of."""
    page.route("**/labels", lambda route: route.abort())
    pairs = []
    for key in keys:
        pairs.append(shown(page))
        press(page, key)
    return pairs


def expect_state(page: Page, state: str, done: int) -> None:
    expect(page.locator('[data-part="state"]')).to_have_attribute("data-state", state)
    expect(page.locator('[data-part="done"]')).to_have_text(str(done))


def test_on_the_first_refusal_the_page_says_closed_and_what_was_refused_can_be_copied(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    pairs = label_without_a_line(page, "41")
    call(place, CLOSE)
    page.unroute("**/labels")
    expect(page.get_by_role("heading", name="This campaign is closed")).to_be_visible()
    expect_state(page, "refused", 0)
    expect(page.locator('[data-part="stage"]')).to_be_hidden()
    page.keyboard.press("3")
    page.keyboard.press("u")
    page.keyboard.press("x")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.locator('[data-part="end-refused"]').click()
    dialog = page.get_by_role("dialog")
    rows = dialog.locator("li")
    expect(rows).to_have_count(2)
    for row, (query, title), grade in zip(rows.all(), pairs, ("Perfect", "Related"), strict=True):
        for words in (query, title, grade):
            expect(row).to_contain_text(words)
    ben.check_accessible()
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_role("status")).to_contain_text("2 labels")
    head, *lines = page.evaluate("window.copied").splitlines()
    cells = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert [(row["Query"], row["Document"]) for row in cells] == pairs
    assert [row["Label"] for row in cells] == ["Graded Perfect", "Graded Related"]
    assert place.labels() == []
    call(place, REOPEN)
    dialog.get_by_role("button", name="Send all again").click()
    expect_state(page, "saved", 2)
    expect(page.locator('[data-part="stage"]')).to_be_visible()
    press(page, "0")
    ben.expect_saved()
    assert [grade for _, grade in place.labels()] == [4, 1, 0]


def test_a_label_from_before_the_closing_is_saved_and_the_page_still_says_closed(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben", **PHONE)
    page = ben.label_page()
    label_without_a_line(page, "2")
    call(place, CLOSE_NOW)
    page.unroute("**/labels")
    expect(page.get_by_role("heading", name="This campaign is closed")).to_be_visible()
    expect_state(page, "saved", 1)
    expect(page.locator('[data-part="end-refused"]')).to_be_hidden()
    ben.check_accessible()
    page.get_by_role("button", name="Review my labels").tap()
    expect(page.locator('[data-part="back"]')).to_be_visible()
    page.keyboard.press("4")
    page.keyboard.press("u")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="This campaign is closed")).to_be_visible()
    ben.expect_saved()
    assert place.labels() == [("graded", 2)]


@pytest.mark.parametrize("what", LEAVE)
def test_who_has_to_leave_is_told_and_keeps_what_was_not_accepted(
    open_window: Opener, place: Place, what: str
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    pairs = label_without_a_line(page, "30")
    call(place, LEAVE[what])
    page.unroute("**/labels")
    expect(page.get_by_role("heading", name="You are no longer in this campaign")).to_be_visible()
    expect_state(page, "refused", 0)
    page.keyboard.press("2")
    page.locator('[data-part="refused"]').click()
    rows = page.get_by_role("dialog").locator("li")
    expect(rows).to_have_count(2)
    for row, (query, title) in zip(rows.all(), pairs, strict=True):
        expect(row).to_contain_text(query)
        expect(row).to_contain_text(title)
    assert place.labels() == []
    ben.complaints[:] = [one for one in ben.complaints if not one.startswith("404 ")]


def test_another_tab_hears_that_the_campaign_is_closed(open_window: Opener, place: Place) -> None:
    ben = open_window("ben")
    first = ben.label_page()
    label_without_a_line(first, "2")
    second = ben.new_tab()
    second.route("**/labels", lambda route: route.abort())
    second.goto(first.url)
    expect(second.get_by_role("heading", name="Open in another tab")).to_be_visible()
    call(place, CLOSE)
    for page in (first, second):
        page.unroute("**/labels")
    for page in (first, second):
        expect(page.get_by_role("heading", name="This campaign is closed")).to_be_visible()
        expect(page.locator('[data-part="state"]')).to_have_attribute("data-state", "refused")
    expect(first.locator('[data-part="done"]')).to_have_text("0")
    assert place.labels() == []
