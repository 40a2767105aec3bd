"""Documents and the guideline as annotators see them: images, light and dark, examples at hand."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.presses import press
from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser
LOOKS = pytest.mark.parametrize(
    ("scheme", "size"),
    [
        pytest.param("light", {"width": 1280, "height": 800}, marks=pytest.mark.long),
        ("dark", {"width": 390, "height": 780}),
    ],
    ids=["light", "dark"],
)
PREPARE = "import django; django.setup()\n"
ADD_AN_IMAGE = f"""{PREPARE}
from judgments.pages.markup import clean_html
from judgments.models import Document
image = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)
fields = {{"html": f"<h1>A map</h1><img src='{{image}}' alt='a map'><p>What it shows"}}
Document.objects.update(fields=fields, clean_html=clean_html(fields))
"""
ADD_A_WIDE_TABLE = f"""{PREPARE}
from judgments.pages.markup import clean_html
from judgments.models import Document
cells = "".join(f"<td>unbreakable{{number}}</td>" for number in range(40))
fields = {{"html": "<h1>Sizes</h1><p>See <a href='https://x.example/'>all sizes</a>"
    f"<p><img src='https://x.example/i.png' alt='a chart'><table><tr>{{cells}}</table>"}}
Document.objects.update(fields=fields, clean_html=clean_html(fields))
"""
ALLOW_IMAGES = f"""{PREPARE}
from django.utils import timezone
from annotation.models import Campaign
from annotation.campaigns.services import change_campaign
from tests.builders import make_access
campaign = Campaign.objects.get()
access = make_access(collection=campaign.list.collection)
change_campaign(access=access, campaign=campaign, at=timezone.now(), shows_images=True)
"""
ADD_COUNTER_EXAMPLES = f"""{PREPARE}
from annotation.models import GuidelineRevision
from django.utils import timezone
old = GuidelineRevision.objects.get()
grades = [one | {{"counter_examples": [f"Not like {{one['code']}}."]}} for one in old.grades]
GuidelineRevision.objects.create(
    guideline=old.guideline, number=2, text=old.text, grades=grades, created_at=timezone.now()
)
"""
MAKE_PRODUCTS = f"""{PREPARE}
from judgments.models import Document
for document in Document.objects.all():
    name = document.title
    document.title = f"Acme {{name}} lamp"
    document.body = ""
    about = f"A {{name}}, bright"
    document.fields = {{"name": name, "brand": "Acme", "about": about, "short": "A"}}
    document.fields |= {{"colours": ["red", "blue"], "sold": True, "none": [], "gtin": 2**63 + 1}}
    document.save(update_fields=["title", "body", "fields"])
"""
# of the surface behind the words, from 0 (black) to 1
BRIGHTNESS = """(element) => {
  const painted = (one) => getComputedStyle(one).backgroundColor;
  let one = element;
  while (painted(one) === "rgba(0, 0, 0, 0)" && one.parentElement) one = one.parentElement;
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = painted(one);
  canvas.fillRect(0, 0, 1, 1);
  const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
  return (red + green + blue) / 765;
}"""


def brightness(locator: Locator) -> float:
    value: float = locator.evaluate(BRIGHTNESS)
    return value


@pytest.mark.parametrize("width", [pytest.param(1440, marks=pytest.mark.long), 390])
def test_html_shows_what_it_lacks_its_links_and_a_wide_table_that_scrolls(
    open_window: Opener, place: Place, width: int
) -> None:
    place.site.call("-c", ADD_A_WIDE_TABLE)
    ben = open_window("ben", viewport={"width": width, "height": 844})
    asked: list[str] = []
    ben.page.on("request", lambda request: asked.append(request.url))
    frame = ben.label_page().frame_locator('[data-part="frame"] iframe')
    expect(frame.get_by_role("img", name="Image not shown: a chart")).to_be_visible()
    link = frame.locator("a")
    expect(link).to_have_css("text-decoration-line", "underline")
    assert link.get_attribute("href") is None
    table = frame.locator("table")
    assert table.evaluate("(one) => one.scrollWidth > one.clientWidth")
    assert frame.locator("html").evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert not [url for url in asked if "x.example" in url]


def test_images_are_shown_only_where_the_campaign_allows_them(
    open_window: Opener, place: Place
) -> None:
    place.site.call("-c", ADD_AN_IMAGE)
    ben = open_window("ben")
    page = ben.label_page()
    frame = page.frame_locator('[data-part="frame"] iframe')
    expect(frame.locator("h1")).to_have_text("A map")
    expect(frame.locator("img")).to_have_count(0)
    place.site.call("-c", ALLOW_IMAGES)
    ben.label_page()
    expect(frame.locator("img")).to_have_attribute("alt", "a map")
    page.wait_for_function(
        """() => document.querySelector('[data-part="frame"] iframe')
            ?.contentDocument?.images[0]?.naturalWidth === 1"""
    )


@pytest.mark.long
@LOOKS
def test_the_page_and_documents_of_text_and_html_are_light_or_dark_as_wished(
    open_window: Opener, place: Place, scheme: str, size: dict[str, int]
) -> None:
    ben = open_window("ben", viewport=size, color_scheme=scheme, has_touch=size["width"] < 400)
    page = ben.label_page()
    surfaces = [
        page.locator("body"),
        page.locator('[data-part="text"]'),
        page.locator('[data-part="bar"]'),
    ]
    ben.check_accessible()
    shades = [brightness(surface) for surface in surfaces]
    place.site.call("-c", ADD_AN_IMAGE)
    ben.label_page()
    inside = page.frame_locator('[data-part="frame"] iframe').locator("h1")
    expect(inside).to_be_visible()
    shades.append(brightness(page.locator('[data-part="frame"] iframe')))
    words = inside.evaluate("one => getComputedStyle(one).color.match(/[\\d.]+/g).map(Number)")
    ben.check_accessible()
    if scheme == "dark":
        assert max(shades) < 0.25
        assert min(words[:3]) > 150
    else:
        assert min(shades) > 0.75
        assert max(words[:3]) < 100


@LOOKS
def test_examples_and_counter_examples_of_each_grade_are_one_key_away(
    open_window: Opener, place: Place, scheme: str, size: dict[str, int]
) -> None:
    place.site.call("-c", ADD_COUNTER_EXAMPLES)
    ben = open_window("ben", viewport=size, color_scheme=scheme)
    page = ben.label_page()
    page.keyboard.press("g")
    guideline = page.get_by_role("dialog", name="Guideline")
    expect(guideline).to_be_visible()
    sections = guideline.locator(".guideline-grades > section")
    expect(sections).to_have_count(5)
    for section, grade in zip(sections.all(), (4, 3, 2, 1, 0), strict=True):
        expect(section.locator("[data-definition-of]")).to_have_text(f"What {grade} means.")
        expect(section.locator("ul")).to_have_text([f"Like {grade}.", f"Not like {grade}."])
    ben.check_accessible()
    page.keyboard.press("3")  # labels nothing while one reads
    page.keyboard.press("Escape")
    expect(guideline).to_be_hidden()
    expect(page.locator('[data-part="done"]')).to_have_text("0")
    press(page, "3")


def test_fields_are_in_words_and_marks_count_those(open_window: Opener, place: Place) -> None:
    place.site.call("-c", MAKE_PRODUCTS)
    page = open_window("ben").label_page()
    for name, words in {"colours": "red, blue", "sold": "yes", "gtin": str(2**63 + 1)}.items():
        row = page.locator('[data-part="fields"] > div').filter(has=page.get_by_text(name))
        expect(row.locator("dd")).to_have_text(words)
    page.get_by_role("region", name="Document").get_by_text("red, blue").evaluate(
        "(words) => getSelection().setBaseAndExtent(words.firstChild, 5, words.firstChild, 9)"
    )
    page.keyboard.press("h")
    press(page, "3")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("list", name="Evidence")).to_contain_text("blue")


def test_what_a_products_title_says_already_steps_back_among_its_fields(
    open_window: Opener, place: Place
) -> None:
    place.site.call("-c", MAKE_PRODUCTS)
    page = open_window("ben", viewport={"width": 390, "height": 780}).label_page()
    rows = page.locator('[data-part="fields"] > div')
    expect(rows).to_have_count(7)
    names = [row.locator("dt").inner_text() for row in rows.all()]
    again = [row.get_attribute("class") == "again" for row in rows.all()]
    told = dict(zip(names, again, strict=True))
    assert [name for name, is_said_again in told.items() if is_said_again] == [
        "name",
        "brand",
        "short",
    ]
    colours = {
        name: row.locator("dd").evaluate("(words) => getComputedStyle(words).color")
        for name, row in zip(names, rows.all(), strict=True)
    }
    assert colours["name"] == colours["brand"] != colours["about"]
    # on a phone most of the width is for what is read
    half = page.locator('[data-part="fields"]').evaluate("(list) => list.clientWidth / 2")
    assert rows.first.locator("dd").evaluate("(words) => words.clientWidth") > half * 1.2
