"""The report's page for many people: the table, one person's page, the summary."""

from html.parser import HTMLParser
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Campaign, QualityReport
from annotation.quality import people, queries
from annotation.quality.costs import Rates
from annotation.quality.people import PeopleWish, get_people_table
from annotation.quality.queries import QualityPage, get_quality_page
from annotation.quality.services import refresh_quality
from annotation.set_aside import queries as aside
from tests.annotation.page_reading import client_of
from tests.builders import NOW, World, make_access, make_member, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
NAMES = [f"p{number:02}" for number in range(6)]


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    """Forty pairs of six people: p05 labels all but says 2 always, p00 the fewest."""
    world = make_world(queries=4, documents=10)
    for name in NAMES:
        make_member(collection=world.collection, username=name, role="annotator")
    made = make_campaign(world=world, overlap=len(NAMES), people=NAMES, name="Crowd")
    for place, pair in enumerate(made.pairs.order_by("pk")):
        for number, name in enumerate(NAMES):
            if number == len(NAMES) - 1 or place < 30 + number:
                label(pair=pair, username=name, grade=2 if name == "p05" else place % 5)
    refresh_quality(campaign_id=made.pk, clock=lambda: NOW)
    return world, made


def page_of(world: World, campaign: Campaign) -> QualityPage:
    access = make_access(collection=world.collection)
    return get_quality_page(access=access, campaign=campaign, rates=Rates())


def shown(page: QualityPage, **wish: Any) -> list[str]:
    return [person.username for person in get_people_table(page.people, PeopleWish(**wish)).rows]


def test_who_needs_review_comes_first_and_then_who_has_most_labels(
    world: World, campaign: Campaign
) -> None:
    page = page_of(world, campaign)
    assert shown(page) == ["p05", *reversed(NAMES[:-1])]
    assert shown(page, show="review") == ["p05"]
    assert shown(page, find="P0", sort="name")[:2] == ["p00", "p01"]
    assert shown(page, sort="labels")[0] == "p00"
    assert shown(page, sort="alpha")[0] == "p05"
    assert shown(page, find="nobody") == []


def test_people_without_a_figure_come_last_either_way(world: World, campaign: Campaign) -> None:
    report = QualityReport.objects.get()
    report.figures["annotators"][3]["bias"] = None
    report.save()
    page = page_of(world, campaign)
    assert shown(page, sort="bias")[-1] == shown(page, sort="-bias")[-1] == "p03"


def test_who_is_ticked_stays_ticked_on_another_page(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "PER_PAGE", 2)
    chosen = frozenset({"p05", "p00", "eve"})
    table = get_people_table(page_of(world, campaign).people, PeopleWish(chosen=chosen, page="2"))
    assert [one.username for one in table.chosen] == ["p00", "p05"]
    assert [one.username for one in table.elsewhere] == ["p00", "p05"]
    found = fields(open_report(campaign, person=["p05", "p00"], page="2"))
    assert found["hidden"] == ["p00", "p05"]
    assert len(found["checkbox"]) == 2


class Fields(HTMLParser):
    """The names of people in a page's fields, by the fields' type."""

    def __init__(self) -> None:
        super().__init__()
        self.people: dict[str, list[str]] = {"hidden": [], "checkbox": []}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "input" and found.get("name") == "person":
            self.people[str(found["type"])].append(str(found["value"]))


def fields(text: str) -> dict[str, list[str]]:
    reader = Fields()
    reader.feed(text)
    return reader.people


def open_report(campaign: Campaign, **asked: Any) -> str:
    address = reverse("campaign-quality", args=["books", campaign.public_id])
    return str(client_of("ada").get(address, asked).text)


def test_of_more_people_than_fit_each_has_a_page(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = reverse("campaign-quality-person", args=["books", campaign.public_id, "p05"])
    assert 'id="person-5"' in open_report(campaign)
    monkeypatch.setattr(queries, "MOST_DETAILED", 5)
    text = open_report(campaign)
    assert 'id="person-' not in text
    assert f'href="{own}"' in text
    page = client_of("ada").get(own)
    assert 'id="person-5" open' in page.text
    assert "diagonal" in page.text
    missing = own.replace("p05", "eve")
    assert client_of("ada").get(missing).status_code == 404


def test_at_most_five_findings_are_open(campaign: Campaign, world: World) -> None:
    page = page_of(world, campaign)
    assert page.verdict is not None
    assert page.findings + page.more_findings == page.verdict.advice
    assert len(page.findings) <= 5


def test_the_advice_about_people_has_them_chosen(campaign: Campaign) -> None:
    address = reverse("campaign-aside", args=["books", campaign.public_id])
    assert f'href="{address}?person=p05"' in open_report(campaign)


def test_the_summary_has_verdict_figures_and_method(world: World, campaign: Campaign) -> None:
    address = reverse("campaign-quality-summary", args=["books", campaign.public_id])
    text = client_of("ada").get(address).text
    page = page_of(world, campaign)
    assert page.verdict is not None
    assert page.verdict.text in text
    for words in ("Method", "Krippendorff’s alpha (ordinal)", "revision 1", "What to do next"):
        assert words in text
    QualityReport.objects.all().delete()
    assert "No figures yet" in client_of("ada").get(address).text


def test_of_many_people_the_other_pages_show_those_with_most_labels(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = client_of("ada")
    address = reverse("campaign-aside", args=["books", campaign.public_id])
    monkeypatch.setattr(aside, "MOST_SHOWN", 3)
    text = ada.get(address, {"person": "p00"}).text
    assert fields(text)["checkbox"] == ["p00", "p05", "p04"]
    monkeypatch.setattr("annotation.campaigns.queries.MOST_SHOWN", 3)
    board = reverse("campaign", args=["books", campaign.public_id])
    remove = [reverse("campaign-person-remove", args=["books", campaign.public_id, name])
              for name in NAMES]  # fmt: skip
    text, every = ada.get(board).text, ada.get(board, {"people": "all"}).text
    assert [url in text for url in remove] == [False] * 3 + [True] * 3
    assert all(url in every for url in remove)


def test_a_lists_report_of_many_people_has_the_same_table(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, address = client_of("ada"), reverse("list-quality", args=["books", "main"])
    assert 'id="person-0"' in ada.get(address).text
    monkeypatch.setattr("annotation.quality.list_reports.MOST_DETAILED", 3)
    text = ada.get(address, {"sort": "-labels"}).text
    own = [reverse("campaign-quality-person", args=["books", campaign.public_id, name])
           for name in NAMES]  # fmt: skip
    places = [text.index(f'href="{url}"') for url in own]
    most_first = [page_of(world, campaign).people[place].username for place in range(len(NAMES))]
    labels = {one.username: one.row["labels"] for one in page_of(world, campaign).people}
    shown = [name for _, name in sorted(zip(places, NAMES, strict=True))]
    assert [labels[name] for name in shown] == sorted(labels.values(), reverse=True)
    assert set(shown) == set(most_first)
    found = ada.get(address, {"find": NAMES[0]}).context["table"].rows
    assert [person.username for person in found] == [NAMES[0]]


def test_more_people_than_can_be_set_aside_at_once_are_refused(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.set_aside.views.MOST_PEOPLE", 2)
    address = reverse("campaign-aside", args=["books", campaign.public_id])
    answer = client_of("ada").get(address, {"person": NAMES[:3]}, follow=True)
    assert answer.redirect_chain[-1][0].startswith(
        reverse("campaign-quality", args=["books", campaign.public_id])
    )
    assert "Select at most 2 people at a time." in answer.text
