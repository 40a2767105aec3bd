"""No label is lost: offline, in a closed tab, without a session, over a bad line, in two tabs."""

from collections import Counter

import pytest
from playwright.sync_api import Page, Request, Response, expect

from tests.browser.presses import LOG, check_nothing_lost, press, press_on, shown, stored
from tests.browser.storm import label_in_a_storm
from tests.browser.windows import PHONE, Opener, Place, Window
from tests.faults.site import eventually

pytestmark = pytest.mark.browser
NO_DATABASE = "Object.defineProperty(window, 'indexedDB', {get() { throw new Error('private'); }});"
HELD = "SELECT count(*) FROM annotation_assignment WHERE state = 'leased'"
END_LEASES = """
from django.utils import timezone; from datetime import timedelta
from annotation.models import Assignment; from annotation.labelling.leasing import release_expired
release_expired(at=timezone.now() + timedelta(days=1))
"""

MAKE_ALL_ALIKE = """
import django; django.setup()
from judgments.models import Document, Query
Document.objects.update(title="A lamp", body="It shines.", content_hash="a" * 64)
Query.objects.update(text="lamp", description="")
"""
CLOSE = """
from django.utils import timezone; from datetime import timedelta
from annotation.models import Campaign; from annotation.campaigns.services import close_campaign
from tests.builders import make_access
campaign = Campaign.objects.get(); access = make_access(collection=campaign.list.collection)
close_campaign(access=access, campaign=campaign, at=timezone.now() - timedelta(hours=1))
"""


def state_of(page: Page, state: str) -> None:
    expect(page.locator('[data-part="state"]')).to_have_attribute("data-state", state)


def logged(window: Window) -> Window:
    """The window, keeping a log of what is pressed from its next page on."""
    window.context.add_init_script(LOG)
    return window


def test_a_line_that_drops_truncates_and_repeats_loses_and_doubles_nothing(
    open_window: Opener, place: Place
) -> None:
    ben = logged(open_window("ben"))
    seen = label_in_a_storm(ben, labels=30)
    assert sum(seen[fault] for fault in ("drop", "lose", "truncate", "repeat")) > 0
    check_nothing_lost(ben.page, place, "ben", labels=30)


def test_fifty_labels_made_offline_in_a_tab_that_closed_are_stored_once(
    open_window: Opener, place: Place
) -> None:
    ben = logged(open_window("ben", **PHONE))
    page = ben.label_page()
    ben.context.clear_cookies(name="sessionid")
    press(page, "01")
    state_of(page, "signed-out")
    press(page, "2")
    page.get_by_label("Password of ben").fill(place.passwords["ben"])
    page.keyboard.press("Enter")
    ben.expect_saved()
    assert len(stored(place, "ben")) == 3
    ben.context.set_offline(True)
    press(page, "01234" * 10)
    expect(page.locator('[data-part="state-words"]')).to_have_text(
        "Offline: 50 not yet saved. Keep going."
    )
    page.keyboard.press("0")
    last = shown(page)
    page.close()  # maybe before the last one is in the browser's database
    ben.context.set_offline(False)
    ben.page = ben.new_tab()
    page = ben.label_page()
    ben.expect_saved()
    check_nothing_lost(page, place, "ben", labels=54)
    assert shown(page) == last
    page.wait_for_load_state("networkidle")  # an answer on its way may lease more
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    eventually(lambda: place.rows(HELD) == [(0,)], "pairs given back")


def test_documents_with_the_same_text_are_pairs_of_their_own(
    open_window: Opener, place: Place
) -> None:
    place.site.call("-c", MAKE_ALL_ALIKE)
    ben = open_window("ben")
    offered: list[int] = []

    def count(response: Response) -> None:
        if response.url.endswith(("/next", "/labels")):
            offered.append(len(response.json()["pairs"]))

    ben.page.on("response", count)
    page = ben.label_page()
    total = int(page.locator('[data-part="total"]').inner_text())
    press(page, "0123" * (total // 4))
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    labelled = "SELECT count(DISTINCT pair_id), count(*) FROM annotation_label"
    assert place.rows(labelled) == [(total, total)]
    # a few may come twice, whose labels met the answer on their way; taken for others, half would
    assert total <= sum(offered) < 1.25 * total, offered


def test_the_page_comes_in_few_requests_and_little_weight(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    ben.label_page()
    ben.page.close()
    ben.page = ben.new_tab()
    finished: list[Request] = []

    def keep(request: Request) -> None:
        finished.append(request)

    ben.page.on("requestfinished", keep)
    ben.context.new_cdp_session(ben.page).send("Network.clearBrowserCache")
    ben.label_page().wait_for_timeout(500)
    kinds = Counter(request.resource_type for request in finished)
    assert kinds["fetch"] == 1
    assert len(finished) <= 8, kinds
    own = [one for one in finished if one.resource_type in ("document", "stylesheet", "script")]
    assert sum(one.sizes()["responseBodySize"] for one in own) < 60_000


def test_one_tab_labels_at_a_time_and_one_that_closes_leaves_the_pairs_to_the_other(
    open_window: Opener, place: Place
) -> None:
    place.keep_pairs(4)
    ben = logged(open_window("ben"))
    first = ben.label_page()
    total = int(first.locator('[data-part="total"]').inner_text())
    press_on(first, "0")
    at_hand = shown(first)
    second = ben.new_tab()
    second.goto(first.url)
    expect_elsewhere(second)
    second.keyboard.press("4")
    second.get_by_role("button", name="Use here").click()
    expect(second.locator('[data-part="stage"]')).to_be_visible()
    assert shown(second) == at_hand
    expect_elsewhere(first)
    first.keyboard.press("4")
    for _ in range(3):
        press_on(second, "1")
    with second.expect_event("close"):
        second.close(run_before_unload=True)
    expect(first.locator('[data-part="stage"]')).to_be_visible()
    for _ in range(total - 4):
        press_on(first, "2")
    expect(first.get_by_role("heading", name="All done")).to_be_visible()
    ben.expect_saved()
    check_nothing_lost(first, place, "ben", labels=total)
    assert Counter(row.grade for row in stored(place, "ben")) == {0: 1, 1: 3, 2: total - 4}


def expect_elsewhere(page: Page) -> None:
    expect(page.get_by_role("heading", name="Open in another tab")).to_be_visible()
    expect(page.locator("#label-page")).to_have_attribute("data-mode", "elsewhere")
    expect(page.locator('[data-part="stage"]')).to_be_hidden()


def test_a_tab_takes_the_labels_over_that_another_one_could_not_send(
    open_window: Opener, place: Place
) -> None:
    ben = logged(open_window("ben"))
    first = ben.label_page()
    first.route("**/labels", lambda route: route.abort())
    press(first, "01")
    labelled_last = shown(first)
    second = ben.new_tab()
    second.goto(first.url)
    expect_elsewhere(second)
    second.keyboard.press("Enter")  # the button has the focus
    expect(second.locator('[data-part="stage"]')).to_be_visible()
    assert shown(second) == labelled_last
    press(second, "2")
    ben.page = second
    ben.expect_saved()
    check_nothing_lost(second, place, "ben", labels=3)


WITHOUT_LOCKS = "Object.defineProperty(navigator, 'locks', { value: undefined });"


def test_tabs_of_a_browser_without_locks_tell_each_other(open_window: Opener, place: Place) -> None:
    ben = logged(open_window("ben"))
    ben.context.add_init_script(WITHOUT_LOCKS)
    ben.page = ben.new_tab()
    first = ben.label_page()
    second = ben.new_tab()
    second.goto(first.url)
    expect_elsewhere(second)
    second.get_by_role("button", name="Use here").click()
    expect(second.locator('[data-part="stage"]')).to_be_visible()
    expect_elsewhere(first)
    press(second, "3")
    ben.page = second
    ben.expect_saved()
    check_nothing_lost(second, place, "ben", labels=1)


def test_labels_that_come_after_others_filled_the_pairs_are_kept_and_it_is_said_once(
    open_window: Opener, place: Place
) -> None:
    place.keep_pairs(4)
    ben, cem = logged(open_window("ben")), open_window("cem")
    page = ben.label_page()
    ben.context.set_offline(True)
    press(page, "01")
    place.site.call("manage.py", "shell", "-v0", "-c", END_LEASES)
    other = cem.label_page()
    press(other, "3" * int(other.locator('[data-part="total"]').inner_text()))
    cem.expect_saved()
    ben.context.set_offline(False)
    ben.expect_saved()
    expect(page.get_by_text("Your labels are kept as extra labels.")).to_have_count(1)
    check_nothing_lost(page, place, "ben", labels=2)
    surplus = "SELECT count(*) FROM annotation_label WHERE assignment_id IS NULL"
    assert place.rows(surplus) == [(2,)]


def test_pairs_that_were_given_back_behind_the_page_are_asked_of_nobody_twice(
    open_window: Opener, place: Place
) -> None:
    place.keep_pairs(4)
    ben = logged(open_window("ben"))
    page = ben.label_page()
    # as when what the page before gave back arrives after this page's first pairs
    place.site.call("manage.py", "shell", "-v0", "-c", END_LEASES)
    total = int(page.locator('[data-part="total"]').inner_text())
    for _ in range(total):
        press_on(page, "2")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    ben.expect_saved()
    check_nothing_lost(page, place, "ben", labels=total)


def test_what_the_browser_or_the_server_will_not_take_is_told_and_not_thrown_away(
    open_window: Opener, place: Place
) -> None:
    cem = open_window("cem")
    cem.context.add_init_script(NO_DATABASE)
    page = cem.label_page()
    press(page, "01")
    expect(page.get_by_text("This browser can’t store labels")).to_have_count(1)
    cem.expect_saved()
    assert [row.grade for row in stored(place, "cem")] == [0, 1]
    ben = open_window("ben")
    page = ben.label_page()
    page.route("**/labels", lambda route: route.abort())
    title = shown(page)[1]
    press(page, "4")
    place.site.call("manage.py", "shell", "-v0", "-c", CLOSE)
    page.unroute("**/labels")
    page.get_by_role("button", name="1 not accepted").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This campaign is closed")
    expect(dialog).to_contain_text(title)
    ben.check_accessible()
    page.reload()
    page.get_by_role("button", name="1 not accepted").click()
    dialog.get_by_role("button", name="Send again").click()
    expect(dialog).to_contain_text("This campaign is closed")
    dialog.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("button", name="not accepted")).to_have_count(0)
    assert stored(place, "ben") == []


# An outbox whose second label comes while it looks whether there is any. Told is what it said, and
# how many labels were not acknowledged by then.
ADD_WHILE_LOOKING = """async () => {
  const { Outbox } = await import("/static/annotation/outbox.js");
  const told = [];
  let rows = [], made = 0, acknowledged = 0;
  const store = {
    loose: 0,
    async put(label) { rows.push({ label }); },
    async all() {
      const found = [...rows];
      if (acknowledged === 1 && made === 1) outbox.add({ id: String(made += 1) });
      return { waiting: found, refused: [] };
    },
    async remove(sent) { rows = rows.filter((row) => !sent.includes(row)); },
  };
  window.fetch = async (url, { body }) => {
    const { labels } = JSON.parse(body);
    acknowledged += labels.length;
    return new Response(JSON.stringify({ labels }));
  };
  const nothing = () => {};
  const outbox = new Outbox({
    store,
    tabs: { exclusively: (work) => work() },
    headers: () => ({}),
    wish: () => ({}),
    onState: ({ state }) => told.push([state, made - acknowledged]),
    onReceipts: nothing,
    onAnswer: nothing,
  });
  outbox.add({ id: String(made += 1) });
  while (outbox.sending || acknowledged < 2) await new Promise((next) => setTimeout(next, 10));
  return told;
}"""


def test_saved_is_not_said_while_a_label_is_on_its_way(open_window: Opener) -> None:
    ben = open_window("ben")
    ben.go("/")
    told = ben.page.evaluate(ADD_WHILE_LOOKING)
    assert told[-1] == ["saved", 0]
    assert {waiting for state, waiting in told if state == "saved"} == {0}, told
