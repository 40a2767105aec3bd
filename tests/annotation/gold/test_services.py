"""Gold: pairs whose right answer is known, and what marking them does to their seats."""

import pytest

from annotation.adjudication.services import adjudicate
from annotation.campaigns.queries import count_pairs, list_extremes
from annotation.campaigns.services import close_campaign
from annotation.gold.queries import list_agreed_decisions
from annotation.gold.services import (
    GoldRefused,
    change_checks,
    mark_gold,
    retire_gold,
    take_agreed_decisions,
)
from annotation.models import Assignment, Campaign, GoldItem, Pair
from judgments.models import AuditEntry
from judgments.permissions import Access, NotFound
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world(queries=2, documents=3)
    return world, make_campaign(world=world)


def first(campaign: Campaign) -> Pair:
    return campaign.pairs.select_related("campaign__list").order_by("pk")[0]


def free(pair: Pair) -> int:
    return pair.assignments.filter(state=Assignment.State.FREE).count()


def test_a_gold_pair_has_no_free_seat_and_keeps_its_labels(campaign: Campaign, ada: Access) -> None:
    pair = first(campaign)
    said = label(pair=pair, username="ben", grade=3)
    mark_gold(access=ada, pair=pair, low=3, high=4, reason="Says so.", at=NOW)
    assert free(pair) == 0
    assert pair.labels.get() == said


def test_a_label_that_gives_no_grade_makes_no_seat_at_a_gold_pair(
    campaign: Campaign, ada: Access
) -> None:
    pair = first(campaign)
    label(pair=pair, username="ben", grade=3)
    mark_gold(access=ada, pair=pair, low=3, high=4, reason="", at=NOW)
    label(pair=pair, username="ben")  # thinks again: not sure
    assert free(pair) == 0


def test_a_retired_pair_is_labelled_like_any_other_again(campaign: Campaign, ada: Access) -> None:
    pair = first(campaign)
    item = mark_gold(access=ada, pair=pair, low=3, high=3, reason="", at=NOW)
    retire_gold(access=ada, item=item, at=NOW)
    assert free(pair) == campaign.overlap
    with pytest.raises(GoldRefused):
        retire_gold(access=ada, item=item, at=NOW)


def test_gold_is_no_pair_that_still_has_to_be_labelled(campaign: Campaign, ada: Access) -> None:
    pair = first(campaign)
    for username, grade in (("ben", 0), ("cem", 4)):
        label(pair=pair, username=username, grade=grade)
    before = count_pairs(campaign)
    assert len(list_extremes(campaign)) == 1
    mark_gold(access=ada, pair=pair, low=3, high=3, reason="", at=NOW)
    after = count_pairs(campaign)
    assert (after.all, after.labels_needed) == (before.all - 1, before.labels_needed - 2)
    assert list_extremes(campaign) == []


def test_a_pair_has_one_right_answer_at_a_time(campaign: Campaign, ada: Access) -> None:
    mark_gold(access=ada, pair=first(campaign), low=3, high=3, reason="", at=NOW)
    with pytest.raises(GoldRefused) as refused:
        mark_gold(access=ada, pair=first(campaign), low=2, high=3, reason="", at=NOW)
    assert refused.value.code == "gold_already"


@pytest.mark.parametrize(("low", "high"), [(3, 2), (3, 5), (-1, 2)])
def test_the_right_answer_is_a_range_of_the_scale(
    campaign: Campaign, ada: Access, low: int, high: int
) -> None:
    with pytest.raises(GoldRefused):
        mark_gold(access=ada, pair=first(campaign), low=low, high=high, reason="", at=NOW)
    assert not GoldItem.objects.exists()


def test_only_leads_mark_gold_and_only_before_the_closing(
    campaign: Campaign, world: World, ada: Access
) -> None:
    for username in ("ben", "dora"):
        other = make_access(collection=world.collection, username=username)
        with pytest.raises(NotFound):
            mark_gold(access=other, pair=first(campaign), low=3, high=3, reason="", at=NOW)
    close_campaign(access=ada, campaign=campaign, at=NOW)
    with pytest.raises(GoldRefused):
        mark_gold(access=ada, pair=first(campaign), low=3, high=3, reason="", at=NOW)


def test_decided_pairs_whose_labels_agree_become_gold(campaign: Campaign, ada: Access) -> None:
    alike, near, far, alone = campaign.pairs.select_related("campaign", "list").order_by("pk")[:4]
    for pair, ben, cem in ((alike, 3, 3), (near, 3, 2), (far, 3, 1), (alone, 3, None)):
        label(pair=pair, username="ben", grade=ben)
        if cem is not None:
            label(pair=pair, username="cem", grade=cem)
        adjudicate(access=ada, pair=pair, grade=3, reason="because", at=NOW)
    assert list_agreed_decisions(access=ada, campaign=campaign) == [(alike.pk, 3), (near.pk, 3)]
    taken = take_agreed_decisions(access=ada, campaign=campaign, reason="Agreed.", at=NOW)
    assert {item.pair_id for item in taken} == {alike.pk, near.pk}
    assert {(item.low, item.high, item.reason) for item in taken} == {(3, 3, "Agreed.")}
    with pytest.raises(GoldRefused):
        take_agreed_decisions(access=ada, campaign=campaign, reason="", at=NOW)


def test_what_is_done_with_gold_is_in_the_audit_log(campaign: Campaign, ada: Access) -> None:
    item = mark_gold(access=ada, pair=first(campaign), low=3, high=4, reason="Why.", at=NOW)
    retire_gold(access=ada, item=item, at=NOW)
    change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=5)
    rows = {row.action: row for row in AuditEntry.objects.all()}
    assert rows["gold.marked"].after["pairs"] == [
        {"pair": "q1 d1", "low": 3, "high": 4, "reason": "Why."}
    ]
    assert rows["gold.retired"].before["low"] == 3
    assert rows["campaign.checks_changed"].before["gold_percent"] == 0
    assert rows["campaign.checks_changed"].after["gold_percent"] == 5


def test_a_share_beyond_thirty_percent_is_refused(campaign: Campaign, ada: Access) -> None:
    with pytest.raises(GoldRefused):
        change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=31)
