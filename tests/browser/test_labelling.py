"""Labelling as annotators do it: by keyboard, offline, with a closed tab, with a dying server."""

import time

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.presses import IS_READY, press, shown
from tests.browser.windows import Opener, Place
from tests.faults.site import eventually

pytestmark = pytest.mark.browser

# labels with their reason (r) and note (n), and when they were made
WITH_TEXTS = """annotation_label JOIN annotation_labeltiming ON label_id = id
LEFT JOIN judgments_sidetext r ON r.digest = reason_text_id
LEFT JOIN judgments_sidetext n ON n.digest = note_text_id"""
SECONDS = (
    6.0  # from the last label to the other window, on a machine that does other things as well
)

# The server has counted before; the page now looks whether all labels of its own are sent.
PRESS_WHILE_TAKEN_IN = """
() => {
  const { json } = Response.prototype;
  const { transaction } = IDBDatabase.prototype;
  let hasAnswer = false;
  Response.prototype.json = async function () {
    const answer = await json.call(this);
    hasAnswer ||= "pairs" in answer;
    return answer;
  };
  IDBDatabase.prototype.transaction = function (stores, mode, ...options) {
    if (hasAnswer && mode === "readonly") {
      IDBDatabase.prototype.transaction = transaction;
      dispatchEvent(new KeyboardEvent("keydown", { key: "2" }));
    }
    return transaction.call(this, stores, mode, ...options);
  };
}
"""


def state_of(page: Page, state: str) -> None:
    expect(page.locator('[data-part="state"]')).to_have_attribute("data-state", state)


def test_ten_labels_by_keyboard_move_the_leaderboard_of_another_window_by_itself(
    open_window: Opener, place: Place
) -> None:
    ben, dora = open_window("ben"), open_window("dora")
    dora.go("/c/books/lists/main/leaderboard")
    board = dora.page.locator("#board")
    expect(board).to_have_attribute("data-version", "1")
    before = board.inner_text()
    dora.page.evaluate("window.neverReloaded = true")
    page = ben.label_page()
    press(page, "0123401234")
    ben.expect_saved()
    began = time.monotonic()
    assert [grade for _, grade in place.labels()] == [0, 1, 2, 3, 4] * 2
    expect(board).to_contain_text("means over 4 judged queries")
    head = place.head_of_all_labels()
    expect(board).to_have_attribute("data-version", str(head))
    assert time.monotonic() - began < SECONDS
    expect(board).to_contain_text(f"version {head}")
    assert board.inner_text() != before
    assert dora.page.evaluate("window.neverReloaded")


def test_undo_later_cannot_tell_and_notes_by_keyboard(open_window: Opener, place: Place) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    first = shown(page)
    press(page, "2")
    second = shown(page)
    assert second != first
    page.keyboard.press("u")
    expect(page.locator('[data-part="done"]')).to_have_text("0")
    assert shown(page) == first
    expect(page.locator('[data-grade="2"]')).to_have_attribute("aria-pressed", "true")
    press(page, "4")
    assert shown(page) == second
    page.keyboard.press("s")
    third = shown(page)
    assert third[0] == second[0]
    assert third[1] != second[1]
    page.wait_for_function(IS_READY)
    page.keyboard.press("x")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(page, "3")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("n")
    page.keyboard.type("3 of its 5 parts")
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-part="note-mark"]')).to_be_visible()
    press(page, "1")
    expect(page.locator('[data-part="note-mark"]')).to_be_hidden()
    ben.expect_saved()
    assert place.labels() == [("graded", 4), ("unsure", None), ("graded", 1)]
    said = place.rows(f"SELECT r.text, n.text FROM {WITH_TEXTS} ORDER BY made_at")  # noqa: S608
    assert said[-2:] == [("not enough context", None), (None, "3 of its 5 parts")]
    outcomes = [row[0] for row in place.rows("SELECT outcome FROM annotation_label")]
    assert sorted(outcomes) == ["graded", "graded", "graded", "retracted", "unsure"]


def test_a_note_stays_with_its_pair_while_another_label_is_taken_back(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    press(page, "2")
    page.keyboard.press("n")
    page.keyboard.type("about the second")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Control+z")
    expect(page.locator('[data-part="done"]')).to_have_text("0")
    expect(page.locator('[data-part="note-mark"]')).to_be_hidden()
    press(page, "3")
    expect(page.locator('[data-part="note-mark"]')).to_be_visible()
    press(page, "1")
    ben.expect_saved()
    noted = place.rows(f"SELECT outcome, grade, n.text FROM {WITH_TEXTS} ORDER BY made_at")  # noqa: S608
    assert noted == [
        ("graded", 2, None),
        ("retracted", None, None),
        ("graded", 3, None),
        ("graded", 1, "about the second"),
    ]


def test_a_note_is_kept_at_the_press_that_keeps_it(open_window: Opener, place: Place) -> None:
    """The next key may undo, and change the pair: by then the note is its pair's."""
    page = open_window("ben").label_page()
    press(page, "2")
    press_until_open(page, "n")
    page.keyboard.type("about the second")
    is_marked = page.evaluate("""() => {
      const keep = new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, bubbles: true});
      document.getElementById("note-text").dispatchEvent(keep);
      return !document.querySelector('[data-part="note-mark"]').hidden;
    }""")
    assert is_marked


def press_until_open(page: Page, key: str) -> None:
    """Press what opens a dialog; once more where a busy browser lost the key with the focus."""
    page.keyboard.press(key)
    try:
        expect(page.get_by_role("dialog")).to_be_visible(timeout=5000)
    except AssertionError:
        page.keyboard.press(key)
        expect(page.get_by_role("dialog"), key).to_be_visible()


def test_keys_that_are_on_no_button_and_keys_in_dialogs_label_nothing(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    for key in ("5", "9", "q", "Enter", "ArrowDown", "Space"):
        page.keyboard.press(key)
    for opening, closing in (("g", "g"), ("?", "?"), ("x", "Escape"), ("n", "Escape")):
        press_until_open(page, opening)
        if opening in "g?":
            page.keyboard.press("0")
        page.keyboard.press(closing)
        expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Control+1")  # the last one: the browser itself does something then
    expect(page.locator('[data-part="done"]')).to_have_text("0")
    ben.expect_saved()
    assert place.labels() == []


def test_a_key_before_the_first_pair_is_there_labels_nothing_and_it_is_said(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben", reduced_motion="reduce")
    page = ben.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/next", hold)
    ben.go(f"/label/{place.campaign}")
    expect(page.get_by_text("Loading the first pairs")).to_be_visible()
    page.keyboard.press("3")
    page.keyboard.press("x")
    expect(page.get_by_text("Too fast: that key was ignored.")).to_be_visible()
    for route in held:
        route.continue_()
    expect(page.locator('[data-part="in-query"]')).to_contain_text("This query")
    expect(page.get_by_text("Loading the first pairs")).to_be_hidden()
    # as the server answered, a second key follows the first before the next pair was painted
    page.evaluate(
        """() => ["1", "2"].forEach((key) =>
          dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true})))"""
    )
    expect(page.locator('[data-part="done"]')).to_have_text("1")
    press(page, "4")
    ben.expect_saved()
    assert [grade for _, grade in place.labels()] == [1, 4]
    assert page.evaluate("document.getAnimations().length") == 0


def test_a_label_made_while_an_answer_is_taken_in_stays_counted(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    ben.page.clock.install()
    page = ben.label_page()
    page.evaluate(PRESS_WHILE_TAKEN_IN)
    page.clock.fast_forward("05:01")  # the next pairs are asked for
    eventually(lambda: place.labels() == [("graded", 2)], "the label")
    page.clock.run_for(1_000)
    expect(page.locator('[data-part="done"]')).to_have_text("1")


def test_the_text_scrolls_by_keyboard_from_the_start(open_window: Opener) -> None:
    page = open_window("ben", viewport={"width": 900, "height": 420}).label_page()
    page.locator('[data-part="text"]').evaluate("e => { e.textContent = 'word\\n'.repeat(200); }")
    page.keyboard.press("PageDown")
    page.wait_for_function("() => document.querySelector('[data-part=scroll]').scrollTop > 50")


def test_a_closed_tab_with_unsent_labels_loses_none(open_window: Opener, place: Place) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    page.route("**/labels", lambda route: route.abort())
    press(page, "012")
    labelled_last = shown(page)
    state_of(page, "offline")
    expect(page.locator('[data-part="state-words"]')).to_contain_text("3 not yet saved")
    page.close()
    assert place.labels() == []
    ben.page = ben.new_tab()
    page = ben.label_page()
    ben.expect_saved()
    assert [grade for _, grade in place.labels()] == [0, 1, 2]
    expect(page.locator('[data-part="done"]')).to_have_text("3")
    assert shown(page) == labelled_last


def test_a_killed_server_loses_nothing_and_labelling_goes_on_meanwhile(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    press(page, "01")
    place.site.kill("serve")
    press(page, "2340")
    state_of(page, "offline")
    place.site.begin()
    press(page, "1")
    ben.expect_saved()
    assert [grade for _, grade in place.labels()] == [0, 1, 2, 3, 4, 0, 1]
    first_labels = place.rows("SELECT count(*) FROM annotation_label WHERE supersedes_id IS NULL")
    assert first_labels == [(7,)]


def test_labels_wait_for_their_own_author_when_somebody_else_signs_in(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    press(page, "0")
    ben.expect_saved()
    other = ben.new_tab()
    ben.context.clear_cookies()
    ben.sign_in("cem", other)
    press(page, "12")
    state_of(page, "other-account")
    expect(page.locator('[data-part="sign-in-words"]')).to_contain_text("Another account")
    press(page, "3")
    assert len(place.labels()) == 1
    page.get_by_label("Password of ben").fill("a wrong one")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator('[data-part="sign-in-words"]')).to_contain_text("Wrong password")
    page.get_by_label("Password of ben").fill(place.passwords["ben"])
    page.keyboard.press("Enter")
    ben.expect_saved()
    expect(page.get_by_label("Password of ben")).to_be_hidden()
    assert [grade for _, grade in place.labels()] == [0, 1, 2, 3]
    authors = place.rows(
        "SELECT DISTINCT username FROM annotation_label JOIN judgments_user u ON u.id=annotator_id"
    )
    assert authors == [("ben",)]


def test_the_end_is_said_and_the_server_is_left_alone(open_window: Opener, place: Place) -> None:
    place.keep_pairs(3)
    ben = open_window("ben")
    page = ben.label_page()
    total = int(page.locator('[data-part="total"]').inner_text())
    press(page, "3" * total)
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    ben.expect_saved()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(1_500)
    assert len(asked) <= 2
    page.keyboard.press("u")
    expect(page.locator('[data-part="stage"]')).to_be_visible()
    expect(page.locator('[data-part="done"]')).to_have_text(str(total - 1))
    press(page, "1")
    ben.expect_saved()
    assert [grade for _, grade in place.labels()] == [3] * (total - 1) + [1]


def test_space_after_a_grade_by_mouse_reads_on_and_grades_nothing(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    page.wait_for_timeout(400)  # what has just come is not graded by a click
    page.locator('[data-grade="3"]').click()
    expect(page.locator('[data-part="done"]')).to_have_text("1")
    expect(page.locator('[data-part="scroll"]')).to_be_focused()
    page.keyboard.press("Space")
    press(page, "1")
    ben.expect_saved()
    assert place.labels() == [("graded", 3), ("graded", 1)]
    page.locator('[data-grade="2"]').focus()
    page.keyboard.press("Space")
    expect(page.locator('[data-part="done"]')).to_have_text("3")
    expect(page.locator('[data-grade="2"]')).to_be_focused()


def test_where_no_script_runs_the_page_says_that_it_needs_one(
    open_window: Opener, place: Place
) -> None:
    ben = open_window("ben", java_script_enabled=False)
    ben.go(f"/label/{place.campaign}")
    said = ben.page.locator("noscript .note-box")  # no text in it is found by its words
    expect(said).to_be_visible()
    expect(said).to_contain_text("Labelling needs JavaScript.")
