"""Windows onto a served Touchstone, which notice what a person at a screen would miss."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT as AXE  # type: ignore[import-untyped]
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, expect

from tests.faults.site import Embedded, eventually

PATIENCE = 15_000  # milliseconds, on a machine that does other things as well
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Chromium loads four hundred files of its own into every new window, for the list under its
    # address bar: half a second of both cores. The others are Playwright's own choice, which this
    # one replaces.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,AimEnabled,PaintHolding,HttpsUpgrades",
)
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 780},
    "has_touch": True,
    "color_scheme": "dark",
}
LOOKS: dict[str, dict[str, Any]] = {"desktop": {}, "phone": PHONE}
# The browser's own words for a server that is away, or a refusal that the page reads.
NETWORK = re.compile(r"Failed to load resource|net::ERR_")
# A new query fades in: in the middle of that its contrast is too low. What a test has marked as
# looked at before is left out.
LOOK_FOR_VIOLATIONS = """async () => {
  const ending = (one) => one.effect?.getComputedTiming().endTime < Infinity;
  const moving = document.getAnimations().filter(ending);
  await Promise.allSettled(moving.map((one) => one.finished));
  const others = { exclude: ["[data-looked-at]"] };
  return (await axe.run(others, { resultTypes: ["violations"] })).violations;
}"""
# As one who has labelled before in this browser: the guideline does not come first.
HAS_READ = """
const { getItem } = Storage.prototype;
Storage.prototype.getItem = function (name) {
  return name.startsWith("touchstone guideline ") ? "met" : getItem.call(this, name);
};
"""
REPORT = "addEventListener('securitypolicyviolation', (e) => console.error('CSP', e.blockedURI));"


# So many pairs of each query stay in the campaign, in which no one has labelled yet. The trigger
# that keeps what was pooled is set aside meanwhile.
KEEP_PAIRS = """
from django.db import connection
from annotation.models import Assignment, Pair, PoolEntry
each = {{}}
for query, pk in Pair.objects.order_by("query", "pk").values_list("query", "pk"):
    each.setdefault(query, []).append(pk)
kept = [pk for all_of_query in each.values() for pk in all_of_query[:{each}]]
with connection.cursor() as cursor:
    cursor.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s",
        [PoolEntry._meta.db_table],
    )
    triggers = cursor.fetchall()
    for name, _ in triggers:
        cursor.execute(f'DROP TRIGGER "{{name}}"')
    for model in (Assignment, PoolEntry):
        model.objects.exclude(pair__in=kept).delete()
    Pair.objects.exclude(pk__in=kept).delete()
    for _, made in triggers:
        cursor.execute(made, None)
"""


@dataclass
class Place:
    """A served Touchstone with its people."""

    site: Embedded
    campaign: str
    passwords: dict[str, str]
    sessions: Mapping[str, Sequence[str]]  # of each person, a few

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """What the database holds, read beside the server."""
        path = self.site.directory / "home" / "touchstone.sqlite3"
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    def keep_pairs(self, each: int) -> None:
        """Leave so many pairs of each query, for a test that labels until the end."""
        self.site.call("-c", KEEP_PAIRS.format(each=each))

    def labels(self) -> list[tuple[str, int | None]]:
        """Outcome and grade of every label that holds, in the order in which they were made."""
        holds = "id NOT IN (SELECT supersedes_id FROM annotation_label WHERE supersedes_id NOTNULL)"
        return self.rows(
            "SELECT outcome, grade FROM annotation_label "  # noqa: S608
            f"JOIN annotation_labeltiming ON label_id = id WHERE {holds} ORDER BY made_at"
        )

    def head_of_all_labels(self) -> int:
        """The list's newest version, once every label has been concluded."""
        due = "SELECT count(*) FROM annotation_pair WHERE label_seq > consolidated_seq"
        eventually(lambda: self.rows(due) == [(0,)], "conclusions")
        head: int = self.rows("SELECT head FROM judgments_judgmentlist")[0][0]
        return head


@dataclass
class Window:
    """A page with an eye on its console."""

    context: BrowserContext
    place: Place
    complaints: list[str] = field(default_factory=list)
    has_read: bool = True  # the guideline

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        self.context.add_init_script(REPORT)
        if self.has_read:
            self.context.add_init_script(HAS_READ)
        self.page = self.new_tab()

    def new_tab(self) -> Page:
        """One more tab of the same browser."""
        page = self.context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("response", self._see)
        return page

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not NETWORK.search(message.text):
            self.complaints.append(f"{message.text} at {self.page.url}")

    def _see(self, response: Response) -> None:
        if response.status >= 500 or (response.status == 404 and "favicon" not in response.url):
            self.complaints.append(f"{response.status} {response.url}")

    def check(self) -> None:
        """Nothing was complained of."""
        assert self.complaints == [], self.complaints[:5]

    def go(self, path: str) -> None:
        """Open an address of the place."""
        self.page.goto(f"{self.place.site.address}{path}")

    def sign_in(self, username: str, page: Page | None = None) -> None:
        """By the form, as everyone does."""
        page = page or self.page
        page.goto(f"{self.place.site.address}/login")
        page.get_by_label("Username").fill(username)
        page.get_by_label("Password").fill(self.place.passwords[username])
        page.get_by_role("button", name="Sign in").click()
        expect(page).not_to_have_url(re.compile("/login"))

    def label_page(self) -> Page:
        """The annotator's page, with the first pair on it."""
        self.go(f"/label/{self.place.campaign}")
        expect(self.page.locator("#label-page.live")).to_be_visible()
        stage = self.page.locator('[data-part="stage"]')
        expect(stage).to_be_visible()
        expect(stage).not_to_have_attribute("aria-busy", "true")  # until it is on the screen
        expect(self.page.locator('[data-part="done"]')).to_have_text(re.compile(r"\d"))
        return self.page

    def expect_saved(self) -> None:
        """Everything that was labelled has been acknowledged."""
        expect(self.page.locator('[data-part="state"]')).to_have_attribute("data-state", "saved")

    def violations(self) -> list[str]:
        """What axe finds on the page as it is now, in words."""
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate(AXE)
        found = self.page.evaluate(LOOK_FOR_VIOLATIONS)
        return [
            f"{self.page.url}: {one['id']}: {one['help']}: "
            f"{[node['html'] for node in one['nodes'][:3]]}"
            for one in found
        ]

    def check_accessible(self) -> None:
        """Axe finds nothing on the page as it is now."""
        found = self.violations()
        assert found == [], found


class Opener:
    """Opens windows, and closes them in the end. look: what a window is like unless it is said."""

    def __init__(self, browser: Browser, place: Place, stack: ExitStack, look: str) -> None:
        self._browser, self._place, self._stack = browser, place, stack
        self._look = LOOKS[look]
        self._sessions = {name: iter(keys) for name, keys in place.sessions.items()}

    def __call__(self, username: str, *, has_read: bool = True, **options: Any) -> Window:
        """A window of a browser of this person's own, signed in; options of the browser's.

        has_read: they have read the guideline there, so that it does not come first.
        """
        context = self._browser.new_context(**{**self._look, **options})
        self._stack.callback(context.close)
        window = Window(context, self._place, has_read=has_read)
        session = next(self._sessions[username])
        address = self._place.site.address
        context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        self._stack.callback(window.check)
        return window
