"""Queries that only their descriptions tell apart, as in TREC's topics with several intents."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.presses import press
from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser
SAME_TEXT = """
import django; django.setup()
from judgments.models import Query
for query in Query.objects.all():
    query.text, query.description = "jaguar", f"Intent {query.qid}."
    query.save(update_fields=["text", "description"])
"""
STORED = """
SELECT q.description, d.title FROM annotation_label l
JOIN annotation_pair p ON p.id = l.pair_id JOIN judgments_query q ON q.id = p.query_id
JOIN judgments_document d ON d.id = p.document_id
JOIN annotation_labeltiming t ON t.label_id = l.id ORDER BY t.made_at
"""
PER_QUERY = "SELECT count(*) FROM annotation_pair GROUP BY query_id"


def seen(page: Page) -> tuple[str, str]:
    return (
        page.locator('[data-part="description"]').inner_text(),
        page.locator('[data-part="title"]').inner_text(),
    )


@pytest.fixture
def intents(place: Place) -> Place:
    place.site.call("-c", SAME_TEXT)
    return place


@pytest.mark.long
def test_every_pair_is_shown_with_the_description_of_its_own_query(
    open_window: Opener, intents: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    shown = []
    for _ in range(40):
        shown.append(seen(page))
        press(page, "2")
    ben.expect_saved()
    assert len({description for description, _ in shown}) > 1
    assert [tuple(row) for row in intents.rows(STORED)] == shown


def test_skipping_a_query_leaves_the_pairs_of_another_with_the_same_text(
    open_window: Opener, intents: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    total = int(page.locator('[data-part="total"]').inner_text())
    each = intents.rows(PER_QUERY)[0][0]
    skipped, _ = seen(page)
    fetched: list[str] = []
    with page.expect_response("**/skips"):
        page.keyboard.press("q")
        page.keyboard.press("2")
    page.on("request", lambda request: fetched.append(request.url))
    expect(page.locator('[data-part="description"]')).not_to_have_text(skipped)
    press(page, "1")
    ben.expect_saved()
    # the next pair came from this page: it asked for nothing before it was shown
    assert [url for url in fetched if url.endswith("/next")] == []
    expect(page.locator('[data-part="total"]')).to_have_text(str(total - each))
    press(page, "3" * (total - each - 1))
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    ben.expect_saved()
    rows = intents.rows(STORED)
    assert len(rows) == len({tuple(row) for row in rows}) == total - each
    assert skipped not in {description for description, _ in rows}


def test_the_history_of_this_query_leaves_out_others_with_the_same_text(
    open_window: Opener, intents: Place
) -> None:
    ben = open_window("ben")
    page = ben.label_page()
    first, _ = seen(page)
    while seen(page)[0] == first:
        press(page, "1")
    second, title = seen(page)
    press(page, "3")
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-part="back"]')).to_be_visible()
    assert seen(page) == (second, title)
    page.get_by_label("Filter your labels").select_option("query")
    expect(page.locator('[data-part="back"]')).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".toasts")).to_contain_text("first")
    assert seen(page) == (second, title)
