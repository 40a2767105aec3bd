"""What was pressed on the labelling page, by its own log, and what the database holds of it."""

from collections import Counter
from typing import Final, NamedTuple

from playwright.sync_api import Page, expect

from tests.browser.windows import PATIENCE, Place

# Written before the page's own handlers see the key; in the browser's store, so that a closed tab
# leaves it behind. What is held down, or pressed where nothing can be labelled, is no label.
LOG: Final = """
addEventListener("keydown", (event) => {
  const stage = document.querySelector('[data-part="stage"]');
  const isBusy = !stage || stage.hidden || stage.hasAttribute("aria-busy");
  if (event.repeat || isBusy || !/^[0-4]$/.test(event.key)) return;
  if (event.target instanceof HTMLInputElement) return;
  const text = (part) => document.querySelector(`[data-part="${part}"]`).textContent;
  const number = String(localStorage.length).padStart(6, "0");
  const row = [text("query"), text("title"), Number(event.key)];
  localStorage.setItem(`pressed ${number} ${Math.random()}`, JSON.stringify(row));
}, true);
"""
IS_READY: Final = """() => {
  const part = (name) => document.querySelector(`[data-part="${name}"]`);
  return part("stage").getAttribute("aria-busy") !== "true" || !part("end").hidden;
}"""
# So many labels are counted, and what comes is ready; asked in each frame, with its patience.
IS_COUNTED: Final = f"""async ([count, patience]) => {{
  const isReady = {IS_READY};
  const done = document.querySelector('[data-part="done"]');
  const deadline = Date.now() + patience;
  while (done.textContent !== count || !isReady()) {{
    if (Date.now() > deadline) return `${{done.textContent}} in place of ${{count}}`;
    await new Promise((next) => requestAnimationFrame(next));
  }}
  return "";
}}"""
READ: Final = """() => Object.keys(localStorage).filter((key) => key.startsWith("pressed"))
  .sort().map((key) => JSON.parse(localStorage.getItem(key)))"""
STORED: Final = """
SELECT q.text, d.title, l.grade, u.username FROM annotation_label l
JOIN annotation_pair p ON p.id = l.pair_id JOIN judgments_query q ON q.id = p.query_id
JOIN judgments_document d ON d.id = p.document_id JOIN judgments_user u ON u.id = l.annotator_id
JOIN annotation_labeltiming t ON t.label_id = l.id
ORDER BY l.received_at, t.made_at
"""


class Press(NamedTuple):
    """A grade for what was on the screen."""

    query: str
    title: str
    grade: int


def press(page: Page, keys: str) -> None:
    """Label with one key after the other; each waits only for the page, never for the server.

    What is shown at the end, a pair or words, is ready for the next key.
    """
    before = int(page.locator('[data-part="done"]').inner_text())
    page.wait_for_function(IS_READY)
    for number, key in enumerate(keys, start=1):
        page.keyboard.press(key)
        late = page.evaluate(IS_COUNTED, [str(before + number), PATIENCE])
        assert not late, late


def shown(page: Page) -> tuple[str, str]:
    """The pair on the screen."""
    return (
        page.locator('[data-part="query"]').inner_text(),
        page.locator('[data-part="title"]').inner_text(),
    )


def press_on(page: Page, key: str) -> None:
    """Label the pair on the screen, and wait for another one, or for the end."""
    before = "\n".join(shown(page))
    expect(page.locator('[data-part="stage"]')).not_to_have_attribute("aria-busy", "true")
    page.keyboard.press(key)
    page.wait_for_function(
        """before => ['query', 'title'].map(part =>
          document.querySelector(`[data-part="${part}"]`).innerText).join('\\n') !== before""",
        arg=before,
    )


def pressed(page: Page) -> list[Press]:
    """Every grade that was pressed in this browser."""
    return [Press(*row) for row in page.evaluate(READ)]


def stored(place: Place, username: str) -> list[Press]:
    """Every label of someone's in the database, superseded ones too."""
    return [Press(*row) for *row, author in place.rows(STORED) if author == username]


def check_nothing_lost(page: Page, place: Place, username: str, *, labels: int) -> None:
    """What was pressed is what is stored: nothing lost, nothing twice, nothing else."""
    by_page, by_database = pressed(page), stored(place, username)
    assert len(by_page) == labels
    lost, other = Counter(by_page) - Counter(by_database), Counter(by_database) - Counter(by_page)
    assert (lost, other) == (Counter(), Counter()), f"{lost=} (pressed), {other=} (stored)"
    pairs = [(row.query, row.title) for row in by_database]
    assert len(set(pairs)) == len(pairs) == labels
