"""The stored quality figures: when they are due, who computes them, and who sees what of them."""

import csv
import io
from datetime import timedelta

import pytest
from django.urls import reverse

from annotation.adjudication.services import adjudicate
from annotation.campaigns.services import close_campaign
from annotation.gold.checking import check_labels
from annotation.gold.services import mark_gold
from annotation.models import QualityReport
from annotation.quality import services as service
from annotation.quality.costs import Rates
from annotation.quality.due import list_due_reports
from annotation.quality.queries import get_quality_page
from annotation.quality.services import refresh_quality
from judgments.lists.label_quality import ListVerdict, get_verdict
from judgments.permissions import NotFound
from judgments.reports.services import DEAD_AFTER
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

LATER = NOW + timedelta(hours=1)


@pytest.fixture(scope="module")
def built(shared_rows):
    """Forty pairs; Ben and Cem have labelled all, and differ in every eighth."""
    world = make_world(queries=4, documents=10)
    made = make_campaign(world=world, overlap=2, name="=Spring")
    for place, pair in enumerate(made.pairs.order_by("pk")):
        label(pair=pair, username="ben", grade=place % 5)
        label(pair=pair, username="cem", grade=(place + (place % 8 == 0)) % 5)
    return world, made


def refresh(campaign, at=NOW):
    return refresh_quality(campaign_id=campaign.pk, clock=lambda: at)


def page_of(world, campaign, **rates):
    access = make_access(collection=world.collection)
    rates = {"hourly": None, "per_label": None} | rates
    return get_quality_page(access=access, campaign=campaign, rates=Rates(**rates))


def test_figures_are_computed_once_and_again_when_something_was_said(world, campaign):
    assert refresh(campaign)
    assert not refresh(campaign)
    report = QualityReport.objects.get()
    assert report.figures["labels"] == 80
    assert (report.token, report.problem) == (None, "")
    access = make_access(collection=world.collection)
    pair = campaign.pairs.select_related("list", "campaign").order_by("pk")[0]
    adjudicate(access=access, pair=pair, grade=3, reason="because", at=NOW)
    assert page_of(world, campaign).freshness.is_due
    assert refresh(campaign)
    assert not page_of(world, campaign).freshness.is_due


def test_reports_are_due_at_first_and_then_not_all_the_time(world, campaign):
    assert list_due_reports(at=NOW) == [campaign.pk]
    refresh(campaign)
    assert list_due_reports(at=LATER) == []
    label_again(world, campaign)
    assert list_due_reports(at=NOW + timedelta(seconds=29)) == []
    assert list_due_reports(at=NOW + timedelta(seconds=31)) == [campaign.pk]


def label_again(world, campaign):
    pair = campaign.pairs.select_related("list", "campaign").order_by("pk")[0]
    adjudicate(
        access=make_access(collection=world.collection),
        pair=pair,
        grade=1,
        reason="because",
        at=NOW,
    )


def test_a_campaign_without_labels_has_no_report_to_compute():
    world = make_world(slug="films")
    campaign = make_campaign(world=world)
    assert campaign.pk not in list_due_reports(at=NOW)
    page = page_of(world, campaign)
    assert (page.figures, page.verdict, page.freshness.is_due) == ({}, None, False)


def test_two_workers_do_not_compute_the_same_at_once_and_a_dead_one_is_replaced(campaign):
    seen: list[object] = []

    def compete(*_):
        if not seen:
            seen.append(True)
            seen.append(refresh(campaign))  # another worker, while this one is at it
        return NOW

    assert refresh_quality(campaign_id=campaign.pk, clock=compete)
    assert QualityReport.objects.get().figures["labels"] == 80
    QualityReport.objects.update(
        seen="old", token="c56a4180-65aa-42ec-a945-5fd21dec0538", heartbeat_at=NOW
    )
    assert not refresh(campaign, at=NOW + DEAD_AFTER)
    assert refresh(campaign, at=NOW + DEAD_AFTER + timedelta(seconds=1))
    assert QualityReport.objects.get().seen != "old"


def test_a_failure_is_kept_for_the_page_and_the_next_try_is_free(
    world, campaign, monkeypatch, caplog
):
    def fail(*_):
        raise ArithmeticError("no")

    with monkeypatch.context() as broken:
        broken.setattr(service, "quality", fail)
        assert refresh(campaign)
    assert "failed" in caplog.text
    freshness = page_of(world, campaign).freshness
    assert freshness.problem
    assert freshness.steps_done is None
    assert refresh(campaign)
    assert page_of(world, campaign).freshness.problem == ""


def test_the_page_has_verdict_figures_people_and_advice(client, world, campaign):
    client.force_login(world.ada)
    url = reverse("campaign-quality", args=["books", campaign.public_id])
    assert "The report will be computed" in client.get(url).text
    refresh(campaign)
    text = client.get(url).text
    assert "Good enough to decide on" in text
    assert "Krippendorff’s alpha (ordinal)" in text
    for name in ("Ben", "Cem", "Plant more gold", "Same grade", "=Spring", "converged after"):
        assert name in text
    # 40 pairs, two labels of 4.5 seconds each: 6 minutes
    assert "3.00" in client.get(url, {"rate": "30", "per": "hour"}).text
    assert "8.00" in client.get(url, {"rate": "0.1", "per": "label"}).text
    assert client.get(url, {"rate": "much"}).status_code == 200


def test_the_part_that_polls_brings_the_page_anew_when_it_is_done(client, world, campaign):
    client.force_login(world.ada)
    url = reverse("campaign-quality-state", args=["books", campaign.public_id])
    waiting = client.get(url, headers={"HX-Request": "true"})
    assert "hx-get" in waiting.text
    assert "HX-Refresh" not in waiting
    refresh(campaign)
    done = client.get(url, headers={"HX-Request": "true"})
    assert done["HX-Refresh"] == "true"
    assert "hx-get" not in done.text


def test_the_exports_and_rest_hold_the_same_numbers(client, world, campaign):
    client.force_login(world.ada)
    refresh(campaign)
    args = ["books", campaign.public_id]
    exported = client.get(reverse("campaign-quality-json", args=args)).json()
    sent = client.get(reverse("api-campaign-quality", args=[campaign.public_id])).json()
    assert exported["figures"] == sent["figures"]
    assert sent["is_current"]
    assert sent["verdict"]["tone"] == "good"
    assert [one["username"] for one in sent["annotators"]] == ["ben", "cem"]
    table = client.get(reverse("campaign-quality-csv", args=args)).text
    rows = list(csv.DictReader(io.StringIO(table)))
    ordinal = next(row for row in rows if row["figure"] == "alpha (ordinal)")
    assert float(ordinal["value"]) == sent["figures"]["overall"]["alpha"]["ordinal"]["value"]
    # a name that a spreadsheet would take for a formula
    assert ordinal["name"] == "'=Spring"
    url = reverse("api-campaign-quality", args=[campaign.public_id])
    assert client.get(url, {"hourly": "30"}).json()["cost"]["spent"] == pytest.approx(3.0)


def test_a_lists_report_puts_its_campaigns_together(client, world, campaign):
    client.force_login(world.ada)
    url = reverse("list-quality", args=["books", "main"])
    before = client.get(url).text
    assert "The report will be computed in a moment." in before
    assert reverse("campaign-quality-state", args=["books", campaign.public_id]) in before
    refresh(campaign)
    own = QualityReport.objects.get().figures
    page = client.get(url).text
    assert "Good enough to decide on" in page
    assert reverse("campaign-quality", args=["books", campaign.public_id]) in page
    assert url in client.get(reverse("list", args=["books", "main"])).text
    sent = client.get(reverse("api-list-quality", args=["books", "main"])).json()
    # of one campaign the list's figures are the campaign's, in every part and to the last digit
    assert sent["figures"]["overall"] == own["overall"]
    assert sent["figures"]["segments"] == own["segments"]
    assert sent["figures"]["grades"] == own["grades"]
    assert (sent["is_current"], len(sent["campaigns"])) == (True, 1)
    close_campaign(access=make_access(collection=world.collection), campaign=campaign, at=NOW)
    other = make_campaign(world=world, overlap=2, name="Autumn")
    for pair in other.pairs.order_by("pk"):
        label(pair=pair, username="ben", grade=0)
        label(pair=pair, username="cem", grade=4)
    refresh(other)
    both = client.get(reverse("list-quality-json", args=["books", "main"])).json()
    alpha = both["figures"]["overall"]["alpha"]["ordinal"]
    assert (alpha["units"], both["figures"]["labels"]) == (80, 160)
    assert alpha["value"] < own["overall"]["alpha"]["ordinal"]["value"]
    assert both["verdict"]["text"] == "Not good enough to decide on."
    said = get_verdict(make_access(collection=world.collection), "main")
    assert said == ListVerdict("bad", "Not good enough to decide on.")
    table = client.get(reverse("list-quality-csv", args=["books", "main"])).text
    rows = list(csv.DictReader(io.StringIO(table)))
    agreeing = [row for row in rows if row["figure"] == "alpha (ordinal)"]
    names = [row["name"] for row in agreeing if row["of"] == "campaign"]
    assert names == ["Autumn", "'=Spring"]


def test_labels_of_gold_cost_as_well(client, world, campaign):
    client.force_login(world.ada)
    pair = campaign.pairs.order_by("pk")[0]
    pair.assignments.filter(annotator__username="cem").update(purpose="gold")
    refresh(campaign)
    sent = client.get(reverse("api-campaign-quality", args=[campaign.public_id])).json()
    assert (sent["figures"]["labels"], sent["cost"]["labels"]) == (79, 80)


def test_nobody_but_leads_gets_the_report(client, world, campaign):
    refresh(campaign)
    for person in (world.ben, world.dora, world.eve):
        client.force_login(person)
        assert client.get(
            reverse("api-campaign-quality", args=[campaign.public_id])
        ).status_code == 404  # fmt: skip
    access = make_access(collection=world.collection, username="dora")
    with pytest.raises(NotFound):
        get_quality_page(access=access, campaign=campaign, rates=Rates())


def test_only_labels_of_the_overlap_count_and_a_correction_replaces(world, campaign):
    pair = campaign.pairs.order_by("pk")[0]
    pair.assignments.filter(annotator__username="cem").update(purpose="gold")
    other = campaign.pairs.order_by("pk")[1]
    other.assignments.filter(annotator__username="cem").update(purpose="training")
    access = make_access(collection=world.collection)
    mark_gold(
        access=access,
        pair=campaign.pairs.select_related("campaign__list").get(pk=pair.pk),
        low=3,
        high=4,
        reason="",
        at=NOW,
    )
    refresh(campaign)
    check_labels(list_id=campaign.list_id, at=NOW)
    assert refresh(campaign)
    figures = QualityReport.objects.get().figures
    assert figures["labels"] == 78
    gold = figures["annotators"][1]["gold"]
    assert (gold["checked"], gold["right"], gold["bias"]) == (1, 0, -2.0)


def test_a_person_has_an_estimated_accuracy_with_what_it_rests_on(client, world, campaign):
    client.force_login(world.ada)
    pairs = campaign.pairs.select_related("campaign__list").order_by("pk")
    access = make_access(collection=world.collection)
    for place, pair in enumerate(pairs[:12]):
        mark_gold(access=access, pair=pair, low=place % 5, high=place % 5, reason="", at=NOW)
        pair.assignments.update(purpose="gold")
    check_labels(list_id=campaign.list_id, at=NOW)
    refresh(campaign)
    sent = client.get(reverse("api-campaign-quality", args=[campaign.public_id])).json()
    ben, cem = sent["annotators"]
    assert (ben["accuracy"]["basis"], ben["accuracy"]["checked"]) == ("both", 12)
    assert ben["accuracy"]["compared"] == 28
    assert ben["accuracy"]["low"] < ben["accuracy"]["value"] < ben["accuracy"]["high"]
    assert ben["accuracy"]["value"] > cem["accuracy"]["value"]
    # both have labelled each gold pair: as two labels of any other pair
    gold = sent["figures"]["accuracy"]["gold"]
    assert (gold["pairs"], sent["figures"]["accuracy"]["calibrated"]) == (12, None)
    page = client.get(reverse("campaign-quality", args=["books", campaign.public_id])).text
    assert page.count('data-accuracy="both"') == 2
    table = client.get(reverse("campaign-quality-csv", args=["books", campaign.public_id])).text
    rows = list(csv.DictReader(io.StringIO(table)))
    (row,) = (row for row in rows if row["figure"] == "estimated accuracy" and row["name"] == "ben")
    assert (float(row["value"]), row["pairs"]) == (ben["accuracy"]["value"], "12")


def test_of_people_with_few_labels_the_page_says_that_too_little_is_known(client):
    world = make_world(slug="films", documents=4)
    client.force_login(world.ada)
    few = make_campaign(world=world, overlap=2, name="Few")
    for pair in few.pairs.order_by("pk")[:12]:
        label(pair=pair, username="ben", grade=0)
        label(pair=pair, username="cem", grade=4)
    refresh(few)
    sent = client.get(reverse("api-campaign-quality", args=[few.public_id])).json()
    assert [one["accuracy"]["value"] for one in sent["annotators"]] == [None, None]
    for url in (
        reverse("campaign-quality", args=["films", few.public_id]),
        reverse("list-quality", args=["films", "main"]),
    ):
        assert client.get(url).text.count("not enough evidence") >= 2
