"""Asking for one more label of many pairs from the quality report, and taking that back."""

from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

import pytest

from annotation.adjudication.services import AdjudicationRefused, adjudicate, ask_one_more
from annotation.campaigns.services import add_annotators, close_campaign
from annotation.consolidation.services import consolidate
from annotation.gold.services import mark_gold
from annotation.models import Assignment, Campaign, OneMoreLabel, Pair, WithdrawnWish
from annotation.overlap_requests.queries import get_overlap_page, list_askable
from annotation.overlap_requests.services import OverlapRefused, add_overlap, withdraw_overlap
from annotation.quality.services import refresh_quality
from judgments.models import AuditEntry, Judgment
from judgments.permissions import Access
from tests.annotation.page_reading import client_of, links, of, words
from tests.builders import NOW, World, make_user, make_world
from tests.builders_annotation import label, lease, make_campaign

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)
ONE = UUID("c56a4180-65aa-42ec-a945-5fd21dec0538")
OTHER = UUID("0b4b2a3e-6f0e-4d4b-8b1f-3f5d0a6f7c11")


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    """Forty pairs with one label each, of three queries of the segment “how to & why” and one of
    none."""
    world = make_world(queries=4, documents=10)
    for place, query in enumerate(world.queries):
        query.segment = "how to & why" if place < 3 else ""
        query.save(update_fields=["segment"])
    made = make_campaign(world=world, overlap=1)
    for place, pair in enumerate(pairs_of(made)):
        label(pair=pair, username="ben", grade=place % 5)
    consolidate(list_id=made.list_id, at=NOW)
    return world, made


def pairs_of(campaign: Campaign) -> list[Pair]:
    return list(campaign.pairs.select_related("campaign__list", "list").order_by("pk"))


def add(access: Access, campaign: Campaign, **changes: object) -> int:
    asked = {"segment": None, "pairs": 5, "batch": ONE, "at": NOW} | changes
    return add_overlap(access=access, campaign=campaign, **asked)  # type: ignore[arg-type]


def withdraw(access: Access, campaign: Campaign, batch: UUID = ONE) -> int:
    return withdraw_overlap(access=access, campaign=campaign, batch=batch, at=LATER)


def free_seats(campaign: Campaign) -> int:
    free_qs = Assignment.objects.filter(pair__campaign=campaign, state=Assignment.State.FREE)
    return free_qs.count()


def actions(word: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action=word))


def test_the_report_leads_to_the_form_and_the_form_asks(campaign: Campaign) -> None:
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    ada, address = client_of("ada"), of("campaign-overlap", campaign)
    report = ada.get(of("campaign-quality", campaign))
    assert "Add overlap" in words(report)
    assert address in links(report)
    page = ada.get(address)
    assert "40 pairs have exactly one label" in words(page)
    assert page.context["form"]["pairs"].value() == 30
    batch = page.context["form"]["batch"].value()
    sent = {"pairs": "12", "batch": str(batch)}
    answer = ada.post(address, sent, follow=True)
    assert "Labels requested: 12." in words(answer)
    assert free_seats(campaign) == 12
    # what is on its way is not proposed again
    assert answer.context["form"]["pairs"].value() == 18
    (asked,) = answer.context["page"].asked
    assert (asked.pairs, asked.labelled, asked.coming) == (12, 0, 12)


def test_pressing_twice_asks_once(campaign: Campaign) -> None:
    ada, address = client_of("ada"), of("campaign-overlap", campaign)
    for _ in range(2):
        answer = ada.post(address, {"pairs": "12", "batch": str(ONE)}, follow=True)
        assert "Labels requested: 12." in words(answer)
    assert OneMoreLabel.objects.filter(batch=ONE).count() == 12
    assert free_seats(campaign) == 12
    (entry,) = actions("campaign.overlap_added")
    assert entry.after == {"pairs": 12, "of": "the whole campaign", "batch": str(ONE)}
    # another press of a form that was opened again asks for others
    ada.post(address, {"pairs": "40", "batch": str(OTHER)})
    assert free_seats(campaign) == 40
    assert OneMoreLabel.objects.values("pair").distinct().count() == 40


def test_a_segment_asks_for_its_own_pairs_alone(campaign: Campaign) -> None:
    ada = client_of("ada")
    address = f"{of('campaign-overlap', campaign)}?{urlencode({'segment': 'how to & why'})}"
    page = ada.get(address)
    assert "segment “how to &amp; why”" in words(page)
    assert "30 pairs have exactly one label" in words(page)
    answer = ada.post(address, {"pairs": "99", "batch": str(ONE)})
    assert answer["Location"] == address.replace("%20", "+")
    segments = OneMoreLabel.objects.values_list("pair__query__segment", flat=True)
    assert list(segments) == ["how to & why"] * 30
    assert "No pairs available" in words(ada.get(answer["Location"]))
    unsegmented = ada.get(f"{of('campaign-overlap', campaign)}?segment=")
    assert "queries without a segment" in words(unsegmented)
    assert "10 pairs have exactly one label" in words(unsegmented)


def test_numbers_that_make_no_sense_ask_for_nothing(campaign: Campaign) -> None:
    ada, address = client_of("ada"), of("campaign-overlap", campaign)
    for sent in ({}, {"pairs": "0", "batch": str(ONE)}, {"pairs": "5", "batch": "no"}):
        assert ada.post(address, sent).status_code == 200
    assert not OneMoreLabel.objects.exists()


def test_what_can_not_be_asked_for_is_counted_with_the_reason(
    campaign: Campaign, ada: Access
) -> None:
    gold, decided, plain = pairs_of(campaign)[:3]
    mark_gold(access=ada, pair=gold, low=0, high=0, reason="", at=NOW)
    adjudicate(access=ada, pair=decided, grade=1, reason="So.", at=NOW)
    label(pair=plain, username="ben", reason="not sure")
    browser, address = client_of("ada"), of("campaign-overlap", campaign)
    page = words(browser.get(address))
    said = "Not available: 1 gold, 1 adjudicated, 1 with a pending label."
    assert said in page
    assert "37 pairs have exactly one label" in page
    sent = {"pairs": "50", "batch": str(ONE)}
    answer = words(browser.post(address, sent, follow=True))
    assert (
        "Labels requested: 37 of 50. Not available now: 1 gold, 1 adjudicated, 38 with a" in answer
    )


def test_one_label_comes_before_two_and_all_queries_alike(
    world: World, campaign: Campaign, ada: Access
) -> None:
    twice = {pair.pk for pair in pairs_of(campaign)[:30]}
    add(ada, campaign, segment="how to & why", pairs=30)
    for pair in pairs_of(campaign)[:30]:
        label(pair=pair, username="cem", grade=1)
    add_annotators(access=ada, campaign=campaign, people=[world.dora], at=NOW)
    askable = list_askable(campaign, None)
    assert [given for _, given in askable] == [1] * 10 + [2] * 30
    assert {pk for pk, given in askable if given == 2} == twice
    in_turn = [pk for pk, given in askable if given == 2]
    assert in_turn != sorted(in_turn)
    page = get_overlap_page(access=ada, campaign=campaign, segment=None)
    assert (page.once, page.more) == (10, 30)


def test_what_cannot_or_need_not_be_asked_is_left_out(campaign: Campaign, ada: Access) -> None:
    gold, decided, met, asked = pairs_of(campaign)[:4]
    mark_gold(access=ada, pair=gold, low=0, high=4, reason="So.", at=NOW)
    adjudicate(access=ada, pair=decided, grade=3, reason="So.", at=NOW)
    ask_one_more(access=ada, pair=met, reason="So.", at=NOW)
    label(pair=met, username="cem", grade=1)
    ask_one_more(access=ada, pair=asked, reason="So.", at=NOW)
    left = {pk for pk, _ in list_askable(campaign, None)}
    assert left == {pair.pk for pair in pairs_of(campaign)[4:]}
    # one by one the same holds, and says why
    for pair, code in ((gold, "gold"), (decided, "decided"), (met, "nobody_left"),
                       (asked, "asked_already")):  # fmt: skip
        with pytest.raises(AdjudicationRefused) as one_by_one:
            ask_one_more(access=ada, pair=pair, reason="So.", at=NOW)
        assert one_by_one.value.code == code
    campaign.annotators.filter(user__username="cem").update(is_active=False)
    with pytest.raises(OverlapRefused) as refused:
        add(ada, campaign)
    assert refused.value.code == "nothing_to_ask"
    page = client_of("ada").post(
        of("campaign-overlap", campaign), {"pairs": "5", "batch": str(ONE)}
    )
    assert "No pair is available for another label" in words(page)


def test_a_pair_with_more_labels_than_are_wanted_gets_no_wish(
    campaign: Campaign, ada: Access
) -> None:
    """A wish raises how many labels are wanted: there, it would bring no seat."""
    add(ada, campaign, pairs=1)
    pair = next(pair for pair in pairs_of(campaign) if pair.wishes.exists())
    label(pair=pair, username="cem", grade=1)
    WithdrawnWish.objects.create(wish=pair.wishes.get(), withdrawn_at=NOW, withdrawn_by=ada.user)
    add_annotators(access=ada, campaign=campaign, people=[make_user(username="dora")], at=NOW)
    assert pair.pk not in {pk for pk, _ in list_askable(campaign, None)}
    with pytest.raises(AdjudicationRefused) as refused:
        ask_one_more(access=ada, pair=pair, reason="So.", at=NOW)
    assert refused.value.code == "more_than_wanted"
    address = of("campaign-decide", campaign, pair_id=pair.pk)
    page = client_of("ada").get(address)
    assert "already has more labels than requested" in words(page)
    assert of("campaign-one-more", campaign, pair_id=pair.pk) not in page.text


def test_a_closed_campaign_asks_for_nothing(campaign: Campaign, ada: Access) -> None:
    close_campaign(access=ada, campaign=campaign, at=NOW)
    with pytest.raises(OverlapRefused) as refused:
        add(ada, campaign)
    assert refused.value.code == "campaign_not_open"
    assert not actions("campaign.overlap_added")


def test_a_grade_stays_until_the_new_label_comes(campaign: Campaign, ada: Access) -> None:
    held = Judgment.objects.filter(list=campaign.list_id, until=None)
    before = set(held.values_list("pk", flat=True))
    add(ada, campaign)
    consolidate(list_id=campaign.list_id, at=LATER)
    assert set(held.values_list("pk", flat=True)) == before
    seat = lease(campaign=campaign, username="cem")[0]
    assert OneMoreLabel.objects.filter(pair=seat.pair_id).exists()
    pair = Pair.objects.select_related("campaign").get(pk=seat.pair_id)
    label(pair=pair, username="cem", grade=(pair.grade or 0) + (-1 if pair.grade else 1))
    consolidate(list_id=campaign.list_id, at=LATER + timedelta(hours=1))
    assert Pair.objects.get(pk=pair.pk).state != Pair.State.OPEN
    assert set(held.values_list("pk", flat=True)) != before


def test_what_nobody_has_labelled_is_taken_back(campaign: Campaign, ada: Access) -> None:
    add(ada, campaign)
    wished = pairs_of(campaign)
    first = next(pair for pair in wished if pair.wishes.exists())
    label(pair=first, username="cem", grade=1)
    client = client_of("ada")
    address = of("campaign-overlap-withdraw", campaign, batch=ONE)
    page = client.post(address, follow=True)
    assert "Requests withdrawn: 4." in words(page)
    (asked,) = page.context["page"].asked
    assert (asked.pairs, asked.labelled, asked.coming, asked.withdrawn) == (5, 1, 0, 4)
    assert free_seats(campaign) == 0
    assert not WithdrawnWish.objects.filter(wish__pair=first).exists()
    (entry,) = actions("campaign.overlap_withdrawn")
    assert entry.after == {"pairs": 4, "of": "the whole campaign", "batch": str(ONE)}
    # a second press finds nothing, and the seats stay as they are
    assert "already labelled or withdrawn" in words(client.post(address, follow=True))
    assert WithdrawnWish.objects.count() == 4
    assert len(actions("campaign.overlap_withdrawn")) == 1
    # the same pairs can be asked for again
    assert add(ada, campaign, pairs=99, batch=OTHER) == 39
    assert free_seats(campaign) == 39


def test_a_label_that_somebody_is_at_still_counts(campaign: Campaign, ada: Access) -> None:
    add(ada, campaign, pairs=1)
    (seat,) = lease(campaign=campaign, username="cem")
    assert withdraw(ada, campaign) == 1
    pair = Pair.objects.select_related("campaign").get(pk=seat.pair_id)
    label(pair=pair, username="cem", grade=2)
    consolidate(list_id=campaign.list_id, at=LATER)
    assert pair.labels.count() == 2
    assert free_seats(campaign) == 0


def test_a_later_wish_of_a_pair_is_not_taken_back_with_an_earlier(
    world: World, campaign: Campaign, ada: Access
) -> None:
    add(ada, campaign, pairs=1)
    pair = next(pair for pair in pairs_of(campaign) if pair.wishes.exists())
    label(pair=pair, username="cem", grade=1)
    add_annotators(access=ada, campaign=campaign, people=[world.dora], at=NOW)
    ask_one_more(access=ada, pair=pair, reason="A third.", at=LATER)
    with pytest.raises(OverlapRefused):
        withdraw(ada, campaign)
    assert free_seats(campaign) == 1
