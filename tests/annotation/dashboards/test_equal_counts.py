"""Each count is the same on every page that shows it."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.adjudication.services import adjudicate, ask_one_more
from annotation.campaigns.queries import count_pairs, count_seats_left
from annotation.campaigns.services import add_annotators
from annotation.consolidation.services import consolidate
from annotation.gold.services import mark_gold, retire_gold
from annotation.models import Campaign, CampaignAnnotator
from annotation.quality.services import refresh_quality
from judgments.accounts.services import suspend_account
from tests.annotation.page_reading import client_of, of
from tests.builders import NOW, make_access, make_member, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)


def make_disputed() -> Campaign:
    """Eight pairs with labels of Ben and Cem: alike, tied, gold, adjudicated, and one that the rule
    graded by a third label."""
    world = make_world(queries=3, documents=5)
    ada = make_access(collection=world.collection)
    campaign = make_campaign(world=world)
    pairs = list(campaign.pairs.select_related("campaign__list", "list").order_by("pk"))
    for place, (one, other) in enumerate(
        [(0, 4), (1, 3), (2, 2), (3, 4), (0, 1), (4, 4), (0, 3), (2, 4)]
    ):
        label(pair=pairs[place], username="ben", grade=one)
        label(pair=pairs[place], username="cem", grade=other)
    label(pair=pairs[8], username="ben", grade=1)
    mark_gold(access=ada, pair=pairs[6], low=0, high=0, reason="", at=NOW)
    consolidate(list_id=campaign.list_id, at=NOW)
    pairs[7].refresh_from_db()
    adjudicate(access=ada, pair=pairs[7], grade=2, reason="Read it.", at=NOW)
    consolidate(list_id=campaign.list_id, at=NOW)
    people = [
        make_member(collection=world.collection, username=name, role="annotator")
        for name in ("fay", "gil", "hal")
    ]
    add_annotators(access=ada, campaign=campaign, people=people, at=NOW)
    ask_one_more(access=ada, pair=pairs[3], reason="A step apart.", at=NOW)
    label(pair=pairs[3], username="hal", grade=4)
    consolidate(list_id=campaign.list_id, at=LATER)
    CampaignAnnotator.objects.filter(user=people[0]).update(paused="Wait.")
    suspend_account(by=None, user=people[1], at=NOW)
    return campaign


def test_what_is_left_is_what_is_needed_without_what_is_there() -> None:
    campaign = make_disputed()
    counts = count_pairs(campaign)
    assert count_seats_left(campaign) == counts.labels_needed - counts.labels > 0
    CampaignAnnotator.objects.filter(user__username="cem").update(paused="Wait.")
    gold = campaign.gold.get()
    retire_gold(access=make_access(collection=campaign.list.collection), item=gold, at=LATER)
    counts = count_pairs(campaign)
    assert count_seats_left(campaign) == counts.labels_needed - counts.labels


def test_each_count_is_the_same_on_every_page() -> None:
    campaign = make_disputed()
    refresh_quality(campaign_id=campaign.pk, clock=timezone.now)
    client = client_of("ada")

    def page(address: str, query: str = "") -> Any:
        return client.get(f"{address}{query}").context["page"]

    listed = page(of("campaign-pairs", campaign))
    dashboard = page(of("campaign", campaign)).dashboard
    (of_list,) = page(reverse("campaigns", args=["books"])).rows
    (of_overview,) = page(reverse("work-overview")).rows.object_list
    report = page(of("campaign-quality", campaign))
    summary = page(of("campaign-quality-summary", campaign))
    decisions = {one.kind: one.count for one in of_overview.decisions}

    def pairs_shown(show: str) -> int:
        found = page(of("campaign-pairs", campaign), f"?show={show}")
        return int(found.rows.paginator.count)

    tied = {dashboard.counts.tied, pairs_shown("tied"), decisions["adjudication"]}
    assert len(tied) == 1
    assert {dashboard.disagreements, pairs_shown("differ")} == {5}
    queue, graded = (page(of("campaign-queue", campaign), show) for show in ("", "?show=graded"))
    assert {queue.rows.paginator.count, queue.tied, graded.tied} == tied
    assert graded.rows.paginator.count == graded.graded == queue.graded
    reached = client.get(reverse("pair", args=["books", graded.rows[0][0].pk])).context["page"]
    assert {reached.left} == tied
    told = {advice.act: advice.text for advice in report.verdict.advice}
    assert f"Adjudicate {dashboard.counts.tied} tied pairs." == told["decide"]
    word = "1 pair" if graded.graded == 1 else f"{graded.graded} pairs"
    assert told["differ"] == f"Review {word} graded by the rule although the labels differ."
    done = dashboard.counts.concluded
    assert {done, of_list.complete_count, of_overview.done} == {done}
    assert {dashboard.counts.all, of_list.pair_count, of_overview.pairs} == {14}
    assert listed.rows.paginator.count == 15  # gold is listed with all pairs
    assert {dashboard.people, of_list.people, of_overview.people} == {3}  # Ben, Cem and Hal
    assert report.figures["labels"] == summary.figures["labels"]
    list_report = page(reverse("list-quality", args=["books", "main"]))
    (part,) = list_report.campaigns
    assert (part.labels, part.pairs) == (report.figures["labels"], report.figures["pairs"])
