"""A lead's desk: people chosen in a report, and the columns of a file chosen before its import."""

import re

import pytest
from playwright.sync_api import FilePayload, expect

from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser
FILE = b'Key;Name;Details;Remark\nnew-1;Shoe;"Red; of leather\nand new";old\n'


def test_who_is_chosen_stays_chosen_while_the_table_is_sorted_and_is_previewed_without(
    open_window: Opener, place: Place
) -> None:
    place.site.call("-m", "tests.browser.labels_scene")
    ada = open_window("ada")
    page = ada.page
    ada.go(f"/c/books/campaigns/{place.campaign}/quality")
    people, button = page.locator("#people"), page.get_by_text("Preview without selected…")
    expect(button).to_be_disabled()
    people.get_by_label("Select Ben").check()
    expect(people.locator("[data-chosen-count]")).to_have_text("1 selected")
    people.get_by_role("link", name="Labels", exact=True).click()
    expect(page).to_have_url(re.compile(r"sort=-labels.*person=ben#people|person=ben.*#people"))
    expect(people.get_by_label("Select Ben")).to_be_checked()
    people.get_by_label("Select all on this page").check()
    expect(people.locator("[data-chosen-count]")).to_have_text("2 selected")
    button.click()
    expect(page).to_have_url(re.compile(r"/aside\?.*person=(ben|cem)&person=(ben|cem)"))
    expect(page.locator("[name=person]:checked")).to_have_count(2)


def test_the_summary_is_one_page_of_paper_with_verdict_figures_and_method(
    open_window: Opener, place: Place
) -> None:
    place.site.call("-m", "tests.browser.labels_scene")
    ada = open_window("ada")
    page = ada.page
    ada.go(f"/c/books/campaigns/{place.campaign}/quality/summary")
    page.emulate_media(media="print")
    for part in ("Figures", "What to do next", "Method"):
        expect(page.get_by_role("heading", name=part)).to_be_visible()
    expect(page.get_by_label("Verdict")).to_be_visible()
    for hidden in ("Print or save as PDF", "Campaigns"):
        expect(page.get_by_text(hidden, exact=True).first).to_be_hidden()
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", printed)) == 1


def test_a_required_field_has_an_asterisk_which_no_screen_reader_reads(open_window: Opener) -> None:
    ada = open_window("ada")
    page = ada.page
    ada.go("/c/books/campaigns/new")
    mark = "one => getComputedStyle(one, '::after').content"
    assert "*" in page.locator("label[for=id_name]").evaluate(mark)
    assert page.locator("label[for=id_shows_images]").evaluate(mark) == "none"
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_count(1)


def test_the_columns_of_a_file_are_shown_when_it_is_chosen_and_read_as_one_says(
    open_window: Opener,
) -> None:
    ada = open_window("ada")
    page = ada.page
    ada.go("/c/books/documents/upload")
    unnamed = FilePayload(name="d.csv", mimeType="text/csv", buffer=FILE)
    page.locator("#id_file").set_input_files(unnamed)
    expect(page.get_by_text("neither CSV nor TSV")).to_be_visible()
    named = FilePayload(name="d.csv", mimeType="text/csv", buffer=FILE.replace(b"Key", b"ID"))
    page.locator("#id_file").set_input_files(named)
    part = page.get_by_label("Read Details as")
    expect(page.get_by_label("Read ID as")).to_have_value("doc_id")
    expect(part).to_have_value("Details")
    ada.check_accessible()
    part.select_option("text")
    page.get_by_label("Read Remark as").select_option("")
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("main")).to_contain_text("done")
    ada.go("/c/books/document/new-1")
    expect(page.locator("main")).to_contain_text("Red; of leather")
    expect(page.locator("main")).not_to_contain_text("Remark")
