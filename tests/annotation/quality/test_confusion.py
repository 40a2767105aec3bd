"""Cells of confusion matrices, and windows of charts of gold, lead to the pairs that they count."""

import random
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from annotation.adjudication.forms import NarrowForm
from annotation.adjudication.pairs import get_pairs_page
from annotation.consolidation.services import consolidate
from annotation.gold.checking import check_labels
from annotation.models import Campaign, Label, LabelTiming
from annotation.quality.queries import QualityPage
from annotation.quality.services import refresh_quality
from tests.annotation.gold.test_planting_services import make_checked, work
from tests.annotation.page_reading import client_of, links, of
from tests.builders import NOW, make_access, make_list, make_member, make_world
from tests.builders_annotation import label, make_campaign, make_guideline
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(days=1)


def counted(campaign: Campaign, **query: object) -> int:
    """How many pairs the page of this address has."""
    page = get_pairs_page(
        access=make_access(collection=campaign.list.collection),
        campaign=campaign,
        show="",
        qid="",
        narrowing=NarrowForm(QueryDict(urlencode(query))).narrowing(),
        page="",
    )
    return page.rows.paginator.count


def report(campaign: Campaign) -> tuple[QualityPage, list[str]]:
    """The page, and its links."""
    refresh_quality(campaign_id=campaign.pk, clock=lambda: LATER)
    answer = client_of("ada").get(of("campaign-quality", campaign))
    return answer.context["page"], links(answer)


def test_a_cell_leads_to_the_pairs_where_the_others_make_its_row_most_probable() -> None:
    world = make_world(queries=4, documents=15)
    make_member(collection=world.collection, username="fay", role="annotator")
    of_three = make_list(collection=world.collection, slug="three", scale=Scale.parse("0..2"))
    make_guideline(world=world, judgment_list=of_three)
    campaign = make_campaign(
        world=world, people=["ben", "cem", "fay"], overlap=3, judgment_list=of_three
    )
    rng = random.Random(5)
    for number, pair in enumerate(campaign.pairs.select_related("campaign").order_by("pk")):
        right = rng.randrange(3)
        for name, skill in (("ben", 0.9), ("cem", 0.7), ("fay", 0.4)):
            if name == "ben" or number % 4:
                grade = right if rng.random() < skill else rng.randrange(3)
                label(pair=pair, username=name, grade=grade)
    consolidate(list_id=campaign.list_id, at=LATER)
    page, found = report(campaign)
    reached = 0
    for person in page.people:
        for row, cells in person.matrix:
            for cell in cells:
                query = {"person": person.username, "grade": cell.given, "likely": row.code}
                assert counted(campaign, **query) == cell.labels
                link = f"{of('campaign-pairs', campaign)}?{urlencode(query)}"
                assert (link in found) == bool(cell.labels)
                reached += cell.labels
    assert reached > 100
    assert counted(campaign, person="ben", grade=9, likely=1) == 0


def test_gold_leads_to_the_checked_pairs_by_cell_and_by_window() -> None:
    world = make_world(queries=2, documents=10)
    ada = make_access(collection=world.collection)
    campaign = make_checked(world, ada, gold_percent=30)
    work(campaign)
    for number, made in enumerate(Label.objects.order_by("pk")):
        LabelTiming.objects.filter(label=made).update(made_at=NOW + timedelta(minutes=number))
    check_labels(list_id=campaign.list_id, at=LATER)
    page, found = report(campaign)
    checked = [person for person in page.people if person.row["gold"]["checked"]]
    assert checked
    for person in checked:
        gold = {"person": person.username, "gold": "1"}
        assert counted(campaign, **gold) == person.row["gold"]["checked"]
        assert f"{of('campaign-pairs', campaign)}?{urlencode(gold)}" in found
        for _, cells in person.on_gold:
            for cell in cells:
                query = gold | {"grade": cell.given, "error": cell.error}
                assert counted(campaign, **query) == cell.labels
    begin, end = NOW.timestamp(), LATER.timestamp()
    in_all = counted(campaign, gold="1", since=begin, until=end)
    assert 0 < in_all == counted(campaign, gold="1")
    assert counted(campaign, gold="1", since=end) == 0
    shown = client_of("ada").get(f"{of('campaign-pairs', campaign)}?gold=1").context["page"].rows
    assert all(row.grades and row.gold for row in shown)
