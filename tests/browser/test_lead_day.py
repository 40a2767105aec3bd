"""A lead's day, from an empty installation to a release: every count is the same on every page."""

import json
import random
import re
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.request import Request, urlopen

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.warm import WarmSite
from tests.browser.windows import Place, Window
from tests.faults.site import eventually

pytestmark = [pytest.mark.browser, pytest.mark.first_pass]

QUERIES: Final = 10
DOCUMENTS: Final = 20
GOLD: Final = 100
AT_ONCE: Final = 12  # pairs that someone labels before the next one does
PASSWORD: Final = "four words make one"
SETUP: Final = (
    "import django; django.setup(); from judgments.members.services import setup_code; "
    "print(setup_code())"
)
Habit = Callable[[int, random.Random], int]
# what each of the four says of a pair whose right grade is known
HABITS: Final[Mapping[str, Habit]] = {
    "ben": lambda right, rng: right if rng.random() < 0.95 else max(0, right - 1),
    "cem": lambda right, rng: right if rng.random() < 0.9 else min(4, right + 1),
    "dora": lambda right, rng: min(4, right + 1) if rng.random() < 0.6 else right,  # generous
    "fay": lambda right, rng: 2 if rng.random() < 0.95 else 3,  # always the same grade
}


@pytest.fixture
def empty(warm_site: WarmSite, migrated: str) -> Iterator[Place]:
    """A served installation without anyone."""
    home = warm_site.directory / "home"
    for old in home.glob("touchstone.sqlite3*"):
        old.unlink()
    shutil.copy(migrated, home / "touchstone.sqlite3")
    try:
        warm_site.begin()
        yield Place(warm_site, "", {}, {})
    finally:
        warm_site.stop(patience=0)


def right_grade(query: int, document: int) -> int:
    """The grade that everyone should give."""
    return (query * 7 + document * 3) % 5


def csv(name: str, lines: list[str]) -> FilePayload:
    return FilePayload(name=name, mimeType="text/csv", buffer="\n".join(lines).encode())


def send(page: Page, **fields: Any) -> None:
    """Fill in the form that holds these fields, and send it by its first button."""
    form = page.locator("main form")
    for name in fields:
        form = form.filter(has=page.locator(f"[name={name}]"))
    form = form.first
    for name, value in fields.items():
        field = form.locator(f"[name={name}]").first
        kind = field.evaluate("one => one.type")
        if kind == "file":
            field.set_input_files(value)
        elif kind == "select-one":
            field.select_option(value)
        elif kind in ("radio", "checkbox"):
            form.locator(f'[name={name}][value="{value}"]').check()
        else:
            field.fill(str(value))
    form.locator("button.primary, .actions button").first.click()


def confirm(page: Page, button: str) -> None:
    """Press a button that asks again."""
    page.get_by_role("button", name=button, exact=True).click()
    page.locator("#confirm-yes").click()


def wait_for_job(page: Page) -> None:
    # the state, not how far it is: “0 % done”
    expect(page.locator("#job dd").first).to_have_text("done", timeout=60_000)


class Person:
    """Someone who labels over REST, by a habit."""

    def __init__(self, address: str, name: str, token: str) -> None:
        self.address, self.name, self.token = address, name, token
        self.rng = random.Random(name)

    def post(self, path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = Request(f"{self.address}/api/v1/{path}", json.dumps(body).encode(), headers)  # noqa: S310
        with urlopen(request) as answer:  # noqa: S310
            return json.load(answer)

    def label_some(self, campaign: str) -> int:
        """Label the next few pairs; how many there were."""
        found = self.post(f"campaigns/{campaign}/next", {"count": AT_ONCE})
        revision = found["guideline_revision"]
        labels = [self.label(pair, revision) for pair in found["pairs"][:AT_ONCE]]
        if labels:
            self.post(f"campaigns/{campaign}/labels", {"labels": labels, "count": 0})
        return len(labels)

    def label(self, pair: Mapping[str, Any], revision: int) -> dict[str, Any]:
        query = int(pair["query"]["text"].split()[-1])
        document = int(pair["document"]["title"].split()[-1])
        return {
            "id": str(uuid.uuid4()),
            "assignment": pair["assignment"],
            "grade": HABITS[self.name](right_grade(query, document), self.rng),
            "guideline_revision": revision,
            "content_hash": pair["content_hash"],
            "seconds": 5.0,
            "made_at": timezone.now().isoformat(),
        }


def label_in_turn(people: Sequence[Person], campaign: str) -> int:
    """Everyone labels a few pairs after the other, until no one gets any; how many labels."""
    count = 0
    while some := sum(person.label_some(campaign) for person in people):
        count += some
    return count


def set_up(ada: Window, place: Place) -> None:
    """The first account, a collection, its data as CSV, a list, a ranker with a run."""
    page = ada.page
    code = place.site.call("-c", SETUP).strip()
    ada.go(f"/setup?code={code}")
    send(page, username="ada", name="Ada", password=PASSWORD)
    expect(page).not_to_have_url(re.compile("/setup"))
    ada.go("/collections/new")
    send(page, name="Shop", slug="shop")
    queries = ["query_id,text", *(f"q{n},search number {n}" for n in range(QUERIES))]
    ada.go("/c/shop/queries/upload")
    send(page, file=csv("queries.csv", queries))
    wait_for_job(page)
    documents = ["doc_id,title,text", *(f"d{n},Thing {n},About {n}." for n in range(DOCUMENTS))]
    ada.go("/c/shop/documents/upload")
    send(page, file=csv("documents.csv", documents))
    wait_for_job(page)
    ada.go("/c/shop/lists/new")
    send(page, name="Main", slug="main")
    ada.go("/c/shop/rankers/new")
    send(page, name="Words", slug="words")
    ranks = [
        f"q{query} Q0 d{(query + rank) % DOCUMENTS} {rank + 1} {100 - rank} words"
        for query in range(QUERIES)
        for rank in range(DOCUMENTS)
    ]
    ada.go("/c/shop/runs/upload")
    run = FilePayload(name="words.run", mimeType="text/plain", buffer="\n".join(ranks).encode())
    send(page, file=run)
    expect(page.locator("main")).to_contain_text("words uploaded")


def invite(ada: Window, place: Place, browser: Browser, name: str) -> Person:
    """A person who accepts the lead's invitation and makes a token."""
    ada.go("/c/shop/members")
    send(ada.page, role="annotator", note=name)
    link = ada.page.locator("code").first.inner_text()
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(link)
        send(page, username=name, name=name.capitalize(), password=PASSWORD)
        page.goto(f"{place.site.address}/tokens?scope=write")
        send(page, name="labels", scope="write")
        token = page.locator("main code").first.inner_text()
    finally:
        context.close()
    return Person(place.site.address, name, token)


def plan(ada: Window, names: list[str]) -> str:
    """A campaign with a guideline, a pool, people and gold from a file, opened; its id."""
    page = ada.page
    ada.go("/c/shop/guidelines/new")
    words = {f"definition_{code}": f"What {code} means." for code in range(5)}
    send(page, name="How to grade", text="Read both.", **words)
    ada.go("/c/shop/campaigns/new")
    send(page, name="First round", overlap=2)
    campaign = page.url.rpartition("/")[2]
    ada.go(f"/c/shop/campaigns/{campaign}/pool")
    send(page, depth=DOCUMENTS)
    ada.go(f"/c/shop/campaigns/{campaign}")
    for name in names:
        page.locator(f'#add-people [name=people][value="{name}"]').check()
    page.locator("#add-people button").first.click()
    pairs = [(query, (query + rank) % DOCUMENTS) for query in range(QUERIES) for rank in range(10)]
    gold = [f"q{query},d{document},{right_grade(query, document)}" for query, document in pairs]
    assert len(gold) == GOLD
    ada.go(f"/c/shop/campaigns/{campaign}/gold/add")
    send(page, file=csv("gold.csv", ["query_id,doc_id,grade", *gold]))
    ada.go(f"/c/shop/campaigns/{campaign}/gold")
    send(page, gold_percent=20)
    ada.go(f"/c/shop/campaigns/{campaign}")
    confirm(page, "Open")
    expect(page.locator("main")).to_contain_text("The campaign is open")
    return campaign


def number(text: str) -> int:
    found = re.search(r"\d[\d,]*", text)
    assert found, text
    return int(found[0].replace(",", ""))


def needs_adjudication(ada: Window, campaign: str) -> set[int]:
    """How many pairs need adjudication, on each page that says it."""
    page, url = ada.page, f"/c/shop/campaigns/{campaign}"
    ada.go(url)
    stat = page.locator("#progress .stat", has_text="Needs adjudication").locator(".value")
    found = {number(stat.inner_text())}
    ada.go("/overview")
    link = page.get_by_role("link", name=re.compile("adjudication"))
    found.add(number(link.inner_text()) if link.count() else 0)
    ada.go(f"{url}/queue")
    tabs = page.get_by_role("navigation", name="Which pairs")
    found.add(number(tabs.locator("[aria-current]").inner_text()))
    ada.go(f"{url}/pairs?show=tied")
    pager = page.locator(".pager").first
    found.add(number(pager.inner_text().rpartition("of")[2]) if pager.count() else 0)
    return found


def wait_for_grades(place: Place) -> None:
    """Until a worker has aggregated every label: before, pages that are read in turn may differ."""
    waiting = "SELECT COUNT(*) FROM annotation_pair WHERE label_seq > consolidated_seq"
    eventually(lambda: [*place.rows(waiting)] == [(0,)], "grades of all labels")


def report_names(ada: Window, campaign: str, name: str) -> bool:
    """Whether the report, as it is now, says what to do about someone."""
    ada.go(f"/c/shop/campaigns/{campaign}/quality")
    advice = ada.page.locator("section.advice")
    return advice.count() > 0 and name in advice.inner_text()


def close(ada: Window, campaign_url: str) -> None:
    ada.go(campaign_url)
    confirm(ada.page, "Close")
    expect(ada.page.get_by_text("The campaign is closed.")).to_be_visible()


def test_from_an_empty_installation_to_a_release(empty: Place, browser: Browser) -> None:
    context = browser.new_context()
    ada = Window(context, empty)
    page = ada.page
    set_up(ada, empty)
    people = [invite(ada, empty, browser, name) for name in HABITS]
    campaign = plan(ada, [person.name for person in people])
    url = f"/c/shop/campaigns/{campaign}"

    assert label_in_turn(people, campaign) > 2 * (QUERIES * DOCUMENTS - GOLD)  # with gold

    eventually(lambda: report_names(ada, campaign, "Fay"), "a finding about who gives one grade")

    ada.go(f"{url}/aside?person=fay")
    expect(page.locator("#preview")).to_be_visible(timeout=60_000)
    confirm(page, "Set labels aside and relabel")
    expect(page.locator("#actions")).to_contain_text("Fay")
    assert label_in_turn([person for person in people if person.name != "fay"], campaign) > 0

    wait_for_grades(empty)
    tied = needs_adjudication(ada, campaign)
    assert len(tied) == 1
    (count,) = tied
    assert count > 0
    ada.go(f"{url}/queue")
    page.locator("main table a").first.click()
    page.locator("[name=reason]").first.fill("By the guideline.")
    page.locator('button[name=grade][value="3"]').click()
    expect(page).to_have_url(re.compile("queue"))
    wait_for_grades(empty)
    assert needs_adjudication(ada, campaign) == {count - 1}

    ada.go(f"{url}/rule?rule=median")
    expect(page.get_by_role("button", name="Use this rule")).to_be_visible(timeout=60_000)
    confirm(page, "Use this rule")
    wait_for_job(page)
    wait_for_grades(empty)
    assert needs_adjudication(ada, campaign) == {0}

    close(ada, url)
    ada.go("/c/shop/lists/main")
    page.get_by_role("link", name=re.compile("Release version")).click()
    page.locator("[name=name]").fill("spring")
    if page.locator("[name=accept_quality]").count():
        page.locator("[name=accept_quality]").check()
    page.locator("main form button.primary").click()
    expect(page.locator("main")).to_contain_text("spring")
    pairs = empty.rows("SELECT count(*) FROM annotation_pair")[0][0]
    judged = empty.rows("SELECT count(*) FROM judgments_judgment WHERE until IS NULL")[0][0]
    assert judged > 0
    assert pairs == QUERIES * DOCUMENTS
    assert number(page.locator("main").inner_text()) >= 0
    ada.go("/c/shop/audit")
    expect(page.locator("main")).to_contain_text("created the release")
    ada.check()
    context.close()
