"""Pictures of documents on the labelling page, in the list of a query, and on a lead's pages."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.presses import press
from tests.browser.windows import PHONE, Opener, Place

pytestmark = pytest.mark.browser
DESK: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
ADD_PICTURES = """
import django; django.setup()
import io
from PIL import Image, ImageDraw
from judgments.collections.services import load_documents
from judgments.jobs.services import work_jobs
from judgments.models import Collection, Document
from judgments.pictures.services import choose_fields
from django.utils import timezone
from tests.builders import make_access
from tests.judgments.pictures.drawing import data_uri
from touchstone.files.collections import DocumentRecord

def shoe(number):
    image = Image.new("RGB", (1200, 900), "white")
    draw = ImageDraw.Draw(image)
    colour = ("firebrick", "seagreen", "steelblue", "goldenrod")[number % 4]
    draw.polygon([(150, 700), (150, 350), (400, 300), (700, 560), (1050, 620), (1080, 700)], colour)
    draw.rectangle((140, 700, 1090, 760), "black")
    out = io.BytesIO()
    image.save(out, "PNG")
    return data_uri(out.getvalue())

books = Collection.objects.get(slug="books")
records = [
    DocumentRecord(
        doc_id=one.docid, title=f"Acme running shoe {one.docid}", text=one.body * 12,
        fields={"photo": [shoe(number), f"{one.docid}.png"], "brand": "Acme"}, line=1,
    )
    for number, one in enumerate(Document.objects.filter(collection=books).order_by("pk"))
]
load_documents(collection=books, records=records, by=None, at=timezone.now())
fields = {"photo": "medium"}
choose_fields(access=make_access(collection=books), fields=fields, at=timezone.now())
work_jobs()
"""


def wait_for(image: Locator) -> None:
    expect(image).to_have_js_property("naturalWidth", 960)


def boxes(page: Page) -> list[Any]:
    """Where the text is, and the picture."""
    return [
        page.locator('[data-part="text"]').bounding_box(),
        stage(page).locator("img").bounding_box(),
    ]


def stage(page: Page) -> Locator:
    return page.locator('[data-part="pictures"]')


@pytest.mark.long
@pytest.mark.parametrize(
    "look",
    [
        pytest.param(DESK, marks=pytest.mark.long),
        {"viewport": {"width": 844, "height": 390}, "color_scheme": "dark"},
        pytest.param(PHONE, marks=pytest.mark.long),
    ],
    ids=["1440", "844", "phone"],
)
def test_a_picture_has_its_place_before_it_comes_and_is_there_with_the_next_pair(
    open_window: Opener, place: Place, look: dict[str, Any]
) -> None:
    place.site.call("-c", ADD_PICTURES)
    ben = open_window("ben", **look)
    asked: list[str] = []
    ben.page.on("request", lambda request: asked.append(request.url))
    ben.page.route(re.compile("/pictures/"), lambda route: route.abort())
    page = ben.label_page()
    image = stage(page).locator("img")
    expect(image).to_have_attribute("alt", re.compile("Acme running shoe d"))
    before = boxes(page)
    assert before[1]["width"] > 100
    page.unroute_all()
    ben.label_page()
    wait_for(image)
    assert boxes(page) == before
    expect(stage(page).locator("span")).to_have_text("No picture. Not uploaded.")
    expect(page.locator('[data-part="fields"]')).to_have_text(re.compile("^brandAcme$"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ben.check_accessible()
    first = image.get_attribute("src")
    with page.expect_popup() as opened:
        image.click()
    expect(opened.value.locator("img")).to_have_js_property("naturalWidth", 960)
    opened.value.close()
    press(page, "3")
    expect(image).not_to_have_attribute("src", first or "")
    wait_for(image)
    assert all(url.startswith((place.site.address, "blob:", "data:")) for url in asked)
    page.keyboard.press("v")  # in the list of the query, a small one in each row
    row = page.locator('[data-part="list-rows"] > li').first
    wait_for(row.locator("img"))
    assert row.locator("img").bounding_box()["width"] < 70
    expect(row.locator("span.picture")).to_have_count(0)


@pytest.mark.parametrize("look", [pytest.param(DESK, marks=pytest.mark.long), PHONE])
def test_leads_choose_fields_see_what_is_missing_and_the_pictures(
    open_window: Opener, place: Place, look: dict[str, Any]
) -> None:
    place.site.call("-c", ADD_PICTURES)
    ada = open_window("ada", **look)
    ada.go("/c/books/pictures")
    expect(ada.page.get_by_label("photo")).to_have_value("medium")
    ada.page.get_by_label("photo").select_option("large")
    ada.page.get_by_role("button", name="Save").click()
    expect(ada.page.get_by_text("Picture fields saved.")).to_be_visible()
    expect(ada.page.locator("#pictures-state")).to_contain_text("Not uploaded")
    assert ada.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ada.check_accessible()
    ada.go("/c/books/document/d3")
    wait_for(ada.page.locator("img.picture.large"))
    ada.check_accessible()
