"""Random keys, clicks and choices on the labelling page, over a line that is slow, fails and ends.

    python -m tests.browser.walk [--steps 1000] [--seed 1]

builds a scene and presses as often as is asked. What was visible at each press is read from the
page's text before its own handlers run; each label's id is recorded when the browser makes it. In
the end every stored label must be of the pair that was visible at its press, with the grade that
was pressed, and every grade that was pressed for a visible pair must be stored, once.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from playwright.sync_api import Error, Page, expect, sync_playwright

from tests.browser.proxy import Proxy
from tests.browser.windows import SWITCHES, Place, Window
from tests.faults.site import Embedded
from tests.services import find_chromium

SETTINGS: Final = {"DJANGO_SETTINGS_MODULE": "config.settings"}
LAST: Final = 90_000  # milliseconds for what waits in the end; tries come up to 15 s apart
CERTAIN: Final = 600  # milliseconds after which a click is certainly not too early
PAUSES: Final = (0, 0, 20, 60, 150, 0, 0, 20, 60, 150, 400)  # milliseconds after a step
MOST_SKIPS: Final = 2  # of the scene's four queries

# two queries with the same text, as TREC's intents
SAME_TEXT: Final = """
import django; django.setup()
from judgments.models import Query
Query.objects.filter(qid__in=["q1", "q2"]).update(text="jaguar")
"""

RECORD: Final = """
(() => {
  const part = (name) => document.querySelector(`[data-part="${name}"]`);
  const text = (name) => part(name)?.textContent ?? "";
  const isVisible = (element) => Boolean(element?.checkVisibility({ visibilityProperty: true }));
  let number = Number(localStorage.getItem("walked") ?? 0);
  let changedAt = 0;
  const look = (event) => {
    const stage = part("stage");
    return {
      shown: [text("query"), text("description"), text("title")],
      isShown: isVisible(stage) && !stage.hasAttribute("aria-busy") && !isVisible(part("end")),
      isReview: isVisible(part("back")),
      isTyping: Boolean(event.target.matches?.("input, textarea, select")),
      isDialog: document.querySelector("dialog[open]") !== null,
      isRepeat: Boolean(event.repeat),
      isModified: Boolean(event.ctrlKey || event.altKey || event.metaKey),
      age: performance.now() - changedAt,
    };
  };
  const keep = (event, what) => {
    if (!event.isTrusted || !document.getElementById("label-page")) return;
    number += 1;
    localStorage.setItem("walked", String(number));
    localStorage.setItem(`walk ${number}`, JSON.stringify({ number, ...what, ...look(event) }));
  };
  const record = (kind, keyOf) => {
    addEventListener(kind, (event) => keep(event, { kind, key: keyOf(event) }), true);
  };
  record("keydown", (event) => event.key);
  record("change", (event) => event.target.value);
  addEventListener("click", (event) => {
    if (event.detail === 0) return; // a key has pressed the button
    const button = event.target.closest?.("button");
    const key = button?.dataset.grade ?? button?.dataset.action ?? "";
    keep(event, { kind: "click", key });
  }, true);
  const attributeFilter = ["aria-busy", "hidden"];
  new MutationObserver(() => { changedAt = performance.now(); })
    .observe(document, { subtree: true, attributes: true, attributeFilter });
  const make = crypto.randomUUID.bind(crypto);
  crypto.randomUUID = () => {
    const id = make();
    localStorage.setItem(`id ${id}`, String(number));
    return id;
  };
})();
"""
READ: Final = """(prefix) => Object.keys(localStorage).filter((key) => key.startsWith(prefix))
  .map((key) => [key.slice(prefix.length), JSON.parse(localStorage.getItem(key))])"""
STORED: Final = """
SELECT l.id, l.outcome, l.grade, q.text, q.description, d.title FROM annotation_label l
JOIN annotation_pair p ON p.id = l.pair_id JOIN judgments_query q ON q.id = p.query_id
JOIN judgments_document d ON d.id = p.document_id
"""
PLACE_OF: Final = """(selector) => {
  const one = [...document.querySelectorAll(selector)].find((found) => found.checkVisibility());
  if (!one) return null;
  const { left, top, width, height } = one.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}"""


class Stored(NamedTuple):
    """A label in the database, with the texts of its pair."""

    id: str
    outcome: str
    grade: int | None
    pair: tuple[str, str, str]


class Walk:
    """Presses what a seeded generator says, on one page."""

    def __init__(self, window: Window, proxy: Proxy, *, seed: int) -> None:
        self._window, self._page, self._proxy = window, window.page, proxy
        self._rng = random.Random(seed)
        self._skips = 0
        self.done: Counter[str] = Counter()
        self._steps = {
            self._grade: 40, self._click: 10, self._double_click: 4, self._undo: 10,
            self._older: 14, self._newer: 5, self._filter: 9, self._escape: 7, self._later: 5,
            self._cannot: 4, self._note: 3, self._find: 3, self._look: 6, self._press_button: 5,
            self._skip: 1, self._burst: 5, self._line: 14,
        }  # fmt: skip

    def go(self, steps: int) -> None:
        """So many steps, then an end in which everything is stored."""
        chosen = self._rng.choices(list(self._steps), list(self._steps.values()), k=steps)
        for step in chosen:
            self.done[step.__name__.strip("_")] += 1
            step()
            self._page.wait_for_timeout(self._rng.choice(PAUSES))
        self._restore()
        for _ in range(4):
            self._page.keyboard.press("Escape")
        state = self._page.locator('[data-part="state"]')
        expect(state).to_have_attribute("data-state", "saved", timeout=LAST)

    def _key(self, key: str) -> None:
        self._page.keyboard.press(key)

    def _digit(self) -> str:
        return self._rng.choice("01234")

    def _grade(self) -> None:
        self._key(self._digit())

    def _burst(self) -> None:
        """Keys without a pause: a step back or a filter, and a grade before it can be answered."""
        self._key(self._rng.choice(("ArrowLeft", "ArrowLeft", "u", "Control+z", "Escape", "s")))
        if self._rng.random() < 0.4:
            self._choose()
        self._key(self._digit())

    def _mouse(self, selector: str, times: int = 1) -> None:
        place = self._page.evaluate(PLACE_OF, selector)
        if place is not None:
            self._page.mouse.click(*place, click_count=times)

    def _click(self) -> None:
        self._mouse(f'[data-grade="{self._digit()}"]')

    def _double_click(self) -> None:
        self._mouse(f'[data-grade="{self._digit()}"]', 2)

    def _press_button(self) -> None:
        action = self._rng.choice(("undo", "older", "newer", "later", "work", "mark", "find-close"))
        self._mouse(f'[data-action="{action}"]')

    def _undo(self) -> None:
        self._key(self._rng.choice(("u", "Control+z")))

    def _older(self) -> None:
        for _ in range(self._rng.choice((1, 1, 1, 2, 4))):
            self._key("ArrowLeft")

    def _newer(self) -> None:
        self._key("ArrowRight")

    def _filter(self) -> None:
        if self._page.evaluate(PLACE_OF, "#back-filter") is None:
            self._key("ArrowLeft")
            self._page.wait_for_timeout(self._rng.choice((0, 100)))
        self._choose()

    def _choose(self) -> None:
        if self._page.evaluate(PLACE_OF, "#back-filter") is None:
            return
        choices = ("", "grade=0", "grade=3", "grade=4", "cannot_tell=true", "noted=true", "query")
        try:
            self._page.select_option("#back-filter", self._rng.choice(choices), timeout=1_000)
        except Error:
            self.done["gone before it was chosen"] += 1

    def _escape(self) -> None:
        self._key("Escape")

    def _later(self) -> None:
        self._key("s")

    def _is_dialog(self) -> bool:
        self._page.wait_for_timeout(60)
        return bool(self._page.evaluate("document.querySelector('dialog[open]') !== null"))

    def _cannot(self) -> None:
        self._key("x")
        if self._is_dialog():
            self._key(self._rng.choice(("1", "2", "3", "Escape")))
            self._page.wait_for_timeout(120)  # a dialog says a moment later that it was closed

    def _skip(self) -> None:
        if self._skips == MOST_SKIPS:
            return
        self._skips += 1
        self._key("q")
        if self._is_dialog():
            self._key("2")
            self._page.wait_for_timeout(120)

    def _note(self) -> None:
        self._key("n")
        if self._is_dialog():
            self._page.keyboard.type(self._digit())
            self._key(self._rng.choice(("Control+Enter", "Escape")))
            self._page.wait_for_timeout(120)

    def _find(self) -> None:
        self._key("/")
        self._page.keyboard.type("document")
        self._key(self._rng.choice(("Enter", "Control+Enter")))
        self._key("Escape")

    def _look(self) -> None:
        key = self._rng.choice(("g", "?", "f", "t", "+", "-", "w", "b", "Space", "Tab", "h"))
        self._key(key)
        if self._is_dialog():
            self._key(self._digit())
            self._key("Escape")

    def _line(self) -> None:
        """The line gets another kind: good twice as often as slow, failing or none."""
        self._restore()
        kind = self._rng.choice(("good", "good", "slow", "failing", "offline"))
        self.done[kind] += 1
        if kind == "slow":
            self._proxy.delay = self._rng.choice((0.2, 0.6, 1.2))
        elif kind == "failing":
            self._proxy.share = 0.6
        elif kind == "offline":
            self._window.context.set_offline(True)

    def _restore(self) -> None:
        self._proxy.delay = self._proxy.share = 0.0
        self._window.context.set_offline(False)


def walk(window: Window, *, steps: int, seed: int) -> Walk:
    """Walk on the page of a window that has signed in with RECORD as its script."""
    place = window.place
    with closing(Proxy(place.site.port, seed=seed, reads=True)) as proxy:
        page = window.page
        page.goto(f"{proxy.address}/label/{place.campaign}")
        expect(page.locator('[data-part="done"]')).to_have_text(re.compile(r"\d"))
        expect(page.locator('[data-part="stage"]')).to_be_visible()
        walked = Walk(window, proxy, seed=seed)
        walked.go(steps)
        return walked


def check_walk(page: Page, place: Place) -> tuple[int, list[str]]:
    """How many labels are stored, and what of them was not on the screen as it was pressed."""
    presses = {row["number"]: row for _, row in page.evaluate(READ, "walk ")}
    made = {name.replace("-", ""): number for name, number in page.evaluate(READ, "id ")}
    stored = [
        Stored(str(pk).replace("-", ""), outcome, grade, tuple(texts))
        for pk, outcome, grade, *texts in place.rows(STORED)
    ]
    by_press: dict[int, list[Stored]] = {}
    for label in stored:
        by_press.setdefault(made[label.id], []).append(label)
    wrong = [
        f"{label} at {press}"
        for number, press in sorted(presses.items())
        for label in by_press.get(number, [])
        if not _is_of(press, label)
    ]
    wrong += [
        f"{by_press.get(number, [])} instead of one label at {press}"
        for number, press in sorted(presses.items())
        if _grades(press) and len(by_press.get(number, [])) != 1
    ]
    return len(stored), wrong


def _is_of(press: dict[str, Any], label: Stored) -> bool:
    """Whether a label is what this press says of what was to be seen."""
    is_in_sight = press["isShown"] and tuple(press["shown"]) == label.pair
    if label.outcome == "retracted":
        return is_in_sight or not press["isReview"]  # else it is the latest, which comes into sight
    is_a_grade = press["kind"] != "change" and str(press["key"]) in "01234" and press["key"]
    if is_a_grade and not press["isDialog"] and not press["isTyping"]:
        return is_in_sight and label.grade == int(press["key"])
    return is_in_sight


def _grades(press: dict[str, Any]) -> bool:
    """Whether a press certainly grades what is in sight."""
    hindered = ("isTyping", "isDialog", "isRepeat", "isModified")
    if press["key"] not in tuple("01234") or any(press[name] for name in hindered):
        return False
    is_read = press["kind"] == "keydown" or (press["kind"] == "click" and press["age"] > CERTAIN)
    return bool(press["isShown"] and is_read)


def main() -> int:
    """The long form."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        site = Embedded(Path(directory), SETTINGS)
        scene = json.loads(site.call("-m", "tests.browser.scene", str(options.steps)))
        site.call("-c", SAME_TEXT)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=SWITCHES)
        try:
            site.begin()
            place = Place(site, scene["campaign"], scene["passwords"], scene["sessions"])
            window = Window(browser.new_context(), place)
            window.context.add_init_script(RECORD)
            window.sign_in("ben")
            walked = walk(window, steps=options.steps, seed=options.seed)
            labels, wrong = check_walk(window.page, place)
        finally:
            browser.close()
            site.stop()
    sys.stdout.write(f"{dict(walked.done)}\n{labels} labels, {len(wrong)} wrong\n")
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    return 1 if wrong or window.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
