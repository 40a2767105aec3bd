"""The wake-ups: safe to run twice, found again by the sweep when they are lost."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Assignment, Campaign, Label, Pair, QualityReport
from annotation.tasks import (
    consolidate_list,
    preview_campaign_aside,
    preview_campaign_rule,
    refresh_campaign_quality,
    release_expired_leases,
)
from config.sweep import list_due
from judgments.models import Judgment, JudgmentVersion
from tests.builders import World, make_world
from tests.builders_annotation import LEASE, held, label, lease, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(queries=1, documents=2)


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world)


def annotations_due() -> list[tuple[str, tuple[int, ...]]]:
    """What is due but for the reports, which follow labels at their own pace."""
    names = ("annotation.consolidate", "annotation.release_expired")
    return [wake for wake in list_due() if wake[0] in names]


def rows() -> list[object]:
    models = (Pair, Assignment, Label, Judgment, JudgmentVersion)
    return [list(model.objects.order_by("pk").values()) for model in models]


def test_names_stay_what_messages_under_way_call_them() -> None:
    assert consolidate_list.name == "annotation.consolidate"
    assert release_expired_leases.name == "annotation.release_expired"
    assert refresh_campaign_quality.name == "annotation.refresh_quality"
    assert preview_campaign_rule.name == "annotation.preview_rule"
    assert preview_campaign_aside.name == "annotation.preview_aside"


def test_a_report_is_found_due_and_refreshing_it_twice_leaves_the_same_rows(
    campaign: Campaign,
) -> None:
    label(pair=campaign.pairs.select_related("campaign")[0], username="ben", grade=2)
    assert ("annotation.refresh_quality", (campaign.pk,)) in list_due()
    refresh_campaign_quality(campaign.pk)
    before = list(QualityReport.objects.values())
    refresh_campaign_quality(campaign.pk)
    assert list(QualityReport.objects.values()) == before
    assert ("annotation.refresh_quality", (campaign.pk,)) not in list_due()


def test_a_lost_wake_up_is_found_by_the_sweep(world: World, campaign: Campaign) -> None:
    pair = campaign.pairs.select_related("campaign")[0]
    for username in ("ben", "cem"):
        label(pair=pair, username=username, grade=2)
    wake = ("annotation.consolidate", (world.judgments.pk,))
    assert annotations_due() == [wake]
    consolidate_list(*wake[1])
    assert annotations_due() == []
    assert Judgment.objects.get().grade == 2


def test_consolidating_twice_leaves_the_same_rows(world: World, campaign: Campaign) -> None:
    pair = campaign.pairs.select_related("campaign")[0]
    for username in ("ben", "cem"):
        label(pair=pair, username=username, grade=2)
    consolidate_list(world.judgments.pk)
    before = rows()
    consolidate_list(world.judgments.pk)
    assert rows() == before


def test_labels_within_the_interval_wait_for_its_end_and_become_one_version(
    world: World, campaign: Campaign
) -> None:
    first, second = campaign.pairs.select_related("campaign")[:2]
    for username in ("ben", "cem"):
        label(pair=first, username=username, grade=2)
    consolidate_list(world.judgments.pk)
    for username in ("ben", "cem"):
        label(pair=second, username=username, grade=2)
        consolidate_list(world.judgments.pk)
    assert len(annotations_due()) == 1
    while annotations_due():
        consolidate_list(world.judgments.pk)
    one, two = JudgmentVersion.objects.order_by("number")
    assert timedelta(seconds=0.5) <= two.created_at - one.created_at < timedelta(seconds=3)


def test_expired_leases_are_found_and_freed_once(campaign: Campaign) -> None:
    lease(campaign=campaign, username="cem", at=timezone.now())
    lease(campaign=campaign, username="ben", at=timezone.now() - 2 * LEASE)
    assert annotations_due() == [("annotation.release_expired", ())]
    release_expired_leases()
    before = rows()
    release_expired_leases()
    assert rows() == before
    assert annotations_due() == []
    assert held(campaign=campaign, username="ben") == []
    assert len(held(campaign=campaign, username="cem")) == 2
